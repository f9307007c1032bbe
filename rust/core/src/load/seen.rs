//! Values as errors show them.

/// A text in quotes, at most 60 characters of it.
pub(in crate::load) fn quoted(text: &str) -> String {
    const MOST: usize = 60;
    if text.chars().nth(MOST).is_none() {
        return format!("{text:?}");
    }
    let cut: String = text.chars().take(MOST).collect();
    format!("{cut:?}…")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_cut() {
        assert_eq!(quoted("a\n"), "\"a\\n\"");
        assert_eq!(quoted(&"ü".repeat(60)), format!("\"{}\"", "ü".repeat(60)));
        assert_eq!(quoted(&"ü".repeat(61)), format!("\"{}\"…", "ü".repeat(60)));
    }
}
