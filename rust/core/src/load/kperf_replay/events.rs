//! YAML as a stream of owned events with their lines; aliases are replaced by what they stand for. Depth,
//! anchors and what they expand to are bounded.

use crate::load::request::RequestError;
use saphyr_parser::{BufferedInput, Event, Marker, Parser, ScalarStyle, ScanError, Tag};
use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};

const DEEPEST: usize = 64;
const MOST_ANCHORS: usize = 10_000;
/// Events that anchors may hold in all, and that aliases may become in all.
const MOST_HELD: usize = 100_000;
const MOST_EXPANDED: usize = 10_000_000;
/// Bytes of text that anchors may hold in all.
const MOST_BYTES: usize = 16 * 1024 * 1024;

/// A document's characters, as they are read.
pub trait Characters: Iterator<Item = char> + 'static {}

impl<I: Iterator<Item = char> + 'static> Characters for I {}

/// A node's beginning or end.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Node {
    Scalar(Scalar),
    List,
    Map,
    /// The end of the list or map begun last.
    End,
}

/// A scalar as it stands.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Scalar {
    pub(super) text: String,
    /// Without quotes or a tag that makes it text, so that it may be a number, a boolean or null.
    pub(super) plain: bool,
}

/// A node and the line on which it stands.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct At {
    pub(super) line: u64,
    pub(super) node: Node,
}

struct Recording {
    anchor: usize,
    depth: usize,
    nodes: Vec<At>,
}

/// The events of one document.
pub(super) struct Events<I: Characters> {
    parser: Parser<'static, BufferedInput<I>>,
    depth: usize,
    recordings: Vec<Recording>,
    anchors: HashMap<usize, Vec<At>>,
    held: usize,
    held_bytes: usize,
    expanded: usize,
    /// What an alias stood for.
    queue: VecDeque<At>,
    last_line: u64,
    documents: u32,
}

fn line_of(marker: &Marker) -> u64 {
    marker.line() as u64
}

pub(super) fn at(line: u64, text: impl Into<String>) -> RequestError {
    RequestError { line: Some(line), text: text.into() }
}

fn broken(error: &ScanError) -> RequestError {
    at(line_of(error.marker()), format!("no YAML: {}", error.info()))
}

fn is_text(tag: Option<&Tag>) -> bool {
    tag.is_some_and(|tag| tag.is_yaml_core_schema() && tag.suffix == "str")
}

impl<I: Characters> Events<I> {
    pub(super) fn new(characters: I) -> Self {
        Self {
            parser: Parser::new_from_iter(characters),
            depth: 0,
            recordings: Vec::new(),
            anchors: HashMap::new(),
            held: 0,
            held_bytes: 0,
            expanded: 0,
            queue: VecDeque::new(),
            last_line: 1,
            documents: 0,
        }
    }

    /// The line of the event given last.
    pub(super) fn line(&self) -> u64 {
        self.last_line
    }

    /// The next event; `None` at the end of the stream. A second document is an error.
    pub(super) fn next(&mut self) -> Result<Option<At>, RequestError> {
        let found = match self.queue.pop_front() {
            Some(found) => found,
            None => match self.parsed()? {
                Some(found) => found,
                None => return Ok(None),
            },
        };
        self.last_line = found.line;
        match found.node {
            Node::List | Node::Map => {
                self.depth += 1;
                if self.depth > DEEPEST {
                    return Err(at(found.line, format!("nested more than {DEEPEST} deep")));
                }
            }
            Node::End => self.depth = self.depth.saturating_sub(1),
            Node::Scalar(_) => {}
        }
        self.record(&found)?;
        Ok(Some(found))
    }

    /// As [`Events::next`], where the document cannot end.
    pub(super) fn expect(&mut self) -> Result<At, RequestError> {
        self.next()?.ok_or_else(|| at(self.last_line, "the file ends in the middle"))
    }

    /// Passes over the rest of the node whose beginning was given.
    pub(super) fn skip(&mut self, begun: &Node) -> Result<(), RequestError> {
        if matches!(begun, Node::List | Node::Map) {
            let depth = self.depth;
            while self.depth >= depth {
                self.expect()?;
            }
        }
        Ok(())
    }

    fn parsed(&mut self) -> Result<Option<At>, RequestError> {
        loop {
            let Some(next) = self.parser.next_event() else { return Ok(None) };
            let (event, span) = next.map_err(|error| broken(&error))?;
            let line = line_of(&span.start);
            let (node, anchor) = match event {
                Event::Nothing | Event::StreamStart | Event::DocumentEnd => continue,
                Event::DocumentStart(_) => {
                    self.documents += 1;
                    if self.documents > 1 {
                        return Err(at(line, "a second document begins: a file holds one"));
                    }
                    continue;
                }
                Event::StreamEnd => return Ok(None),
                Event::Alias(anchor) => {
                    self.expand(anchor, line)?;
                    return Ok(self.queue.pop_front());
                }
                Event::Scalar(text, style, anchor, tag) => {
                    let plain = style == ScalarStyle::Plain && !is_text(tag.as_deref());
                    (Node::Scalar(Scalar { text: text.into_owned(), plain }), anchor)
                }
                Event::SequenceStart(anchor, _) => (Node::List, anchor),
                Event::MappingStart(anchor, _) => (Node::Map, anchor),
                Event::SequenceEnd | Event::MappingEnd => (Node::End, 0),
            };
            if anchor > 0 {
                if self.anchors.len() + self.recordings.len() >= MOST_ANCHORS {
                    return Err(at(line, format!("more than {MOST_ANCHORS} anchors")));
                }
                self.recordings.push(Recording { anchor, depth: self.depth, nodes: Vec::new() });
            }
            return Ok(Some(At { line, node }));
        }
    }

    fn expand(&mut self, anchor: usize, line: u64) -> Result<(), RequestError> {
        let nodes = self.anchors.get(&anchor).ok_or_else(|| at(line, "an alias stands within its own anchor"))?;
        self.expanded += nodes.len();
        if self.expanded > MOST_EXPANDED {
            return Err(at(line, format!("aliases stand for more than {MOST_EXPANDED} values")));
        }
        self.queue.extend(nodes.iter().cloned());
        Ok(())
    }

    /// Adds the event to the anchors that are open, and closes those that end with it.
    fn record(&mut self, found: &At) -> Result<(), RequestError> {
        if self.recordings.is_empty() {
            return Ok(());
        }
        self.held += self.recordings.len();
        if let Node::Scalar(scalar) = &found.node {
            self.held_bytes += self.recordings.len() * scalar.text.len();
        }
        if self.held > MOST_HELD || self.held_bytes > MOST_BYTES {
            return Err(at(found.line, format!("anchors hold more than {MOST_HELD} values or {MOST_BYTES} bytes")));
        }
        for recording in &mut self.recordings {
            recording.nodes.push(found.clone());
        }
        if !matches!(found.node, Node::List | Node::Map) {
            while let Some(ended) = self.recordings.pop_if(|recording| recording.depth == self.depth) {
                self.anchors.insert(ended.anchor, ended.nodes);
            }
        }
        Ok(())
    }
}

impl Scalar {
    /// Null: nothing, `~` or `null` without quotes.
    pub(super) fn is_null(&self) -> bool {
        self.plain && matches!(&*self.text, "" | "~" | "null" | "Null" | "NULL")
    }

    /// An integer without quotes; `None` for all else, numbers with leading zeros (octal to some readers)
    /// among it.
    pub(super) fn integer(&self) -> Option<i64> {
        if !self.plain {
            return None;
        }
        let text: Cow<'_, str> =
            if self.text.contains('_') { self.text.replace('_', "").into() } else { Cow::Borrowed(&self.text) };
        let digits = text.trim_start_matches(['-', '+']);
        if digits.len() > 1 && digits.starts_with('0') {
            return None;
        }
        text.parse().ok()
    }

    /// A boolean without quotes, as YAML 1.1 has them.
    pub(super) fn boolean(&self) -> Option<bool> {
        match &*self.text.to_ascii_lowercase() {
            _ if !self.plain => None,
            "true" | "yes" | "on" => Some(true),
            "false" | "no" | "off" => Some(false),
            _ => None,
        }
    }
}
