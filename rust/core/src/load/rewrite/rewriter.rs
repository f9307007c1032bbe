//! Request by request, with what was lost on the way.

use super::body::Editor;
use super::filter::Filter;
use super::names::Maps;
use super::options::RewriteOptions;
use super::timeline::{Placed, Timeline};
use super::versions::{Fate, rewrite};
use crate::load::api_path::ApiPath;
use crate::load::request::{Body, Request, RequestError};
use crate::load::trace::{Loss, check};
use std::ops::ControlFlow;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Counts {
    outside: u64,
    clipped: u64,
    filtered: u64,
    pages: u64,
    preconditions: u64,
    unreadable: u64,
}

/// Rewrites a stream of requests.
#[derive(Clone, Debug)]
pub struct Rewriter {
    timeline: Timeline,
    filter: Filter,
    maps: Maps,
    keep_versions: bool,
    counts: Counts,
    ended: bool,
}

impl Rewriter {
    /// The error names the option and the value seen.
    pub fn new(options: &RewriteOptions) -> Result<Self, String> {
        let (timeline, filter, maps) = options.parts()?;
        Ok(Self {
            timeline,
            filter,
            maps,
            keep_versions: options.keep_versions,
            counts: Counts::default(),
            ended: false,
        })
    }

    /// The request as it is to be sent; `None` where it is left out, and counted. An error where sending it could
    /// do more than what was recorded.
    pub fn rewrite(&mut self, mut request: Request) -> Result<Option<Request>, RequestError> {
        match self.timeline.place(&mut request) {
            ControlFlow::Break(()) => {
                self.ended = true;
                self.counts.outside += 1;
                return Ok(None);
            }
            ControlFlow::Continue(Placed::Outside) => {
                self.counts.outside += 1;
                return Ok(None);
            }
            ControlFlow::Continue(Placed::Clipped) => self.counts.clipped += 1,
            ControlFlow::Continue(Placed::Inside) => {}
        }
        if !self.filter.keeps(&request) {
            self.counts.filtered += 1;
            return Ok(None);
        }
        if !self.keep_versions && rewrite(&mut request) == Fate::PageLost {
            self.counts.pages += 1;
            return Ok(None);
        }
        let wrong = |text| RequestError { line: None, text };
        if !self.body(&mut request) {
            self.counts.unreadable += 1;
            return Ok(None);
        }
        self.maps.apply(&mut request).map_err(wrong)?;
        // What was checked as it was recorded must hold of what became of it.
        check::path(&request.path).map_err(wrong)?;
        check::shape(request.verb, &request.path, request.query.as_deref(), request.body.is_some()).map_err(wrong)?;
        Ok(Some(request))
    }

    /// Whether no later request can be in the window.
    pub fn has_ended(&self) -> bool {
        self.ended
    }

    /// Edits the body; false where it would have to be edited and cannot be.
    fn body(&mut self, request: &mut Request) -> bool {
        let Some(body) = &request.body else { return true };
        let resource = ApiPath::parse(&request.path).map(|parts| parts.resource.into_owned()).unwrap_or_default();
        let editor = Editor { maps: &self.maps, resource: &resource, drop_preconditions: !self.keep_versions };
        let edited = std::str::from_utf8(body).ok().and_then(|text| editor.edit(text));
        match edited {
            None => self.maps.is_empty(),
            Some((text, edits)) => {
                self.counts.preconditions += u64::from(edits.preconditions);
                if edits.preconditions || edits.mapped {
                    request.body = Some(Body::from(text.as_bytes()));
                }
                true
            }
        }
    }

    /// What was left out or taken away so far.
    pub fn losses(&self) -> Vec<Loss> {
        let counts = &self.counts;
        let all = [
            Loss::of_requests("outside_window", counts.outside, "Recorded outside of the window."),
            Loss::of_changes(
                "watch_clipped",
                counts.clipped,
                "A watch that was open when the window began opens with it.",
            ),
            Loss::of_requests("filtered", counts.filtered, "Of a verb or a resource that was not asked for."),
            Loss::of_requests(
                "page_lost",
                counts.pages,
                "A page of a LIST or of a deletion, whose token is not known.",
            ),
            Loss::of_changes(
                "precondition_dropped",
                counts.preconditions,
                "A uid or resourceVersion in a body, which only the recorded cluster had.",
            ),
            Loss::of_requests(
                "body_not_mapped",
                counts.unreadable,
                "A body that is no JSON, so that its names could not be mapped.",
            ),
        ];
        all.into_iter().filter(|loss| loss.count > 0).collect()
    }
}

/// A stream of requests, rewritten.
#[derive(Debug)]
pub struct Rewritten<I> {
    requests: I,
    rewriter: Rewriter,
    to_the_end: bool,
}

impl<I> Rewritten<I> {
    /// What `rewriter` makes of the requests. `to_the_end`: what stands after the window is read all the same, so
    /// that its mistakes are found and its losses counted.
    pub fn new(requests: I, rewriter: Rewriter, to_the_end: bool) -> Self {
        Self { requests, rewriter, to_the_end }
    }

    /// The stream and its losses.
    pub fn parts(&mut self) -> (&mut I, &Rewriter) {
        (&mut self.requests, &self.rewriter)
    }
}

impl<I: Iterator<Item = Result<Request, RequestError>>> Iterator for Rewritten<I> {
    type Item = Result<Request, RequestError>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.to_the_end || !self.rewriter.has_ended() {
            match self.requests.next()?.and_then(|request| self.rewriter.rewrite(request)) {
                Ok(None) => {}
                Ok(Some(request)) => return Some(Ok(request)),
                Err(error) => return Some(Err(error)),
            }
        }
        None
    }
}
