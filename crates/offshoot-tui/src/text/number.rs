//! Abbreviated numbers.

/// Such as 950, 1.2k, 34k, 5.6M.
#[must_use]
pub fn in_short(number: u64) -> String {
    match number {
        0..1_000 => number.to_string(),
        1_000..10_000 => format!("{:.1}k", number as f64 / 1e3),
        10_000..1_000_000 => format!("{}k", number / 1_000),
        _ => format!("{:.1}M", number as f64 / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_numbers_take_few_characters() {
        for (number, said) in [(0, "0"), (999, "999"), (1_234, "1.2k"), (34_567, "34k"), (5_600_000, "5.6M")] {
            assert_eq!(in_short(number), said);
        }
    }
}
