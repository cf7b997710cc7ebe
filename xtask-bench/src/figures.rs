//! Number formats of the reports, and the median.

/// Two or three digits, never an exponent.
pub(crate) fn significant(value: f64) -> String {
    match value {
        v if v < 0.1 => format!("{v:.3}"),
        v if v < 10.0 => format!("{v:.2}"),
        v if v < 100.0 => format!("{v:.1}"),
        v => format!("{v:.0}"),
    }
}

/// `12345678` -> `12,345,678`.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// The middle value; of an even count the greater of the two in the middle.
pub(crate) fn median(figures: impl Iterator<Item = f64>) -> Option<f64> {
    let mut figures: Vec<f64> = figures.collect();
    figures.sort_unstable_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_short_and_in_the_middle() {
        assert_eq!((grouped(1_234_567), grouped(12)), ("1,234,567".to_owned(), "12".to_owned()));
        assert_eq!([0.0123, 1.234, 12.34, 123.4].map(significant), ["0.012", "1.23", "12.3", "123"]);
        assert_eq!((median([3.0, 1.0, 2.0, 9.0].into_iter()), median([].into_iter())), (Some(3.0), None));
    }
}
