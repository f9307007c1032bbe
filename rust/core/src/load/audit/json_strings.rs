//! The strings of a JSON document, each read and put back on its own; all other bytes stay.

use memchr::memchr2;
use std::borrow::Cow;

/// As deep as the readers of bodies go.
const DEEPEST: usize = 127;

/// A string that means no text, such as half a surrogate pair, or a document that is nested too deep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unreadable;

/// Where a string stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing<'a> {
    /// It is a key.
    Key,
    /// It is a value, or an item of a list that is the value, of this key; of `""` at the top.
    Value(&'a str),
}

/// What is to stand in a string's place; `None` where it stays.
pub(super) type Change = Result<Option<String>, Unreadable>;

struct Container<'a> {
    is_object: bool,
    key: Cow<'a, str>,
}

/// The document with some of its strings changed, borrowed where none was. `change` is given each string as
/// the text that it means, and says what is to stand in its place. The document must be valid JSON.
pub(super) fn changed<'a>(
    json: &'a str,
    change: &mut dyn FnMut(Standing<'_>, &str) -> Change,
) -> Result<Cow<'a, str>, Unreadable> {
    let bytes = json.as_bytes();
    let mut stack: Vec<Container<'a>> = Vec::new();
    let (mut out, mut copied, mut at) = (String::new(), 0, 0);
    while let Some(byte) = bytes.get(at) {
        let begin = at;
        at += 1;
        match byte {
            b'{' | b'[' => {
                let key = stack.last().map_or(Cow::Borrowed(""), |outer| outer.key.clone());
                stack.push(Container { is_object: *byte == b'{', key });
                if stack.len() > DEEPEST {
                    return Err(Unreadable);
                }
            }
            b'}' | b']' => drop(stack.pop()),
            b'"' => {
                at = end(bytes, at).ok_or(Unreadable)?;
                let text = meant(&json[begin..at])?;
                let is_key = stack.last().is_some_and(|inner| inner.is_object)
                    && bytes[at..].iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b':');
                let standing = match stack.last() {
                    _ if is_key => Standing::Key,
                    inner => Standing::Value(inner.map_or("", |inner| &inner.key)),
                };
                if let Some(new) = change(standing, &text)? {
                    out.push_str(&json[copied..begin]);
                    out.push_str(&serde_json::Value::from(new).to_string());
                    copied = at;
                }
                if let Some(inner) = stack.last_mut().filter(|_| is_key) {
                    inner.key = text;
                }
            }
            _ => {}
        }
    }
    if copied == 0 {
        return Ok(Cow::Borrowed(json));
    }
    out.push_str(&json[copied..]);
    Ok(Cow::Owned(out))
}

/// Where the string ends whose opening quote stands before `at`, with its closing one.
fn end(bytes: &[u8], mut at: usize) -> Option<usize> {
    loop {
        at += memchr2(b'"', b'\\', bytes.get(at..)?)?;
        if bytes[at] == b'"' {
            return Some(at + 1);
        }
        at += 2;
    }
}

fn meant(quoted: &str) -> Result<Cow<'_, str>, Unreadable> {
    if quoted.contains('\\') {
        serde_json::from_str(quoted).map(Cow::Owned).map_err(|_| Unreadable)
    } else {
        Ok(Cow::Borrowed(&quoted[1..quoted.len() - 1]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::Value;

    fn seen(json: &str) -> Vec<String> {
        let mut all = Vec::new();
        let same = changed(json, &mut |standing, text| {
            all.push(match standing {
                Standing::Key => format!("{text}:"),
                Standing::Value(key) => format!("{key}={text}"),
            });
            Ok(None)
        });
        assert!(matches!(same, Ok(Cow::Borrowed(same)) if same == json));
        all
    }

    #[test]
    fn each_string_is_seen_as_what_it_means_with_its_key() {
        let json = r#" {"a" : "x\u003c\"", "b":["p",{"c\n":{"d":"q"},"e":"r"},["s"]], "f":{}, "g":1} "#;
        let expected =
            ["a:", "a=x<\"", "b:", "b=p", "c\n:", "d:", "d=q", "e:", "e=r", "b=s", "f:", "g:"].map(str::to_owned);
        assert_eq!(seen(json), expected);
        assert_eq!(seen(r#""alone""#), ["=alone"]);
        assert_eq!(seen("17"), [""; 0]);
    }

    #[test]
    fn only_what_is_changed_is_written_anew() {
        let json = r#"{ "a":1.0, "b" :"\u003c", "c":"old", "old":["x","old"]}"#;
        let mut change = |_: Standing<'_>, text: &str| Ok((text == "old").then(|| "a\"b".to_owned()));
        let expected = r#"{ "a":1.0, "b" :"\u003c", "c":"a\"b", "a\"b":["x","a\"b"]}"#;
        assert_eq!(changed(json, &mut change).unwrap(), expected);
    }

    #[test]
    fn what_cannot_be_read_is_said() {
        let mut keep = |_: Standing<'_>, _: &str| Ok(None);
        assert_eq!(changed(r#"["\ud800"]"#, &mut keep), Err(Unreadable));
        let nested = |depth| "[".repeat(depth) + &"]".repeat(depth);
        assert!(
            changed(&nested(DEEPEST), &mut keep).is_ok() && serde_json::from_str::<Value>(&nested(DEEPEST)).is_ok()
        );
        assert_eq!(changed(&nested(DEEPEST + 1), &mut keep), Err(Unreadable));
        assert!(serde_json::from_str::<Value>(&nested(DEEPEST + 1)).is_err());
    }

    proptest! {
        #[test]
        fn a_change_of_every_string_is_a_change_of_every_string(texts in prop::collection::vec("\\PC{0,9}", 0..9)) {
            let objects: Vec<_> = texts.iter().map(|text| serde_json::json!({text: [text]})).collect();
            let expected: Vec<_> = texts.iter().map(|text| serde_json::json!({format!("{text}!"): [format!("{text}!")]})).collect();
            let json = Value::from(objects).to_string();
            let new = changed(&json, &mut |_, text| Ok(Some(format!("{text}!")))).unwrap();
            prop_assert_eq!(serde_json::from_str::<Value>(&new).unwrap(), Value::from(expected));
        }
    }
}
