//! How long ago something was, in a few columns.

use offshoot_session::clock::Millis;

/// The age in short form, as in pi.
pub(crate) fn age(time: Millis, now: Millis) -> String {
    let minutes = now.saturating_sub(time) / 60_000;
    let (hours, days) = (minutes / 60, minutes / 1440);
    match (minutes, hours, days) {
        (..1, ..) => "now".to_owned(),
        (..60, ..) => format!("{minutes}m"),
        (_, ..24, _) => format!("{hours}h"),
        (.., ..7) => format!("{days}d"),
        (.., ..30) => format!("{}w", days / 7),
        (.., ..365) => format!("{}mo", days / 30),
        _ => format!("{}y", days / 365),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_short() {
        let minute = 60_000;
        let said = [0, 59, 60, 60 * 24 - 1, 60 * 24 * 6, 60 * 24 * 7, 60 * 24 * 29, 60 * 24 * 30, 60 * 24 * 365]
            .map(|minutes| age(0, minutes * minute));
        assert_eq!(said, ["now", "59m", "1h", "23h", "6d", "1w", "4w", "1mo", "1y"]);
        assert_eq!(age(minute, 0), "now");
    }
}
