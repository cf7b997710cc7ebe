//! Stored text made harmless for a screen: no escape sequence, control or bidirectional control gets through.

/// Text with line feeds kept, tabs as four blanks, and everything that could steer a terminal removed.
pub fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\n' => out.push('\n'),
            '\t' => out.push_str("    "),
            '\u{1b}' => skip_escape(&mut rest),
            '\u{9b}' => skip_csi(&mut rest),
            '\u{90}' | '\u{98}' | '\u{9d}'..='\u{9f}' => skip_string(&mut rest),
            c if is_harmful(c) => {}
            c => out.push(c),
        }
    }
    out
}

/// Harmless text on one line: runs of white space become one blank; cut to `max` characters, with `…` for the rest.
pub fn one_line(text: &str, max: usize) -> String {
    one_plain_line(text, max).unwrap_or_else(|| one_odd_line(text, max))
}

fn one_odd_line(text: &str, max: usize) -> String {
    let (mut line, mut length) = (String::new(), 0);
    // Nobody reads more of a long text than fits: do not clean the rest.
    let start = text.char_indices().nth(looked_at(max)).map_or(text, |(end, _)| &text[..end]);
    for word in plain(start).split_whitespace() {
        if length > max {
            break;
        }
        if length > 0 {
            line.push(' ');
        }
        line.push_str(word);
        length += usize::from(length > 0) + word.chars().count();
    }
    if start.len() == text.len() && length <= max {
        return line;
    }
    let end = line.char_indices().nth(max.saturating_sub(1)).map_or(line.len(), |(end, _)| end);
    line.truncate(end);
    line.truncate(line.trim_end().len());
    line.push('…');
    line
}

/// The same for text that begins as most do: printable ASCII and white space, as far as it matters.
fn one_plain_line(text: &str, max: usize) -> Option<String> {
    let bytes = text.as_bytes();
    let window = bytes.get(..looked_at(max)).unwrap_or(bytes);
    let mut line = String::with_capacity(window.len().min(max.saturating_add(3)));
    for word in window.split(|byte| matches!(byte, b' ' | b'\n' | b'\t')).filter(|word| !word.is_empty()) {
        if line.len() > max {
            break;
        }
        let seen = word.get(..=max).unwrap_or(word);
        let text = std::str::from_utf8(seen).ok().filter(|_| seen.iter().all(u8::is_ascii_graphic))?;
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(text);
    }
    if line.len() > max || window.len() < bytes.len() {
        line.truncate(max.saturating_sub(1));
        line.truncate(line.trim_end().len());
        line.push('…');
    }
    Some(line)
}

/// How many characters are looked at for a line of so many.
fn looked_at(max: usize) -> usize {
    max.saturating_mul(4).saturating_add(64)
}

type Chars<'a> = std::iter::Peekable<std::str::Chars<'a>>;

/// Skips what follows an ESC: a control sequence, a string up to its end, or one character.
fn skip_escape(rest: &mut Chars<'_>) {
    match rest.next_if(|c| matches!(c, ' '..='~')) {
        Some('[') => skip_csi(rest),
        Some(']' | 'P' | 'X' | '^' | '_') => skip_string(rest),
        _ => {}
    }
}

fn skip_string(rest: &mut Chars<'_>) {
    while let Some(c) = rest.next_if(|c| !matches!(c, '\n')) {
        if c == '\u{7}' || c == '\u{9c}' {
            break;
        }
        if c == '\u{1b}' {
            rest.next_if(|c| *c == '\\');
            break;
        }
    }
}

fn skip_csi(rest: &mut Chars<'_>) {
    while rest.next_if(|c| matches!(c, '\u{20}'..='\u{3f}')).is_some() {}
    rest.next_if(|c| matches!(c, '@'..='~'));
}

fn is_harmful(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}' | '\u{2028}' | '\u{2029}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_steers_the_terminal() {
        for (hostile, shown) in [
            ("a\u{1b}[31mred\u{1b}[0m", "ared"),
            ("\u{1b}]0;title\u{7}x", "x"),
            ("\u{1b}]8;;http://x\u{1b}\\link\u{1b}]8;;\u{1b}\\", "link"),
            ("\u{9b}2Jx", "x"),
            ("\u{9d}0;title\u{9c}x", "x"),
            ("\u{90}q#0\u{1b}\\x\u{9f}y", "x"),
            ("a\rb\u{8}c\u{0}", "abc"),
            ("\u{202e}abc\u{2066}", "abc"),
            ("a\n\tb", "a\n    b"),
            ("\u{1b}", ""),
            ("é😀", "é😀"),
        ] {
            assert_eq!(plain(hostile), shown, "{hostile:?}");
        }
    }

    #[test]
    fn one_line_is_cut_with_a_mark() {
        assert_eq!(one_line("a\n  b\tc", 10), "a b c");
        assert_eq!(one_line("abcdefgh", 5), "abcd…");
        assert_eq!(one_line("abcde", 5), "abcde");
        assert_eq!(one_line(&"x ".repeat(100_000), 6), "x x x…");
    }
    #[test]
    fn plain_text_is_cut_as_any_other() {
        let words = format!("one two  three four\nfive \t{}six", " ".repeat(130));
        for max in 0..40 {
            for end in 0..=words.len() {
                let text = &words[..end];
                assert_eq!(one_plain_line(text, max), Some(one_odd_line(text, max)), "{end} {max}");
            }
        }
    }
}
