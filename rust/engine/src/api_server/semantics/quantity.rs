//! Quantities such as 500m and 1Gi (k8s.io/apimachinery `api/resource`): what is one, and how the real server
//! writes it.

/// Powers of ten and of 1024, with their suffixes.
const DECIMAL: [(&str, i32); 10] =
    [("n", -9), ("u", -6), ("m", -3), ("", 0), ("k", 3), ("M", 6), ("G", 9), ("T", 12), ("P", 15), ("E", 18)];
const BINARY: [&str; 7] = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
/// Values are counted in units of 10^-9, the least that a quantity can say.
const UNIT: i128 = 1_000_000_000;

/// In which of its three forms a quantity was written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// 1k is 1000.
    Decimal,
    /// 1Ki is 1024.
    Binary,
    /// 1e3 is 1000.
    Exponent,
}

/// A number with what follows it: digits, how many of them stand behind the point, a factor.
struct Parts<'a> {
    negative: bool,
    number: &'a str,
    form: Form,
    /// Exponent of 10, or of 1024.
    exponent: i32,
}

impl<'a> Parts<'a> {
    /// A signed decimal number with a suffix: m, u, n, k, M … E, Ki … Ei, or an exponent.
    fn read(text: &'a str) -> Option<Self> {
        let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
        let split = unsigned.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(unsigned.len());
        let (number, suffix) = unsigned.split_at(split);
        if !number.bytes().any(|b| b.is_ascii_digit()) || number.matches('.').count() > 1 {
            return None;
        }
        let parts = |form, exponent| Some(Self { negative: text.starts_with('-'), number, form, exponent });
        if let Some((_, exponent)) = DECIMAL.iter().find(|(known, _)| *known == suffix) {
            return parts(Form::Decimal, *exponent);
        }
        if let Some(power) = BINARY.iter().position(|known| *known == suffix) {
            return parts(Form::Binary, i32::try_from(power).unwrap_or(0));
        }
        let digits = suffix.strip_prefix(['e', 'E'])?;
        let exponent = digits.strip_prefix(['+', '-']).unwrap_or(digits);
        if exponent.is_empty() || !exponent.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        let sign = if digits.starts_with('-') { -1 } else { 1 };
        parts(Form::Exponent, sign * exponent.parse::<i32>().ok()?)
    }

    /// The value in units, what is less rounded away from zero. `None` where it is too large to be counted so.
    fn units(&self) -> Option<i128> {
        let (whole, fraction) = self.number.split_once('.').unwrap_or((self.number, ""));
        let digits: String = [whole, fraction].concat();
        let mut value: i128 = digits.parse().ok()?;
        let mut ten = 9 - i32::try_from(fraction.len()).ok()?;
        match self.form {
            Form::Binary => value = value.checked_mul(1024_i128.checked_pow(u32::try_from(self.exponent).ok()?)?)?,
            Form::Decimal | Form::Exponent => ten = ten.checked_add(self.exponent)?,
        }
        let power = |exponent: i32| 10_i128.checked_pow(exponent.unsigned_abs());
        Some(if ten >= 0 { value.checked_mul(power(ten)?)? } else { power(ten).map_or(1, |by| divide_up(value, by)) })
    }
}

/// Whether the text is a quantity.
pub fn is_quantity(text: &str) -> bool {
    Parts::read(text).is_some()
}

/// The text as the real server writes it: the largest suffix that leaves an integer, in the form it was written in.
/// What is no quantity, or too large to be counted, stays as it is.
pub fn canonical(text: &str) -> String {
    let Some(parts) = Parts::read(text) else { return text.into() };
    let Some(units) = parts.units().filter(|units| *units / UNIT <= i128::from(i64::MAX)) else { return text.into() };
    let sign = if parts.negative && units != 0 { "-" } else { "" };
    if parts.form == Form::Binary && units >= 1024 * UNIT {
        let (mut value, mut power) = (divide_up(units, UNIT), 0);
        while value % 1024 == 0 && power + 1 < BINARY.len() {
            (value, power) = (value / 1024, power + 1);
        }
        return format!("{sign}{value}{}", BINARY[power]);
    }
    let (mut value, mut at) = (units, if units == 0 { 3 } else { 0 });
    while value != 0 && value % 1000 == 0 && at + 1 < DECIMAL.len() {
        (value, at) = (value / 1000, at + 1);
    }
    let (suffix, exponent) = DECIMAL[at];
    match parts.form {
        Form::Exponent if exponent != 0 => format!("{sign}{value}e{exponent}"),
        _ => format!("{sign}{value}{suffix}"),
    }
}

fn divide_up(value: i128, by: i128) -> i128 {
    value / by + i128::from(value % by != 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn quantities_are_written_as_the_real_server_writes_them() {
        for (given, written) in [
            ("0", "0"),
            ("0.5", "500m"),
            ("1000m", "1"),
            ("1024Mi", "1Gi"),
            ("262144Mi", "256Gi"),
            ("250000", "250k"),
            ("1073741824", "1073741824"),
            ("1.5Gi", "1536Mi"),
            ("0.5Ki", "512"),
            ("1e3", "1e3"),
            ("1500e-3", "1500e-3"),
            ("-0.1", "-100m"),
            ("+1", "1"),
            ("0.1n", "1n"),
            ("1500m", "1500m"),
            ("100000000000000000000000", "100000000000000000000000"),
            ("abc", "abc"),
        ] {
            assert_eq!(canonical(given), written, "{given}");
        }
    }

    #[test]
    fn what_is_no_quantity_is_told() {
        for text in ["", ".", "1 ", "m", "1.1.1", "--1", "1e", "1ki", "1.5x", "e3"] {
            assert!(!is_quantity(text), "{text:?}");
        }
        for text in [".5", "1.", "1E3", "1E", "1e-3", "12Ei"] {
            assert!(is_quantity(text), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn writing_keeps_the_value_and_is_done_once(
            number in "[0-9]{1,7}(\\.[0-9]{0,9})?", suffix in prop::sample::select(vec![
                "", "n", "u", "m", "k", "M", "G", "Ki", "Mi", "Gi", "e3", "e-3", "E1"
            ]), sign in prop::sample::select(vec!["", "-", "+"])
        ) {
            let text = format!("{sign}{number}{suffix}");
            let written = canonical(&text);
            prop_assert_eq!(canonical(&written), written.clone());
            let units = |text: &str| Parts::read(text).and_then(|parts| parts.units());
            let (before, after) = (units(&text).unwrap(), units(&written).unwrap());
            // Bytes are whole: a binary quantity of 1Ki or more is rounded up to one.
            let whole = BINARY[1..].contains(&suffix) && before >= 1024 * UNIT;
            prop_assert_eq!(if whole { divide_up(before, UNIT) * UNIT } else { before }, after);
        }

        #[test]
        fn no_text_breaks_it(text in ".{0,40}") {
            let _ = canonical(&text);
        }
    }
}
