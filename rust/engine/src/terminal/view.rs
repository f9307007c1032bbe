//! How a client's screen is read: its table's header and rows, the object of each row, the cursor.

use super::header::{Header, is_rule, token_text, tokens};
use super::line::Line;
use super::screen::Screen;
use alacritty_terminal::vte::ansi::Color;
use parking_lot::Mutex;
use regex::Regex;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Where the cursor of a table is seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CursorStyle {
    /// By attribute, whichever tells: the only reversed row, else the only row of its background.
    #[default]
    Auto,
    /// The only row whose name is in reverse video.
    Reverse,
    /// The only row whose name stands on a background that no other row has.
    Background,
    /// The only row that shows the marker.
    Marker,
    /// The row of the text cursor.
    Text,
    /// The client has no cursor.
    None,
}

/// What differs between clients; the part of a client definition that the engine needs.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ViewOptions {
    /// Text of the name column in the header.
    pub name: String,
    /// Text of the namespace column in the header; `None` or absent from the screen: rows are told by name.
    #[serde(default)]
    pub namespace: Option<String>,
    /// Further columns that the header must have.
    #[serde(default)]
    pub required: Vec<String>,
    /// A pattern over the row's text with the groups `namespace` and `name`, where columns do not tell.
    #[serde(default)]
    pub row: Option<String>,
    /// Rows whose text matches are never the cursor's, however they look.
    #[serde(default)]
    pub not_cursor: Option<String>,
    /// How the cursor is seen.
    #[serde(default)]
    pub cursor: CursorStyle,
    /// The marker, where the cursor is one.
    #[serde(default)]
    pub marker: Option<String>,
    /// The client appends lines: the header may scroll away, and an object may have many rows.
    #[serde(default)]
    pub append: bool,
}

/// A view, compiled.
pub struct View {
    options: ViewOptions,
    row: Option<Regex>,
    not_cursor: Option<Regex>,
    header: Mutex<Option<Header>>,
}

/// An object, as its row tells it: namespace ("" where the table has none) and name.
pub type Key = (String, String);

/// A row of the table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Row {
    /// Row of the screen, from 0.
    pub row: usize,
    /// The object.
    pub key: Key,
    /// Column (as the header has it) to text. Cells whose place is disputed are not there.
    pub cells: BTreeMap<String, String>,
    /// The cursor stands here.
    pub cursor: bool,
    /// The first cell of the name: where the cursor's attributes are looked for.
    #[serde(skip)]
    name_at: usize,
}

impl View {
    /// Compiles the patterns; the error says which one is wrong and why.
    pub fn new(options: ViewOptions) -> Result<Self, String> {
        let compile = |what: &str, pattern: &Option<String>| {
            pattern.as_deref().map(Regex::new).transpose().map_err(|error| format!("{what}: {error}"))
        };
        let row = compile("row", &options.row)?;
        if let Some(row) = &row
            && !row.capture_names().flatten().any(|group| group == "name")
        {
            return Err(format!("row: {:?} has no group (?P<name>…)", row.as_str()));
        }
        if options.cursor == CursorStyle::Marker && options.marker.as_deref().is_none_or(str::is_empty) {
            return Err("marker: a cursor of style marker needs one".into());
        }
        let not_cursor = compile("not_cursor", &options.not_cursor)?;
        Ok(Self { options, row, not_cursor, header: Mutex::new(None) })
    }

    /// Whether lines are appended rather than redrawn.
    pub fn append(&self) -> bool {
        self.options.append
    }

    /// Whether the two keys are the same object, as far as this table can tell.
    pub fn same(&self, row: &Key, wanted: &Key) -> bool {
        row.1 == wanted.1 && (row.0.is_empty() || wanted.0.is_empty() || row.0 == wanted.0)
    }

    /// The table's rows from top to bottom; empty where no header is seen. The screen's lines must be up
    /// to date.
    pub fn rows(&self, screen: &Screen) -> Vec<Row> {
        let lines = screen.read_lines();
        let Some((header, body)) = self.table(lines) else { return Vec::new() };
        let mut rows: Vec<Row> = body.filter_map(|row| self.row_of(&header, row, &lines[row])).collect();
        self.mark_cursor(screen, &mut rows);
        rows
    }

    /// Whether a row of the object shows exactly this text in the column.
    pub fn shows(&self, screen: &Screen, key: &Key, column: &str, text: &str) -> bool {
        let lines = screen.read_lines();
        let candidate = |line: &Line| line.text.contains(text) && line.text.contains(&key.1);
        if !lines.iter().any(candidate) && !self.options.append {
            return false;
        }
        let Some((header, mut body)) = self.table(lines) else { return false };
        body.any(|row| {
            candidate(&lines[row])
                && self.row_of(&header, row, &lines[row]).is_some_and(|row| {
                    self.same(&row.key, key) && row.cells.get(column).is_some_and(|cell| cell == text)
                })
        })
    }

    /// The header, and the rows of the screen that may belong to its table.
    fn table(&self, lines: &[Line]) -> Option<(Header, std::ops::Range<usize>)> {
        let titles: Vec<&str> =
            std::iter::once(&self.options.name).chain(&self.options.required).map(String::as_str).collect();
        let found = lines.iter().enumerate().find_map(|(row, line)| Header::read(row, line, &titles));
        let mut kept = self.header.lock();
        let (header, first) = match (found, kept.take()) {
            (Some(header), _) => {
                let first = header.line + 1;
                (header, first)
            }
            // The header has scrolled away: all rows are below it.
            (None, Some(header)) if self.options.append => (header, 0),
            _ => return None,
        };
        *kept = Some(header.clone());
        let end = lines.iter().skip(first).position(is_rule).map_or(lines.len(), |rows| first + rows);
        Some((header, first..end))
    }

    fn row_of(&self, header: &Header, row: usize, line: &Line) -> Option<Row> {
        if line.text.is_empty() {
            return None;
        }
        let mut cells: BTreeMap<String, String> = BTreeMap::new();
        let mut name_at = None;
        for token in tokens(line) {
            let Some(column) = header.column_of(token) else { continue };
            if column.name.is_empty() {
                continue;
            }
            let text = token_text(line, token);
            if self.options.marker.as_ref() == Some(&text) {
                continue;
            }
            if column.name == self.options.name && name_at.is_none() {
                name_at = Some(token.start);
            }
            match cells.get_mut(&column.name) {
                Some(cell) => {
                    cell.push(' ');
                    cell.push_str(&text);
                }
                None => {
                    cells.insert(column.name.clone(), text);
                }
            }
        }
        let key = if let Some(pattern) = &self.row {
            let groups = pattern.captures(&line.text)?;
            let group = |name| groups.name(name).map_or(String::new(), |found| found.as_str().to_owned());
            (group("namespace"), group("name"))
        } else {
            let cell = |name: &String| cells.get(name).cloned();
            let namespace = match &self.options.namespace {
                Some(column) if header.has(column) => cell(column)?,
                _ => String::new(),
            };
            (namespace, cell(&self.options.name)?)
        };
        (is_object_name(&key.1) && (key.0.is_empty() || is_object_name(&key.0))).then_some(Row {
            row,
            key,
            cells,
            cursor: false,
            name_at: name_at.unwrap_or(0),
        })
    }

    fn mark_cursor(&self, screen: &Screen, rows: &mut [Row]) {
        let allowed = |row: &Row| {
            self.not_cursor.as_ref().is_none_or(|pattern| !pattern.is_match(&screen.read_lines()[row.row].text))
        };
        let reversed = |row: &Row| screen.look(row.row, row.name_at).0;
        let shows = |row: &Row| {
            let marker = self.options.marker.as_deref().unwrap_or_default();
            screen.read_lines()[row.row].text.contains(marker)
        };
        let at = match self.options.cursor {
            CursorStyle::None => None,
            CursorStyle::Text => {
                screen.cursor_visible().then(|| rows.iter().position(|row| row.row == screen.cursor().0)).flatten()
            }
            CursorStyle::Marker => only(rows, |row| allowed(row) && shows(row)),
            CursorStyle::Reverse => only(rows, |row| allowed(row) && reversed(row)),
            CursorStyle::Background => lone_background(screen, rows, allowed),
            CursorStyle::Auto => {
                only(rows, |row| allowed(row) && reversed(row)).or_else(|| lone_background(screen, rows, allowed))
            }
        };
        if let Some(at) = at {
            rows[at].cursor = true;
        }
    }
}

/// The index of the only row for which this holds.
fn only(rows: &[Row], holds: impl Fn(&Row) -> bool) -> Option<usize> {
    let mut found = rows.iter().enumerate().filter(|(_, row)| holds(row));
    let first = found.next()?.0;
    found.next().is_none().then_some(first)
}

fn lone_background(screen: &Screen, rows: &[Row], allowed: impl Fn(&Row) -> bool) -> Option<usize> {
    let backgrounds: Vec<Color> = rows.iter().map(|row| screen.look(row.row, row.name_at).1).collect();
    if rows.len() < 2 {
        return None;
    }
    let mut found = (0..rows.len())
        .filter(|&at| allowed(&rows[at]) && backgrounds.iter().filter(|other| **other == backgrounds[at]).count() == 1);
    let first = found.next()?;
    found.next().is_none().then_some(first)
}

/// RFC 1123 subdomain, which the names of namespaces and Pods are.
fn is_object_name(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= 253
        && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'-' | b'.'))
        && text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text.ends_with(|c: char| c.is_ascii_alphanumeric())
}
