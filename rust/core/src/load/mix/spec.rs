//! A load profile's spec, resolved: what is drawn, how often, and when. Integers only, so that it can be hashed.

use crate::load::Verb;
use serde::{Deserialize, Serialize};

/// One spec of a load profile. Rates and counts are those of one runner.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MixSpec {
    /// Seed of every draw.
    pub seed: u64,
    /// A number for the spec that no other of its profile has, so that it draws from streams of its own.
    #[serde(default)]
    pub segment: u32,
    /// What tells one run's names from another's, so that a second run on a server does not meet the first one's
    /// objects; nothing else depends on it.
    #[serde(default)]
    pub salt: Option<String>,
    /// How due instants are spread.
    #[serde(default)]
    pub arrival: Arrival,
    /// The rate over time; empty for a closed loop.
    #[serde(default)]
    pub stages: Vec<Stage>,
    /// How many requests at most, watches not counted.
    #[serde(default)]
    pub total: Option<u64>,
    /// What is drawn.
    #[serde(default)]
    pub requests: Vec<Weighted>,
    /// What is opened at the start and stays open.
    #[serde(default)]
    pub watches: Vec<OpenWatches>,
}

/// How due instants are spread over the time that the rate gives them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Arrival {
    /// At equal distances.
    #[default]
    Constant,
    /// As a Poisson process: independent of each other.
    Poisson,
}

/// A stretch of time and its rate, which changes linearly from its start to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stage {
    /// How long; `None` only in the last stage, whose rate is constant then.
    pub duration_us: Option<u64>,
    /// At the start, in millionths of a request a second.
    pub from_micros: u64,
    /// At the end, in the same unit.
    pub to_micros: u64,
}

/// A kind of request and how often it is drawn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Weighted {
    /// It is drawn with the chance of its shares among the sum of all.
    pub shares: u32,
    /// What is sent.
    pub request: Shape,
    /// Headers on top: name, value.
    #[serde(default)]
    pub headers: Vec<(Box<str>, Box<str>)>,
    /// The user agent to send instead of perfq's own.
    #[serde(default)]
    pub user_agent: Option<Box<str>>,
}

/// What a drawn request looks like.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "shape", rename_all = "snake_case", deny_unknown_fields)]
pub enum Shape {
    /// The same request each time, but for its name and body. It is never held back for the order of an object.
    Plain {
        /// What is asked.
        verb: Verb,
        /// The raw path of the collection: `/api/v1/namespaces/default/configmaps`.
        collection: String,
        /// The object's name, in characters that a path carries as they are; `None` for a collection.
        #[serde(default)]
        name: Option<String>,
        /// The name is `NAME-0` … `NAME-(n−1)`, drawn evenly; `None`: it is the name itself.
        #[serde(default)]
        key_space: Option<u32>,
        /// `log`, `status`, …
        #[serde(default)]
        subresource: Option<String>,
        /// The raw query.
        #[serde(default)]
        query: Option<String>,
        /// The type of the body.
        #[serde(default)]
        content_type: Option<String>,
        /// The body, a template.
        #[serde(default)]
        body: Option<String>,
        /// What `{namespace}` in the body stands for.
        #[serde(default)]
        namespace: String,
        /// A WATCH that ends with the bookmark after the initial events.
        #[serde(default)]
        until_initial_bookmark: bool,
    },
    /// A new object each time, or the deletion of the oldest one that is left.
    CreateDelete {
        /// The raw path of the collection.
        collection: String,
        /// The namespace, for the key and for `{namespace}`.
        #[serde(default)]
        namespace: String,
        /// The key's kind: the resource, with its group behind a dot.
        kind: String,
        /// Objects are named `PREFIX-0`, `PREFIX-1`, …; runners take turns in counting.
        prefix: String,
        /// They are named `PREFIX-SALT-0`, … where the spec has a salt.
        #[serde(default)]
        salted: bool,
        /// The chance of a deletion, in millionths; where nothing is left to delete, an object is created.
        delete_millionths: u32,
        /// The new object, a JSON template.
        body: String,
    },
}

/// Watches that are opened at the start, one after another, and end with the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpenWatches {
    /// How many of them.
    pub count: u32,
    /// The time over which they are opened, evenly.
    #[serde(default)]
    pub over_us: u64,
    /// The raw path of the collection.
    pub collection: String,
    /// The raw query; it asks for a watch.
    pub query: String,
    /// Headers on top: name, value.
    #[serde(default)]
    pub headers: Vec<(Box<str>, Box<str>)>,
    /// The user agent to send instead of perfq's own.
    #[serde(default)]
    pub user_agent: Option<Box<str>>,
}
