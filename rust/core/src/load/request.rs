//! One planned request, and the stream of them that every input becomes.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// What is asked, in the words of Kubernetes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Verb {
    /// One object.
    Get,
    /// A collection.
    List,
    /// Changes to a collection, as a stream.
    Watch,
    /// POST.
    Create,
    /// PUT.
    Update,
    /// PATCH of any type but apply.
    Patch,
    /// Server-side apply: PATCH with `application/apply-patch+yaml`.
    Apply,
    /// DELETE of one object.
    Delete,
    /// DELETE of a collection.
    DeleteCollection,
}

impl Verb {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Get,
        Self::List,
        Self::Watch,
        Self::Create,
        Self::Update,
        Self::Patch,
        Self::Apply,
        Self::Delete,
        Self::DeleteCollection,
    ];

    /// As traces and reports write it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::List => "LIST",
            Self::Watch => "WATCH",
            Self::Create => "CREATE",
            Self::Update => "UPDATE",
            Self::Patch => "PATCH",
            Self::Apply => "APPLY",
            Self::Delete => "DELETE",
            Self::DeleteCollection => "DELETECOLLECTION",
        }
    }

    /// The HTTP method.
    pub const fn method(self) -> &'static str {
        match self {
            Self::Get | Self::List | Self::Watch => "GET",
            Self::Create => "POST",
            Self::Update => "PUT",
            Self::Patch | Self::Apply => "PATCH",
            Self::Delete | Self::DeleteCollection => "DELETE",
        }
    }

    /// The verb of that name, in capitals.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|verb| verb.name() == name)
    }

    /// Whether it changes what the server holds.
    pub const fn writes(self) -> bool {
        !matches!(self, Self::Get | Self::List | Self::Watch)
    }
}

/// What a body is made of; shared, so that a trace that sends the same one again holds it once.
pub type Body = Arc<[u8]>;

/// Headers, name and value.
pub type Headers = Arc<[(Box<str>, Box<str>)]>;

/// When a WATCH has had its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WatchEnd {
    /// After so many microseconds.
    After(u64),
    /// With the bookmark that ends the initial events (a `WatchList`).
    InitialBookmark,
    /// With the run.
    WithTheRun,
}

/// Whom a request is about: `namespace/kind/name`.
///
/// The text is what a partition hashes: for a nameless LIST or WATCH with a selector it ends in
/// `?labelSelector=S` in the name's place.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    text: Box<str>,
    named: bool,
}

impl Key {
    /// The key of one object.
    pub fn object(namespace: &str, kind: &str, name: &str) -> Self {
        Self { text: format!("{namespace}/{kind}/{name}").into(), named: !name.is_empty() }
    }

    /// The key of a collection, seen through a selector where there is one.
    pub fn collection(namespace: &str, kind: &str, label_selector: Option<&str>) -> Self {
        let selected = label_selector.map(|selector| format!("?labelSelector={selector}")).unwrap_or_default();
        Self { text: format!("{namespace}/{kind}/{selected}").into(), named: false }
    }

    /// The key that a trace gives; it names an object when its third part is there and no selector.
    pub fn given(text: &str) -> Self {
        let name = text.splitn(3, '/').nth(2).unwrap_or("");
        Self { text: text.into(), named: !name.is_empty() && !name.starts_with("?labelSelector=") }
    }

    /// What is hashed for the partition.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether one object is meant, so that its requests must stay in order.
    pub fn is_named(&self) -> bool {
        self.named
    }

    /// `namespace/kind/`, for which a DELETECOLLECTION is a barrier.
    pub fn collection_text(&self) -> &str {
        let end = self.text.match_indices('/').nth(1).map_or(self.text.len(), |(at, _)| at + 1);
        &self.text[..end]
    }
}

/// One planned request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Microseconds after T0; `None` in a closed loop, where a request is due when a worker is free.
    pub due_us: Option<u64>,
    /// What is asked.
    pub verb: Verb,
    /// The raw path, beginning with `/`, without the server's base path.
    pub path: Box<str>,
    /// The raw query, without `?`.
    pub query: Option<Box<str>>,
    /// The type of the body, where there is one.
    pub content_type: Option<Box<str>>,
    /// The body.
    pub body: Option<Body>,
    /// How long a WATCH lives; `None` for all other verbs.
    pub watch: Option<WatchEnd>,
    /// Whom it is about.
    pub key: Option<Key>,
    /// The user agent to send instead of perfq's own.
    pub user_agent: Option<Box<str>>,
    /// The status that counts as ok beside 2xx.
    pub expect_status: Option<u16>,
    /// Headers on top (a load profile's `headers` and `impersonate`), shared by all requests that carry them.
    pub headers: Option<Headers>,
}

impl Request {
    /// A request with no more than what every request has.
    pub fn new(verb: Verb, path: impl Into<Box<str>>) -> Self {
        Self {
            due_us: None,
            verb,
            path: path.into(),
            query: None,
            content_type: None,
            body: None,
            watch: (verb == Verb::Watch).then_some(WatchEnd::WithTheRun),
            key: None,
            user_agent: None,
            expect_status: None,
            headers: None,
        }
    }
}

/// What is wrong with an input, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestError {
    /// The line of the file, from 1; `None` where no line is at fault.
    pub line: Option<u64>,
    /// One clause: what is wrong, the value seen, what was expected.
    pub text: String,
}

impl RequestError {
    /// The same, on a line where it has none.
    #[must_use]
    pub fn on_line(self, line: u64) -> Self {
        Self { line: self.line.or(Some(line)), ..self }
    }
}

impl fmt::Display for RequestError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(out, "line {line}: {}", self.text),
            None => out.write_str(&self.text),
        }
    }
}

impl std::error::Error for RequestError {}

/// Requests in the order of their due instants. After an error a stream has no more.
pub type Requests = Box<dyn Iterator<Item = Result<Request, RequestError>> + Send>;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_verb_is_found_by_its_name() {
        for verb in Verb::ALL {
            assert_eq!(Verb::parse(verb.name()), Some(verb));
            assert_eq!(serde_json::to_string(&verb).unwrap(), format!("{:?}", verb.name()));
        }
        assert_eq!(Verb::parse("get"), None);
    }

    #[test]
    fn a_key_tells_an_object_from_a_collection() {
        assert_eq!(Key::object("default", "Pod", "a").text(), "default/Pod/a");
        assert_eq!(Key::collection("default", "Pod", Some("app=nginx")).text(), "default/Pod/?labelSelector=app=nginx");
        assert!(!Key::object("default", "Pod", "").is_named());
        assert_eq!(Key::object("", "Node", "node-1").collection_text(), "/Node/");
    }

    proptest! {
        #[test]
        fn a_key_survives_being_written_down(ns in "[a-z]{0,5}", kind in "[A-Za-z.]{1,9}", name in "[a-z-]{0,9}") {
            for key in [Key::object(&ns, &kind, &name), Key::collection(&ns, &kind, Some(&name))] {
                prop_assert_eq!(Key::given(key.text()), key.clone());
                prop_assert_eq!(key.collection_text(), format!("{ns}/{kind}/"));
            }
        }
    }
}
