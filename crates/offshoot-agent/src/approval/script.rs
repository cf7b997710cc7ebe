//! Whether a text that a command runs does no more than read and print: scripts for sed, programs for awk, formats of printf. What is not known
//! for certain is not known. Runs nothing.

use std::iter::Peekable;
use std::str::Chars;

/// A script for sed of the commands that print, change and move lines. Commands and flags that run, read or write a file are not known.
pub(super) fn is_known_sed(script: &str) -> bool {
    let mut script = SedScript { rest: script.chars().peekable() };
    loop {
        match script.take_command() {
            Some(true) => {}
            Some(false) => return true,
            None => return false,
        }
    }
}

struct SedScript<'a> {
    rest: Peekable<Chars<'a>>,
}

impl SedScript<'_> {
    /// Takes one command; `Some(false)` at the end, `None` if it is not known.
    fn take_command(&mut self) -> Option<bool> {
        self.skip(|c| c.is_ascii_whitespace() || c == ';');
        if self.rest.peek().is_none() {
            return Some(false);
        }
        if self.address()? {
            self.skip(is_blank);
            if self.rest.next_if_eq(&',').is_some() {
                self.skip(is_blank);
                let is_relative = self.rest.next_if(|c| matches!(c, '+' | '~')).is_some();
                (self.address()? || is_relative).then_some(())?;
            }
        }
        self.skip(|c| is_blank(c) || c == '!');
        match self.rest.next()? {
            '{' => Some(true),
            '#' => {
                self.skip(|c| c != '\n');
                Some(true)
            }
            'p' | 'P' | 'd' | 'D' | 'g' | 'G' | 'h' | 'H' | 'x' | 'n' | 'N' | '=' | 'F' | 'z' | '}' => self.end(),
            'q' | 'Q' | 'l' => {
                self.skip(is_blank);
                self.skip(|c| c.is_ascii_digit());
                self.end()
            }
            ':' | 'b' | 't' | 'T' => {
                self.skip(is_blank);
                self.skip(|c| c.is_ascii_alphanumeric() || c == '_');
                self.end()
            }
            's' => {
                self.parts()?;
                self.skip(|c| matches!(c, 'g' | 'p' | 'i' | 'I' | 'm' | 'M' | '0'..='9'));
                self.end()
            }
            'y' => {
                self.parts()?;
                self.end()
            }
            _ => None,
        }
    }

    fn skip(&mut self, is_skipped: impl Fn(char) -> bool) {
        while self.rest.next_if(|c| is_skipped(*c)).is_some() {}
    }

    /// Whether an address was here; `None` if it has no end.
    fn address(&mut self) -> Option<bool> {
        match self.rest.peek() {
            Some('0'..='9') => {
                self.skip(|c| c.is_ascii_digit());
                if self.rest.next_if_eq(&'~').is_some() {
                    self.skip(|c| c.is_ascii_digit());
                }
                return Some(true);
            }
            Some('$') => {
                self.rest.next();
                return Some(true);
            }
            Some('/') => {}
            Some('\\') => {
                self.rest.next();
            }
            _ => return Some(false),
        }
        let delimiter = self.delimiter()?;
        self.pattern(delimiter)?;
        self.skip(|c| matches!(c, 'I' | 'M'));
        Some(true)
    }

    /// The two texts of `s` and `y`.
    fn parts(&mut self) -> Option<()> {
        let delimiter = self.delimiter()?;
        self.pattern(delimiter)?;
        self.until(delimiter).map(|_| ())
    }

    /// One of ASCII: of another one sed may take the first byte.
    fn delimiter(&mut self) -> Option<char> {
        self.rest.next().filter(|c| c.is_ascii_punctuation() && *c != '\\')
    }

    /// A regular expression. Programs differ on a delimiter in brackets, which is therefore not known.
    fn pattern(&mut self, delimiter: char) -> Option<()> {
        let pattern = self.until(delimiter)?;
        let Some((_, set)) = pattern.rsplit_once('[') else { return Some(()) };
        let set = set.strip_prefix('^').unwrap_or(set);
        set.strip_prefix(']').unwrap_or(set).contains(']').then_some(())
    }

    fn until(&mut self, delimiter: char) -> Option<String> {
        let mut text = String::new();
        loop {
            match self.rest.next()? {
                c if c == delimiter => return Some(text),
                '\\' => {
                    text.push('\\');
                    text.push(self.rest.next()?);
                }
                '\n' => return None,
                c => text.push(c),
            }
        }
    }

    fn end(&mut self) -> Option<bool> {
        self.skip(is_blank);
        match self.rest.peek() {
            None | Some(';' | '\n' | '}' | '#') => Some(true),
            Some(_) => None,
        }
    }
}

fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t')
}

/// A program for awk that runs no command, and neither reads nor writes a file that it names itself.
pub(super) fn is_known_awk(program: &str) -> bool {
    if ["system", "getline", "@"].iter().any(|word| program.contains(word)) {
        return false;
    }
    // Where there is neither a regular expression nor a comment, quotes are those of strings.
    let text = if program.contains(['/', '#']) { program.to_owned() } else { without_strings(program) };
    let text = text.replace("||", " ").replace(">=", " ");
    if text.contains('|') {
        return false;
    }
    // In a pattern, and where nothing is printed, it compares.
    let in_actions = text.find('{').and_then(|at| text.get(at..)).unwrap_or_default();
    !in_actions.contains('>') || !text.contains("print")
}

fn without_strings(program: &str) -> String {
    let mut text = String::new();
    let (mut is_string, mut is_escaped) = (false, false);
    for c in program.chars() {
        let is_end = c == '"' && !is_escaped;
        is_escaped = is_string && c == '\\' && !is_escaped;
        if is_end {
            is_string = !is_string;
        } else if !is_string {
            text.push(c);
        }
    }
    text
}

/// A format that stores nothing: bash's `%n` assigns to a variable, or to a subscript that it evaluates.
pub(super) fn is_known_printf(format: &str) -> bool {
    let mut rest = format.chars();
    while let Some(c) = rest.next() {
        let is_part = |c: &char| c.is_ascii_digit() || "-+ #'*.hlLjzt$".contains(*c);
        if c == '%' && rest.find(|c| !is_part(c)) == Some('n') {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn scripts_that_only_print_are_known() {
        for script in [
            "p",
            "1,5p",
            "$p",
            "$!d",
            "/a/,/b/p",
            "1~2p",
            "2,+3p",
            "/x/I!d",
            "s/a/b/",
            "s,a,b,g",
            "s/[0-9]*/x/gp",
            "s|a\\|b|c|2",
            "y/abc/xyz/",
            "1!G;h;$!d",
            ":a;N;$!ba;s/x/y/",
            "/x/{p;q}",
            "1{s/a/b/;p}",
            "10q",
            "$=",
            "# note\np",
            "\\,a,p",
            "s/a/b\\\nc/",
            "1,/x/d",
            "",
        ] {
            assert!(is_known_sed(script), "{script}");
        }
        for script in [
            "1e touch x",
            "e",
            "w x",
            "1w x",
            "s/a/b/e",
            "s/a/b/w x",
            "s/a/b/gw x",
            "r x",
            "R x",
            "W x",
            "a x",
            "i\\\nx",
            "c x",
            "s/a/b",
            "s/a",
            "1,p",
            "s/[/]/]x/e",
            "/[/]/e x",
            "p;e x",
            "{p}e",
            "y/a/b/e",
            "v 4",
            "s\na\nb\n",
            "p p",
            "bx e",
            "\\",
            "1",
            "M",
            "s/[/x/;p;s/]/y/e",
        ] {
            assert!(!is_known_sed(script), "{script}");
        }
    }

    #[test]
    fn programs_that_only_print_are_known() {
        for program in [
            "{print $1}",
            "NR>5",
            "$3 > 100 {print $1}",
            "/x/{print}",
            "{s+=$1} END{print s}",
            "BEGIN{FS=\":\"}{print $1}",
            "{print $1 \" -> \" $2}",
            "$1 >= 5 || $2 {print}",
            "{if ($1 >= 5) print}",
            "!seen[$0]++",
            "{n += ($1 > 5)} END {exit n}",
        ] {
            assert!(is_known_awk(program), "{program}");
        }
        for program in [
            "{system(\"x\")}",
            "{print > \"x\"}",
            "{print>>\"x\"}",
            "{print | \"sh\"}",
            "{\"x\" | getline}",
            "{getline < \"x\"}",
            "@load \"x\"",
            "{print \"a\" |& \"sh\"}",
            "/\"/{print > \"x\"}",
            "{print 1 # \"\n > \"x\"}",
            "BEGIN{printf \"x\" > f}",
            "{print \"\\\"\" > \"x\"}",
        ] {
            assert!(!is_known_awk(program), "{program}");
        }
    }

    #[test]
    fn formats_that_assign_are_not_known() {
        assert!(
            ["%s\\n", "%5.2f%%n", "plain n", "%(%F)T n", "%d %x%c", "%"].iter().all(|format| is_known_printf(format))
        );
        assert!(!["%n", "%s%n", "%5n", "%-.*n", "%ln"].iter().any(|format| is_known_printf(format)));
    }

    proptest! {
        #[test]
        fn any_text_is_judged(text in "[ -~\n]{0,60}", other in any::<String>()) {
            for text in [&text, &other] {
                is_known_sed(text);
                is_known_awk(text);
                is_known_printf(text);
            }
        }
    }
}
