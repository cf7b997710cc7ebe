//! Which model a mistyped id probably means: of versions that are about as similar, the newest, and one without a date before one with. Knows
//! no table of models.

use offshoot_settings::nearest::nearest_newest;

/// The known id that is nearest.
pub(crate) fn near_model<'a>(typed: &str, ids: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    nearest_newest(typed, ids, undated, |id| (undated(id) == id, numbered(id)))
}

/// The id without the date at its end: `-20250929`, `@20250929` or `-2025-09-29`.
fn undated(id: &str) -> &str {
    let is_date = |end: &str| {
        let digits = end.bytes().filter(u8::is_ascii_digit).count();
        digits == 8
            && end.get(1..3) == Some("20")
            && end.bytes().all(|byte| byte.is_ascii_digit() || b"-@".contains(&byte))
    };
    let lengths = [11, 9].map(|length| id.len().checked_sub(length).filter(|at| *at > 0));
    let mut ends = lengths.into_iter().flatten().filter_map(|at| id.split_at_checked(at));
    ends.find(|(_, end)| end.starts_with(['-', '@']) && is_date(end)).map_or(id, |(before, _)| before)
}

/// The id in the order of its numbers: `4-10` is after `4-9`.
fn numbered(id: &str) -> Vec<(String, u64)> {
    let mut parts: Vec<(String, u64)> = vec![(String::new(), 0)];
    let mut was_digit = false;
    for c in id.chars() {
        let digit = c.to_digit(10).map(u64::from);
        if digit.is_none() && was_digit {
            parts.push((String::new(), 0));
        }
        was_digit = digit.is_some();
        if let Some((text, number)) = parts.last_mut() {
            match digit {
                Some(digit) => *number = number.saturating_mul(10).saturating_add(digit),
                None => text.push(c),
            }
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    const IDS: [&str; 9] = [
        "claude-opus-4-1-20250805",
        "claude-opus-4-9",
        "claude-opus-4-10",
        "claude-opus-5",
        "claude-opus-5-5",
        "claude-opus-5-5-20260901",
        "gpt-4o-2024-05-13",
        "gpt-4o",
        "claude-haiku-4-5@20251001",
    ];

    #[test]
    fn a_mistyped_id_means_the_newest_that_is_as_near() {
        let near = |typed| near_model(typed, IDS);
        assert_eq!(near("claude-opsu-5-5"), Some("claude-opus-5-5"));
        assert_eq!(near("claude-opus-5-7"), Some("claude-opus-5-5"));
        assert_eq!(near("claude-opus-4-11"), Some("claude-opus-4-10"));
        assert_eq!(near("gtp-4o"), Some("gpt-4o"));
        assert_eq!(near("claude-haiku-4-6"), Some("claude-haiku-4-5@20251001"));
        assert_eq!(near("nothing"), None);
    }
}
