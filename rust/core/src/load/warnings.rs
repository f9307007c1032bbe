//! What an input has that is let through, but said.

use serde::Serialize;

/// So many kinds of warnings are kept; a file that has more is wrong in one way many times.
const MOST: usize = 100;

/// One kind of warning.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Warning {
    /// The first line that gave it, from 1.
    pub line: Option<u64>,
    /// One clause.
    pub text: String,
    /// How often.
    pub count: u64,
}

/// Warnings, each kind once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Warnings {
    found: Vec<Warning>,
    more: u64,
}

impl Warnings {
    /// Counts a warning.
    pub fn add(&mut self, line: Option<u64>, text: &str) {
        if let Some(known) = self.found.iter_mut().find(|known| known.text == text) {
            known.count += 1;
        } else if self.found.len() < MOST {
            self.found.push(Warning { line, text: text.to_owned(), count: 1 });
        } else {
            self.more += 1;
        }
    }

    /// All kinds, in the order in which they were first met.
    pub fn into_vec(mut self) -> Vec<Warning> {
        if self.more > 0 {
            self.found.push(Warning {
                line: None,
                text: "and others that are not listed".to_owned(),
                count: self.more,
            });
        }
        self.found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_listed_once_with_its_first_line_and_the_list_ends_somewhere() {
        let mut warnings = Warnings::default();
        for line in 1..=3 {
            warnings.add(Some(line), "the same");
        }
        for line in 1..=200 {
            warnings.add(Some(line), &format!("number {line}"));
        }
        let found = warnings.into_vec();
        assert_eq!(found[0], Warning { line: Some(1), text: "the same".into(), count: 3 });
        assert_eq!(found.len(), MOST + 1);
        assert_eq!(found.iter().map(|warning| warning.count).sum::<u64>(), 203);
    }
}
