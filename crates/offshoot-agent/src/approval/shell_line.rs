//! Parts a line for a POSIX shell into its simple commands. Expands nothing and runs nothing.
//!
//! A line is plain if these commands are all that it runs, with exactly these words. What cannot be parted for certain
//! (expansions, substitutions, here-documents, compound commands, `eval`) makes it not plain; its commands are then found
//! as well as can be, so that rules that refuse still see them.

use std::iter::Peekable;
use std::str::Chars;

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ShellLine {
    pub(super) commands: Vec<SimpleCommand>,
    pub(super) is_plain: bool,
}

#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct SimpleCommand {
    pub(super) words: Vec<String>,
    pub(super) has_assignment: bool,
    /// The files that redirections write; `/dev/null` is not one.
    pub(super) writes: Vec<String>,
    /// All redirections as they would be written, without blanks.
    pub(super) redirections: Vec<String>,
    /// Whether a redirection names a file.
    pub(super) is_redirected: bool,
    /// Whether the next command reads its output.
    pub(super) is_piped: bool,
    pub(super) joined_to_next: Joiner,
    /// Whether it is inside a substitution.
    pub(super) is_nested: bool,
}

impl SimpleCommand {
    /// Whether a rule may let it run: no assignment changes what its words mean, and it names no file by redirection.
    pub(super) fn is_allowable(&self) -> bool {
        !self.has_assignment && !self.is_redirected && !self.words.is_empty()
    }
}

/// The operator between a command and the next one.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum Joiner {
    /// `;`, a line end, or nothing.
    #[default]
    Then,
    And,
    Or,
    Pipe,
    Background,
}

impl Joiner {
    /// Whether the next command is run by the same shell whatever this one does, or after its success.
    pub(super) fn is_certain(self) -> bool {
        matches!(self, Self::Then | Self::And)
    }
}

/// Shells, which run what they are given.
pub(super) const SHELLS: &[&str] = &["sh", "bash", "dash", "zsh", "ksh", "fish"];

/// Words that begin, join or end compound commands.
const RESERVED: &[&str] = &[
    "!", "{", "}", "[[", "]]", "if", "then", "elif", "else", "fi", "for", "while", "until", "do", "done", "case",
    "esac", "in", "select", "function", "coproc", "time",
];

/// Commands that change what later words mean, or run a text.
const OPAQUE: &[&str] =
    &["eval", ".", "source", "exec", "alias", "trap", "set", "shopt", "enable", "command", "builtin"];

const DEPTH: usize = 6;
const MAX_COMMANDS: usize = 1000;
/// A longer line is not plain, and only its beginning is looked at.
const MAX_BYTES: usize = 64 << 10;

pub(super) fn part(text: &str) -> ShellLine {
    let mut line = ShellLine { commands: Vec::new(), is_plain: text.len() <= MAX_BYTES };
    let end = (0..=text.len().min(MAX_BYTES)).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    Lexer::new(text.get(..end).unwrap_or_default(), 0, &mut line).run();
    line
}

/// A command's name without its folder.
pub(super) fn base(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

enum Target {
    Read,
    Write,
    /// `>&`: a descriptor, or a file.
    Duplicate,
}

struct Lexer<'a> {
    rest: Peekable<Chars<'a>>,
    line: &'a mut ShellLine,
    depth: usize,
    command: SimpleCommand,
    word: Option<String>,
    /// Whether a part of the word is quoted.
    is_quoted: bool,
    target: Option<Target>,
    /// The redirection up to its target.
    redirection: String,
}

impl<'a> Lexer<'a> {
    fn new(text: &'a str, depth: usize, line: &'a mut ShellLine) -> Self {
        let command = SimpleCommand { is_nested: depth > 0, ..SimpleCommand::default() };
        Self {
            rest: text.chars().peekable(),
            line,
            depth,
            command,
            word: None,
            is_quoted: false,
            target: None,
            redirection: String::new(),
        }
    }

    fn run(mut self) {
        while let Some(c) = self.rest.next() {
            self.take(c);
        }
        self.end_command(Joiner::Then);
    }

    fn take(&mut self, c: char) {
        match c {
            ' ' | '\t' => self.end_word(),
            '\n' | ';' => self.end_command(Joiner::Then),
            '(' | ')' => {
                self.unsure();
                self.end_command(Joiner::Then);
            }
            '&' if self.next_is('>') => {
                self.end_word();
                self.redirect('>');
                self.redirection.insert(0, '&');
            }
            '&' => {
                let joiner = if self.next_is('&') { Joiner::And } else { Joiner::Background };
                self.end_command(joiner);
            }
            '|' => {
                let is_or = self.next_is('|');
                if self.next_is('&') {
                    self.end_word();
                    self.command.redirections.push("2>&1".to_owned());
                }
                self.end_command(if is_or { Joiner::Or } else { Joiner::Pipe });
            }
            '<' | '>' => self.redirect(c),
            '\'' => self.single_quoted(),
            '"' => self.double_quoted(),
            '\\' => match self.rest.next() {
                Some('\n') => {}
                Some(c) => {
                    self.is_quoted = true;
                    self.push(c);
                }
                None => self.unsure(),
            },
            '$' | '`' => self.substitution(c),
            '#' if self.word.is_none() => while self.rest.next_if(|c| *c != '\n').is_some() {},
            // Not a brace expansion: the word stays as it is.
            '{' if self.next_is('}') => {
                self.push('{');
                self.push('}');
            }
            '*' | '?' | '[' | '{' | '}' | '\0' => {
                self.unsure();
                self.push(c);
            }
            c => self.push(c),
        }
    }

    fn push(&mut self, c: char) {
        self.word.get_or_insert_default().push(c);
    }

    fn next_is(&mut self, c: char) -> bool {
        self.rest.next_if_eq(&c).is_some()
    }

    fn unsure(&mut self) {
        self.line.is_plain = false;
    }

    fn single_quoted(&mut self) {
        self.is_quoted = true;
        self.word.get_or_insert_default();
        loop {
            match self.rest.next() {
                Some('\'') => return,
                Some(c) => self.push(c),
                None => return self.unsure(),
            }
        }
    }

    fn double_quoted(&mut self) {
        self.is_quoted = true;
        self.word.get_or_insert_default();
        loop {
            match self.rest.next() {
                Some('"') => return,
                Some('\\') => match self.rest.next() {
                    Some('\n') => {}
                    Some(c) => {
                        if !matches!(c, '$' | '`' | '"' | '\\') {
                            self.push('\\');
                        }
                        self.push(c);
                    }
                    None => return self.unsure(),
                },
                Some(c @ ('$' | '`')) => self.substitution(c),
                Some(c) => self.push(c),
                None => return self.unsure(),
            }
        }
    }

    /// After `$` or a backtick: its text is parted as a line of its own.
    fn substitution(&mut self, c: char) {
        self.unsure();
        self.push(c);
        if c == '`' {
            let text: String = std::iter::from_fn(|| self.rest.next_if(|c| *c != '`')).collect();
            self.rest.next();
            self.nested(&text);
        } else if self.next_is('(') {
            let text = self.parenthesised();
            self.nested(&text);
        }
    }

    fn parenthesised(&mut self) -> String {
        let mut open = 1_usize;
        let mut text = String::new();
        for c in self.rest.by_ref() {
            match c {
                '(' => open += 1,
                ')' => open -= 1,
                _ => {}
            }
            if open == 0 {
                break;
            }
            text.push(c);
        }
        text
    }

    fn nested(&mut self, text: &str) {
        self.unsure();
        if self.depth < DEPTH && self.line.commands.len() < MAX_COMMANDS {
            Lexer::new(text, self.depth + 1, self.line).run();
        }
    }

    fn redirect(&mut self, c: char) {
        let mut written = String::new();
        // `2>`: a descriptor, no word. `'2'>` is a word, and so is a number that is too large.
        if !self.is_quoted && self.word.as_ref().is_some_and(|word| word.chars().all(|c| c.is_ascii_digit())) {
            if self.word.as_ref().is_some_and(|word| word.len() > 4) {
                self.unsure();
            }
            written = self.word.take().unwrap_or_default();
        }
        self.end_word();
        written.push(c);
        if self.next_is('(') {
            let text = self.parenthesised();
            return self.nested(&text);
        }
        if c == '<' && self.next_is('<') {
            return self.unsure();
        }
        let is_appended = self.next_is('>');
        let is_clobbered = !is_appended && c == '>' && self.next_is('|');
        let is_doubled = is_appended || is_clobbered;
        let is_duplicate = self.next_is('&');
        let marks = [(is_appended, '>'), (is_clobbered, '|'), (is_duplicate, '&')];
        written.extend(marks.into_iter().filter(|(is_there, _)| *is_there).map(|(_, mark)| mark));
        self.redirection = written;
        self.target = Some(match (is_duplicate, c == '>' || is_doubled) {
            (true, _) => Target::Duplicate,
            (false, true) => Target::Write,
            (false, false) => Target::Read,
        });
    }

    fn end_word(&mut self) {
        self.is_quoted = false;
        let Some(word) = self.word.take() else { return };
        let is_descriptor = || word == "-" || word.chars().all(|c| c.is_ascii_digit());
        let target = self.target.take();
        if target.is_some() {
            self.command.redirections.push(format!("{}{word}", self.redirection));
        }
        match target {
            Some(Target::Duplicate) if is_descriptor() => {}
            Some(_) if word == "/dev/null" => {}
            Some(Target::Read) => self.command.is_redirected = true,
            Some(Target::Write | Target::Duplicate) => {
                self.command.is_redirected = true;
                self.command.writes.push(word);
            }
            None if self.command.words.is_empty() && is_assignment(&word) => self.command.has_assignment = true,
            None if self.command.words.is_empty() && RESERVED.contains(&word.as_str()) => self.unsure(),
            None => self.command.words.push(word),
        }
    }

    fn end_command(&mut self, joined_to_next: Joiner) {
        self.end_word();
        if self.target.take().is_some() {
            self.unsure();
        }
        let fresh = SimpleCommand { is_nested: self.depth > 0, ..SimpleCommand::default() };
        let is_piped = joined_to_next == Joiner::Pipe;
        let command = SimpleCommand { is_piped, joined_to_next, ..std::mem::replace(&mut self.command, fresh) };
        let is_empty = command.words.is_empty() && !command.has_assignment && !command.is_redirected;
        if is_empty || self.line.commands.len() >= MAX_COMMANDS {
            self.line.is_plain &= is_empty;
            return;
        }
        if command.words.first().is_some_and(|name| OPAQUE.contains(&name.as_str())) {
            self.unsure();
        }
        let runs_text = |word: &String| base(word) == "eval" || SHELLS.contains(&base(word));
        let texts = command.words.iter().position(runs_text).and_then(|at| command.words.get(at + 1..));
        let texts = texts.map(<[String]>::to_vec);
        self.line.commands.push(command);
        if let Some(texts) = texts {
            self.unsure();
            texts.iter().filter(|text| text.contains(char::is_whitespace)).for_each(|text| self.nested(text));
            self.nested(&texts.join(" "));
        }
    }
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        let name = name.strip_suffix('+').unwrap_or(name);
        !name.starts_with(|c: char| c.is_ascii_digit())
            && !name.is_empty()
            && name.chars().all(|c| c == '_' || c.is_ascii_alphanumeric())
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn words(text: &str) -> Vec<Vec<String>> {
        part(text).commands.into_iter().map(|command| command.words).collect()
    }

    #[test]
    fn a_line_is_parted_into_the_commands_that_it_runs() {
        for (text, commands) in [
            ("git status", vec![vec!["git", "status"]]),
            (
                "a && b || c; d | e |& f & g\nh",
                vec![vec!["a"], vec!["b"], vec!["c"], vec!["d"], vec!["e"], vec!["f"], vec!["g"], vec!["h"]],
            ),
            ("echo 'a; b' \"c && d\" e\\ f \"g\\\"h\"", vec![vec!["echo", "a; b", "c && d", "e f", "g\"h"]]),
            ("r'm' a''b \"\" # rm all\nls", vec![vec!["rm", "ab", ""], vec!["ls"]]),
            ("make 2>&1 >/dev/null | tail -n 3", vec![vec!["make"], vec!["tail", "-n", "3"]]),
            ("a\\\n b", vec![vec!["a", "b"]]),
            ("xargs -I{} a {}", vec![vec!["xargs", "-I{}", "a", "{}"]]),
            ("uniq a '2'>/dev/null \"\">/dev/null", vec![vec!["uniq", "a", "2", ""]]),
            ("", vec![]),
        ] {
            assert!(part(text).is_plain, "{text}");
            assert_eq!(words(text), commands, "{text}");
            assert!(part(text).commands.iter().all(|command| !command.is_redirected), "{text}");
        }
    }

    #[test]
    fn what_cannot_be_parted_is_not_plain_and_its_commands_are_seen_all_the_same() {
        for (text, seen) in [
            ("$(echo rm) x", "echo rm"),
            ("echo \"`rm -r a`\"", "rm -r a"),
            ("echo \"$(true; rm -r a)\"", "rm -r a"),
            ("cat <(rm a)", "rm a"),
            ("eval 'rm a'", "rm a"),
            ("sudo bash -c 'rm a; b'", "rm a"),
            ("if true; then rm a; fi", "rm a"),
            ("f() { rm a; }", "rm a"),
            ("(rm a)", "rm a"),
            ("sh <<E\nrm a\nE", "rm a"),
            ("! rm a", "rm a"),
            ("echo 'open\nrm a", "echo open\nrm a"),
            ("ls *.rs", "ls *.rs"),
            ("ls {a,b}", "ls {a,b}"),
            ("echo $HOME", "echo $HOME"),
            ("exec rm a", "exec rm a"),
            ("a >", "a"),
        ] {
            let line = part(text);
            assert!(!line.is_plain, "{text}");
            assert!(line.commands.iter().any(|command| command.words.join(" ") == seen), "{text}: {line:?}");
        }
        assert!(!part(&format!("{} a", "x".repeat(MAX_BYTES))).is_plain);
    }

    #[test]
    fn redirections_and_assignments_are_known() {
        let writes =
            |text: &str| part(text).commands.into_iter().flat_map(|command| command.writes).collect::<Vec<_>>();
        assert_eq!(writes("a > b 2>>c &>d >|e >&f <>g <h"), ["b", "c", "d", "e", "f", "g"]);
        assert!(part("a < b").commands.iter().all(|command| command.is_redirected));
        assert!(part("A=1 B+=2 c").commands.iter().all(|command| command.has_assignment && command.words == ["c"]));
        assert_eq!(words("1=a c"), [["1=a", "c"]]);
    }

    proptest! {
        #[test]
        fn any_text_is_parted(text in "[ -~\n]{0,60}", other in any::<String>()) {
            part(&text);
            part(&other);
        }

        #[test]
        fn quoted_words_come_back(words in prop::collection::vec("[^\0]{0,8}", 1..5)) {
            let quoted: Vec<String> = words.iter().map(|word| format!("'{}'", word.replace('\'', "'\\''"))).collect();
            let line = part(&quoted.join(" "));
            let is_special = |word: &String| RESERVED.contains(&word.as_str()) || is_assignment(word);
            prop_assume!(!words.first().is_some_and(is_special));
            prop_assert_eq!(&line.commands[0].words, &words);
        }
    }
}
