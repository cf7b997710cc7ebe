//! Whose clock a person reads: times as text in a zone, and the system's zone.

use std::path::Path;

use jiff::tz::TimeZone;
use jiff::{Timestamp, civil};

use crate::clock::Millis;
use crate::medium::read_regular;

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
        TimeZone::tzif("Local", &read_regular(file, LARGEST_ZONE).ok()?).ok().map(Self)
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

#[cfg(test)]
mod tests {
    use super::*;

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
            std::fs::write(&file, text).unwrap();
            assert_eq!(Zone::of_file(&file), None, "{text}");
        }
    }
}
