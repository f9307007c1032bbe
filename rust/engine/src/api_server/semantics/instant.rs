//! Wall-clock instants as the API writes them (RFC 3339) and durations as kubectl prints them.

use std::time::{SystemTime, UNIX_EPOCH};

/// Seconds since 1970, UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Instant(pub i64);

const DAY: i64 = 86_400;

impl Instant {
    /// The wall clock, now.
    pub fn now() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self(i64::try_from(since.as_secs()).unwrap_or(i64::MAX))
    }

    /// Reads `2026-01-01T00:00:00Z`, with or without a fraction and with `Z` or an offset.
    pub fn parse(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        let number = |from: usize, to: usize| -> Option<i64> {
            let digits = text.get(from..to)?;
            digits.bytes().all(|b| b.is_ascii_digit()).then(|| digits.parse().ok())?
        };
        let separators = [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':')];
        if separators.iter().any(|(at, wanted)| bytes.get(*at) != Some(wanted)) {
            return None;
        }
        let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
        let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
        if !(1..=12).contains(&month) || !(1..=31).contains(&day) || hour > 23 || minute > 59 || second > 60 {
            return None;
        }
        let rest = text.get(19..)?;
        let rest = rest.strip_prefix('.').map_or(rest, |r| r.trim_start_matches(|c: char| c.is_ascii_digit()));
        let offset = match rest.as_bytes() {
            [b'Z'] => 0,
            [sign @ (b'+' | b'-'), h1, h2, b':', m1, m2] => {
                let two = |a: &u8, b: &u8| Some(i64::from(*a).checked_sub(48)? * 10 + i64::from(*b) - 48);
                let seconds = two(h1, h2)? * 3_600 + two(m1, m2)? * 60;
                if *sign == b'-' { -seconds } else { seconds }
            }
            _ => return None,
        };
        Some(Self(days_from_civil(year, month, day) * DAY + hour * 3_600 + minute * 60 + second - offset))
    }

    /// `2026-01-01T00:00:00Z`.
    pub fn to_rfc3339(self) -> String {
        let (days, seconds) = (self.0.div_euclid(DAY), self.0.rem_euclid(DAY));
        let (year, month, day) = civil_from_days(days);
        let (hour, minute, second) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
        format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
    }

    /// How long ago `then` was, as kubectl prints it.
    pub fn since(self, then: Self) -> String {
        human_duration(self.0 - then.0)
    }

    /// The age cell of a timestamp: `<unknown>` where there is none.
    pub fn age(self, timestamp: Option<&str>) -> String {
        timestamp.and_then(Self::parse).map_or_else(|| "<unknown>".into(), |then| self.since(then))
    }
}

/// Days since 1970 of a date of the Gregorian calendar (H. Hinnant, "chrono-Compatible Low-Level Date
/// Algorithms").
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day_of_year - (153 * shifted + 2) / 5 + 1)
}

/// A duration of whole seconds with two or three significant figures (`duration.HumanDuration`).
pub fn human_duration(seconds: i64) -> String {
    let (minutes, hours) = (seconds / 60, seconds / 3_600);
    let (days, years) = (hours / 24, hours / 24 / 365);
    let pair = |large: i64, unit: char, small: i64, sub: char| {
        if small == 0 { format!("{large}{unit}") } else { format!("{large}{unit}{small}{sub}") }
    };
    match seconds {
        ..-1 => "<invalid>".into(),
        -1 => "0s".into(),
        0..120 => format!("{seconds}s"),
        _ if minutes < 10 => pair(minutes, 'm', seconds % 60, 's'),
        _ if minutes < 180 => format!("{minutes}m"),
        _ if hours < 8 => pair(hours, 'h', minutes % 60, 'm'),
        _ if hours < 48 => format!("{hours}h"),
        _ if days < 8 => pair(days, 'd', hours % 24, 'h'),
        _ if years < 2 => format!("{days}d"),
        _ if years < 8 => pair(years, 'y', days % 365, 'd'),
        _ => format!("{years}y"),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn durations_read_as_kubectl_prints_them() {
        for (seconds, text) in [
            (-5, "<invalid>"),
            (-1, "0s"),
            (0, "0s"),
            (119, "119s"),
            (120, "2m"),
            (599, "9m59s"),
            (600, "10m"),
            (3 * 3_600 - 1, "179m"),
            (3 * 3_600, "3h"),
            (7 * 3_600 + 60, "7h1m"),
            (8 * 3_600 + 60, "8h"),
            (47 * 3_600, "47h"),
            (48 * 3_600, "2d"),
            (7 * DAY + 3_600, "7d1h"),
            (8 * DAY + 3_600, "8d"),
            (729 * DAY, "729d"),
            (730 * DAY, "2y"),
            (731 * DAY, "2y1d"),
            (8 * 365 * DAY, "8y"),
        ] {
            assert_eq!(human_duration(seconds), text, "{seconds} s");
        }
    }

    #[test]
    fn timestamps_are_read_with_fractions_and_offsets_and_nothing_else() {
        let zero = Instant::parse("2026-01-01T00:00:00Z").unwrap();
        assert_eq!(zero, Instant(1_767_225_600));
        assert_eq!(Instant::parse("2026-01-01T00:00:00.123456Z"), Some(zero));
        assert_eq!(Instant::parse("2026-01-01T01:00:00+01:00"), Some(zero));
        for wrong in ["", "2026-01-01", "2026-13-01T00:00:00Z", "2026-01-01T00:00:00", "2026-01-01t00:00:00Zé"] {
            assert_eq!(Instant::parse(wrong), None, "{wrong}");
        }
        assert_eq!(Instant(0).age(None), "<unknown>");
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(seconds in -62_000_000_000_i64..253_000_000_000) {
            prop_assert_eq!(Instant::parse(&Instant(seconds).to_rfc3339()), Some(Instant(seconds)));
        }

        #[test]
        fn no_text_breaks_the_reader(text in ".{0,40}") {
            let _ = Instant::parse(&text);
        }
    }
}
