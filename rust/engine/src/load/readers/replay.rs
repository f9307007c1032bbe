//! A kperf replay profile's file as a stream of requests.

use super::characters::{CharacterWatch, Characters};
use super::compression::Unpacked;
use perfq_core::load::kperf_replay::{DocumentKind, ReplayRequests, ReplaySpec, document_kind};
use perfq_core::load::trace::Loss;
use perfq_core::load::{Request, RequestError, Warnings};

/// Reads a replay profile, plain or packed. Holds one request.
pub struct ReplayProfile {
    requests: ReplayRequests<Characters<Unpacked>>,
    watch: CharacterWatch,
    ended: bool,
}

impl ReplayProfile {
    /// Before the first request.
    pub fn new(stream: Unpacked, allow_unknown: bool) -> Self {
        let watch = CharacterWatch::default();
        let requests = ReplayRequests::new(Characters::new(stream, watch.clone()), allow_unknown);
        Self { requests, watch, ended: false }
    }

    /// `spec`, once the last request was given.
    pub fn spec(&self) -> Option<&ReplaySpec> {
        self.requests.spec()
    }

    /// `description`, once the last request was given.
    pub fn description(&self) -> Option<&str> {
        self.requests.description()
    }

    /// SHA-256 of the file's text, unpacked, once the last request was given.
    pub fn digest(&self) -> String {
        self.watch.digest()
    }

    /// The line that was read last.
    pub fn line(&self) -> u64 {
        self.requests.line()
    }

    /// What was guessed, repaired or left out so far.
    pub fn losses(&self) -> Vec<Loss> {
        self.requests.losses()
    }

    /// What was let through so far; empties the list.
    pub fn take_warnings(&mut self) -> Warnings {
        self.requests.take_warnings()
    }
}

impl Iterator for ReplayProfile {
    type Item = Result<Request, RequestError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let next = self.requests.next();
        let parsed = match next {
            Some(Ok(request)) => (Some(request), None),
            Some(Err(error)) => (None, Some(error)),
            None => (None, None),
        };
        // An I/O error goes before what the parser made of it.
        let failure = self.watch.failure().map(|text| RequestError { line: Some(self.requests.line()), text });
        match (parsed.0, failure.or(parsed.1)) {
            (Some(request), None) => Some(Ok(request)),
            (_, error) => {
                self.ended = true;
                error.map(Err)
            }
        }
    }
}

/// Which of kperf's documents a YAML file holds; `None` where no key tells, or it is no YAML.
pub(super) fn yaml_kind(stream: Unpacked) -> Option<DocumentKind> {
    document_kind(Characters::new(stream, CharacterWatch::default())).ok().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use std::io::{Cursor, Write};

    fn profile(requests: u32) -> String {
        let top = "version: 1\nspec: {runnerCount: 1, connsPerRunner: 1}\nrequests:\n".to_owned();
        let entry = |i: u32| {
            format!("- timestamp: {i}\n  verb: GET\n  name: n-{0}\n  apiPath: /api/v1/nodes/n-{0}\n", i * 7919 % 10_007)
        };
        (0..requests).fold(top, |text, i| text + &entry(i))
    }

    fn open(bytes: Vec<u8>) -> ReplayProfile {
        ReplayProfile::new(Unpacked::of(Cursor::new(bytes)).unwrap(), false)
    }

    #[test]
    fn a_profile_that_is_cut_off_is_an_error_whether_it_is_packed_or_not() {
        let text = profile(5_000);
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text.as_bytes()).unwrap();
        let packed = encoder.finish().unwrap();
        let mut whole = open(packed.clone());
        assert_eq!(whole.by_ref().map(Result::unwrap).count(), 5_000);
        assert_eq!(whole.digest(), perfq_core::digest::sha256_hex(text.as_bytes()));
        let cut = open(packed[..packed.len() / 2].to_vec()).find_map(Result::err).unwrap();
        assert_eq!(cut.text, "the gzip data ends in the middle: the file was cut off");
        assert!(cut.line.unwrap() > 1_000, "{cut}");
        let in_a_key = text[..text.len() - 10].to_owned() + "\n  apiPa";
        let cut = open(in_a_key.into_bytes()).find_map(Result::err).unwrap();
        assert!(cut.line.unwrap() > 20_000, "{cut}");
    }

    #[test]
    fn a_value_without_end_does_not_fill_the_memory() {
        let endless = format!("version: 1\ndescription: |\n{}", "  x\n".repeat(9_000_000));
        let error = open(endless.into_bytes()).next().unwrap().unwrap_err();
        assert!(error.text.ends_with("without an end of a value"), "{error}");
    }
}
