//! What a YAML document of kperf is, told by its keys.

use super::events::{Characters, Events, Node};
use super::fields::next_key;
use crate::load::request::RequestError;

/// The kinds of documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DocumentKind {
    /// A replay profile: `requests` with timestamps.
    Replay,
    /// A runner group over a replay profile.
    ReplayGroup,
    /// A load profile: `specs`, or the older `spec`.
    Load,
    /// A runner group over a load profile.
    LoadGroup,
}

/// Reads as far as the first key that tells; `None` where no key does.
pub fn document_kind<I: Characters>(characters: I) -> Result<Option<DocumentKind>, RequestError> {
    let mut events = Events::new(characters);
    match events.next()? {
        Some(begun) if begun.node == Node::Map => {}
        _ => return Ok(None),
    }
    while let Some((_, key)) = next_key(&mut events)? {
        let begun = events.expect()?;
        match &*key {
            "requests" => return Ok(Some(DocumentKind::Replay)),
            "specs" => return Ok(Some(DocumentKind::Load)),
            "loadProfile" => return Ok(Some(DocumentKind::LoadGroup)),
            "replayProfile" => return Ok(Some(DocumentKind::ReplayGroup)),
            "spec" if begun.node == Node::Map => return spec_kind(&mut events).map(Some),
            _ => events.skip(&begun.node)?,
        }
    }
    Ok(None)
}

/// A replay's `spec` counts runners; that of a load profile does not.
fn spec_kind<I: Characters>(events: &mut Events<I>) -> Result<DocumentKind, RequestError> {
    while let Some((_, key)) = next_key(events)? {
        if key.ends_with("PerRunner") || key == "runnerCount" {
            return Ok(DocumentKind::Replay);
        }
        let begun = events.expect()?;
        events.skip(&begun.node)?;
    }
    Ok(DocumentKind::Load)
}
