//! A resolved plan: the event schedule, the states it leads to, and the four hashes.

use super::{ObjectRef, PodState, Profile, Violation};
use crate::canonical;
use crate::digest::Digest;
use crate::rng::Mt19937;

/// The only event type of schema 1.
pub const EVENT_TYPE: &str = "MODIFIED";

const NANOS_PER_SECOND: u64 = 1_000_000_000;

/// One planned event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// 1-based number.
    pub seq: u64,
    /// Due instant from the start of the churn, ns.
    pub at_ns: u64,
    /// The object it modifies.
    pub object: ObjectRef,
    /// The object's state after it.
    pub state: PodState,
}

/// SHA-256 of the canonical texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanHashes {
    /// Of the profile's line.
    pub profile: String,
    /// Of the initial objects.
    pub objects: String,
    /// Of the events.
    pub events: String,
    /// Of the objects after all events.
    pub finals: String,
}

/// A profile with the object of every event drawn.
#[derive(Clone, Debug)]
pub struct Plan {
    profile: Profile,
    draws: Vec<u32>,
}

impl Plan {
    /// Resolves a profile; the error lists every broken rule.
    pub fn new(profile: Profile) -> Result<Self, Vec<Violation>> {
        let violations = profile.violations();
        if !violations.is_empty() {
            return Err(violations);
        }
        let mut rng = Mt19937::new(profile.seed);
        let draws = (0..profile.event_count()).map(|_| rng.randrange(profile.object_count)).collect();
        Ok(Self { profile, draws })
    }

    /// The profile this plan resolves.
    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    /// Number of events.
    pub fn event_count(&self) -> u64 {
        self.draws.len() as u64
    }

    /// The same profile, longer by whole seconds: its events are a prefix of the result's.
    pub fn extended(&self, seconds: u32) -> Result<Self, Vec<Violation>> {
        let mut profile = self.profile.clone();
        profile.duration_seconds = profile.duration_seconds.saturating_add(seconds);
        Self::new(profile)
    }

    /// The events in order.
    pub fn events(&self) -> impl Iterator<Item = Event> + '_ {
        let mut states = vec![PodState::default(); self.profile.object_count as usize];
        let times = (0..self.profile.duration_seconds).flat_map(|second| {
            let rate = u64::from(self.profile.rate_at(second));
            (0..rate).map(move |k| u64::from(second) * NANOS_PER_SECOND + k * NANOS_PER_SECOND / rate)
        });
        times.zip(&self.draws).enumerate().map(move |(i, (at_ns, index))| {
            let state = &mut states[*index as usize];
            *state = state.next();
            Event {
                seq: i as u64 + 1,
                at_ns,
                object: ObjectRef::new(*index, self.profile.namespace_count),
                state: *state,
            }
        })
    }

    /// The objects in canonical order: by namespace, then name.
    pub fn objects(&self) -> impl Iterator<Item = ObjectRef> + use<> {
        let (count, namespaces) = (self.profile.object_count, self.profile.namespace_count);
        (0..namespaces).flat_map(move |namespace| {
            (0..count / namespaces).map(move |k| ObjectRef { index: namespace + k * namespaces, namespace })
        })
    }

    /// The state of every object, by object number, after all events.
    pub fn final_states(&self) -> Vec<PodState> {
        let mut states = vec![PodState::default(); self.profile.object_count as usize];
        for index in &self.draws {
            let state = &mut states[*index as usize];
            *state = state.next();
        }
        states
    }

    /// Writes the profile's canonical line.
    pub fn write_profile(&self, sink: &mut dyn FnMut(&[u8])) {
        let mut line = Vec::new();
        canonical::write_profile(&mut line, &self.profile);
        sink(&line);
    }

    /// Writes the canonical lines of the initial objects.
    pub fn write_objects(&self, sink: &mut dyn FnMut(&[u8])) {
        self.write_states(|_| PodState::default(), sink);
    }

    /// Writes the canonical lines of the objects after all events.
    pub fn write_final(&self, sink: &mut dyn FnMut(&[u8])) {
        let states = self.final_states();
        self.write_states(|object| states[object.index as usize], sink);
    }

    fn write_states(&self, state_of: impl Fn(ObjectRef) -> PodState, sink: &mut dyn FnMut(&[u8])) {
        let mut buffer = Vec::with_capacity(canonical::CHUNK + 256);
        for object in self.objects() {
            canonical::write_object(&mut buffer, object, state_of(object));
            canonical::drain_full(&mut buffer, sink);
        }
        sink(&buffer);
    }

    /// Writes the canonical lines of the events.
    pub fn write_events(&self, sink: &mut dyn FnMut(&[u8])) {
        let mut buffer = Vec::with_capacity(canonical::CHUNK + 256);
        for event in self.events() {
            canonical::write_event(&mut buffer, &event);
            canonical::drain_full(&mut buffer, sink);
        }
        sink(&buffer);
    }

    /// The four hashes.
    pub fn hashes(&self) -> PlanHashes {
        PlanHashes {
            profile: hex_of(|sink| self.write_profile(sink)),
            objects: hex_of(|sink| self.write_objects(sink)),
            events: hex_of(|sink| self.write_events(sink)),
            finals: hex_of(|sink| self.write_final(sink)),
        }
    }
}

fn hex_of(write: impl FnOnce(&mut dyn FnMut(&[u8]))) -> String {
    let mut digest = Digest::default();
    write(&mut |bytes: &[u8]| digest.update(bytes));
    digest.hex()
}
