//! A row of the grid as text.

use super::width::disputed;
use alacritty_terminal::grid::Row;
use alacritty_terminal::term::cell::{Cell, Flags};

/// A row of the grid.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// One character a cell; `\0` in the second cell of a wide one.
    pub cells: Vec<char>,
    /// The same as text, combining characters included, blanks at the end cut off.
    pub text: String,
    /// The first column whose place terminals disagree on; the width of the row where there is none.
    pub sure: usize,
}

/// Reads a row of the grid.
pub(super) fn read_line(cells: &Row<Cell>, line: &mut Line) {
    line.cells.clear();
    line.text.clear();
    line.sure = cells.len();
    let mut end = 0;
    for (col, cell) in cells[..].iter().enumerate() {
        if cell.flags.contains(Flags::WIDE_CHAR_SPACER) {
            line.cells.push('\0');
            continue;
        }
        let hidden = cell.flags.contains(Flags::HIDDEN);
        let character = if cell.c < ' ' || hidden { ' ' } else { cell.c };
        line.cells.push(character);
        line.text.push(character);
        let marks = cell.zerowidth().unwrap_or_default();
        line.text.extend(marks);
        if line.sure == cells.len() && (disputed(character) || marks.iter().copied().any(disputed)) {
            line.sure = col;
        }
        if character != ' ' || !marks.is_empty() {
            end = line.text.len();
        }
    }
    line.text.truncate(end);
}
