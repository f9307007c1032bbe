//! A file of requests, read to its end before the run: checked, counted, shared among runners, made into a trace.

use super::readers::{Input, InputFacts};
use super::trace_file::TraceFile;
use perfq_core::load::rewrite::{RewriteOptions, Rewriter};
use perfq_core::load::trace::Header;
use perfq_core::load::{Counts, CountsText, Needs, Request, RequestError, Shares, SharesText};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};

/// How a file is read.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ReadOptions {
    /// Unknown keys are warnings instead of errors.
    pub allow_unknown: bool,
    /// How the requests are rewritten.
    pub rewrite: Option<RewriteOptions>,
}

/// What a file holds.
#[derive(Clone, Debug, Serialize)]
pub struct Inspection {
    /// What is known beside the requests.
    #[serde(flatten)]
    pub facts: InputFacts,
    /// How many requests will be planned.
    pub planned: u64,
    /// The last due instant, microseconds after T0.
    pub last_due_us: u64,
    /// The last due instant or the end of the last watch with a length.
    pub span_us: u64,
    /// By verb and more.
    pub counts: CountsText,
    /// What the target must have before.
    pub needs: Needs,
}

/// A file that was made into a trace.
#[derive(Clone, Debug, Serialize)]
pub struct Converted {
    /// What was read.
    #[serde(flatten)]
    pub read: Inspection,
    /// The header that was written.
    pub header: Header,
}

/// Why it was not read to its end.
#[derive(Debug)]
pub enum Stopped<E> {
    /// The file is at fault.
    File(RequestError),
    /// The file that is written.
    Target(PathBuf, RequestError),
    /// The options are.
    Options(String),
    /// The caller wants no more.
    Caller(E),
}

impl<E> From<RequestError> for Stopped<E> {
    fn from(error: RequestError) -> Self {
        Self::File(error)
    }
}

/// After so many requests the caller is asked whether to go on.
const TURN: u64 = 1 << 16;

fn read<E>(
    path: &Path,
    options: &ReadOptions,
    mut go_on: impl FnMut() -> Result<(), E>,
    mut each: impl FnMut(&Request) -> Result<(), Stopped<E>>,
) -> Result<Inspection, Stopped<E>> {
    let mut input = Input::open(path, options.allow_unknown)?;
    let mut rewriter = options.rewrite.as_ref().map(Rewriter::new).transpose().map_err(Stopped::Options)?;
    let mut counts = Counts::default();
    let mut needs = Needs::default();
    let mut read = 0u64;
    while let Some(request) = input.next() {
        read += 1;
        if read.is_multiple_of(TURN) {
            go_on().map_err(Stopped::Caller)?;
        }
        let request = match &mut rewriter {
            None => Some(request?),
            // What stands after the window is read all the same: its mistakes are found, its losses counted.
            Some(rewriter) => rewriter.rewrite(request?).map_err(|error| error.on_line(input.line()))?,
        };
        if let Some(request) = request {
            counts.add(&request);
            needs.add(&request);
            each(&request)?;
        }
    }
    if counts.requests == 0 {
        return Err(RequestError { line: None, text: "nothing of it is left to be sent".to_owned() }.into());
    }
    let mut facts = input.facts();
    facts.losses.extend(rewriter.iter().flat_map(Rewriter::losses));
    Ok(Inspection {
        facts,
        planned: counts.requests,
        last_due_us: counts.last_due_us,
        span_us: counts.span_us,
        counts: counts.text(),
        needs,
    })
}

/// Checks the whole file. `go_on` is asked now and then.
pub fn inspect<E>(
    path: &Path,
    options: &ReadOptions,
    go_on: impl FnMut() -> Result<(), E>,
) -> Result<Inspection, Stopped<E>> {
    read(path, options, go_on, |_| Ok(()))
}

/// Counts the requests of each of so many runners (at least 1), and the hottest keys.
pub fn shares<E>(
    path: &Path,
    runners: u32,
    hot_keys: usize,
    options: &ReadOptions,
    go_on: impl FnMut() -> Result<(), E>,
) -> Result<SharesText, Stopped<E>> {
    let mut shares = Shares::new(runners);
    read(path, options, go_on, |request| {
        shares.add(request);
        Ok(())
    })?;
    Ok(shares.text(hot_keys))
}

/// Writes what the file holds as a trace, which must not exist yet.
pub fn convert<E>(
    path: &Path,
    to: &Path,
    options: &ReadOptions,
    go_on: impl FnMut() -> Result<(), E>,
) -> Result<Converted, Stopped<E>> {
    let target = |error| Stopped::Target(to.to_owned(), error);
    let mut file = TraceFile::create(to).map_err(target)?;
    let read = read(path, options, go_on, |request| file.request(request).map_err(target))?;
    let header = file.finish(source(&read.facts), read.facts.losses.clone()).map_err(target)?;
    Ok(Converted { read, header })
}

/// A trace's own source, or what is known of the profile that it is made from.
fn source(facts: &InputFacts) -> Map<String, Value> {
    if !facts.source.is_empty() {
        return facts.source.clone();
    }
    let mut source = Map::new();
    source.insert("format".to_owned(), serde_json::to_value(facts.format).unwrap_or_default());
    source.insert("digest".to_owned(), facts.digest.clone().into());
    if let Some(description) = &facts.description {
        source.insert("description".to_owned(), description.clone().into());
    }
    if let Some(spec) = &facts.spec {
        source.insert("spec".to_owned(), spec.clone());
    }
    source
}

#[cfg(test)]
mod tests {
    use super::*;
    use perfq_core::partition::partition;
    use std::convert::Infallible;

    #[allow(clippy::unnecessary_wraps)] // as a caller's is
    fn on() -> Result<(), Infallible> {
        Ok(())
    }

    fn profile(requests: u32) -> String {
        let top = "version: 1\ndescription: As recorded\nspec: {runnerCount: 3, connsPerRunner: 1}\nrequests:\n";
        let entry = |i: u32| {
            format!(
                "- {{timestamp: {i}, verb: PATCH, namespace: a, resourceKind: Node, name: n-{0}, apiPath: /api/v1/nodes/n-{0}, body: '{{}}'}}\n",
                i % 7
            )
        };
        (0..requests).fold(top.to_owned(), |text, i| text + &entry(i))
    }

    #[test]
    fn a_replay_profile_and_the_trace_made_of_it_are_the_same_requests_on_the_same_runners() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("replay.yaml"), folder.path().join("a.trace.zst"));
        std::fs::write(&from, profile(100)).unwrap();
        let options = ReadOptions::default();
        let converted = convert(&from, &to, &options, on).unwrap();
        let seen = inspect(&to, &options, on).unwrap();
        assert_eq!(seen.counts, converted.read.counts);
        assert_eq!((seen.planned, seen.last_due_us), (100, 99_000));
        assert_eq!(seen.facts.spec, converted.read.facts.spec);
        assert_eq!(seen.facts.spec.unwrap()["runnerCount"], 3);
        assert_eq!(seen.facts.description.as_deref(), Some("As recorded"));
        assert_eq!(seen.facts.losses[0].loss, "patch_type_guessed");
        assert_eq!(seen.facts.losses, converted.read.facts.losses);
        let of = |path: &Path| shares(path, 3, 5, &options, on).unwrap();
        assert_eq!(of(&from), of(&to));
        let expected = (0..100u32).filter(|i| partition(&format!("a/Node/n-{}", i % 7), 3) == 1).count() as u64;
        assert_eq!(of(&from).runners[1].requests, expected);
    }

    #[test]
    fn what_holds_no_requests_is_refused_by_what_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let why = |text: &str| {
            std::fs::write(&path, text).unwrap();
            match inspect(&path, &ReadOptions::default(), on) {
                Err(Stopped::File(error)) => error.to_string(),
                other => panic!("{other:?}"),
            }
        };
        assert!(why("count: 1\nreplayProfile: x\n").starts_with("it is a runner group"));
        assert!(why("specs: []\n").starts_with("it is a load profile"));
        assert!(why("{\"apiVersion\":\"audit.k8s.io/v1\"}\n").starts_with("it is an audit log"));
        assert_eq!(why("hello"), "it is neither a perfq trace nor a kperf replay profile");
    }

    #[test]
    fn the_caller_can_end_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, profile(70_000)).unwrap();
        let ended = inspect(&path, &ReadOptions::default(), || Err("enough"));
        assert!(matches!(ended, Err(Stopped::Caller("enough"))));
    }
}
