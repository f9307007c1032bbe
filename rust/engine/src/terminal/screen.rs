//! The screen: an emulator fed piece by piece, its replies, its lines as text.

use super::emulator::{CELL_PIXELS, Replies, Unbuffered};
use super::keys::{KeyModes, Keyboard};
use super::line::read_line;
use super::palette::default_color;
use super::scan::Scanner;
use super::sequences::Mark;
use alacritty_terminal::Term;
use alacritty_terminal::event::{Event, WindowSize};
use alacritty_terminal::grid::Row as GridRow;
use alacritty_terminal::index::{Column, Line as GridLine};
use alacritty_terminal::term::cell::{Cell, Flags};
use alacritty_terminal::term::{Config, Osc52, TermDamage, TermMode};
use alacritty_terminal::vte::ansi::{Color, Processor};
use std::collections::BTreeSet;

pub use super::emulator::{Frame, Size, Step};
pub use super::line::Line;

/// Combining characters kept in one cell; a flood of them must not take memory.
const MAX_COMBINING: usize = 16;
/// Names of unanswered queries that are kept.
const MAX_UNANSWERED: usize = 64;

/// The emulator with all that is kept beside it.
pub struct Screen {
    term: Term<Replies>,
    parser: Processor<Unbuffered>,
    events: Replies,
    scanner: Scanner,
    keyboard: Keyboard,
    size: Size,
    lines: Vec<Line>,
    dirty: Vec<bool>,
    touched: Vec<Option<(usize, usize)>>,
    erased: bool,
    scrolled: bool,
    other: Vec<String>,
    leaving: (bool, Vec<String>),
    title: String,
    unanswered: BTreeSet<String>,
    syncing: bool,
}

impl Screen {
    /// An empty screen.
    pub fn new(size: Size) -> Self {
        let events = Replies::default();
        // The kitty protocol is kept by `Keyboard`, which knows its limits; no scrollback; no clipboard.
        let config = Config { scrolling_history: 0, osc52: Osc52::Disabled, ..Config::default() };
        let mut screen = Self {
            term: Term::new(config, &size, events.clone()),
            parser: Processor::new(),
            events,
            scanner: Scanner::default(),
            keyboard: Keyboard::default(),
            size,
            lines: Vec::new(),
            dirty: Vec::new(),
            touched: Vec::new(),
            erased: false,
            scrolled: false,
            other: Vec::new(),
            leaving: (false, Vec::new()),
            title: String::new(),
            unanswered: BTreeSet::new(),
            syncing: false,
        };
        screen.forget_lines();
        screen
    }

    fn forget_lines(&mut self) {
        let rows = usize::from(self.size.rows);
        self.lines = vec![Line::default(); rows];
        self.dirty = vec![true; rows];
        self.touched = vec![None; rows];
    }

    /// Feeds the emulator up to the next byte at which something is to be done.
    pub fn step(&mut self, bytes: &[u8]) -> Step {
        let piece = self.scanner.next(bytes);
        let fed = &bytes[..piece.len];
        let mut step = Step { used: piece.len, ..Step::default() };
        if !piece.dropped && !fed.is_empty() {
            self.parser.advance(&mut self.term, fed);
            if fed.len() >= 1024 && !fed.is_ascii() {
                self.bound_combining();
            }
        }
        let replied = self.take_replies(&mut step.reply);
        match piece.mark {
            Some(Mark::SyncStart) => self.syncing = true,
            Some(Mark::SyncEnd) => step.update_ended = std::mem::replace(&mut self.syncing, false),
            Some(Mark::Query(name)) if !replied && self.unanswered.len() < MAX_UNANSWERED => {
                self.unanswered.insert(name);
            }
            Some(Mark::Keyboard(request)) => {
                if let Some(answer) = self.keyboard.handle(request) {
                    step.reply.extend(answer.as_bytes());
                }
            }
            Some(Mark::BeforeSwitch) => self.leaving = (self.alternate(), self.text_now()),
            Some(mark @ (Mark::Switched | Mark::Reset)) => {
                if mark == Mark::Reset {
                    self.keyboard.reset();
                }
                let (was_alternate, text) = std::mem::take(&mut self.leaving);
                if was_alternate != self.alternate() {
                    self.other = text;
                    self.erased = true;
                }
                self.keyboard.show(self.alternate());
            }
            Some(Mark::Erased) => self.erased = true,
            Some(Mark::StringTooLong) => self.parser.advance(&mut self.term, b"\x18"),
            Some(Mark::Lines) => step.lines = true,
            Some(Mark::Query(_)) | None => {}
        }
        step
    }

    fn take_replies(&mut self, reply: &mut Vec<u8>) -> bool {
        let events = std::mem::take(&mut *self.events.0.lock());
        let before = reply.len();
        for event in events {
            match event {
                Event::PtyWrite(text) => reply.extend(text.as_bytes()),
                Event::ColorRequest(index, format) => {
                    let color = self.term.colors()[index].unwrap_or_else(|| default_color(index));
                    reply.extend(format(color).as_bytes());
                }
                Event::TextAreaSizeRequest(format) => {
                    let size = WindowSize {
                        num_lines: self.size.rows,
                        num_cols: self.size.cols,
                        cell_width: CELL_PIXELS.0,
                        cell_height: CELL_PIXELS.1,
                    };
                    reply.extend(format(size).as_bytes());
                }
                Event::Title(title) => self.title = title,
                Event::ResetTitle => self.title.clear(),
                _ => {}
            }
        }
        reply.len() > before
    }

    fn bound_combining(&mut self) {
        for row in 0..self.size.rows {
            for col in 0..usize::from(self.size.cols) {
                let cell = &mut self.term.grid_mut()[GridLine(i32::from(row))][Column(col)];
                if cell.zerowidth().is_some_and(|marks| marks.len() > MAX_COMBINING) {
                    cell.extra = None;
                }
            }
        }
    }

    /// Whether a synchronized update is under way: what stands in the grid is half a frame.
    pub fn syncing(&self) -> bool {
        self.syncing
    }

    /// Gives up waiting for the end of a synchronized update.
    pub fn abandon_update(&mut self) {
        self.syncing = false;
    }

    /// Ends a piece after this many line feeds, so that rows that scroll by are seen; `None`: never.
    pub fn look_every(&mut self, lines: Option<usize>) {
        self.scanner.lines_per_piece = lines.unwrap_or(usize::MAX);
    }

    /// Takes over what the emulator changed since the last call.
    pub fn absorb_damage(&mut self) {
        match self.term.damage() {
            TermDamage::Full => {
                self.dirty.fill(true);
                self.scrolled = true;
            }
            TermDamage::Partial(bounds) => {
                for bound in bounds {
                    self.dirty[bound.line] = true;
                    let touched = &mut self.touched[bound.line];
                    let (left, right) = touched.unwrap_or((bound.left, bound.right));
                    *touched = Some((left.min(bound.left), right.max(bound.right)));
                }
            }
        }
        self.term.reset_damage();
    }

    /// Ends a frame.
    pub fn end_frame(&mut self) -> Frame {
        self.absorb_damage();
        let written: usize = self.touched.iter().flatten().map(|(left, right)| right + 1 - left).sum();
        let cells = usize::from(self.size.cols) * usize::from(self.size.rows);
        let erased = std::mem::replace(&mut self.erased, false);
        let scrolled = std::mem::replace(&mut self.scrolled, false);
        let rows = self.touched.iter().map(|touched| erased || touched.is_some()).collect();
        self.touched.fill(None);
        Frame {
            // The cell of the text cursor always counts as changed.
            drawn: erased || scrolled || written > 1,
            redrawn: erased || written * 10 >= cells * 9,
            rows,
        }
    }

    /// The rows as text, up to date. Call `absorb_damage` before.
    pub fn lines(&mut self) -> &[Line] {
        for row in 0..self.lines.len() {
            if std::mem::replace(&mut self.dirty[row], false) {
                read_line(grid_row(&self.term, row), &mut self.lines[row]);
            }
        }
        &self.lines
    }

    /// The rows as they were read last.
    pub fn read_lines(&self) -> &[Line] {
        &self.lines
    }

    /// The rows joined by line feeds.
    pub fn joined(&mut self) -> String {
        let lines = self.lines();
        let mut text = String::with_capacity(lines.iter().map(|line| line.text.len() + 1).sum());
        for (index, line) in lines.iter().enumerate() {
            if index > 0 {
                text.push('\n');
            }
            text.push_str(&line.text);
        }
        text
    }

    fn text_now(&self) -> Vec<String> {
        let mut line = Line::default();
        (0..usize::from(self.size.rows))
            .map(|row| {
                read_line(grid_row(&self.term, row), &mut line);
                line.text.clone()
            })
            .collect()
    }

    /// The other screen buffer as it was left; empty where only one was ever used.
    pub fn other(&self) -> &[String] {
        &self.other
    }

    /// A cell's attributes: whether it is reversed, and the background as it is seen.
    pub fn look(&self, row: usize, col: usize) -> (bool, Color) {
        let cell = self.cell(row, col);
        let reversed = cell.flags.contains(Flags::INVERSE);
        (reversed, if reversed { cell.fg } else { cell.bg })
    }

    fn cell(&self, row: usize, col: usize) -> &Cell {
        &grid_row(&self.term, row)[Column(col)]
    }

    /// Row and column of the text cursor.
    pub fn cursor(&self) -> (usize, usize) {
        let point = self.term.grid().cursor.point;
        (usize::try_from(point.line.0).unwrap_or(0), point.column.0)
    }

    /// Whether the text cursor is shown.
    pub fn cursor_visible(&self) -> bool {
        self.term.mode().contains(TermMode::SHOW_CURSOR)
    }

    /// Whether the alternate buffer is shown.
    pub fn alternate(&self) -> bool {
        self.term.mode().contains(TermMode::ALT_SCREEN)
    }

    /// The window title.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// Queries that got no answer, by name.
    pub fn unanswered(&self) -> &BTreeSet<String> {
        &self.unanswered
    }

    /// How the program wants its keys.
    pub fn key_modes(&self) -> KeyModes {
        KeyModes { application_cursor: self.term.mode().contains(TermMode::APP_CURSOR), kitty: self.keyboard.flags() }
    }

    /// The size in force.
    pub fn size(&self) -> Size {
        self.size
    }

    /// Changes the size of both buffers.
    pub fn resize(&mut self, size: Size) {
        self.size = size;
        self.term.resize(size);
        self.term.reset_damage();
        self.erased = false;
        self.scrolled = false;
        self.forget_lines();
    }
}

fn grid_row(term: &Term<Replies>, row: usize) -> &GridRow<Cell> {
    &term.grid()[GridLine(i32::try_from(row).unwrap_or(i32::MAX))]
}
