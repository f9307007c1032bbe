//! What a log had and the trace has not, counted by reason.

use std::fmt;

/// Where a line stands: files are numbered in the order of their names, lines from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
pub struct Place {
    /// The file's number.
    pub file: u32,
    /// The line.
    pub line: u64,
}

/// What a loss counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    /// Compressed files.
    File,
    /// Lines.
    Line,
    /// Audit events, of which a request has one to four.
    Event,
    /// Requests that are not in the trace.
    Request,
    /// Requests that are in the trace, but not as they were sent.
    Change,
}

impl Of {
    /// As the header writes it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Line => "line",
            Self::Event => "event",
            Self::Request => "request",
            Self::Change => "change",
        }
    }
}

macro_rules! whys {
    ($($why:ident, $of:ident, $name:literal, $text:literal;)*) => {
        /// Why something was lost or changed. Of several reasons to leave a request out, the first here counts.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Why {
            $(#[doc = $text] $why,)*
        }

        impl Why {
            /// All of them.
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$why),*];

            /// As the header and the reference write it.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$why => $name,)* }
            }

            /// One clause for people.
            pub const fn text(self) -> &'static str {
                match self { $(Self::$why => $text,)* }
            }

            /// What is counted.
            pub const fn of(self) -> Of {
                match self { $(Self::$why => Of::$of,)* }
            }
        }
    };
}

whys! {
    CutFile, File, "cut_file", "compressed files that end early or are damaged; what stood before is used";
    CutLine, Line, "cut_line", "lines that begin or end in the middle of an event";
    DamagedLine, Line, "damaged_line", "lines that are no audit event although they begin like one";
    LongLine, Line, "long_line", "lines that are too long to be read";
    OtherLine, Line, "other_line", "lines that are no JSON object, such as the server's own log";
    OtherVersion, Event, "other_version", "events of another version than audit.k8s.io/v1";
    OtherKind, Event, "other_kind", "objects that are no audit event";
    NoTimestamp, Event, "no_timestamp", "events without a timestamp that can be read";
    NoStage, Event, "no_stage", "events of an unknown stage";
    NoUri, Event, "no_uri", "events whose requestURI is no path";
    Duplicate, Event, "duplicate", "events that are in the log more than once";
    SkippedUser, Request, "skipped_user", "requests of users that were to be skipped";
    Outside, Request, "outside_window", "requests outside the window that was asked for";
    Aggregated, Request, "aggregated", "requests that an aggregated API server logged once more";
    Exec, Request, "exec", "exec";
    Attach, Request, "attach", "attach";
    PortForward, Request, "port_forward", "port-forward";
    Proxy, Request, "proxy", "proxy to a Pod, Service or Node";
    FollowedLog, Request, "followed_log", "logs that were followed";
    Upgrade, Request, "upgrade", "requests that changed to another protocol";
    Verb, Request, "verb", "verbs that a trace does not have";
    Panicked, Request, "panic", "requests in which the server panicked";
    Unfinished, Request, "unfinished", "requests whose end is not in the log";
    WiderDeletion, Request, "wider_deletion", "deletions that would delete more without what their query loses: a key that no server knows, a user or a token";
    Shape, Request, "shape", "requests whose verb and URI contradict each other";
    GeneratedName, Request, "generated_name", "requests on objects whose names the server generated and the log does not tell";
    SecretBody, Request, "secret_body", "writes whose body is secret, or cannot be searched for secrets";
    TruncatedBody, Request, "truncated_body", "writes whose body the server cut out for its size";
    NoBody, Request, "no_body", "writes whose body is not in the log (level Metadata)";
    NoSyntheticBody, Request, "no_synthetic_body", "writes without a body, to resources for which none can be made up";
    SyntheticBody, Change, "synthetic_body", "writes with a made-up body instead of one that is secret or not in the log";
    NoDeleteOptions, Change, "no_delete_options", "deletions at level Metadata, whose options are not in the log";
    DeleteOptions, Change, "delete_options", "deletions whose options the log has in the server's internal version, sent as meta.k8s.io/v1";
    NameFilledIn, Change, "name_filled_in", "names that the server generated, put into the body";
    NameUnknown, Change, "name_unknown", "creations for which the server will generate a new name";
    Clipped, Change, "clipped", "requests received before the window, moved to its beginning";
    WatchOpen, Change, "watch_open", "watches still open at the end of the log, ended there";
    WatchClipped, Change, "watch_clipped", "watches that outlive the window, ended with it";
    QueryRemoved, Change, "query_removed", "query parameters that may be secret, removed";
    TokenRemoved, Change, "token_removed", "tokens in paths, queries, bodies or user agents, removed";
    UserRemoved, Change, "user_removed", "users named in bodies, queries or user agents, removed";
    AddressRemoved, Change, "address_removed", "source addresses in bodies, queries or user agents, removed";
    Impersonated, Change, "impersonated", "requests of impersonated users, sent as the replay's own user";
    NamesHashed, Change, "names_hashed", "requests whose names were hashed";
    ApplyGuessed, Change, "apply_guessed", "patches taken for server-side apply by their body and query";
    PatchType, Change, "patch_type", "patches whose type is guessed, since an audit log does not tell it";
    StatusNotExpected, Change, "status_not_expected", "statuses of overload and of credentials (401, 429, 5xx) that a replay does not expect";
}

impl fmt::Display for Why {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

/// A set of reasons.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
pub struct Whys(u64);

impl Whys {
    /// Adds one.
    pub fn insert(&mut self, why: Why) {
        self.0 |= 1 << why as u32;
    }

    /// Adds one where it holds.
    pub fn insert_if(&mut self, holds: bool, why: Why) {
        if holds {
            self.insert(why);
        }
    }

    /// Those that are there, in order.
    pub fn iter(self) -> impl Iterator<Item = Why> {
        Why::ALL.into_iter().filter(move |why| self.0 & (1 << *why as u32) != 0)
    }

    /// Whether one is there.
    pub fn contains(self, why: Why) -> bool {
        self.0 & (1 << why as u32) != 0
    }

    /// The first reason to leave the request out.
    pub fn dropped(self) -> Option<Why> {
        self.iter().find(|why| why.of() == Of::Request)
    }
}

/// Counts by reason, and where each was first seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Losses {
    counts: [(u64, Option<Place>); Why::ALL.len()],
}

impl Default for Losses {
    fn default() -> Self {
        Self { counts: [(0, None); Why::ALL.len()] }
    }
}

impl Losses {
    /// Counts one.
    pub fn add(&mut self, why: Why, place: Place) {
        let (count, first) = &mut self.counts[why as usize];
        *count += 1;
        *first = Some(first.map_or(place, |first| first.min(place)));
    }

    /// How many of this reason.
    pub fn count(&self, why: Why) -> u64 {
        self.counts[why as usize].0
    }

    /// How many of this kind.
    pub fn sum(&self, of: Of) -> u64 {
        self.iter().filter(|(why, ..)| why.of() == of).map(|(_, count, _)| count).sum()
    }

    /// Those that were counted.
    pub fn iter(&self) -> impl Iterator<Item = (Why, u64, Place)> {
        Why::ALL.into_iter().filter_map(|why| {
            let (count, first) = self.counts[why as usize];
            first.map(|first| (why, count, first))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_reason_has_a_name_of_its_own_and_a_place_in_a_set() {
        let names: HashSet<_> = Why::ALL.iter().map(|why| why.name()).collect();
        assert_eq!(names.len(), Why::ALL.len());
        for why in Why::ALL {
            let mut set = Whys::default();
            set.insert(why);
            assert_eq!(set.iter().collect::<Vec<_>>(), [why]);
        }
    }

    #[test]
    fn of_several_reasons_to_leave_a_request_out_the_first_counts() {
        let mut set = Whys::default();
        set.insert(Why::Clipped);
        assert_eq!(set.dropped(), None);
        set.insert(Why::NoBody);
        set.insert(Why::Exec);
        assert_eq!(set.dropped(), Some(Why::Exec));
    }

    #[test]
    fn losses_remember_the_first_place_whatever_the_order() {
        let mut losses = Losses::default();
        for (file, line) in [(1, 1), (0, 9), (0, 12)] {
            losses.add(Why::CutLine, Place { file, line });
        }
        assert_eq!(losses.iter().collect::<Vec<_>>(), [(Why::CutLine, 3, Place { file: 0, line: 9 })]);
        assert_eq!((losses.sum(Of::Line), losses.sum(Of::Event)), (3, 0));
    }
}
