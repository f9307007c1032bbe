//! Requests that are no request to replay: sessions, tunnels and logs without an end.

use super::loss::Why;
use crate::load::query;

/// What an event says about a request's target: path and query as they stand, the parts that were read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Target<'a> {
    pub(super) query: Option<&'a str>,
    pub(super) verb: &'a str,
    /// The subresource by the path, and by the event's objectRef.
    pub(super) subresources: [&'a str; 2],
    pub(super) status: Option<u16>,
}

/// Why a request is refused, by its subresource, whatever its verb.
pub(super) fn refused(target: Target<'_>) -> Option<Why> {
    for subresource in target.subresources {
        match subresource {
            "exec" => return Some(Why::Exec),
            "attach" => return Some(Why::Attach),
            "portforward" => return Some(Why::PortForward),
            "proxy" => return Some(Why::Proxy),
            "log" if query::flag(target.query, "follow") => return Some(Why::FollowedLog),
            _ => {}
        }
    }
    match target.verb {
        // `/api/v1/proxy/…`, which servers before 1.10 had.
        "proxy" => Some(Why::Proxy),
        "get" | "list" | "watch" | "create" | "update" | "patch" | "delete" | "deletecollection" => {
            // A watch may come over a WebSocket; its replay is an ordinary one.
            (target.status == Some(101) && target.verb != "watch").then_some(Why::Upgrade)
        }
        _ => Some(Why::Verb),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(verb: &str, path: &str, object_ref: &str, query: Option<&str>, status: u16) -> Option<Why> {
        refused(Target { query, verb, subresources: [path, object_ref], status: Some(status) })
    }

    #[test]
    fn sessions_are_refused_whatever_their_verb() {
        for verb in ["get", "create", "connect", "delete"] {
            assert_eq!(of(verb, "exec", "", None, 101), Some(Why::Exec));
            assert_eq!(of(verb, "", "attach", None, 200), Some(Why::Attach));
            assert_eq!(of(verb, "portforward", "portforward", None, 101), Some(Why::PortForward));
            assert_eq!(of(verb, "proxy", "proxy", None, 200), Some(Why::Proxy));
        }
        assert_eq!(of("proxy", "", "", None, 200), Some(Why::Proxy));
    }

    #[test]
    fn a_log_is_a_request_until_it_is_followed() {
        assert_eq!(of("get", "log", "log", Some("tailLines=5"), 200), None);
        assert_eq!(of("get", "log", "log", Some("follow=false"), 200), None);
        assert_eq!(of("get", "log", "log", Some("tailLines=5&follow=true"), 200), Some(Why::FollowedLog));
        assert_eq!(of("get", "log", "", Some("follow"), 200), Some(Why::FollowedLog));
    }

    #[test]
    fn other_protocols_and_other_verbs_are_refused_but_a_watch_over_a_web_socket_is_one() {
        assert_eq!(of("get", "vnc", "vnc", None, 101), Some(Why::Upgrade));
        assert_eq!(of("watch", "", "", Some("watch=true"), 101), None);
        for verb in ["post", "head", "options", "connect", "", "GET"] {
            assert_eq!(of(verb, "", "", None, 200), Some(Why::Verb));
        }
    }
}
