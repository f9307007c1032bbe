//! What names, label keys and label values may look like (k8s.io/apimachinery `util/validation`). Each
//! check returns what is wrong in the words that the real server uses; nothing wrong is an empty list.

use super::kinds::NameRule;

const SUBDOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or \
    '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is \
    '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const LABEL: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must \
    start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is \
    '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const LABEL_1035: &str = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an \
    alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for \
    validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
const KEY: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an \
    alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is \
    '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const VALUE: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and \
    must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for \
    validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

fn too_long(limit: usize) -> String {
    format!("must be no more than {limit} bytes")
}

fn is_label(text: &str) -> bool {
    let inner = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    !text.is_empty() && text.bytes().all(inner) && !text.starts_with('-') && !text.ends_with('-')
}

fn is_word(text: &str) -> bool {
    let inner = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.');
    let ends = |b: Option<u8>| b.is_some_and(|b| b.is_ascii_alphanumeric());
    text.bytes().all(inner) && ends(text.bytes().next()) && ends(text.bytes().last())
}

fn check(text: &str, limit: usize, sound: bool, message: &str) -> Vec<String> {
    let mut errors = Vec::new();
    if text.len() > limit {
        errors.push(too_long(limit));
    }
    if !sound {
        errors.push(message.into());
    }
    errors
}

/// RFC 1123 subdomain, at most 253 characters.
pub fn check_subdomain(text: &str) -> Vec<String> {
    check(text, 253, text.split('.').all(is_label), SUBDOMAIN)
}

/// A name of that rule.
pub fn check_name(rule: NameRule, name: &str) -> Vec<String> {
    match rule {
        NameRule::Subdomain => check_subdomain(name),
        NameRule::Label => check(name, 63, is_label(name), LABEL),
        NameRule::Label1035 => {
            check(name, 63, is_label(name) && name.starts_with(|c: char| c.is_ascii_lowercase()), LABEL_1035)
        }
    }
}

/// `[prefix/]name`, as keys of labels, annotations and finalizers are.
pub fn check_label_key(key: &str) -> Vec<String> {
    let mut errors = Vec::new();
    let name = match key.split('/').collect::<Vec<_>>()[..] {
        [name] => name,
        [prefix, name] => {
            if prefix.is_empty() {
                errors.push("prefix part must be non-empty".into());
            } else {
                errors.extend(check_subdomain(prefix).into_iter().map(|e| format!("prefix part {e}")));
            }
            name
        }
        _ => {
            return vec![format!(
                "a valid label key {KEY} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
            )];
        }
    };
    if name.is_empty() {
        errors.push("name part must be non-empty".into());
    }
    errors.extend(check(name, 63, is_word(name), KEY).into_iter().map(|e| format!("name part {e}")));
    errors
}

/// A label's value.
pub fn check_label_value(value: &str) -> Vec<String> {
    check(value, 63, value.is_empty() || is_word(value), VALUE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_checked_by_the_rule_of_their_kind() {
        assert!(check_name(NameRule::Subdomain, "a.b-c.0").is_empty());
        assert!(check_name(NameRule::Label, "0a").is_empty());
        for (rule, wrong) in [
            (NameRule::Subdomain, "A"),
            (NameRule::Subdomain, "a..b"),
            (NameRule::Subdomain, "a_b"),
            (NameRule::Subdomain, ""),
            (NameRule::Label, "a.b"),
            (NameRule::Label1035, "0a"),
            (NameRule::Label1035, "a-"),
        ] {
            assert_eq!(check_name(rule, wrong).len(), 1, "{wrong}");
        }
        assert_eq!(check_name(NameRule::Label, &"a".repeat(64)), ["must be no more than 63 bytes"]);
    }

    #[test]
    fn label_keys_may_have_a_prefix_and_values_may_be_empty() {
        for sound in ["app", "perfq.dev/shard", "A_b.c"] {
            assert!(check_label_key(sound).is_empty(), "{sound}");
        }
        for wrong in ["", "/a", "a/b/c", "a/", "-a", "A.B_/x", "a b"] {
            assert!(!check_label_key(wrong).is_empty(), "{wrong}");
        }
        assert!(check_label_value("").is_empty() && check_label_value("a-B_c.1").is_empty());
        assert!(!check_label_value("-").is_empty() && !check_label_value("é").is_empty());
    }
}
