//! A replay profile as a stream of requests.

use super::events::{Characters, Events, Node, at};
use super::fields::{Strictness, next_key};
use super::request::{self, Notes};
use super::spec::ReplaySpec;
use crate::load::request::{Request, RequestError};
use crate::load::trace::Loss;
use crate::load::warnings::Warnings;

const KEYS: [&str; 4] = ["version", "description", "spec", "requests"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Before,
    Keys,
    Requests,
    Ended,
}

/// Reads a profile from its characters, whichever order its keys have. After an error it gives no more.
pub struct ReplayRequests<I: Characters> {
    events: Events<I>,
    state: State,
    allow_unknown: bool,
    seen: Vec<&'static str>,
    description: Option<String>,
    spec: Option<ReplaySpec>,
    requests: u64,
    last_ms: u64,
    notes: Notes,
    warnings: Warnings,
}

impl<I: Characters> ReplayRequests<I> {
    /// Before the first character.
    pub fn new(characters: I, allow_unknown: bool) -> Self {
        Self {
            events: Events::new(characters),
            state: State::Before,
            allow_unknown,
            seen: Vec::new(),
            description: None,
            spec: None,
            requests: 0,
            last_ms: 0,
            notes: Notes::default(),
            warnings: Warnings::default(),
        }
    }

    /// `spec`, known for certain once the last request was given.
    pub fn spec(&self) -> Option<&ReplaySpec> {
        self.spec.as_ref()
    }

    /// `description`.
    pub fn description(&self) -> Option<&str> {
        self.description.as_deref()
    }

    /// The line that was read last.
    pub fn line(&self) -> u64 {
        self.events.line()
    }

    /// What was let through so far; empties the list.
    pub fn take_warnings(&mut self) -> Warnings {
        std::mem::take(&mut self.warnings)
    }

    /// What was guessed, repaired or left out so far.
    pub fn losses(&self) -> Vec<Loss> {
        let all = [
            (
                "patch_type_guessed",
                self.notes.guessed_patch_types,
                "A profile does not say a PATCH's type: JSON Patch was taken for lists, strategic merge for \
                 Kubernetes' own resources, merge for all others.",
            ),
            (
                "query_repaired",
                self.notes.repaired_queries,
                "The apiPath had & where its ? belongs, and was read as meant.",
            ),
            (
                "body_not_sent",
                self.notes.unsent_bodies,
                "The verb sends no body, or a DELETE's body was not DeleteOptions.",
            ),
            ("selector_not_sent", self.notes.unsent_selectors, "The verb takes no labelSelector."),
        ];
        let some = all.into_iter().filter(|(_, count, _)| *count > 0);
        some.map(|(loss, count, text)| Loss::of_changes(loss, count, text)).collect()
    }

    fn step(&mut self) -> Result<Option<Request>, RequestError> {
        loop {
            match self.state {
                State::Ended => return Ok(None),
                State::Before => {
                    match self.events.next()? {
                        Some(begun) if begun.node == Node::Map => {}
                        _ => return Err(at(self.events.line(), "no replay profile: a mapping was expected")),
                    }
                    self.state = State::Keys;
                }
                State::Keys => self.key()?,
                State::Requests => {
                    let begun = self.events.expect()?;
                    match begun.node {
                        Node::End => self.state = State::Keys,
                        Node::Map => return self.request(begun.line).map(Some),
                        _ => return Err(at(begun.line, "a request must be a mapping")),
                    }
                }
            }
        }
    }

    fn request(&mut self, line: u64) -> Result<Request, RequestError> {
        let found = request::read(
            &mut self.events,
            line,
            self.last_ms,
            self.allow_unknown,
            &mut self.warnings,
            &mut self.notes,
        )?;
        self.last_ms = found.due_us.unwrap_or(0) / 1000;
        self.requests += 1;
        Ok(found)
    }

    /// Reads a key of the profile with its value, as far as the first request.
    fn key(&mut self) -> Result<(), RequestError> {
        let Some((line, key)) = next_key(&mut self.events)? else { return self.end() };
        let begun = self.events.expect()?;
        let mut strictness =
            Strictness { allow_unknown: self.allow_unknown, warnings: &mut self.warnings, place: "the profile" };
        let Some(known) = KEYS.into_iter().find(|known| *known == key) else {
            return strictness.unknown(&mut self.events, &key, &KEYS, line, &begun.node);
        };
        if self.seen.contains(&known) {
            return Err(at(line, format!("the key {known} is there twice")));
        }
        self.seen.push(known);
        match (known, begun.node) {
            ("version", Node::Scalar(scalar)) if scalar.integer() == Some(1) => {}
            ("version", Node::Scalar(scalar)) => {
                return Err(at(begun.line, format!("version is {}: 1 was expected", scalar.text)));
            }
            ("description", Node::Scalar(scalar)) => {
                self.description = (!scalar.is_null()).then_some(scalar.text);
            }
            ("spec", Node::Map) => {
                strictness.place = "spec";
                self.spec = Some(ReplaySpec::read(&mut self.events, line, &mut strictness)?);
            }
            ("requests", Node::List) => self.state = State::Requests,
            ("requests", Node::Scalar(scalar)) if scalar.is_null() => {}
            (key, _) => {
                let kind = match key {
                    "spec" => "a mapping",
                    "requests" => "a list",
                    _ => "a single value",
                };
                return Err(at(begun.line, format!("{key} must be {kind}")));
            }
        }
        Ok(())
    }

    fn end(&mut self) -> Result<(), RequestError> {
        self.state = State::Ended;
        let line = self.events.line();
        if !self.seen.contains(&"version") {
            return Err(at(line, "the profile needs version: 1"));
        }
        if self.spec.is_none() {
            return Err(at(line, "the profile needs a spec with runnerCount and connsPerRunner"));
        }
        if self.requests == 0 {
            return Err(at(line, "the profile holds no request"));
        }
        if self.events.next()?.is_some() {
            return Err(at(self.events.line(), "something follows the profile"));
        }
        Ok(())
    }
}

impl<I: Characters> Iterator for ReplayRequests<I> {
    type Item = Result<Request, RequestError>;

    fn next(&mut self) -> Option<Self::Item> {
        let found = self.step();
        if found.is_err() {
            self.state = State::Ended;
        }
        found.transpose()
    }
}
