//! A table's header: its columns, and which of them a run of text stands under.

use super::line::Line;

/// The columns of a table, by their place in its header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Header {
    /// Row of the screen.
    pub(super) line: usize,
    columns: Vec<HeaderColumn>,
}

/// A column of a header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct HeaderColumn {
    /// Its title; empty for a column of another table.
    pub(super) name: String,
    start: usize,
    end: usize,
}

/// A run of cells without a blank.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    /// Its first cell.
    pub(super) start: usize,
    end: usize,
}

impl Header {
    /// The line as a header, where it has all of these titles.
    pub(super) fn read(row: usize, line: &Line, titles: &[&str]) -> Option<Self> {
        // Most lines are no header: look at the text first.
        if !titles.iter().all(|title| line.text.contains(title)) {
            return None;
        }
        let mut columns: Vec<HeaderColumn> = Vec::new();
        let mut beside = false;
        for token in tokens(line) {
            let name = column_name(line, token);
            // A title that comes again begins a second table beside this one: its columns bound ours, and
            // are not ours.
            beside |= columns.iter().any(|column| column.name == name);
            let name = if beside { String::new() } else { name };
            columns.push(HeaderColumn { name, start: token.start, end: token.end });
        }
        let header = Self { line: row, columns };
        titles.iter().all(|title| header.has(title)).then_some(header)
    }

    /// Whether it has this title.
    pub(super) fn has(&self, name: &str) -> bool {
        self.columns.iter().any(|column| column.name == name)
    }

    /// The column that a run of text belongs to: the one whose title it stands under, most of it; else
    /// the last one that begins left of it.
    pub(super) fn column_of(&self, token: Token) -> Option<&HeaderColumn> {
        let overlap = |column: &HeaderColumn| token.end.min(column.end).saturating_sub(token.start.max(column.start));
        let mut best: Option<&HeaderColumn> = None;
        for column in &self.columns {
            if overlap(column) > best.map_or(0, overlap) {
                best = Some(column);
            }
        }
        best.or_else(|| self.columns.iter().rev().find(|column| column.start <= token.start))
    }
}

/// Borders and scroll bars separate cells as blanks do.
fn separates(character: char) -> bool {
    character == ' ' || matches!(character, '\u{2500}'..='\u{259f}' | '|')
}

/// Runs of text that end before the first disputed character.
pub(super) fn tokens(line: &Line) -> impl Iterator<Item = Token> + '_ {
    let mut at = 0;
    std::iter::from_fn(move || {
        let cells = &line.cells;
        while at < cells.len() && separates(cells[at]) {
            at += 1;
        }
        let start = at;
        while at < cells.len() && !separates(cells[at]) {
            at += 1;
        }
        (at > start).then_some(Token { start, end: at })
    })
    .filter(|token| token.end <= line.sure)
}

/// The text of a run.
pub(super) fn token_text(line: &Line, token: Token) -> String {
    line.cells[token.start..token.end].iter().filter(|character| **character != '\0').collect()
}

/// A header's title without the arrows that show the sort order.
fn column_name(line: &Line, token: Token) -> String {
    token_text(line, token).trim_matches(|c: char| !c.is_alphanumeric() && c != '%').to_owned()
}

/// A horizontal border: the table ends above it.
pub(super) fn is_rule(line: &Line) -> bool {
    let drawn = line.cells.iter().filter(|c| matches!(c, '\u{2500}'..='\u{257f}' | '-')).count();
    drawn * 2 > line.cells.len().max(1)
}
