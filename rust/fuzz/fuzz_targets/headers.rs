//! Accept headers and timestamps: any text is understood or refused; a time that is read prints as itself.
#![no_main]

use libfuzzer_sys::fuzz_target;
use perfq_engine::api_server::semantics::instant::Instant;
use perfq_engine::api_server::semantics::negotiate::{Offer, negotiate};

fuzz_target!(|text: &str| {
    for offer in [Offer::Objects, Offer::Discovery, Offer::Plain] {
        if let Err(status) = negotiate(Some(text), offer) {
            assert!(!status.to_json().is_empty());
        }
    }
    if let Some(instant) = Instant::parse(text) {
        assert_eq!(Instant::parse(&instant.to_rfc3339()), Some(instant));
        Instant::now().age(Some(text));
    }
});
