//! From a planned request to one that is ready to be sent; done ahead of its due instant.

use super::endpoint::Endpoint;
use super::job::{Job, Position, Stamps, Wire};
use super::options::{Protocol, SegmentOptions};
use super::series::SeriesTable;
use bytes::Bytes;
use hyper::http::uri::{PathAndQuery, Uri};
use hyper::http::{HeaderMap, HeaderName, HeaderValue, Method, header, uri};
use perfq_core::load::{Headers, Ordering, Place, Request, RequestError, Verb};
use perfq_core::partition::partition;
use std::collections::HashMap;
use std::io;
use std::sync::Arc;

/// Header sets that are remembered; a trace with more user agents than these builds some of them again.
const MOST_HEADER_SETS: usize = 256;

/// Prepares the requests of one segment.
pub(super) struct Preparer {
    endpoint: Arc<Endpoint>,
    protocol: Protocol,
    ordering: Ordering,
    runners: u32,
    runner_index: Option<u32>,
    /// For requests without a key: the runner that is next.
    turn: u32,
    base: HeaderMap,
    header_sets: HashMap<HeaderSet, Arc<HeaderMap>>,
    series: Arc<SeriesTable>,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct HeaderSet {
    content_type: Option<Box<str>>,
    user_agent: Option<Box<str>>,
    more: Option<Headers>,
}

fn wrong(text: String) -> RequestError {
    RequestError { line: None, text }
}

impl Preparer {
    pub(super) fn new(
        endpoint: Arc<Endpoint>,
        segment: &SegmentOptions,
        ordering: Ordering,
        user_agent: &str,
        series: Arc<SeriesTable>,
    ) -> io::Result<Self> {
        let mut base = HeaderMap::new();
        if segment.protocol == Protocol::Http1 {
            let (name, value) = endpoint.host_header()?;
            base.insert(name, value);
        }
        let user_agent = HeaderValue::try_from(user_agent)
            .map_err(|_| io::Error::new(io::ErrorKind::InvalidInput, "user_agent is no header's value"))?;
        base.insert(header::USER_AGENT, user_agent);
        base.insert(header::ACCEPT, HeaderValue::from_static(segment.accept.header()));
        for (name, value) in &endpoint.headers {
            base.append(name, value.clone());
        }
        Ok(Self {
            endpoint,
            protocol: segment.protocol,
            ordering,
            runners: segment.runners,
            runner_index: segment.runner_index,
            turn: 0,
            base,
            header_sets: HashMap::new(),
            series,
        })
    }

    /// The request with its due instant still relative to T0 (in `due_ns`); `None` where another runner sends it.
    /// `lane`: where the source has one stream for each.
    pub(super) fn prepare(&mut self, request: Request, lane: Option<u32>) -> Result<Option<Box<Job>>, RequestError> {
        let Some(lane) = lane.or_else(|| self.lane_of(&request)) else { return Ok(None) };
        let place = Place::of(&request, self.ordering);
        Ok(Some(Box::new(Job {
            lane,
            place,
            series: self.series.id(request.verb, &request.path),
            wire: Wire {
                method: method(request.verb),
                uri: self.uri(&request.path, request.query.as_deref())?,
                headers: self.headers(&request)?,
                body: request.body.map(Bytes::from_owner).unwrap_or_default(),
            },
            expect_status: request.expect_status,
            watch: request.watch,
            position: Position::default(),
            streamed: false,
            due_ns: request.due_us.map(|due| due.saturating_mul(1000)),
            stamps: Stamps::default(),
            retries: 0,
            resends: 0,
        })))
    }

    /// The lane by the partition of the key; `None` where another process is the runner.
    fn lane_of(&mut self, request: &Request) -> Option<u32> {
        let runner = if let Some(key) = &request.key {
            partition(key.text(), self.runners)
        } else {
            let turn = self.turn;
            self.turn = (turn + 1) % self.runners;
            turn
        };
        match self.runner_index {
            Some(index) => (index == runner).then_some(0),
            None => Some(runner),
        }
    }

    /// The path and query as they were given, behind the base path.
    fn uri(&self, path: &str, query: Option<&str>) -> Result<Uri, RequestError> {
        let mut text = String::with_capacity(self.endpoint.base.len() + path.len() + query.map_or(0, |q| q.len() + 1));
        text.push_str(&self.endpoint.base);
        text.push_str(path);
        if let Some(query) = query.filter(|query| !query.is_empty()) {
            text.push('?');
            text.push_str(query);
        }
        if !path.starts_with('/') || text.contains('#') {
            return Err(wrong(format!("{text:?} is no path: it must begin with / and have no #")));
        }
        let target = PathAndQuery::try_from(text.clone())
            .map_err(|error| wrong(format!("{text:?} cannot be sent as it stands: {error}")))?;
        let mut parts = uri::Parts::default();
        parts.path_and_query = Some(target);
        // HTTP/1.1 sends the path alone, HTTP/2 all three.
        if self.protocol == Protocol::Http2 {
            parts.scheme = Some(self.endpoint.scheme.clone());
            parts.authority = Some(self.endpoint.authority.clone());
        }
        Uri::from_parts(parts).map_err(|error| wrong(format!("{text:?}: {error}")))
    }

    /// The request that warms a connection up.
    pub(super) fn warm_up(&self) -> Result<Wire, RequestError> {
        let headers = Arc::new(self.base.clone());
        Ok(Wire { method: Method::GET, uri: self.uri("/version", None)?, headers, body: Bytes::new() })
    }

    fn headers(&mut self, request: &Request) -> Result<Arc<HeaderMap>, RequestError> {
        let content_type = match (&request.content_type, &request.body) {
            (Some(given), _) => Some(given.clone()),
            (None, Some(_)) => Some(default_content_type(request.verb).into()),
            (None, None) => None,
        };
        let set = HeaderSet { content_type, user_agent: request.user_agent.clone(), more: request.headers.clone() };
        if let Some(headers) = self.header_sets.get(&set) {
            return Ok(Arc::clone(headers));
        }
        let mut headers = self.base.clone();
        let mut put = |name: HeaderName, value: &str| {
            let value = HeaderValue::try_from(value).map_err(|_| wrong(format!("{name}: {value:?} is no value")))?;
            headers.insert(name, value);
            Ok(())
        };
        if let Some(content_type) = &set.content_type {
            put(header::CONTENT_TYPE, content_type)?;
        }
        if let Some(user_agent) = &set.user_agent {
            put(header::USER_AGENT, user_agent)?;
        }
        for (name, value) in set.more.iter().flat_map(|more| more.iter()) {
            let name = HeaderName::try_from(&**name).map_err(|_| wrong(format!("{name:?} is no header's name")))?;
            let value = HeaderValue::try_from(&**value).map_err(|_| wrong(format!("{name}: {value:?} is no value")))?;
            headers.append(name, value);
        }
        let headers = Arc::new(headers);
        if self.header_sets.len() >= MOST_HEADER_SETS {
            self.header_sets.clear();
        }
        self.header_sets.insert(set, Arc::clone(&headers));
        Ok(headers)
    }
}

/// Of a body that came without a type.
const fn default_content_type(verb: Verb) -> &'static str {
    match verb {
        Verb::Patch => "application/strategic-merge-patch+json",
        Verb::Apply => "application/apply-patch+yaml",
        _ => "application/json",
    }
}

fn method(verb: Verb) -> Method {
    match verb {
        Verb::Get | Verb::List | Verb::Watch => Method::GET,
        Verb::Create => Method::POST,
        Verb::Update => Method::PUT,
        Verb::Patch | Verb::Apply => Method::PATCH,
        Verb::Delete | Verb::DeleteCollection => Method::DELETE,
    }
}
