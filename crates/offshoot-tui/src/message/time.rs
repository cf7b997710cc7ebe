//! The time of a message, at the right of the empty row above it. Knows no clock: the time and the zone are given.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use offshoot_session::clock::Millis;
use ratatui::text::Line;

use super::{RenderedRows, RowRenderer};
use crate::text;
use crate::theme::Token;

/// When a message was recorded, and the message before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MessageTime {
    /// When this message was recorded.
    pub at: Millis,
    /// `None` for the first message.
    pub before: Option<Millis>,
}

impl MessageTime {
    /// The time of day, after the date if the message before is of another day. Empty if there is no room for it.
    fn words(self, zone: &TimeZone, columns: usize) -> String {
        let local = |at: Millis| Some(Timestamp::from_millisecond(at).ok()?.to_zoned(zone.clone()));
        let Some(at) = local(self.at) else { return String::new() };
        let is_same_day = self.before.and_then(local).is_some_and(|before| before.date() == at.date());
        let forms: &[&str] = if is_same_day { &["%H:%M"] } else { &["%a %-d %b %Y, %H:%M", "%-d %b, %H:%M", "%H:%M"] };
        let words = forms.iter().map(|form| at.strftime(form).to_string());
        words.into_iter().find(|words| text::width(words) < columns).unwrap_or_default()
    }
}

impl RowRenderer<'_> {
    /// Shows the time of a message in the empty row above its `rows`, if times are shown.
    pub(crate) fn put_time(&self, rows: &mut RenderedRows, time: Option<MessageTime>) {
        let (Some(zone), Some(time)) = (&self.habits.times, time) else { return };
        let Some(above) = rows.lines.first_mut().filter(|line| line.width() == 0) else { return };
        let words = time.words(zone, self.width);
        if !words.is_empty() {
            let margin = " ".repeat(self.width.saturating_sub(text::width(&words)));
            *above = Line::styled(margin + &words, self.theme.style(Token::Dim));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_date_is_shown_when_the_day_changes() {
        let zone = TimeZone::fixed(jiff::tz::offset(9));
        let at = |text: &str| text.parse::<Timestamp>().unwrap().as_millisecond();
        let words = |before: Option<&str>, now: &str, columns| {
            MessageTime { at: at(now), before: before.map(at) }.words(&zone, columns)
        };
        let (evening, night) = ("2026-11-29T14:59:00Z", "2026-11-29T15:01:00Z");
        assert_eq!(words(None, evening, 80), "Sun 29 Nov 2026, 23:59");
        assert_eq!(words(Some("2026-11-28T15:00:00Z"), evening, 80), "23:59");
        assert_eq!(words(Some(evening), night, 80), "Mon 30 Nov 2026, 00:01", "the day is that of the zone");
        assert_eq!(words(Some(evening), night, 22), "30 Nov, 00:01");
        assert_eq!(words(Some(evening), night, 13), "00:01");
        assert_eq!(words(Some(evening), night, 5), "");
        let never = MessageTime { at: i64::MAX, before: None };
        assert_eq!(never.words(&zone, 80), "");
    }
}
