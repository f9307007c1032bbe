//! Injected failures: what they are now, and what they met.

use super::core::Core;
use super::history::Change;
use super::object::key_of;
use super::records::{FaultRecord, Source};
use super::semantics::kinds::Kind;
use super::semantics::reviews::Access;
use super::semantics::status::Status;
use super::store::{KindId, Write};
use super::watchers::End;
use crate::clock::now_ns;
use crate::recorder::RecordSink;
use perfq_core::workload::FailureKind;
use serde::Serialize;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

const SECOND: u64 = 1_000_000_000;
/// How long `slow` lasts.
const SLOW_NS: u64 = 10 * SECOND;
/// How long each request waits while it does.
const SLOW_REQUEST_NS: u64 = SECOND;
/// Requests that `throttled` refuses, and the Retry-After they get.
const THROTTLED_REQUESTS: u32 = 3;
const RETRY_AFTER_SECONDS: u32 = 1;
/// The extra Pod that `gone` deletes in the gap.
pub(crate) const GONE_NAMESPACE: &str = "bench-0000";
/// Its name.
pub(crate) const GONE_NAME: &str = "pod-gone";

/// How often a failure was injected, and how many requests or watches met it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Count {
    pub(crate) injected: u64,
    pub(crate) exercised: u64,
}

/// The failures of one server.
#[derive(Default)]
pub(crate) struct Faults {
    counts: Mutex<BTreeMap<&'static str, Count>>,
    throttle_left: Mutex<u32>,
    /// When `slow` began; 0 where it did not.
    slow_from: AtomicU64,
    forbidden: AtomicBool,
    metrics_unavailable: AtomicBool,
    slow_logs: AtomicBool,
    sink: Option<RecordSink>,
}

impl Faults {
    /// None so far.
    pub(crate) fn new(sink: Option<RecordSink>) -> Self {
        Self { sink, ..Self::default() }
    }

    fn counts(&self) -> MutexGuard<'_, BTreeMap<&'static str, Count>> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn record(&self, kind: FailureKind, ev: &'static str, detail: &str) {
        if let Some(sink) = &self.sink {
            sink.write(&FaultRecord { k: "fault", t: now_ns(), kind: kind.name(), ev, detail });
        }
    }

    /// Counts and records a request or watch that met a failure.
    pub(crate) fn exercised(&self, kind: FailureKind, detail: &str) {
        self.counts().entry(kind.name()).or_default().exercised += 1;
        self.record(kind, "exercised", detail);
    }

    /// Injected and exercised, by kind.
    pub(crate) fn progress(&self) -> BTreeMap<&'static str, Count> {
        self.counts().clone()
    }

    /// The answer that a failure gives to a request of this verb for this kind, if one does.
    pub(crate) fn refusal(&self, kind: &Kind, verb: &str) -> Option<Status> {
        if kind.group == "metrics.k8s.io" && self.metrics_unavailable.load(Ordering::Relaxed) {
            self.exercised(FailureKind::MetricsUnavailable, verb);
            return Some(Status::unavailable("the server is currently unable to handle the request"));
        }
        if !matches!(verb, "list" | "watch") || !kind.group.is_empty() {
            return None;
        }
        if kind.plural == "nodes" && self.forbidden.load(Ordering::Relaxed) {
            self.exercised(FailureKind::Forbidden, verb);
            let why = format!("User \"perfq\" cannot {verb} resource \"nodes\" in API group \"\" at the cluster scope");
            return Some(Status::forbidden(kind, "", &why));
        }
        if kind.plural == "pods" {
            let mut left = self.throttle_left.lock().unwrap_or_else(PoisonError::into_inner);
            if *left > 0 {
                *left -= 1;
                drop(left);
                self.exercised(FailureKind::Throttled, verb);
                let message = "the server has received too many requests and has asked us to try again later";
                return Some(Status::too_many_requests(message, RETRY_AFTER_SECONDS));
            }
        }
        None
    }

    /// Kinds that may not be listed and watched.
    pub(crate) fn denied(&self) -> Vec<&'static Kind> {
        if self.forbidden.load(Ordering::Relaxed) { vec![KindId::core("nodes").kind()] } else { Vec::new() }
    }

    /// Why an access review says no, if it does.
    pub(crate) fn denial(&self, access: &Access) -> Option<String> {
        let lists = matches!(&*access.verb, "list" | "watch" | "*");
        let denied = self.denied().iter().any(|kind| access.group == kind.group && access.resource == kind.plural);
        (denied && lists).then(|| "perfq injected the failure \"forbidden\"".to_owned())
    }

    fn slow_since(&self, now: u64) -> Option<u64> {
        let from = self.slow_from.load(Ordering::Relaxed);
        (from != 0 && now >= from && now < from + SLOW_NS).then_some(from)
    }

    /// Nanoseconds that a new request has to wait.
    pub(crate) fn request_delay(&self, what: &str) -> Option<u64> {
        self.slow_since(now_ns())?;
        self.exercised(FailureKind::Slow, what);
        Some(SLOW_REQUEST_NS)
    }

    /// While watch writes are held: the number of the second within the window, and when the next one
    /// begins.
    pub(crate) fn hold(&self, now: u64) -> Option<(u64, u64)> {
        let from = self.slow_since(now)?;
        let second = (now - from) / SECOND;
        Some((second, from + (second + 1) * SECOND))
    }

    /// Whether logs trickle from their first line on.
    pub(crate) fn logs_are_slow(&self) -> bool {
        self.slow_logs.load(Ordering::Relaxed)
    }
}

/// Injects a failure, at the commit of its event.
pub(crate) fn inject(core: &Core, kind: FailureKind) {
    let faults = &core.faults;
    faults.counts().entry(kind.name()).or_default().injected += 1;
    let (pods, nodes) = (KindId::core("pods"), KindId::core("nodes"));
    let detail = match kind {
        FailureKind::Gone => {
            let ended = core.store.end_watches(pods, End::Expired, false);
            delete_extra_pod(core, pods);
            core.store.compact(pods);
            core.pages.forget(pods);
            (0..ended).for_each(|_| faults.exercised(kind, "watch ended with 410"));
            format!("{ended} watches ended")
        }
        FailureKind::Throttled => {
            *faults.throttle_left.lock().unwrap_or_else(PoisonError::into_inner) = THROTTLED_REQUESTS;
            format!("{} watches ended", core.store.end_watches(pods, End::Fault, false))
        }
        FailureKind::Forbidden => {
            faults.forbidden.store(true, Ordering::Relaxed);
            format!("{} watches ended", core.store.end_watches(nodes, End::Fault, false))
        }
        FailureKind::Slow => {
            faults.slow_from.store(now_ns(), Ordering::Relaxed);
            "for 10 s".to_owned()
        }
        FailureKind::MetricsUnavailable => {
            faults.metrics_unavailable.store(true, Ordering::Relaxed);
            String::new()
        }
        FailureKind::SlowLogs => {
            faults.slow_logs.store(true, Ordering::Relaxed);
            String::new()
        }
    };
    faults.record(kind, "injected", &detail);
}

fn delete_extra_pod(core: &Core, pods: KindId) {
    let deleted = core.store.commit(pods, &key_of(GONE_NAMESPACE, GONE_NAME), |current| {
        Ok::<_, Infallible>(current.object.map_or(Write::Nothing, |object| Write::Delete(object.with_rv(current.rv))))
    });
    if let Ok(Some(event)) = deleted {
        debug_assert_eq!(event.change, Change::Deleted);
        core.record_commit(&event, Source::Fault, None, None);
    }
}
