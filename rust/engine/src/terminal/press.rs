//! A key, and the chunk after which the cursor stands on another object's row.

use super::screen::Screen;
use super::view::{Key, Row, View};
use serde::Serialize;
use std::sync::Arc;

/// Which way a key moves the cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// To the next row.
    Down,
    /// To the row before.
    Up,
}

/// What became of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The cursor was seen on its new row.
    Ok,
    /// It was not, in the time that was given: a sample of at least that time.
    Censored,
    /// The selection moved to another object, but not because of the key: a finding, not a sample.
    Drifted,
    /// The client ended, or took no input.
    Failed,
}

/// A key and its effect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Pressed {
    /// When the key was written; `None` where it was not.
    pub sent: Option<u64>,
    /// The chunk that showed the effect.
    pub seen: Option<u64>,
    /// What became of it.
    pub outcome: Outcome,
    /// The object under the cursor before.
    pub before: Option<Key>,
    /// The object under the cursor at the end.
    pub after: Option<Key>,
}

impl Pressed {
    /// A key that could not be written, or whose effect nobody waits for any more.
    pub(super) fn failed(before: Option<Key>) -> Self {
        Self { sent: None, seen: None, outcome: Outcome::Failed, before, after: None }
    }
}

/// A key whose effect is waited for.
pub(super) struct Press {
    view: Arc<View>,
    direction: Direction,
    before: Option<(Key, usize)>,
    sent: u64,
    /// Outcome, stamp and object, once known.
    pub(super) result: Option<(Outcome, u64, Key)>,
}

impl Press {
    /// A key that was written at `sent` while the cursor stood on the object in that row of the screen.
    pub(super) fn new(view: Arc<View>, direction: Direction, before: Option<(Key, usize)>, sent: u64) -> Self {
        Self { view, direction, before, sent, result: None }
    }

    /// Looks at the screen that a chunk left. A drift is only told at the end of a frame: halfway
    /// through one, the cursor may be drawn before the rows are.
    pub(super) fn look(&mut self, screen: &Screen, t: u64, frame_end: bool) {
        if self.result.is_some() {
            return;
        }
        let rows = self.view.rows(screen);
        let Some(at) = rows.iter().position(|row| row.cursor) else { return };
        let Some((before, row_before)) = &self.before else {
            if t <= self.sent {
                return;
            }
            self.result = Some((Outcome::Ok, t, rows[at].key.clone()));
            return;
        };
        if rows[at].key == *before {
            return;
        }
        // What was read before the key was written cannot be its effect: the selection moved by itself.
        if t > self.sent && self.is_next(&rows, at, before, *row_before) {
            self.result = Some((Outcome::Ok, t, rows[at].key.clone()));
        } else if frame_end {
            self.result = Some((Outcome::Drifted, t, rows[at].key.clone()));
        }
    }

    /// The cursor is beside the object that it left, or one row further on the screen where rows moved.
    fn is_next(&self, rows: &[Row], at: usize, before: &Key, row_before: usize) -> bool {
        let left = match self.direction {
            Direction::Down => at.checked_sub(1),
            Direction::Up => Some(at + 1),
        };
        let beside = left.and_then(|left| rows.get(left)).is_some_and(|row| row.key == *before);
        let moved = match self.direction {
            Direction::Down => rows[at].row == row_before + 1,
            Direction::Up => rows[at].row + 1 == row_before,
        };
        beside || moved
    }

    /// The answer, with this outcome where none is known.
    pub(super) fn pressed(&self, otherwise: Outcome) -> Pressed {
        let before = self.before.as_ref().map(|(key, _)| key.clone());
        let (outcome, seen, after) = match &self.result {
            Some((outcome, t, key)) => (*outcome, Some(*t), Some(key.clone())),
            None => (otherwise, None, None),
        };
        Pressed { sent: Some(self.sent), seen, outcome, before, after }
    }
}
