//! How a recording is rewritten before it is replayed.

use super::filter::Filter;
use super::names::Maps;
use super::timeline::Timeline;
use serde::Deserialize;
use std::collections::BTreeMap;

/// The options; the default changes what only the recorded cluster understood, and nothing else.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RewriteOptions {
    /// So many times as fast as recorded; above 0.
    pub speed: f64,
    /// Only what was recorded from then on, microseconds after T0.
    pub from_us: u64,
    /// Only what was recorded before then.
    pub until_us: Option<u64>,
    /// Only these verbs and resources: `GET`, `pods`, `deployments.apps`, `pods/status`.
    pub only: Vec<String>,
    /// Not these.
    pub skip: Vec<String>,
    /// Namespaces by their recorded names; `*` is for all others.
    pub namespaces: BTreeMap<String, String>,
    /// Beginnings of object names by their recorded ones; the longest that fits counts.
    pub name_prefixes: BTreeMap<String, String>,
    /// Leaves resourceVersions, uids and continue tokens as they were recorded; otherwise the second and later pages
    /// of a LIST are a loss, since no other cluster knows their tokens.
    pub keep_versions: bool,
}

impl Default for RewriteOptions {
    fn default() -> Self {
        Self {
            speed: 1.0,
            from_us: 0,
            until_us: None,
            only: Vec::new(),
            skip: Vec::new(),
            namespaces: BTreeMap::new(),
            name_prefixes: BTreeMap::new(),
            keep_versions: false,
        }
    }
}

impl RewriteOptions {
    /// The parts, checked. The error names the option and the value seen.
    pub(super) fn parts(&self) -> Result<(Timeline, Filter, Maps), String> {
        let timeline = Timeline::new(self.speed, self.from_us, self.until_us)?;
        let filter = Filter::new(&self.only, &self.skip)?;
        let maps = Maps::new(&self.namespaces, &self.name_prefixes)?;
        Ok((timeline, filter, maps))
    }
}
