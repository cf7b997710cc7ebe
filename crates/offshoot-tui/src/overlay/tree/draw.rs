//! Shared drawing of the tree and the comparison: rows, rules, totals and times.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use offshoot_session::clock::{Millis, parse_iso};
use offshoot_session::facts::Totals;
use offshoot_session::text::{counted, dollars};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};

use crate::text;
use crate::theme::{Theme, Token};

/// Draws a line on the first row of an area, if the area is not empty.
pub(super) fn draw(line: &Line<'_>, area: Rect, buf: &mut Buffer) {
    if !area.is_empty() {
        text::draw(line, area, buf);
    }
}

/// The row of an area at a place. It is empty after the last row.
pub(super) fn row(area: Rect, at: usize) -> Rect {
    let y = area.y.saturating_add(u16::try_from(at).unwrap_or(u16::MAX));
    Rect { y, height: u16::from(y < area.bottom()), ..area }
}

/// A horizontal rule with a title in it.
pub(super) fn rule(theme: &Theme, title: &str, area: Rect, buf: &mut Buffer) {
    let border = theme.style(Token::Border);
    let columns = usize::from(area.width);
    let title = if title.is_empty() { String::new() } else { format!(" {title} ") };
    let rest = columns.saturating_sub(2 + text::width(&title));
    let line = Line::from(vec![
        Span::styled("──", border),
        Span::styled(title, theme.style(Token::Accent).add_modifier(Modifier::BOLD)),
        Span::styled("─".repeat(rest), border),
    ]);
    draw(&line, area, buf);
}

/// The number of entries, and the tokens and dollars that providers reported for them.
pub(super) fn held(totals: &Totals, has_tokens: bool) -> String {
    let mut held = counted(totals.entries, "entry", "entries");
    if has_tokens {
        held.push_str(&format!(", {} tok, {}", text::in_short(totals.tokens), dollars(totals.cost)));
    }
    held
}

/// A time in its shortest clear form: the time for today, the day for this year, otherwise with the year.
pub(super) fn wall_time(time: &str, now: Millis, zone: &TimeZone) -> Option<String> {
    let local = |ms: Millis| Some(Timestamp::from_millisecond(ms).ok()?.to_zoned(zone.clone()).datetime());
    let (then, now) = (local(parse_iso(time)?)?, local(now)?);
    let clock = format!("{:02}:{:02}", then.hour(), then.minute());
    Some(match (then.year() == now.year(), then.date() == now.date()) {
        (_, true) => clock,
        (true, false) => format!("{}/{} {clock}", then.month(), then.day()),
        (false, false) => format!("{:02}/{}/{} {clock}", then.year().rem_euclid(100), then.month(), then.day()),
    })
}
