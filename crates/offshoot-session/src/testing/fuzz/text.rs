//! Cleans, spells and strips any text: nothing in the result steers a terminal, and cleaning it again changes nothing.

use crate::text::{clean, clean_lines, one_line, spell_document, spell_lines, spell_name, steers, strip, strip_lines};

/// Cleans a text for a line, a screen and a file.
///
/// # Panics
/// If something that steers a terminal remains, or cleaning twice differs from cleaning once.
pub fn text(bytes: &[u8]) {
    let stored = String::from_utf8_lossy(bytes);
    for cleaned in [
        clean(&stored),
        clean_lines(&stored),
        spell_document(&stored),
        spell_lines(&stored),
        spell_name(&stored),
        strip(&stored),
    ] {
        assert!(!cleaned.contains(steers), "{cleaned:?}");
    }
    for row in [clean(&stored), strip(&stored), spell_name(&stored)] {
        assert!(!row.contains(char::is_control), "{row:?}");
    }
    for once in [clean(&stored), clean_lines(&stored)] {
        assert_eq!(clean_lines(&once), once);
    }
    for spelled in [spell_document(&stored), spell_lines(&stored), spell_name(&stored)] {
        assert_eq!(spell_document(&spelled), spelled);
    }
    for once in [strip(&stored), strip_lines(&stored)] {
        assert_eq!(strip_lines(&once), once);
        // A tab becomes four spaces; nothing else grows.
        assert!(once.len() <= 4 * stored.len());
    }
    for max in [0, 1, 7, 200] {
        let line = one_line(&stored, max);
        assert!(line.chars().count() <= max.max(1), "{max}: {line:?}");
        assert!(!line.contains(char::is_control), "{line:?}");
    }
}
