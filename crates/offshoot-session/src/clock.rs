//! Clocks, and times as text.
//!
//! The only file of the library that reads the system's time. Times are milliseconds since 1970 in UTC, as in
//! JavaScript's `Date`.

use jiff::{Timestamp, civil, tz::TimeZone};

/// Milliseconds since 1970-01-01T00:00:00Z.
pub type Millis = i64;

/// A source of the time. Tests pass [`FixedClock`].
pub trait Clock: Send + Sync {
    /// The current time.
    fn now(&self) -> Millis;
}

/// The system's clock.
#[derive(Debug, Default, Clone, Copy)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the clock that everything else is given")]
    fn now(&self) -> Millis {
        millis_of(std::time::SystemTime::now())
    }
}

/// Of a clock that is wrong by thousands of years the nearest time that can be written.
fn millis_of(time: std::time::SystemTime) -> Millis {
    let whole = |distance: std::time::Duration| Millis::try_from(distance.as_millis()).unwrap_or(Millis::MAX);
    let millis = match time.duration_since(std::time::UNIX_EPOCH) {
        Ok(since) => whole(since),
        Err(before) => -whole(before.duration()),
    };
    millis.clamp(Timestamp::MIN.as_millisecond(), Timestamp::MAX.as_millisecond())
}

/// A clock that shows a fixed time.
#[derive(Debug, Clone, Copy)]
pub struct FixedClock(pub Millis);

impl Clock for FixedClock {
    fn now(&self) -> Millis {
        self.0
    }
}

/// Writes a time like JavaScript's `toISOString`: `2026-01-02T03:04:05.678Z`.
///
/// A time outside jiff's range (beyond the year 9999) becomes the nearest time inside it.
pub fn to_iso(ms: Millis) -> String {
    let at = Timestamp::from_millisecond(ms).unwrap_or(if ms < 0 { Timestamp::MIN } else { Timestamp::MAX });
    format!("{at:.3}")
}

/// How long ago a time was, in words: `now`, `5 min ago`, `3 h ago`, `2 d ago`.
pub fn ago(time: Millis, now: Millis) -> String {
    const MINUTE: Millis = 60_000;
    match now.saturating_sub(time) / MINUTE {
        ..1 => "now".to_owned(),
        past @ 1..60 => format!("{past} min ago"),
        past @ 60..1440 => format!("{} h ago", past / 60),
        past => format!("{} d ago", past / 1440),
    }
}

/// How long something took, in words: `3.2 s`, `1 min 5 s`, `2 h 3 min`. `None` below a second.
pub fn took(duration: Millis) -> Option<String> {
    let seconds = duration / 1000;
    match seconds {
        ..1 => None,
        1..10 => Some(format!("{seconds}.{} s", duration % 1000 / 100)),
        10..60 => Some(format!("{seconds} s")),
        60..3600 => Some(format!("{} min {} s", seconds / 60, seconds % 60)),
        3600.. => Some(format!("{} h {} min", seconds / 3600, seconds / 60 % 60)),
    }
}

/// Reads a time as JavaScript's `Date` does, in the forms that occur in sessions: ISO with an offset or `Z`, a bare
/// date (midnight UTC), a date and time without offset (taken as UTC). Anything else is `None`.
pub fn parse_iso(text: &str) -> Option<Millis> {
    if let Some(ms) = parse_canonical(text.as_bytes()) {
        return Some(ms);
    }
    if let Ok(at) = text.parse::<Timestamp>() {
        return Some(at.as_millisecond());
    }
    if let Some((day, "24:00:00.000Z")) = text.split_once('T') {
        return parse_iso(day).map(|midnight| midnight + 86_400_000);
    }
    let local = match (text.parse::<civil::DateTime>(), text.len()) {
        (Ok(at), _) => at,
        (Err(_), 4) => format!("{text}-01-01").parse::<civil::Date>().ok()?.to_datetime(civil::Time::midnight()),
        (Err(_), _) => text.parse::<civil::Date>().ok()?.to_datetime(civil::Time::midnight()),
    };
    let at = TimeZone::UTC.to_timestamp(local).ok()?;
    Some(at.as_millisecond())
}

/// Reads `YYYY-MM-DDTHH:MM:SS.mmmZ`, also with a signed year of six digits. Nearly all lines have this form, and a
/// general parser is slow.
fn parse_canonical(text: &[u8]) -> Option<Millis> {
    let number = |digits: &[u8]| -> Option<i64> {
        let (sum, is_number) = digits.iter().fold((0, true), |(sum, is_number), b| {
            let digit = b.wrapping_sub(b'0');
            (sum * 10 + i64::from(digit), is_number & (digit < 10))
        });
        is_number.then_some(sum)
    };
    let (year, rest) = match text {
        [sign @ (b'+' | b'-'), rest @ ..] if rest.len() == 26 => {
            let year = number(&rest[..6])?;
            (if *sign == b'-' { -year } else { year }, &rest[6..])
        }
        _ if text.len() == 24 => (number(&text[..4])?, &text[4..]),
        _ => return None,
    };
    for (at, expected) in [(0, b'-'), (3, b'-'), (6, b'T'), (9, b':'), (12, b':'), (15, b'.'), (19, b'Z')] {
        if rest[at] != expected {
            return None;
        }
    }
    let two = |at: usize| number(&rest[at..at + 2]);
    let (month, day, hour, minute, second) = (two(1)?, two(4)?, two(7)?, two(10)?, two(13)?);
    let in_range = (1..=12).contains(&month)
        && (1..=days_in_month(year, month)).contains(&day)
        && hour < 24
        && minute < 60
        && second < 60;
    if !in_range {
        return None;
    }
    let days = days_since_1970(year, month, day);
    Some((((days * 24 + hour) * 60 + minute) * 60 + second) * 1000 + number(&rest[16..19])?)
}

fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days from 1970-01-01 in the proleptic Gregorian calendar. Years start in March, so that a leap day comes last.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let shifted_year = if month <= 2 { year - 1 } else { year };
    let era = shifted_year.div_euclid(400);
    let year_of_era = shifted_year.rem_euclid(400);
    let month_from_march = (month + 9) % 12;
    let day_of_year = (153 * month_from_march + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The programs that made these times panic: their libraries have no such times.
    #[test]
    fn a_clock_that_is_wrong_by_thousands_of_years_has_the_nearest_time() {
        use std::time::{Duration, UNIX_EPOCH};
        let far = Duration::from_secs(1 << 40);
        assert!(to_iso(millis_of(UNIX_EPOCH + far)).starts_with("9999-12-30T"));
        assert!(to_iso(millis_of(UNIX_EPOCH - far)).starts_with("-009999-01-02T"));
        assert_eq!(millis_of(UNIX_EPOCH + far), Timestamp::MAX.as_millisecond());
        assert_eq!(millis_of(UNIX_EPOCH - far), Timestamp::MIN.as_millisecond());
        assert_eq!(millis_of(UNIX_EPOCH - Duration::from_millis(1)), -1);
    }

    #[test]
    fn durations_are_said_from_a_second_on() {
        let said = [0, 999, 1000, 3_249, 59_999, 65_000, 7_380_000].map(took);
        let said: Vec<_> = said.iter().map(|said| said.as_deref().unwrap_or("")).collect();
        assert_eq!(said, ["", "", "1.0 s", "3.2 s", "59 s", "1 min 5 s", "2 h 3 min"]);
    }

    #[test]
    fn iso_text_is_javascripts() {
        assert_eq!(to_iso(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(to_iso(1_733_234_567_890), "2024-12-03T14:02:47.890Z");
        assert_eq!(to_iso(-1), "1969-12-31T23:59:59.999Z");
    }

    #[test]
    fn the_fast_parser_agrees_with_the_general_one() {
        let mut ms: Millis = -62_135_596_800_000; // year 1
        while ms < 253_370_764_800_000 {
            let text = to_iso(ms);
            let general = text.parse::<Timestamp>().unwrap().as_millisecond();
            assert_eq!(parse_canonical(text.as_bytes()), Some(general), "{text}");
            assert_eq!(general, ms);
            ms += 86_400_000 * 13 + 3_723_004;
        }
    }

    #[test]
    fn other_forms_and_nonsense() {
        assert_eq!(parse_iso("2024-12-03T15:02:47.890+01:00"), Some(1_733_234_567_890));
        assert_eq!(parse_iso("1970-01-02"), Some(86_400_000));
        assert_eq!(parse_iso("1970-01-01T00:00:01"), Some(1000));
        assert_eq!(parse_iso("1970"), Some(0));
        assert_eq!(parse_iso("1970-01-01T24:00:00.000Z"), Some(86_400_000));
        assert_eq!(parse_iso("+020260-01-01T00:00:00.000Z"), Some(577_176_624_000_000));
        for bad in ["", "yesterday", "2024-02-30T00:00:00.000Z", "2024-13-01T00:00:00.000Z"] {
            assert_eq!(parse_iso(bad), None, "{bad}");
        }
    }
}
