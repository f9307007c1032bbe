//! Pressure stall information: `/proc/pressure/*` and `*.pressure` of cgroups.

use serde::Serialize;

/// Totals since boot, in microseconds. None where the kernel has no such line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Pressure {
    /// Some task waited.
    pub some_us: Option<u64>,
    /// All tasks that were not idle waited at once.
    pub full_us: Option<u64>,
}

/// `/proc/pressure/*`: the machine's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct HostPressure {
    /// Waiting for a CPU.
    pub cpu: Pressure,
    /// Waiting for memory.
    pub memory: Pressure,
    /// Waiting for a disk.
    pub io: Pressure,
}

impl HostPressure {
    /// Reads it; None where the kernel does not say.
    pub fn read() -> Self {
        let of = |what| std::fs::read_to_string(format!("/proc/pressure/{what}")).map(|text| parse(&text));
        let of = |what| of(what).unwrap_or_default();
        Self { cpu: of("cpu"), memory: of("memory"), io: of("io") }
    }
}

/// Reads the text; what is not such a text gives no totals.
pub fn parse(text: &str) -> Pressure {
    let total = |who: &str| {
        let line = text.lines().find(|line| line.split_ascii_whitespace().next() == Some(who))?;
        line.split_ascii_whitespace().find_map(|word| word.strip_prefix("total="))?.parse().ok()
    };
    Pressure { some_us: total("some"), full_us: total("full") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn captured_texts_are_read() {
        let text = "some avg10=6.62 avg60=33.60 avg300=26.87 total=132015621\n\
                    full avg10=0.00 avg60=0.00 avg300=0.00 total=0\n";
        assert_eq!(parse(text), Pressure { some_us: Some(132_015_621), full_us: Some(0) });
        let old = "some avg10=0.00 avg60=0.00 avg300=0.00 total=12\n";
        assert_eq!(parse(old), Pressure { some_us: Some(12), full_us: None }, "cpu has no full line before 5.13");
        assert_eq!(parse(""), Pressure::default());
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_gives_nothing(text in any::<String>(), total in any::<u64>()) {
            let _ = parse(&text);
            let line = format!("some avg10=0.00 total={total}");
            prop_assert_eq!(parse(&line).some_us, Some(total));
        }
    }
}
