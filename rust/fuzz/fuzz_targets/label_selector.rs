//! Any text is a label selector or a Status; a selector matches or does not, whatever the labels.
#![no_main]

use libfuzzer_sys::fuzz_target;
use perfq_engine::api_server::semantics::label_selector::LabelSelector;

fuzz_target!(|input: (&str, &str, &str)| {
    let (text, key, value) = input;
    match LabelSelector::parse(text) {
        Ok(selector) => {
            let matched = selector.matches(|wanted| (wanted == key).then_some(value));
            assert!(!selector.is_empty() || matched, "an empty selector matches everything");
            let mut labels = serde_json::Map::new();
            labels.insert(key.to_owned(), value.into());
            assert_eq!(selector.matches_labels(Some(&labels)), matched);
            selector.matches_labels(None);
        }
        Err(status) => assert!(!status.to_json().is_empty()),
    }
});
