//! A mapping whose keys are known, read from the stream.

use super::events::{At, Characters, Events, Node, Scalar, at};
use crate::load::request::RequestError;
use crate::load::seen::quoted;
use crate::load::warnings::Warnings;

/// The scalars of a mapping by the place of their key in the list of known ones.
#[derive(Debug)]
pub(super) struct Fields<const N: usize> {
    keys: &'static [&'static str; N],
    values: [Option<(u64, Scalar)>; N],
    /// The line on which the mapping begins.
    pub(super) line: u64,
}

/// How a mapping is read.
pub(super) struct Strictness<'a> {
    pub(super) allow_unknown: bool,
    pub(super) warnings: &'a mut Warnings,
    /// Where the mapping stands, for errors: `spec`, `a request`.
    pub(super) place: &'static str,
}

impl Strictness<'_> {
    /// An unknown key, whose value begins with `begun`.
    pub(super) fn unknown<I: Characters>(
        &mut self,
        events: &mut Events<I>,
        key: &str,
        known: &[&str],
        line: u64,
        begun: &Node,
    ) -> Result<(), RequestError> {
        let place = self.place;
        if !self.allow_unknown {
            return Err(at(
                line,
                format!("the key {} of {place} is unknown: {} are known", quoted(key), known.join(", ")),
            ));
        }
        self.warnings.add(Some(line), &format!("the key {} of {place} is unknown", quoted(key)));
        events.skip(begun)
    }
}

impl<const N: usize> Fields<N> {
    /// Reads a mapping whose beginning was given at `line`, to its end.
    pub(super) fn read<I: Characters>(
        events: &mut Events<I>,
        keys: &'static [&'static str; N],
        line: u64,
        strictness: &mut Strictness<'_>,
    ) -> Result<Self, RequestError> {
        let mut fields = Self { keys, values: [const { None }; N], line };
        let mut merged = Self { keys, values: [const { None }; N], line };
        while let Some((line, key)) = next_key(events)? {
            let begun = events.expect()?;
            let place = keys.iter().position(|known| *known == key);
            match (place, begun.node) {
                (Some(place), _) if fields.values[place].is_some() => {
                    return Err(at(line, format!("the key {key} of {} is there twice", strictness.place)));
                }
                (Some(place), Node::Scalar(scalar)) => fields.values[place] = Some((begun.line, scalar)),
                (Some(_), _) => {
                    return Err(at(begun.line, format!("{key} is a list or a mapping: a single value was expected")));
                }
                (None, node) if key == "<<" => merged.merge(events, &At { line, node }, strictness)?,
                (None, node) => strictness.unknown(events, &key, keys, line, &node)?,
            }
        }
        // What stands in the mapping itself goes before what is merged into it.
        fields.fill(merged);
        Ok(fields)
    }

    fn fill(&mut self, other: Self) {
        for (own, value) in self.values.iter_mut().zip(other.values) {
            if own.is_none() {
                *own = value;
            }
        }
    }

    /// Reads the value of `<<`. Of several mappings the first that has a key counts, and no more is held.
    fn merge<I: Characters>(
        &mut self,
        events: &mut Events<I>,
        begun: &At,
        strictness: &mut Strictness<'_>,
    ) -> Result<(), RequestError> {
        match begun.node {
            Node::Map => self.fill(Self::read(events, self.keys, begun.line, strictness)?),
            Node::List => loop {
                let next = events.expect()?;
                match next.node {
                    Node::Map => self.fill(Self::read(events, self.keys, next.line, strictness)?),
                    Node::End => break,
                    _ => return Err(at(next.line, "<< merges mappings")),
                }
            },
            _ => return Err(at(begun.line, "<< merges mappings")),
        }
        Ok(())
    }

    fn get(&self, key: &str) -> Option<&(u64, Scalar)> {
        let place = self.keys.iter().position(|known| *known == key)?;
        self.values[place].as_ref().filter(|(_, scalar)| !scalar.is_null())
    }

    /// The line of a key, or of the mapping where the key is absent.
    pub(super) fn line_of(&self, key: &str) -> u64 {
        self.get(key).map_or(self.line, |(line, _)| *line)
    }

    /// Text; any scalar is one. Null and nothing are "".
    pub(super) fn text(&self, key: &str) -> &str {
        self.get(key).map_or("", |(_, scalar)| &scalar.text)
    }

    /// An integer within bounds.
    pub(super) fn integer(&self, key: &str, least: i64, most: i64) -> Result<Option<i64>, RequestError> {
        let Some((line, scalar)) = self.get(key) else { return Ok(None) };
        match scalar.integer() {
            Some(value) if (least..=most).contains(&value) => Ok(Some(value)),
            _ => Err(at(*line, format!("{key} is {}: an integer from {least} to {most} was expected", seen(scalar)))),
        }
    }

    /// A boolean.
    pub(super) fn boolean(&self, key: &str) -> Result<Option<bool>, RequestError> {
        let Some((line, scalar)) = self.get(key) else { return Ok(None) };
        scalar
            .boolean()
            .map(Some)
            .ok_or_else(|| at(*line, format!("{key} is {}: true or false was expected", seen(scalar))))
    }
}

fn seen(scalar: &Scalar) -> String {
    if scalar.plain { scalar.text.chars().take(60).collect() } else { quoted(&scalar.text) }
}

/// The next key of a mapping; `None` at its end.
pub(super) fn next_key<I: Characters>(events: &mut Events<I>) -> Result<Option<(u64, String)>, RequestError> {
    let found = events.expect()?;
    match found.node {
        Node::Scalar(scalar) => Ok(Some((found.line, scalar.text))),
        Node::End => Ok(None),
        _ => Err(at(found.line, "a key must be a single value")),
    }
}
