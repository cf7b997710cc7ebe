//! Relative and short times.

use offshoot_session::clock::{Millis, to_iso};

const MINUTE: Millis = 60_000;
const HOUR: Millis = 60 * MINUTE;
const DAY: Millis = 24 * HOUR;

pub(crate) fn ago(time: Millis, now: Millis) -> String {
    match now.saturating_sub(time) {
        past if past < -MINUTE => day(time),
        past if past < MINUTE => "now".to_owned(),
        past if past < HOUR => format!("{} min", past / MINUTE),
        past if past < DAY => format!("{} h", past / HOUR),
        past if past < 30 * DAY => format!("{} d", past / DAY),
        _ => day(time),
    }
}

pub(crate) fn day(time: Millis) -> String {
    to_iso(time).chars().take_while(|c| *c != 'T').collect()
}

pub(crate) fn minute(time: Millis) -> String {
    to_iso(time).replacen('T', " ", 1).chars().take(16).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_near_past_is_a_distance_and_the_far_past_a_day() {
        let now = 1_765_233_665_292;
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
        assert_eq!(minute(now), "2025-12-08 22:41");
    }
}
