//! The texts of a selector: what its terms hold against labels and fields.

use super::names::SELECTED;

fn is_mark(character: char) -> bool {
    matches!(character, '=' | '!' | '(' | ')' | ',' | '>' | '<') || character.is_whitespace()
}

/// The selector with some of its texts changed: values, those of a set included, and terms that are one text
/// alone. What selects objects by their names stays. `None` where nothing was changed.
pub(super) fn changed(selector: &str, change: &mut dyn FnMut(&str) -> Option<String>) -> Option<String> {
    let (mut out, mut copied, mut at) = (String::new(), 0, 0);
    let (mut in_set, mut field) = (false, "");
    while let Some(found) = selector[at..].find(|character| !is_mark(character)) {
        let begin = at + found;
        let end = selector[begin..].find(is_mark).map_or(selector.len(), |length| begin + length);
        let text = &selector[begin..end];
        in_set = match selector[at..begin].rfind(['(', ')']) {
            Some(mark) => selector.as_bytes()[at + mark] == b'(',
            None => in_set,
        };
        let before = selector[..begin].trim_end().chars().next_back();
        let after = selector[end..].trim_start().chars().next();
        let is_value = in_set || matches!(before, Some('=' | '>' | '<'));
        let is_term = matches!(before, None | Some(',' | '!')) && matches!(after, None | Some(','));
        if !is_value {
            field = text;
        }
        if (is_value && !SELECTED.contains(&field) || is_term)
            && let Some(new) = change(text)
        {
            out.push_str(&selector[copied..begin]);
            out.push_str(&new);
            copied = end;
        }
        at = end;
    }
    (copied > 0).then(|| out + &selector[copied..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn without_jane(selector: &str) -> Option<String> {
        changed(selector, &mut |text| (text == "jane").then(|| "x".to_owned()))
    }

    #[test]
    fn values_and_terms_of_one_text_are_changed_and_keys_stay() {
        for (selector, expected) in [
            ("owner=jane", Some("owner=x")),
            ("a = b, owner != jane ,c", Some("a = b, owner != x ,c")),
            ("owner in (joe, jane),jane in (a)", Some("owner in (joe, x),jane in (a)")),
            ("owner notin (jane)", Some("owner notin (x)")),
            ("jane", Some("x")),
            ("!jane,a", Some("!x,a")),
            ("spec.user==jane", Some("spec.user==x")),
            ("jane=a", None),
            ("owner=janet", None),
            ("metadata.name=jane,metadata.namespace!=jane", None),
            ("metadata.name=jane,owner=jane", Some("metadata.name=jane,owner=x")),
            ("", None),
        ] {
            assert_eq!(without_jane(selector).as_deref(), expected, "{selector}");
        }
    }

    proptest! {
        #[test]
        fn any_selector_keeps_its_form(selector in "[a-z=!(),<> é]{0,30}") {
            let form = |text: &str| text.chars().filter(|found| is_mark(*found)).collect::<String>();
            let new = changed(&selector, &mut |_| Some("x".to_owned())).unwrap_or(selector.clone());
            prop_assert_eq!(form(&new), form(&selector));
        }
    }
}
