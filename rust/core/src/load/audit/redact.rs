//! The requester's name, its source addresses and tokens, wherever else they stand.
//!
//! Each text is read as what it means (a query's values without their escapes, a body's strings as JSON has
//! them), and written anew only where something had to go.

use super::json_strings::{self, Standing, Unreadable};
use super::loss::{Why, Whys};
use super::needle::{Needle, Words};
use super::query_keys;
use super::selector;
use super::tokens::without_tokens;
use crate::load::{ApiPath, query};
use percent_encoding::percent_decode_str;
use serde::de::IgnoredAny;
use std::borrow::Cow;

/// Keys whose value is no user although it may be a user's name.
const NAMES: [&str; 7] =
    ["name", "namespace", "generateName", "kind", "apiVersion", "resourceNames", "resourceVersion"];

/// What must not be seen of one requester.
#[derive(Clone, Debug, Default)]
pub(super) struct Redaction {
    needles: Vec<Needle>,
    /// The object and its namespace by the path, which stays: a body must agree with it.
    of_path: Vec<String>,
}

impl Redaction {
    /// Of users (names and ids) and source addresses, in a request on this path. Names of one letter say
    /// nothing about anybody.
    pub(super) fn new<'a>(
        users: impl Iterator<Item = &'a str>,
        addresses: impl Iterator<Item = &'a str>,
        path: &ApiPath<'_>,
    ) -> Self {
        let users = users.filter(|user| user.chars().nth(1).is_some()).map(Needle::user);
        let mut needles: Vec<Needle> = users.chain(addresses.filter_map(Needle::address)).collect();
        // The longest first: one user's name may begin another's.
        needles.sort_by(|a, b| b.text().len().cmp(&a.text().len()).then_with(|| a.text().cmp(b.text())));
        needles.dedup_by(|a, b| a.text() == b.text());
        let of_path = [&path.namespace, &path.name].into_iter().filter(|name| !name.is_empty());
        Self { needles, of_path: of_path.map(ToString::to_string).collect() }
    }

    /// A body in JSON without users, addresses and tokens; borrowed where it has none.
    pub(super) fn body<'a>(&self, body: &'a str, whys: &mut Whys) -> Result<Cow<'a, str>, Unreadable> {
        let is_plain = !body.contains('\\') && without_tokens(body).is_none();
        if is_plain && !self.needles.iter().any(|needle| needle.is_in(body)) {
            return Ok(Cow::Borrowed(body));
        }
        self.strings(body, whys)
    }

    fn strings<'a>(&self, json: &'a str, whys: &mut Whys) -> Result<Cow<'a, str>, Unreadable> {
        json_strings::changed(json, &mut |standing, text| {
            if self.of_path.iter().any(|name| name == text) {
                return Ok(None);
            }
            if is_json(text) {
                return Ok(match self.strings(text, whys)? {
                    Cow::Owned(new) => Some(new),
                    Cow::Borrowed(_) => None,
                });
            }
            let words = match standing {
                Standing::Value(key) if !NAMES.contains(&key) => Words::Whole,
                _ => Words::Stay,
            };
            Ok(self.text(text, words, whys))
        })
    }

    /// A query without users, addresses and tokens in its values; borrowed where they have none.
    pub(super) fn query<'a>(&self, raw: &'a str, whys: &mut Whys) -> Cow<'a, str> {
        let mut changed = false;
        let mut pair = |(key, value, pair): (Cow<'_, str>, Cow<'_, str>, &str)| {
            let (as_is, raw_value) = pair.split_once('=').unwrap_or((pair, ""));
            let new = self.value(&key, &value, whys).map(|new| query::encoded(&new));
            // What is no escape although it looks like one: `%cafe@example.com`.
            let new = new.or_else(|| self.text(raw_value, Words::Stay, whys));
            changed |= new.is_some();
            new.map_or_else(|| pair.to_owned(), |new| format!("{as_is}={new}"))
        };
        let pairs: Vec<String> = query::pairs(Some(raw)).map(&mut pair).collect();
        if changed { Cow::Owned(pairs.join("&")) } else { Cow::Borrowed(raw) }
    }

    fn value(&self, key: &str, value: &str, whys: &mut Whys) -> Option<String> {
        match key {
            "labelSelector" | "fieldSelector" => {
                let plain = self.text(value, Words::Stay, whys);
                let of_terms = selector::changed(plain.as_deref().unwrap_or(value), &mut |text| {
                    if self.of_path.iter().any(|name| name == text) {
                        None
                    } else {
                        self.text(text, Words::Whole, whys)
                    }
                });
                of_terms.or(plain)
            }
            "fieldManager" => self.text(value, Words::Whole, whys),
            // Numbers, instants, names of containers and the like are no users.
            _ if query_keys::is_known(key) => self.text(value, Words::Stay, whys),
            _ => self.text(value, Words::Whole, whys),
        }
    }

    /// A user agent without users, addresses and tokens.
    pub(super) fn user_agent<'a>(&self, agent: &'a str, whys: &mut Whys) -> Cow<'a, str> {
        self.text(agent, Words::Alone, whys).map_or(Cow::Borrowed(agent), Cow::Owned)
    }

    /// An object's name, in which a word is no user.
    pub(super) fn name<'a>(&self, name: &'a str, whys: &mut Whys) -> Cow<'a, str> {
        self.text(name, Words::Stay, whys).map_or(Cow::Borrowed(name), Cow::Owned)
    }

    /// `None` where nothing had to go.
    fn text(&self, text: &str, words: Words, whys: &mut Whys) -> Option<String> {
        let mut changed = without_tokens(text);
        whys.insert_if(changed.is_some(), Why::TokenRemoved);
        for needle in &self.needles {
            if let Some(new) = needle.removed(changed.as_deref().unwrap_or(text), words) {
                whys.insert(needle.why);
                changed = Some(new);
            }
        }
        changed
    }
}

/// Whether a text is a JSON document with texts of its own, such as kubectl's copy of an object.
fn is_json(text: &str) -> bool {
    text.trim_start().starts_with(['{', '[', '"']) && serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// A path without tokens. Users stay: an object is what it is called.
pub(super) fn path_without_tokens<'a>(path: &'a str, whys: &mut Whys) -> Cow<'a, str> {
    let mut changed = false;
    let cleaned = path.split('/').map(|segment| {
        let new = without_tokens(&percent_decode_str(segment).decode_utf8_lossy());
        changed |= new.is_some();
        new.map_or(Cow::Borrowed(segment), |new| Cow::Owned(query::encoded(&new)))
    });
    let cleaned = cleaned.collect::<Vec<_>>().join("/");
    whys.insert_if(changed, Why::TokenRemoved);
    if changed { Cow::Owned(cleaned) } else { Cow::Borrowed(path) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    const TOKEN: &str = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJqYW5lIn0.c2lnbmF0dXJl";

    fn redaction(users: &[&str], addresses: &[&str]) -> Redaction {
        let path = ApiPath::parse("/api/v1/namespaces/a/pods/jane.doe-pod").unwrap();
        Redaction::new(users.iter().copied(), addresses.iter().copied(), &path)
    }

    fn body(redaction: &Redaction, body: &str) -> (String, Vec<Why>) {
        let mut whys = Whys::default();
        let text = redaction.body(body, &mut whys).unwrap().into_owned();
        (text, whys.iter().collect())
    }

    fn query(redaction: &Redaction, query: &str) -> String {
        redaction.query(query, &mut Whys::default()).into_owned()
    }

    #[test]
    fn a_requester_named_in_a_body_is_removed_wherever_it_stands() {
        let jane = redaction(&["jane@example.com", "CORP\\jane.doe", "a&b@x", "jörg@example.com"], &[]);
        for (text, expected) in [
            (r#"{"a":"by jane@example.com, today"}"#, r#"{"a":"by removed-user, today"}"#),
            (r#"{"a":{"jane@example.com":1}}"#, r#"{"a":{"removed-user":1}}"#),
            (r#"{"a":"CORP\\jane.doe"}"#, r#"{"a":"removed-user"}"#),
            (r#"{"a":"a\u0026b@x"}"#, r#"{"a":"removed-user"}"#),
            (r#"{"a":"j\u00f6rg@example.com"}"#, r#"{"a":"removed-user"}"#),
            (r#"{"a":"\u006aane@example.com"}"#, r#"{"a":"removed-user"}"#),
            (r#"["https://x/?u=jane%40example.com"]"#, r#"["https://x/?u=removed-user"]"#),
        ] {
            assert_eq!(body(&jane, text), (expected.to_owned(), vec![Why::UserRemoved]), "{text}");
        }
    }

    #[test]
    fn a_requester_whose_name_is_a_word_is_removed_where_a_value_is_that_word() {
        for word in ["admin", "christopher", "10000000", "Jane"] {
            let text = json!({
                "roleRef": {"name": word}, "annotations": {"by": word, word: ""}, "image": format!("{word}0:1"),
                "args": ["-u", word], "size": 10_000_000, "resourceVersion": word,
            });
            let (cleaned, whys) = body(&redaction(&[word], &[]), &text.to_string());
            let mut expected = text;
            expected["annotations"]["by"] = "removed-user".into();
            expected["args"][1] = "removed-user".into();
            assert_eq!((serde_json::from_str::<Value>(&cleaned).unwrap(), whys), (expected, vec![Why::UserRemoved]));
        }
    }

    #[test]
    fn documents_within_strings_are_read_as_deep_as_they_go() {
        let inner = json!({"a": "CORP\\jane.doe", "b": ["jane"], "c": 10_000_000, "d": "<203.0.113.7>"}).to_string();
        let middle = json!({"last": format!(" {inner}\n")}).to_string();
        let from = redaction(&["CORP\\jane.doe", "jane", "10000000"], &["203.0.113.7"]);
        let (cleaned, whys) = body(&from, &json!([middle, "{jane", "\"jane\""]).to_string());
        assert_eq!(whys, [Why::UserRemoved, Why::AddressRemoved]);
        let cleaned: [String; 3] = serde_json::from_str(&cleaned).unwrap();
        let middle: Value = serde_json::from_str(&cleaned[0]).unwrap();
        let inner = r#" {"a":"removed-user","b":["removed-user"],"c":10000000,"d":"<192.0.2.1>"}"#;
        assert_eq!(middle["last"], format!("{inner}\n"));
        assert_eq!(cleaned[1..], ["{jane", "\"removed-user\""]);
    }

    #[test]
    fn what_the_path_names_keeps_its_name_and_no_other_text_does() {
        let text = r#"{"metadata":{"name":"jane.doe-pod","labels":{"owner":"jane.doe"}}}"#;
        let expected = text.replace(r#""jane.doe""#, r#""removed-user""#);
        assert_eq!(body(&redaction(&["jane.doe"], &[]), text).0, expected);
        // A part of a segment is another name.
        assert_eq!(body(&redaction(&["namespaces/a"], &[]), r#"["by namespaces/a"]"#).0, r#"["by removed-user"]"#);
    }

    #[test]
    fn source_addresses_are_removed_however_they_are_escaped() {
        let from = redaction(&[], &["203.0.113.7", "2001:db8:7::9", "127.0.0.1"]);
        let text = r#"["203.0.113.7","203.0.113.77","\u003c203.0.113.7\u003e","127.0.0.1","[2001:db8:7::9]:1"]"#;
        let (text, whys) = body(&from, text);
        assert_eq!(text, r#"["192.0.2.1","203.0.113.77","<192.0.2.1>","127.0.0.1","[2001:db8::1]:1"]"#);
        assert_eq!(whys, [Why::AddressRemoved]);
        for (raw, expected) in [
            ("fieldSelector=status.podIP%3D203.0.113.7&limit=1", "fieldSelector=status.podIP%3D192.0.2.1&limit=1"),
            ("fieldSelector=a%3D2001%3Adb8%3a7::9", "fieldSelector=a%3D2001%3Adb8%3A%3A1"),
            ("fieldSelector=a%3D203%2E0.113.77", "fieldSelector=a%3D203%2E0.113.77"),
        ] {
            assert_eq!(query(&from, raw), expected);
        }
    }

    #[test]
    fn a_query_names_no_requester() {
        let of = redaction(&["jane@example.com", "CORP\\jane.doe", "cafe@example.com", "jane", "500", "10000000"], &[]);
        for (raw, expected) in [
            ("fieldManager=jane%40example.com&limit=1", "fieldManager=removed-user&limit=1"),
            ("fieldManager=jane@example.com&&limit=1", "fieldManager=removed-user&limit=1"),
            ("fieldManager=CORP%5Cjane.doe", "fieldManager=removed-user"),
            ("fieldManager=%6aane", "fieldManager=removed-user"),
            ("fieldManager=janet", "fieldManager=janet"),
            ("labelSelector=owner%3Djane,a+in+(b)", "labelSelector=owner%3Dremoved-user%2Ca%20in%20%28b%29"),
            ("labelSelector=uid%3D10000000", "labelSelector=uid%3Dremoved-user"),
            ("fieldSelector=metadata.name%3Djane", "fieldSelector=metadata.name%3Djane"),
            ("fieldSelector=spec.user%3DCORP%5C%5Cjane.doe", "fieldSelector=spec.user%3Dremoved-user"),
            (
                "limit=500&resourceVersion=10000000&&container=jane",
                "limit=500&resourceVersion=10000000&&container=jane",
            ),
            ("shard=jane", "shard=removed-user"),
            ("pretty=%cafe@example.com", "pretty=%removed-user"),
        ] {
            assert_eq!(query(&of, raw), expected);
        }
    }

    #[test]
    fn a_user_agent_names_no_requester() {
        let of = redaction(&["jane@example.com", "jane", "10000000"], &["203.0.113.7"]);
        let agent = |text| of.user_agent(text, &mut Whys::default()).into_owned();
        assert_eq!(
            agent("tool/1 (jane@example.com; jane/10000000)"),
            "tool/1 (removed-user; removed-user/removed-user)"
        );
        assert_eq!(agent("janet/1 203.0.113.7"), "janet/1 192.0.2.1");
    }

    #[test]
    fn tokens_are_removed_whoever_sent_them_and_wherever_they_stand() {
        let of = Redaction::default();
        let text = json!({"a": TOKEN, "b": "Bearer 0123456789abcdef", "c": "Bearer of news", "d": "eyJ.x.y"});
        let (cleaned, whys) = body(&of, &text.to_string());
        assert_eq!(cleaned, r#"{"a":"removed-token","b":"Bearer removed-token","c":"Bearer of news","d":"eyJ.x.y"}"#);
        assert_eq!(whys, [Why::TokenRemoved]);
        assert_eq!(query(&of, &format!("limit=1&fieldManager=x-{TOKEN}")), "limit=1&fieldManager=x-removed-token");
        assert_eq!(query(&of, "auth=Bearer+0123456789abcdef"), "auth=Bearer%20removed-token");
        let mut whys = Whys::default();
        assert_eq!(of.user_agent(&format!("x/1 ({TOKEN})"), &mut whys), "x/1 (removed-token)");
        assert!(whys.contains(Why::TokenRemoved));
        let dotted = TOKEN.replace('.', "%2E");
        for path in [format!("/login/{TOKEN}/x%2f"), format!("/login/{dotted}/x%2f")] {
            assert_eq!(path_without_tokens(&path, &mut Whys::default()), "/login/removed-token/x%2f");
        }
        let mut whys = Whys::default();
        assert_eq!(path_without_tokens("/api/v1/pods/%61", &mut whys), "/api/v1/pods/%61");
        assert_eq!(whys, Whys::default());
    }

    #[test]
    fn a_body_whose_strings_cannot_be_read_is_said() {
        let of = redaction(&["jane@example.com"], &[]);
        let deep = format!("{}\"jane@example.com\"{}", "[".repeat(128), "]".repeat(128));
        for text in [r#"["\ud800"]"#, r#"["{\"a\":\"\\ud800\"}"]"#, &deep] {
            assert_eq!(of.body(text, &mut Whys::default()), Err(Unreadable), "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_distinct_requester_is_never_seen_again(before in "\\PC{0,20}", user in "[a-z]{3,9}@[A-Z]{5}", after in "\\PC{0,20}", key in any::<bool>()) {
            let text = format!("{before}{user}{after}");
            let all = if key { json!({text: [1]}) } else { json!([text]) };
            let (text, whys) = body(&redaction(&[&user, "other"], &[]), &all.to_string());
            prop_assert!(!text.contains(&user) && whys.contains(&Why::UserRemoved));
            prop_assert!(serde_json::from_str::<Value>(&text).is_ok());
        }

        #[test]
        fn a_requester_in_a_query_is_never_seen_again(before in "\\PC{0,9}", user in "[a-zö\\\\@ ]{2,9}@x", after in "\\PC{0,9}", key in "(fieldManager|fieldSelector|labelSelector|pretty|x)") {
            let raw = query::with(None, &key, &format!("{before}{user}{after}"));
            let cleaned = query(&redaction(&[&user], &[]), &raw);
            let value = query::value(Some(&cleaned), &key).unwrap();
            prop_assert!(!value.contains(&user), "{}", value);
        }

        #[test]
        fn a_body_with_nothing_to_hide_stays_byte_for_byte(text in "\\PC{0,40}", number in any::<f64>()) {
            let text = json!({"a": [text, number], "b": {"c": format!("\\{text}\n")}}).to_string().replace(',', " , ");
            let mut whys = Whys::default();
            let of = redaction(&["jane@example.com"], &["203.0.113.7"]);
            let cleaned = of.body(&text, &mut whys).unwrap();
            prop_assert!(matches!(cleaned, Cow::Borrowed(same) if same == text));
        }
    }
}
