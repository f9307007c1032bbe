//! What is known about the terminal, and what someone waits for. The reader looks at the screen after
//! each chunk, so that what is found carries the stamp of the chunk that made it true.

use super::awaited::{Counts, Exit, Expect, Milestone, Resizing, Waiting, find};
use super::press::Press;
use super::screen::{Screen, Size, Step};
use super::supervisor::Report;
use super::utf8::incomplete;
use super::view::View;
use crate::clock::now_ns;
use crate::recorder::RecordSink;
use regex::Regex;
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A synchronized update that has not ended after this long is taken as it stands.
pub(super) const SYNC_WATCHDOG_NS: u64 = 1_000_000_000;

/// All of it, under one lock.
pub struct State {
    /// The emulator.
    pub(super) screen: Screen,
    /// Counts since the start.
    pub counts: Counts,
    /// Stamp of the last chunk.
    pub(super) last_output: Option<u64>,
    /// When the synchronized update under way began.
    pub(super) sync_since: Option<u64>,
    /// Stamp of the last chunk that was looked at.
    pub(super) looked: u64,
    /// Patterns that someone waits for.
    pub(super) waiting: Vec<Waiting>,
    /// Waits so far.
    pub(super) waits: u64,
    /// Recorded once.
    pub(super) milestones: Vec<Milestone>,
    /// How the client's screen is read, where known from the start.
    pub(super) view: Option<Arc<View>>,
    /// Cells that are to show a text, by probe.
    pub(super) expects: BTreeMap<u64, Expect>,
    /// Cells that did, not fetched yet.
    pub(super) seen_cells: Vec<(u64, u64)>,
    /// A key whose effect is waited for.
    pub(super) press: Option<Press>,
    /// A change of size under way.
    pub(super) resizing: Option<Resizing>,
    /// How the client's start went, once the supervisor said so.
    pub(super) started: Option<Report>,
    /// How the client ended.
    pub(super) exit: Option<Exit>,
    /// The terminal was hung up and all of its output was read.
    pub(super) drained: bool,
    /// Descendants that the supervisor killed, and those that it could not.
    pub(super) ended: Option<(u32, Vec<u32>)>,
    /// What went wrong with the engine or the supervisor.
    pub(super) trouble: Option<String>,
    /// The beginning of a character whose rest is still to come.
    pub(super) cut: Vec<u8>,
    /// Where samples go.
    pub(super) sink: Option<RecordSink>,
}

#[derive(Serialize)]
struct CellRecord {
    k: &'static str,
    t: u64,
    i: u64,
}

#[derive(Serialize)]
struct ScreenRecord<'a> {
    k: &'static str,
    t: u64,
    ev: &'a str,
    rows: Option<usize>,
}

impl State {
    /// A fresh terminal.
    pub fn new(size: Size, sink: Option<RecordSink>) -> Self {
        Self {
            screen: Screen::new(size),
            counts: Counts::default(),
            last_output: None,
            sync_since: None,
            looked: 0,
            waiting: Vec::new(),
            waits: 0,
            milestones: Vec::new(),
            view: None,
            expects: BTreeMap::new(),
            seen_cells: Vec::new(),
            press: None,
            resizing: None,
            started: None,
            exit: None,
            drained: false,
            ended: None,
            trouble: None,
            cut: Vec::new(),
            sink,
        }
    }

    /// The emulator.
    pub fn screen_mut(&mut self) -> &mut Screen {
        &mut self.screen
    }

    /// Feeds one chunk, read at `t`. Replies are handed to `reply` at the byte of their query.
    pub fn feed(&mut self, t: u64, chunk: &[u8], mut reply: impl FnMut(Vec<u8>)) {
        self.counts.bytes += chunk.len() as u64;
        self.counts.chunks += 1;
        self.last_output = Some(t);
        if let Some(resizing) = &mut self.resizing
            && resizing.first.is_none()
            && t > resizing.sent
        {
            resizing.first = Some(t);
        }
        // The parser loses characters that follow one which a read has cut, so it is never given half of one.
        let mut joined = std::mem::take(&mut self.cut);
        let whole = if joined.is_empty() {
            chunk
        } else {
            joined.extend_from_slice(chunk);
            &joined
        };
        let (mut rest, cut) = whole.split_at(whole.len() - incomplete(whole));
        self.cut = cut.to_vec();
        while !rest.is_empty() {
            let Step { used, reply: answer, update_ended, lines } = self.screen.step(rest);
            rest = &rest[used..];
            if !answer.is_empty() {
                reply(answer);
            }
            if update_ended {
                self.sync_since = None;
                self.end_frame(t);
            } else if self.screen.syncing() {
                self.sync_since.get_or_insert(t);
            } else if lines {
                self.look(t, false);
            }
        }
        if !self.screen.syncing() {
            self.look(t, false);
        }
    }

    /// Sets how the client's screen is read, where that is known from the start.
    pub fn set_view(&mut self, view: Arc<View>) {
        self.look_closely(&view);
        self.view = Some(view);
    }

    /// Where lines are appended, a header or a row may scroll by within one read: looks in between.
    fn look_closely(&mut self, view: &View) {
        if view.append() {
            let rows = usize::from(self.screen.size().rows);
            self.screen.look_every(Some((rows / 2).max(1)));
        }
    }

    /// Looks for the cell of the object's row from now on.
    pub fn expect(&mut self, i: u64, expect: Expect) {
        self.look_closely(&expect.view);
        self.expects.insert(i, expect);
    }

    /// Does not look for it any more. Whether it was still looked for.
    pub fn forget(&mut self, i: u64) -> bool {
        let expected = self.expects.remove(&i).is_some();
        if self.expects.is_empty() && !self.view.as_ref().is_some_and(|view| view.append()) {
            self.screen.look_every(None);
        }
        expected
    }

    /// Waits for a pattern over the rows joined by line feeds; the number of the wait. What matches now
    /// counts with the stamp of the last chunk.
    pub fn wait_for(&mut self, pattern: Regex) -> u64 {
        self.screen.absorb_damage();
        let text = self.screen.joined();
        let hit = find(&pattern, &text, self.last_output.unwrap_or_else(now_ns));
        self.waits += 1;
        self.waiting.push(Waiting { id: self.waits, pattern, hit });
        self.waits
    }

    /// A synchronized update ended, or the output paused outside of one.
    pub fn end_frame(&mut self, t: u64) {
        self.look(t, true);
        let frame = self.screen.end_frame();
        self.counts.frames += u64::from(frame.drawn);
        self.counts.redraws += u64::from(frame.redrawn);
        if let Some(resizing) = &mut self.resizing
            && t > resizing.sent
            && resizing.filled.is_none()
        {
            for (row, touched) in resizing.rows.iter_mut().zip(&frame.rows) {
                *row |= *touched;
            }
            if resizing.rows.iter().all(|row| *row) {
                resizing.filled = Some(t);
            }
        }
    }

    /// Ends a synchronized update that takes too long.
    pub fn watch_sync(&mut self, now: u64) {
        if self.sync_since.is_some_and(|since| now >= since + SYNC_WATCHDOG_NS) {
            self.sync_since = None;
            self.screen.abandon_update();
            self.counts.sync_timeouts += 1;
            self.end_frame(now);
        }
    }

    /// Looks at the screen as the chunk stamped `t` left it.
    pub fn look(&mut self, t: u64, frame_end: bool) {
        self.looked = t;
        let open = self.milestones.iter().any(|milestone| milestone.seen.is_none());
        let patterns = self.waiting.iter().any(|waiting| waiting.hit.is_none());
        if !open && !patterns && self.expects.is_empty() && self.press.is_none() {
            return;
        }
        self.screen.absorb_damage();
        self.screen.lines();
        if patterns {
            let text = self.screen.joined();
            for waiting in self.waiting.iter_mut().filter(|waiting| waiting.hit.is_none()) {
                waiting.hit = find(&waiting.pattern, &text, t);
            }
        }
        if open {
            self.look_for_milestones(t);
        }
        self.look_for_cells(t);
        if let Some(press) = &mut self.press {
            press.look(&self.screen, t, frame_end);
        }
    }

    fn look_for_milestones(&mut self, t: u64) {
        let text = self.screen.joined();
        let rows = self.view.as_ref().map(|view| view.rows(&self.screen).len());
        for milestone in self.milestones.iter_mut().filter(|milestone| milestone.seen.is_none()) {
            let matches = milestone.pattern.as_ref().is_none_or(|pattern| pattern.is_match(&text));
            let enough = milestone.rows.is_none_or(|wanted| rows.is_some_and(|rows| rows >= wanted));
            if matches && enough {
                milestone.seen = Some((t, rows));
                if let Some(sink) = &self.sink {
                    sink.write(&ScreenRecord { k: "screen", t, ev: &milestone.name, rows });
                }
            }
        }
    }

    fn look_for_cells(&mut self, t: u64) {
        let Self { screen, expects, seen_cells, sink, .. } = self;
        expects.retain(|&i, expect| {
            let shown = expect.view.shows(screen, &expect.key, &expect.column, &expect.text);
            if shown {
                seen_cells.push((i, t));
                if let Some(sink) = sink {
                    sink.write(&CellRecord { k: "cell", t, i });
                }
            }
            !shown
        });
    }
}
