//! A trace's file as a stream of requests.

use super::compression::Unpacked;
use super::lines::Lines;
use super::spilled_bodies::SpilledBodies;
use perfq_core::load::trace::{Header, MAX_LINE, Options, Parser};
use perfq_core::load::{Request, RequestError, Warnings};
use std::io;
use std::path::Path;

/// Reads a `perfq.trace/v1`, plain or packed. Holds one line and a bounded part of its bodies.
pub struct TraceRequests {
    lines: Lines<Unpacked>,
    parser: Parser<SpilledBodies>,
    ended: bool,
}

impl TraceRequests {
    /// Opens the file and reads its header.
    pub fn open(path: &Path, options: Options) -> Result<Self, RequestError> {
        let whole = |error: &io::Error| RequestError { line: None, text: reason(error) };
        Self::of(Unpacked::open(path).map_err(|error| whole(&error))?, options)
    }

    /// Reads the header of a stream.
    pub fn of(stream: Unpacked, options: Options) -> Result<Self, RequestError> {
        let lines = Lines::new(stream, MAX_LINE);
        let parser = Parser::new(SpilledBodies::default(), options);
        let mut trace = Self { lines, parser, ended: false };
        match trace.step()? {
            Step::End => Err(trace.parser.finish().expect_err("a trace without a header")),
            _ => Ok(trace),
        }
    }

    /// The first line.
    pub fn header(&self) -> &Header {
        self.parser.header().expect("it was read when the trace was opened")
    }

    /// SHA-256 of the lines after the header so far, where the options ask for it.
    pub fn digest(&self) -> String {
        self.parser.digest()
    }

    /// The line that was read last.
    pub fn line(&self) -> u64 {
        self.lines.count()
    }

    /// How often so far a PATCH came without a content type, which was guessed.
    pub fn guessed_patch_types(&self) -> u64 {
        self.parser.guessed_patch_types()
    }

    /// What was let through so far; empties the list.
    pub fn take_warnings(&mut self) -> Warnings {
        self.parser.take_warnings()
    }

    fn step(&mut self) -> Result<Step, RequestError> {
        let count = self.lines.count();
        let next = self.lines.next_line();
        let line = next.map_err(|error| RequestError { line: Some(count + 1), text: reason(&error) })?;
        match line.map(|line| self.parser.line(line)).transpose()? {
            None => Ok(Step::End),
            Some(None) => Ok(Step::Nothing),
            Some(Some(request)) => Ok(Step::Request(Box::new(request))),
        }
    }
}

enum Step {
    Request(Box<Request>),
    Nothing,
    End,
}

/// An I/O error without what Rust adds to it.
pub(in crate::load) fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_owned()
}

impl Iterator for TraceRequests {
    type Item = Result<Request, RequestError>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.ended {
            match self.step() {
                Ok(Step::Request(request)) => return Some(Ok(*request)),
                Ok(Step::Nothing) => {}
                Ok(Step::End) => {
                    self.ended = true;
                    return self.parser.finish().err().map(Err);
                }
                Err(error) => {
                    self.ended = true;
                    return Some(Err(error));
                }
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use hyper::http::uri::PathAndQuery;
    use proptest::prelude::*;
    use std::io::{Cursor, Write};

    fn read(bytes: Vec<u8>) -> Result<Vec<Request>, RequestError> {
        TraceRequests::of(Unpacked::of(Cursor::new(bytes)).unwrap(), Options::default())?.collect()
    }

    fn trace(requests: u32) -> String {
        let line =
            |i| format!("{{\"t_us\":{i},\"verb\":\"GET\",\"path\":\"/api/v1/nodes/n-{}\"}}\n", i * 7919 % 10_007);
        let mut text = "{\"schema\":\"perfq.trace/v1\"}\n".to_owned();
        text.extend((0..requests).map(line));
        text
    }

    #[test]
    fn a_gzip_file_that_is_cut_off_is_an_error_with_the_line_that_it_breaks_in() {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(trace(20_000).as_bytes()).unwrap();
        let packed = encoder.finish().unwrap();
        assert_eq!(read(packed.clone()).unwrap().len(), 20_000);
        let mut found = TraceRequests::of(
            Unpacked::of(Cursor::new(packed[..packed.len() / 2].to_vec())).unwrap(),
            Options::default(),
        )
        .unwrap();
        let whole = found.by_ref().take_while(Result::is_ok).count() as u64;
        // The one that ended the count is gone; the stream gives no more after it.
        assert!(whole > 1000 && found.next().is_none());
        let error = read(packed[..packed.len() / 2].to_vec()).unwrap_err();
        assert_eq!(error.line, Some(whole + 2));
        assert_eq!(error.text, "the gzip data ends in the middle: the file was cut off");
    }

    #[test]
    fn an_empty_file_a_folder_and_one_that_is_not_there_are_errors() {
        let folder = tempfile::tempdir().unwrap();
        let why = |path: &Path| TraceRequests::open(path, Options::default()).err().unwrap().to_string();
        assert_eq!(why(&folder.path().join("none")), "No such file or directory");
        assert_eq!(why(folder.path()), "it is a directory");
        std::fs::write(folder.path().join("empty"), b"").unwrap();
        assert!(why(&folder.path().join("empty")).starts_with("the file is empty: "));
    }

    proptest! {
        #[test]
        fn every_path_and_query_that_a_trace_may_have_can_be_sent(path in "/[!-~]{0,20}", query in "[!-~]{1,20}") {
            let line = serde_json::json!({"t_us": 0, "verb": "GET", "path": path, "query": query});
            let text = format!("{{\"schema\":\"perfq.trace/v1\"}}\n{line}\n");
            if let Ok(found) = read(text.into_bytes()) {
                let target = format!("{}?{}", found[0].path, found[0].query.as_deref().unwrap());
                let sent = PathAndQuery::try_from(&*target);
                prop_assert_eq!(sent.map(|sent| sent.as_str().to_owned()).ok(), Some(target));
            }
        }
    }
}
