//! One line of input that is not shown, such as a key. Knows no key and no provider.

use std::io;

use ratatui::crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, read};
use ratatui::crossterm::terminal::{disable_raw_mode, enable_raw_mode};

/// The stars that are shown at most, so that they stay on the row of the question.
const MOST_STARS: usize = 20;
/// A longer line is refused.
const LONGEST: usize = 16 << 10;

/// Prints a question to the terminal `out`, and reads a line of it. Each character is shown as a star, up to twenty. `None` if the person
/// leaves with Ctrl+C, Ctrl+D or Escape.
///
/// # Errors
/// The terminal cannot be used, or the line is longer than 16 KiB.
pub fn read_secret_line(out: &mut dyn io::Write, question: &str) -> io::Result<Option<String>> {
    // Before the question: the terminal itself would show what is typed in between.
    enable_raw_mode()?;
    let line = write!(out, "{question}").and_then(|()| out.flush()).and_then(|()| typed_line(out, &mut read));
    disable_raw_mode()?;
    writeln!(out)?;
    line
}

fn typed_line(out: &mut dyn io::Write, next: &mut dyn FnMut() -> io::Result<Event>) -> io::Result<Option<String>> {
    let mut line = String::new();
    loop {
        match next()? {
            Event::Key(key) if key.kind == KeyEventKind::Release => {}
            Event::Key(key) => match changed(&mut line, key) {
                LineKey::Goes => return Ok(Some(line)),
                LineKey::Leaves => return Ok(None),
                LineKey::Stays => {}
            },
            Event::Paste(text) => line.push_str(&text),
            _ => {}
        }
        if line.len() > LONGEST {
            return Err(io::Error::other("the line is too long"));
        }
        let stars = line.chars().count().min(MOST_STARS);
        let rest = " ".repeat(MOST_STARS - stars);
        // Over what is there, with the cursor where it was.
        write!(out, "\x1b7{}{rest}\x1b8", "*".repeat(stars))?;
        out.flush()?;
    }
}

enum LineKey {
    Stays,
    Goes,
    Leaves,
}

fn changed(line: &mut String, key: KeyEvent) -> LineKey {
    let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
    match key.code {
        KeyCode::Enter => return LineKey::Goes,
        KeyCode::Esc => return LineKey::Leaves,
        KeyCode::Char('c' | 'd') if is_control => return LineKey::Leaves,
        KeyCode::Char('u') if is_control => line.clear(),
        KeyCode::Backspace => drop(line.pop()),
        KeyCode::Char(typed) if !is_control => line.push(typed),
        _ => {}
    }
    LineKey::Stays
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(keys: &[KeyEvent]) -> (Option<String>, String) {
        let mut events = keys.iter().map(|key| Event::Key(*key));
        let mut shown = Vec::new();
        let mut next = || events.next().ok_or_else(|| io::Error::from(io::ErrorKind::UnexpectedEof));
        let line = typed_line(&mut shown, &mut next).unwrap();
        (line, String::from_utf8(shown).unwrap())
    }

    fn plain(code: KeyCode) -> KeyEvent {
        KeyEvent::new(code, KeyModifiers::NONE)
    }

    #[test]
    fn a_line_is_read_and_never_shown() {
        let letters = |text: &str| text.chars().map(|c| plain(KeyCode::Char(c))).collect::<Vec<_>>();
        let mut keys = letters("wrong");
        keys.push(KeyEvent::new(KeyCode::Char('u'), KeyModifiers::CONTROL));
        keys.extend(letters("sk-1x"));
        keys.extend([plain(KeyCode::Backspace), plain(KeyCode::Enter)]);
        let (line, shown) = typed(&keys);
        assert_eq!(line.as_deref(), Some("sk-1"));
        assert!(!shown.contains('w') && !shown.contains("sk") && shown.contains("***"), "{shown:?}");
    }

    #[test]
    fn a_person_can_leave() {
        for code in [KeyCode::Esc, KeyCode::Char('c'), KeyCode::Char('d')] {
            let modifiers = if code == KeyCode::Esc { KeyModifiers::NONE } else { KeyModifiers::CONTROL };
            let keys = [plain(KeyCode::Char('k')), KeyEvent::new(code, modifiers)];
            assert_eq!(typed(&keys).0, None, "{code:?}");
        }
    }
}
