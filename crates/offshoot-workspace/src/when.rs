//! Relative and short times.

use std::sync::LazyLock;

use offshoot_session::clock::Millis;
use offshoot_session::zone::Zone;

/// Looked up once: a list has a time in every row.
static ZONE: LazyLock<Zone> = LazyLock::new(Zone::local);

const MINUTE: Millis = 60_000;
const HOUR: Millis = 60 * MINUTE;
const DAY: Millis = 24 * HOUR;

/// How long ago a time was, without the word: `now`, `5 min`, `3 h`, `2 d`; its day if it was long ago.
#[must_use]
pub fn ago(time: Millis, now: Millis) -> String {
    match now.saturating_sub(time) {
        past if past < -MINUTE => day(time),
        past if past < MINUTE => "now".to_owned(),
        past if past < HOUR => format!("{} min", past / MINUTE),
        past if past < DAY => format!("{} h", past / HOUR),
        past if past < 30 * DAY => format!("{} d", past / DAY),
        _ => day(time),
    }
}

/// The date in the local time zone.
#[must_use]
pub fn day(time: Millis) -> String {
    minute(time).chars().take_while(|c| *c != ' ').collect()
}

/// Date and minute in the local time zone.
#[must_use]
pub fn minute(time: Millis) -> String {
    ZONE.minute(time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_near_past_is_a_distance_and_the_far_past_a_day() {
        let now = 1_765_200_000_000;
        for (past, said) in [
            (0, "now"),
            (61_000, "1 min"),
            (3 * HOUR, "3 h"),
            (5 * DAY, "5 d"),
            (40 * DAY, "2025-10-29"),
            (-DAY, "2025-12-09"),
        ] {
            assert_eq!(ago(now - past, now), said);
        }
        assert_eq!(minute(now).len(), "2025-12-08 22:41".len());
    }
}
