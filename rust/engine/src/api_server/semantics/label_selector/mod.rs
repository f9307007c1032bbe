//! Label selectors: the language of `labelSelector=` (k8s.io/apimachinery `labels.Parse`).

mod tokens;

use serde_json::json;

use self::tokens::{OPERATORS, Token, scan};
use super::names::{check_label_key, check_label_value};
use super::status::{FieldError, Status};

/// A conjunction of requirements; none matches everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LabelSelector {
    requirements: Vec<Requirement>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Requirement {
    key: String,
    test: Test,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Test {
    Exists,
    Missing,
    In(Vec<String>),
    NotIn(Vec<String>),
    Greater(i64),
    Less(i64),
}

impl LabelSelector {
    /// Reads a selector's text. The error is the 400 that the real server gives.
    pub fn parse(text: &str) -> Result<Self, Status> {
        Parser { tokens: scan(text), at: 0 }.parse().map_err(Status::bad_request)
    }

    /// Whether it matches everything.
    pub fn is_empty(&self) -> bool {
        self.requirements.is_empty()
    }

    /// Whether an object matches whose labels `label_of` looks up.
    pub fn matches<'a>(&self, label_of: impl Fn(&str) -> Option<&'a str>) -> bool {
        self.requirements.iter().all(|r| {
            let value = label_of(&r.key);
            let number = || value.and_then(|v| v.parse::<i64>().ok());
            match &r.test {
                Test::Exists => value.is_some(),
                Test::Missing => value.is_none(),
                Test::In(wanted) => value.is_some_and(|v| wanted.iter().any(|w| w == v)),
                Test::NotIn(unwanted) => value.is_none_or(|v| unwanted.iter().all(|w| w != v)),
                Test::Greater(bound) => number().is_some_and(|n| n > *bound),
                Test::Less(bound) => number().is_some_and(|n| n < *bound),
            }
        })
    }

    /// Whether an object with those `metadata.labels` matches.
    pub fn matches_labels(&self, labels: Option<&serde_json::Map<String, serde_json::Value>>) -> bool {
        self.matches(|key| labels?.get(key)?.as_str())
    }
}

struct Parser {
    tokens: Vec<Token>,
    at: usize,
}

impl Parser {
    fn peek(&self) -> &Token {
        self.tokens.get(self.at).unwrap_or(&Token::End)
    }

    fn take(&mut self) -> Token {
        let token = self.peek().clone();
        self.at += 1;
        token
    }

    /// The next token where a key or a value stands: there, `in` and `notin` are words like others.
    fn take_word(&mut self) -> Result<String, Token> {
        match self.take() {
            token @ (Token::Word(_) | Token::In | Token::NotIn) => Ok(token.literal().into()),
            other => Err(other),
        }
    }

    fn is_word(&self) -> bool {
        matches!(self.peek(), Token::Word(_) | Token::In | Token::NotIn)
    }

    fn is(&self, symbol: &str) -> bool {
        matches!(self.peek(), Token::Symbol(s) if *s == symbol)
    }

    fn parse(mut self) -> Result<LabelSelector, String> {
        let mut requirements = Vec::new();
        loop {
            if matches!(self.peek(), Token::End) {
                break;
            }
            if !self.is_word() && !self.is("!") {
                let found = self.peek().literal();
                return Err(format!("found '{found}', expected: !, identifier, or 'end of string'"));
            }
            requirements.push(self.requirement().map_err(|e| format!("unable to parse requirement: {e}"))?);
            match self.take() {
                Token::End => break,
                Token::Symbol(",") => {
                    if !self.is_word() && !self.is("!") {
                        let found = self.peek().literal();
                        return Err(format!("found '{found}', expected: identifier after ','"));
                    }
                }
                other => return Err(format!("found '{}', expected: ',' or 'end of string'", other.literal())),
            }
        }
        Ok(LabelSelector { requirements })
    }

    fn requirement(&mut self) -> Result<Requirement, String> {
        let negated = self.is("!");
        if negated {
            self.at += 1;
        }
        let key = self.take_word().map_err(|t| format!("found '{}', expected: identifier", t.literal()))?;
        let errors = check_label_key(&key);
        if !errors.is_empty() {
            return Err(error_text("<nil>", &key, &errors));
        }
        if negated {
            return Ok(Requirement { key, test: Test::Missing });
        }
        if matches!(self.peek(), Token::End) || self.is(",") {
            return Ok(Requirement { key, test: Test::Exists });
        }
        let operator = self.take();
        let values = match operator {
            Token::In | Token::NotIn => self.values()?,
            Token::Symbol("=" | "==" | "!=" | ">" | "<") => vec![self.exact_value()?],
            other => return Err(format!("found '{}', expected: {OPERATORS}", other.literal())),
        };
        let mut errors = Vec::new();
        for (i, value) in values.iter().enumerate() {
            let broken = check_label_value(value);
            if !broken.is_empty() {
                errors.push(error_text(&format!("values[{i}][{key}]"), value, &broken));
            }
        }
        let mut bound = 0;
        if matches!(operator, Token::Symbol(">" | "<")) {
            if let Ok(number) = values[0].parse() {
                bound = number;
            } else {
                let why = "for 'Gt', 'Lt' operators, the value must be an integer".into();
                errors.insert(0, error_text("values[0]", &values[0], &[why]));
            }
        }
        match &errors[..] {
            [] => {}
            [one] => return Err(one.clone()),
            many => return Err(format!("[{}]", many.join(", "))),
        }
        let test = match operator {
            Token::In | Token::Symbol("=" | "==") => Test::In(values),
            Token::Symbol(">") => Test::Greater(bound),
            Token::Symbol("<") => Test::Less(bound),
            _ => Test::NotIn(values),
        };
        Ok(Requirement { key, test })
    }

    fn exact_value(&mut self) -> Result<String, String> {
        if matches!(self.peek(), Token::End) || self.is(",") {
            return Ok(String::new());
        }
        self.take_word().map_err(|t| format!("found '{}', expected: identifier", t.literal()))
    }

    /// `(a, b)`, sorted and without doubles; an empty place is the empty value.
    fn values(&mut self) -> Result<Vec<String>, String> {
        match self.take() {
            Token::Symbol("(") => {}
            other => return Err(format!("found '{}' expected: '('", other.literal())),
        }
        let mut values = std::collections::BTreeSet::new();
        loop {
            match self.take() {
                Token::Symbol(")") => {
                    // Nothing stands before the end: `()`, or `a,)`.
                    values.insert(String::new());
                    break;
                }
                Token::Symbol(",") => {
                    values.insert(String::new());
                }
                token @ (Token::Word(_) | Token::In | Token::NotIn) => {
                    values.insert(token.literal().into());
                    match self.take() {
                        Token::Symbol(",") => {}
                        Token::Symbol(")") => break,
                        other => return Err(format!("found '{}', expected: ',' or ')'", other.literal())),
                    }
                }
                other => return Err(format!("found '{}', expected: ',', or identifier", other.literal())),
            }
        }
        Ok(values.into_iter().collect())
    }
}

fn error_text(field: &str, value: &str, errors: &[String]) -> String {
    FieldError::invalid(field, &json!(value), &errors.join("; ")).to_string()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn matches(selector: &str, labels: &[(&str, &str)]) -> bool {
        let selector = LabelSelector::parse(selector).unwrap_or_else(|e| panic!("{selector}: {}", e.message));
        selector.matches(|key| labels.iter().find(|(k, _)| *k == key).map(|(_, v)| *v))
    }

    #[test]
    fn each_operator_selects_as_the_real_server_does() {
        let labels = [("app", "web"), ("tier", ""), ("n", "5")];
        for (selector, expected) in [
            ("", true),
            (" app = web ", true),
            ("app==web,tier=", true),
            ("app=web,app!=db", true),
            ("app=db", false),
            ("missing!=x", true),
            ("app in (db, web)", true),
            ("app notin (db,web)", false),
            ("missing notin (a)", true),
            ("tier in ()", true),
            ("tier in (a,)", true),
            ("app in (,a)", false),
            ("app", true),
            ("!app", false),
            ("!missing , app", true),
            ("n>4,n<6", true),
            ("n>5", false),
            ("app>1", false),
            ("in in (in),!notin", false),
        ] {
            assert_eq!(matches(selector, &labels), expected, "{selector}");
        }
    }

    #[test]
    fn a_broken_selector_says_what_was_found_and_expected() {
        for (selector, message) in [
            ("a=b=c", "found '=', expected: ',' or 'end of string'"),
            ("a,", "found '', expected: identifier after ','"),
            (",a", "found ',', expected: !, identifier, or 'end of string'"),
            ("a in", "unable to parse requirement: found '' expected: '('"),
            ("a in (b", "unable to parse requirement: found '', expected: ',' or ')'"),
            ("a b", "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"),
            ("!", "unable to parse requirement: found '', expected: identifier"),
        ] {
            let error = LabelSelector::parse(selector).unwrap_err();
            assert_eq!((error.code, error.message.as_str()), (400, message), "{selector}");
        }
        let error = LabelSelector::parse("a=-").unwrap_err();
        assert!(error.message.starts_with("unable to parse requirement: values[0][a]: Invalid value: \"-\": a valid"));
        assert!(LabelSelector::parse("a/b/c=d").is_err() && LabelSelector::parse("n>x").is_err());
    }

    proptest! {
        #[test]
        fn no_text_breaks_the_parser(text in "[a-z=!(),<> \0é./-]{0,30}") {
            let _ = LabelSelector::parse(&text);
        }

        #[test]
        fn in_is_the_opposite_of_notin(value in "[a-c]?", present: bool, wanted in proptest::collection::vec("[a-c]", 1..3)) {
            let labels = [("k", value.as_str())];
            let labels = if present { &labels[..] } else { &[] };
            let list = wanted.join(",");
            prop_assert_ne!(
                matches(&format!("k in ({list})"), labels),
                matches(&format!("k notin ({list})"), labels)
            );
        }
    }
}
