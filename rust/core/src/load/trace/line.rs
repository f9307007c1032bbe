//! One line after the header, as the values of its keys.

use super::scalar::Scalar;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, Visitor};
use std::borrow::Cow;
use std::fmt;

/// Every key that a line may have.
pub(super) const KEYS: [&str; 12] = [
    "t_us",
    "verb",
    "path",
    "query",
    "content_type",
    "body",
    "body_ref",
    "watch_us",
    "key",
    "user_agent",
    "expect_status",
    "sha256",
];

/// The values of a line by the place of their key in [`KEYS`], and the keys that are none.
#[derive(Debug, Default)]
pub(super) struct Line<'a> {
    values: [Option<Scalar<'a>>; KEYS.len()],
    pub(super) unknown: Vec<String>,
}

impl<'a> Line<'a> {
    /// Reads a line. The error is one clause without a place.
    pub(super) fn read(bytes: &'a [u8]) -> Result<Self, String> {
        let mut line = Self::default();
        let mut reader = serde_json::Deserializer::from_slice(bytes);
        line.deserialize(&mut reader).and_then(|()| reader.end()).map_err(|error| broken(&error))?;
        Ok(line)
    }

    /// Takes the value of a key; null counts as absent.
    pub(super) fn take(&mut self, key: &str) -> Option<Scalar<'a>> {
        let at = KEYS.iter().position(|known| *known == key)?;
        self.values[at].take().filter(|value| *value != Scalar::Null)
    }

    /// Whether the line has a value for this key.
    pub(super) fn has(&self, key: &str) -> bool {
        let at = KEYS.iter().position(|known| *known == key);
        at.and_then(|at| self.values[at].as_ref()).is_some_and(|value| *value != Scalar::Null)
    }

    /// The text of a key.
    pub(super) fn text(&mut self, key: &str) -> Result<Option<Cow<'a, str>>, String> {
        match self.take(key) {
            None => Ok(None),
            Some(Scalar::Text(text)) => Ok(Some(text)),
            Some(other) => Err(format!("{key} is {other}: a string was expected")),
        }
    }

    /// The integer of a key, 0 or more.
    pub(super) fn natural(&mut self, key: &str) -> Result<Option<u64>, String> {
        match self.take(key) {
            None => Ok(None),
            Some(Scalar::Natural(value)) => Ok(Some(value)),
            Some(other) => Err(format!("{key} is {other}: an integer of at least 0 was expected")),
        }
    }
}

/// What is wrong with a line that is no JSON object.
pub(super) fn broken(error: &serde_json::Error) -> String {
    if error.is_eof() {
        return "the line ends in the middle of its JSON object: was the file cut off?".to_owned();
    }
    let text = error.to_string();
    let clause = text.rsplit_once(" at line ").map_or(&*text, |(clause, _)| clause);
    if error.is_data() {
        return clause.to_owned();
    }
    format!("no JSON object: {clause} (column {})", error.column())
}

struct Key<'a>(Cow<'a, str>);

impl<'de> serde::Deserialize<'de> for Key<'de> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        #[derive(serde::Deserialize)]
        struct Text<'a>(#[serde(borrow)] Cow<'a, str>);
        Text::deserialize(from).map(|Text(text)| Self(text))
    }
}

impl<'de> DeserializeSeed<'de> for &mut Line<'de> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for &mut Line<'de> {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        while let Some(Key(key)) = entries.next_key()? {
            let value = entries.next_value::<Scalar<'de>>()?;
            match KEYS.iter().position(|known| *known == key) {
                Some(at) if self.values[at].is_some() => {
                    return Err(A::Error::custom(format!("{key} is there twice")));
                }
                Some(at) => self.values[at] = Some(value),
                None => self.unknown.push(key.into_owned()),
            }
        }
        Ok(())
    }
}
