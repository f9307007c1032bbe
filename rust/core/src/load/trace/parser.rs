//! Lines become requests.

use super::bodies::Bodies;
use super::check;
use super::header::Header;
use super::line::{KEYS, Line};
use super::{MAX_LINE, header};
use crate::digest::{self, Digest};
use crate::load::api_path::derived_key;
use crate::load::apply::field_manager;
use crate::load::patch_type::{self, APPLY};
use crate::load::request::{Body, Key, Request, RequestError, Verb, WatchEnd};
use crate::load::seen::quoted;
use crate::load::warnings::Warnings;

/// How strictly a trace is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Unknown keys are warnings instead of errors.
    pub allow_unknown: bool,
    /// The lines are hashed and held against the header's digest.
    pub digest: bool,
}

/// Takes a trace's lines in their order and gives its requests. After an error it is of no further use.
#[derive(Debug)]
pub struct Parser<B> {
    options: Options,
    bodies: B,
    lines: u64,
    header: Option<Header>,
    requests: u64,
    last_us: u64,
    guessed_patch_types: u64,
    warnings: Warnings,
    digest: Digest,
}

impl<B: Bodies> Parser<B> {
    /// Before the first line.
    pub fn new(bodies: B, options: Options) -> Self {
        Self {
            options,
            bodies,
            lines: 0,
            header: None,
            requests: 0,
            last_us: 0,
            guessed_patch_types: 0,
            warnings: Warnings::default(),
            digest: Digest::default(),
        }
    }

    /// Reads the next line (without its line feed); `None` for the header, a body and an empty line.
    pub fn line(&mut self, bytes: &[u8]) -> Result<Option<Request>, RequestError> {
        self.lines += 1;
        let found = self.read(bytes);
        found.map_err(|text| RequestError { line: Some(self.lines), text })
    }

    /// The file has ended: whether it held what its header says.
    pub fn finish(&mut self) -> Result<(), RequestError> {
        let whole = |text: String| Err(RequestError { line: None, text });
        let Some(header) = &self.header else {
            return whole(format!(
                "the file is empty: a trace begins with the line {{\"schema\":\"{}\",…}}",
                header::SCHEMA
            ));
        };
        if let Some(announced) = header.counts.get("requests").and_then(serde_json::Value::as_u64)
            && announced != self.requests
        {
            return whole(format!(
                "the header announces {announced} requests, the file holds {}: was it cut off?",
                self.requests
            ));
        }
        if self.requests == 0 {
            return whole("the trace holds no request".to_owned());
        }
        if let (true, Some(announced)) = (self.options.digest, &header.digest) {
            let seen = self.digest();
            if seen != *announced {
                return whole(format!(
                    "the header's digest is {announced}, that of the lines after it {seen}: the file was changed; \
                     remove the digest from the header if that was meant"
                ));
            }
        }
        Ok(())
    }

    /// The header, once the first line was read.
    pub fn header(&self) -> Option<&Header> {
        self.header.as_ref()
    }

    /// SHA-256 of the lines so far, as the header has it; of nothing unless the options ask for it.
    pub fn digest(&self) -> String {
        self.digest.clone().hex()
    }

    /// How often a PATCH came without a content type, which was guessed.
    pub fn guessed_patch_types(&self) -> u64 {
        self.guessed_patch_types
    }

    /// What was let through; empties the list.
    pub fn take_warnings(&mut self) -> Warnings {
        std::mem::take(&mut self.warnings)
    }

    fn read(&mut self, bytes: &[u8]) -> Result<Option<Request>, String> {
        if bytes.len() > MAX_LINE {
            return Err(format!("the line has {} bytes, more than {MAX_LINE}", bytes.len()));
        }
        if self.header.is_none() {
            self.header = Some(Header::read(bytes, self.options.allow_unknown, &mut self.warnings)?);
            return Ok(None);
        }
        if self.options.digest {
            self.digest.update(bytes);
            self.digest.update(b"\n");
        }
        if bytes.trim_ascii().is_empty() {
            return Ok(None);
        }
        let mut line = Line::read(bytes)?;
        for key in std::mem::take(&mut line.unknown) {
            if !self.options.allow_unknown {
                return Err(format!("the key {} is unknown: {} are known", quoted(&key), KEYS.join(", ")));
            }
            self.warnings.add(Some(self.lines), &format!("the key {} is unknown", quoted(&key)));
        }
        if line.has("sha256") {
            return self.body_line(line).map(|()| None);
        }
        self.request(line).map(Some)
    }

    fn body_line(&mut self, mut line: Line<'_>) -> Result<(), String> {
        let named = digest_of("sha256", &line.text("sha256")?.unwrap_or_default())?;
        let body = line.text("body")?.ok_or("a line with sha256 needs the body that it is the digest of")?;
        if let Some(other) = KEYS.iter().find(|key| line.has(key)) {
            return Err(format!("a line with sha256 holds a body alone, but it has {other}"));
        }
        let seen = digest::sha256(body.as_bytes());
        if seen != named {
            return Err(format!("sha256 is {}, that of the body is {}", digest::hex(&named), digest::hex(&seen)));
        }
        self.bodies.keep(seen, Body::from(body.as_bytes()))
    }

    fn request(&mut self, mut line: Line<'_>) -> Result<Request, String> {
        let due_us = line.natural("t_us")?.ok_or_else(|| missing("t_us"))?;
        if due_us < self.last_us {
            return Err(format!(
                "t_us is {due_us}, less than the {} of the request before: requests must be sorted by t_us",
                self.last_us
            ));
        }
        let verb = verb(&line.text("verb")?.ok_or_else(|| missing("verb"))?)?;
        let path = line.text("path")?.ok_or_else(|| missing("path"))?;
        check::path(&path)?;
        let mut query = line.text("query")?.filter(|query| !query.is_empty());
        if let Some(query) = &query {
            check::query(query)?;
        }
        let body = self.body(&mut line)?;
        check::shape(verb, &path, query.as_deref(), body.is_some())?;
        if verb == Verb::Apply
            && let Some(longer) = field_manager(query.as_deref())
        {
            query = Some(longer.into());
        }
        let content_type = self.content_type(&mut line, verb, &path, body.as_deref())?;
        let watch = match (verb, line.natural("watch_us")?) {
            (Verb::Watch, Some(us)) => Some(WatchEnd::After(us)),
            (Verb::Watch, None) => Some(WatchEnd::WithTheRun),
            (_, None) => None,
            (other, Some(_)) => return Err(format!("watch_us is for WATCH, not for {}", other.name())),
        };
        let key = match line.text("key")? {
            Some(key) if key.matches('/').count() < 2 => {
                return Err(format!("key is {}: namespace/kind/name was expected", quoted(&key)));
            }
            Some(key) => Some(Key::given(&key)),
            None => derived_key(verb, &path, query.as_deref(), body.as_deref()),
        };
        let user_agent = line.text("user_agent")?;
        if let Some(value) = &user_agent {
            check::header_value("user_agent", value)?;
        }
        let expect_status = match line.natural("expect_status")? {
            None => None,
            Some(status) => Some(
                u16::try_from(status)
                    .ok()
                    .filter(|status| (200..600).contains(status))
                    .ok_or_else(|| format!("expect_status is {status}: a status from 200 to 599 was expected"))?,
            ),
        };
        self.last_us = due_us;
        self.requests += 1;
        Ok(Request {
            due_us: Some(due_us),
            verb,
            path: path.into(),
            query: query.map(Into::into),
            content_type,
            body,
            watch,
            key,
            user_agent: user_agent.map(Into::into),
            expect_status,
            headers: None,
        })
    }

    fn body(&mut self, line: &mut Line<'_>) -> Result<Option<Body>, String> {
        match (line.text("body")?, line.text("body_ref")?) {
            (None, None) => Ok(None),
            (Some(body), None) => Ok(Some(Body::from(body.as_bytes()))),
            (None, Some(reference)) => {
                let sha256 = digest_of("body_ref", &reference)?;
                let found = self.bodies.find(&sha256)?;
                found.map(Some).ok_or_else(|| {
                    format!("body_ref is {reference}: no line before this one holds the body of that sha256")
                })
            }
            (Some(_), Some(_)) => Err("body and body_ref exclude each other".to_owned()),
        }
    }

    fn content_type(
        &mut self,
        line: &mut Line<'_>,
        verb: Verb,
        path: &str,
        body: Option<&[u8]>,
    ) -> Result<Option<Box<str>>, String> {
        match (line.text("content_type")?, body) {
            (None, None) => Ok(None),
            (Some(_), None) => Err("content_type without a body".to_owned()),
            (Some(given), Some(_)) => {
                check::header_value("content_type", &given)?;
                if verb == Verb::Apply && !given.starts_with("application/apply-patch+") {
                    return Err(format!("content_type is {}: APPLY sends {APPLY}", quoted(&given)));
                }
                Ok(Some(given.into()))
            }
            (None, Some(body)) => {
                let (found, guessed) = patch_type::content_type(verb, path, body);
                self.guessed_patch_types += u64::from(guessed);
                Ok(Some(found.into()))
            }
        }
    }
}

fn missing(key: &str) -> String {
    format!("{key} is missing")
}

fn digest_of(key: &str, text: &str) -> Result<[u8; 32], String> {
    digest::from_hex(text).ok_or_else(|| format!("{key} is {}: 64 lower-case hex digits were expected", quoted(text)))
}

/// The verb of a trace or a kperf replay.
pub(in crate::load) fn verb(text: &str) -> Result<Verb, String> {
    Verb::parse(text).ok_or_else(|| {
        if text == "CONNECT" {
            return "CONNECT (exec, attach, port-forward, proxy) is not replayed; take this request out".to_owned();
        }
        let known: Vec<&str> = Verb::ALL.into_iter().map(Verb::name).collect();
        format!("verb is {}: one of {} was expected", quoted(text), known.join(", "))
    })
}
