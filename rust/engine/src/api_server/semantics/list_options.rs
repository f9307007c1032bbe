//! What the query of a LIST or WATCH may ask for together, and what its numbers say
//! (k8s.io/apimachinery `apis/meta/internalversion/validation`).

use serde_json::json;

use super::status::{FieldError, Status};

/// `resourceVersionMatch`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Match {
    /// `Exact`.
    Exact,
    /// `NotOlderThan`.
    NotOlderThan,
}

/// The options that depend on each other, as the query has them; "" where it has none.
#[derive(Clone, Copy, Debug, Default)]
pub struct ListOptions<'a> {
    /// Whether it is a WATCH.
    pub watch: bool,
    /// `resourceVersion`.
    pub version: &'a str,
    /// `resourceVersionMatch`.
    pub version_match: &'a str,
    /// `continue`.
    pub token: &'a str,
    /// Whether there is a `sendInitialEvents`, whatever it says.
    pub initial_events: bool,
}

impl ListOptions<'_> {
    /// The match that is asked for, or the 422 that names all that does not fit together.
    pub fn check(&self) -> Result<Option<Match>, Status> {
        let errors = if self.watch { self.watch_errors() } else { self.list_errors() };
        if !errors.is_empty() {
            return Err(Status::invalid_options("ListOptions", &errors));
        }
        Ok(match self.version_match {
            "" => None,
            "Exact" => Some(Match::Exact),
            _ => Some(Match::NotOlderThan),
        })
    }

    fn list_errors(&self) -> Vec<FieldError> {
        let mut errors = Vec::new();
        if !self.version_match.is_empty() {
            if self.version.is_empty() {
                errors.push(forbidden("is forbidden unless resourceVersion is provided"));
            }
            if !self.token.is_empty() {
                errors.push(forbidden("is forbidden when continue is provided"));
            }
            self.check_known(&["Exact", "NotOlderThan", ""], &mut errors);
            if self.version_match == "Exact" && self.version == "0" {
                errors.push(forbidden("\"exact\" is forbidden for resourceVersion \"0\""));
            }
        }
        if self.initial_events {
            errors.push(FieldError::forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list"));
        }
        errors
    }

    fn watch_errors(&self) -> Vec<FieldError> {
        let mut errors = Vec::new();
        if self.initial_events && self.version_match != "NotOlderThan" {
            let detail = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan";
            errors.push(FieldError::forbidden("resourceVersionMatch", detail));
        }
        if !self.version_match.is_empty() {
            if !self.initial_events {
                errors.push(forbidden("is forbidden for watch unless sendInitialEvents is provided"));
            }
            self.check_known(&["NotOlderThan"], &mut errors);
        }
        if !self.token.is_empty() {
            errors.push(forbidden("is forbidden when continue is provided"));
        }
        errors
    }

    fn check_known(&self, known: &[&str], errors: &mut Vec<FieldError>) {
        if !known.contains(&self.version_match) {
            errors.push(FieldError::not_supported("resourceVersionMatch", &json!(self.version_match), known));
        }
    }
}

fn forbidden(why: &str) -> FieldError {
    FieldError::forbidden("resourceVersionMatch", &format!("resourceVersionMatch {why}"))
}

/// What the real server says of a text that should be an integer of 64 bits.
pub fn no_integer(text: &str) -> String {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let sound = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    let why = if sound { "value out of range" } else { "invalid syntax" };
    format!("strconv.ParseInt: parsing {text:?}: {why}")
}

/// A `resourceVersion`, 0 where there is none; the error is the text of the real server's.
pub fn version(text: &str) -> Result<u64, String> {
    if text.is_empty() {
        return Ok(0);
    }
    text.parse().map_err(|_| {
        let digits = text.bytes().all(|b| b.is_ascii_digit());
        let why = if digits { "value out of range" } else { "invalid syntax" };
        format!("resourceVersion: Invalid value: {text:?}: strconv.ParseUint: parsing {text:?}: {why}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(options: ListOptions<'_>) -> Vec<String> {
        let status = options.check().unwrap_err();
        assert_eq!((status.code, status.reason), (422, "Invalid"));
        status.details.unwrap().causes.iter().map(|cause| cause.message.clone()).collect()
    }

    #[test]
    fn what_does_not_fit_together_is_named_all_at_once() {
        let list = ListOptions { version_match: "Exact", token: "t", ..ListOptions::default() };
        let forbidden = |why: &str| format!("Forbidden: resourceVersionMatch {why}");
        let unless = forbidden("is forbidden unless resourceVersion is provided");
        assert_eq!(messages(list), [unless, forbidden("is forbidden when continue is provided")]);
        let other = ListOptions { version_match: "Older", version: "1", ..ListOptions::default() };
        assert_eq!(
            messages(other),
            ["Unsupported value: \"Older\": supported values: \"Exact\", \"NotOlderThan\", \"\""]
        );
        let watch = ListOptions { watch: true, version_match: "Exact", ..ListOptions::default() };
        assert_eq!(messages(watch).len(), 2);
        let initial = ListOptions { watch: true, initial_events: true, ..ListOptions::default() };
        assert_eq!(messages(initial).len(), 1);
        assert_eq!(messages(ListOptions { initial_events: true, ..ListOptions::default() }).len(), 1);
    }

    #[test]
    fn what_fits_says_which_match_is_meant() {
        let at = |version_match| ListOptions { version: "7", version_match, ..ListOptions::default() };
        assert_eq!(at("").check(), Ok(None));
        assert_eq!(at("Exact").check(), Ok(Some(Match::Exact)));
        let watch = ListOptions { watch: true, initial_events: true, ..at("NotOlderThan") };
        assert_eq!(watch.check(), Ok(Some(Match::NotOlderThan)));
    }

    #[test]
    fn a_version_is_a_number_or_says_what_it_is_instead() {
        assert_eq!((version(""), version("0"), version("18446744073709551615")), (Ok(0), Ok(0), Ok(u64::MAX)));
        assert!(version("-1").unwrap_err().ends_with("strconv.ParseUint: parsing \"-1\": invalid syntax"));
        assert!(version("99999999999999999999").unwrap_err().ends_with("value out of range"));
    }
}
