//! RFC 3339 instants as nanoseconds since 1970, with any number of digits.

/// Nanoseconds since 1970-01-01T00:00:00Z. `None` for what is no instant, and for years outside 1678 to 2261
/// (Go writes a time that was never set as the year 1).
pub fn parse(text: &str) -> Option<i64> {
    let bytes = text.as_bytes();
    let shape = bytes.get(..19)?;
    let separated = [(4, b'-'), (7, b'-'), (13, b':'), (16, b':')].iter().all(|(at, mark)| shape[*at] == *mark);
    if !separated || !matches!(shape[10], b'T' | b't' | b' ') {
        return None;
    }
    let number = |from: usize, to: usize| digits(&shape[from..to]);
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    if !(1678..=2261).contains(&year) || !(1..=12).contains(&month) || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    if day < 1 || day > days_in(year, month) {
        return None;
    }
    let (fraction_ns, zone) = fraction(&bytes[19..])?;
    let seconds = days_since_1970(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second - offset(zone)?;
    seconds.checked_mul(1_000_000_000)?.checked_add(fraction_ns)
}

fn digits(bytes: &[u8]) -> Option<i64> {
    bytes.iter().try_fold(0, |sum, byte| byte.is_ascii_digit().then(|| sum * 10 + i64::from(byte - b'0')))
}

/// The fraction in nanoseconds, what is finer cut off, and what stands after it.
fn fraction(rest: &[u8]) -> Option<(i64, &[u8])> {
    let Some(rest) = rest.strip_prefix(b".").or_else(|| rest.strip_prefix(b",")) else { return Some((0, rest)) };
    let length = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if length == 0 {
        return None;
    }
    let kept = length.min(9);
    let scale = (kept..9).fold(1, |scale, _| scale * 10);
    Some((digits(&rest[..kept])? * scale, &rest[length..]))
}

/// The seconds by which a zone is ahead of UTC.
fn offset(zone: &[u8]) -> Option<i64> {
    match zone {
        b"Z" | b"z" => Some(0),
        [sign @ (b'+' | b'-'), h1, h2, b':', m1, m2] => {
            let (hours, minutes) = (digits(&[*h1, *h2])?, digits(&[*m1, *m2])?);
            let seconds = hours * 3_600 + minutes * 60;
            (hours < 24 && minutes < 60).then_some(if *sign == b'-' { -seconds } else { seconds })
        }
        _ => None,
    }
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn days_in(year: i64, month: i64) -> i64 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// From the first of March of the year 0 to 1970.
const MARCH_OF_YEAR_0_TO_1970: i64 = 719_469;

/// Days of the Gregorian calendar; years begin in March, so that the leap day is their last.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let month = (month + 9) % 12;
    let days_before_month = (153 * month + 2) / 5;
    365 * year + year / 4 - year / 100 + year / 400 + days_before_month + day - MARCH_OF_YEAR_0_TO_1970
}

/// The instant as RFC 3339 in UTC, to the microsecond.
pub fn text(ns: i64) -> String {
    let seconds = ns.div_euclid(1_000_000_000);
    let micros = ns.rem_euclid(1_000_000_000) / 1_000;
    let (mut days, of_day) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let mut year = 1970;
    while days < 0 {
        year -= 1;
        days += if is_leap(year) { 366 } else { 365 };
    }
    while days >= if is_leap(year) { 366 } else { 365 } {
        days -= if is_leap(year) { 366 } else { 365 };
        year += 1;
    }
    let mut month = 1;
    while days >= days_in(year, month) {
        days -= days_in(year, month);
        month += 1;
    }
    let (hour, minute, second) = (of_day / 3_600, of_day / 60 % 60, of_day % 60);
    format!("{year:04}-{month:02}-{:02}T{hour:02}:{minute:02}:{second:02}.{micros:06}Z", days + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn instants_are_read_with_any_number_of_digits_and_any_zone() {
        for (text, ns) in [
            ("1970-01-01T00:00:00Z", 0),
            ("2024-02-29T12:34:56.789012Z", 1_709_210_096_789_012_000),
            ("2024-02-29T12:34:56.7Z", 1_709_210_096_700_000_000),
            ("2024-02-29T12:34:56.7890123456789Z", 1_709_210_096_789_012_345),
            ("2024-02-29T14:04:56+01:30", 1_709_210_096_000_000_000),
            ("2024-02-29T07:34:56.000001-05:00", 1_709_210_096_000_001_000),
            ("1969-12-31T23:59:59.5Z", -500_000_000),
        ] {
            assert_eq!(parse(text), Some(ns), "{text}");
        }
    }

    #[test]
    fn what_is_no_instant_is_none() {
        for text in [
            "",
            "2024-02-30T00:00:00Z",
            "2023-02-29T00:00:00Z",
            "2024-13-01T00:00:00Z",
            "2024-01-01T24:00:00Z",
            "2024-01-01T00:00:00",
            "2024-01-01T00:00:00.Z",
            "2024-01-01T00:00:00.5",
            "2024-01-01T00:00:00+1:00",
            "2024-01-01T00:00:00Z ",
            "0001-01-01T00:00:00.000000Z",
            "9999-01-01T00:00:00Z",
            "2024-01-0xT00:00:00Z",
            "2024-01-01",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn an_instant_reads_back_as_itself(micros in -9_000_000_000_000_000_i64..9_000_000_000_000_000) {
            prop_assert_eq!(parse(&text(micros * 1_000)), Some(micros * 1_000));
        }

        #[test]
        fn any_text_is_an_instant_or_none(text in ".{0,40}") {
            parse(&text);
        }
    }
}
