//! Clocks, and times as text.
//!
//! The only file of the library that reads the system's time. Times are milliseconds since 1970 in UTC, as in
//! JavaScript's `Date`.

use std::fs;
use std::path::Path;

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

/// The rules of the system's zone, on every system that we run on.
const SYSTEM_ZONE: &str = "/etc/localtime";
/// In bytes; those of real zones have up to 4 KiB.
const LARGEST_ZONE: u64 = 64 << 10;

/// A time zone: whose clock a person reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Zone(TimeZone);

impl Zone {
    /// UTC.
    pub const UTC: Self = Self(TimeZone::UTC);

    /// The system's zone, UTC where it has none.
    #[expect(clippy::disallowed_methods, reason = "jiff reads this variable, too; it goes before the system's file")]
    pub fn local() -> Self {
        // Asked for a zone by its name, jiff reads the names of all zones first. The system's file has the one that is meant.
        let own = std::env::var_os("TZ").is_none().then(|| Self::of_file(Path::new(SYSTEM_ZONE))).flatten();
        own.unwrap_or_else(|| Self(TimeZone::system()))
    }

    fn of_file(file: &Path) -> Option<Self> {
        let length = fs::metadata(file).ok().filter(fs::Metadata::is_file)?.len();
        let rules = (length <= LARGEST_ZONE).then(|| fs::read(file).ok()).flatten()?;
        TimeZone::tzif("Local", &rules).ok().map(Self)
    }

    /// Reads what a person types: a date, or a date and time, in this zone unless the text has an offset or `Z`.
    pub fn parse(&self, text: &str) -> Option<Millis> {
        if let Ok(at) = text.parse::<Timestamp>() {
            return Some(at.as_millisecond());
        }
        let at = text.parse::<civil::DateTime>().ok()?;
        Some(self.0.to_timestamp(at).ok()?.as_millisecond())
    }

    /// A time as a person reads it, to the minute: `2026-01-14 10:00`. Without the zone.
    pub fn minute(&self, time: Millis) -> String {
        let at = Timestamp::from_millisecond(time).unwrap_or(if time < 0 { Timestamp::MIN } else { Timestamp::MAX });
        at.to_zoned(self.0.clone()).strftime("%Y-%m-%d %H:%M").to_string()
    }

    /// A time to come as a person says it: `23:10`, with the date before it if that is another day.
    pub fn until(&self, time: Millis, now: Millis) -> String {
        let (then, today) = (self.minute(time), self.minute(now));
        match (then.split_once(' '), today.split_once(' ')) {
            (Some((day, clock)), Some((today, _))) if day == today => clock.to_owned(),
            _ => then,
        }
    }

    /// The zone, for programs that calculate with jiff themselves.
    pub fn jiff(&self) -> TimeZone {
        self.0.clone()
    }
}

impl From<TimeZone> for Zone {
    fn from(zone: TimeZone) -> Self {
        Self(zone)
    }
}

/// The zone of a program that was not told another.
impl Default for Zone {
    fn default() -> Self {
        Self::UTC
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
    fn a_time_to_come_has_its_date_if_that_is_another_day() {
        let east = Zone(TimeZone::fixed(jiff::tz::offset(2)));
        let hours = |hours: Millis| hours * 3_600_000;
        assert_eq!((Zone::UTC.until(hours(23), 0), east.until(hours(21), 0)), ("23:00".to_owned(), "23:00".to_owned()));
        assert_eq!(east.until(hours(23), 0), "1970-01-02 01:00");
    }

    #[test]
    fn a_zone_shifts_what_is_shown() {
        let east = Zone(TimeZone::fixed(jiff::tz::offset(2)));
        assert_eq!((Zone::UTC.minute(0).as_str(), east.minute(0).as_str()), ("1970-01-01 00:00", "1970-01-01 02:00"));
        assert_eq!(east.parse("1970-01-01T02:00"), Some(0));
        assert_eq!(east.parse("1970-01-02"), Some(22 * 3_600_000));
        assert!(Zone::UTC.minute(Millis::MAX).starts_with("9999-12-"));
    }

    #[test]
    fn a_zone_that_is_read_from_its_file_is_that_of_its_name() {
        for name in ["Europe/Berlin", "Asia/Kathmandu", "America/St_Johns", "Etc/UTC"] {
            // A small container has no zones.
            let (Ok(named), Some(read)) =
                (TimeZone::get(name), Zone::of_file(&Path::new("/usr/share/zoneinfo").join(name)))
            else {
                continue;
            };
            for week in 0..6_000 {
                let at = week * 7 * 86_400_000;
                assert_eq!(read.minute(at), Zone(named.clone()).minute(at), "{name}");
            }
        }
    }

    #[test]
    fn what_is_no_zone_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("zone");
        assert_eq!(Zone::of_file(folder.path()), None);
        assert_eq!(Zone::of_file(&file), None);
        for text in ["", "TZif2", "no zone"] {
            fs::write(&file, text).unwrap();
            assert_eq!(Zone::of_file(&file), None, "{text}");
        }
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
