//! Text that resembles the contents of sessions: prose, code, listings, some of it hard to encode.
//!
//! One pool is built from a fixed seed; every text of every session is a cut from it.

use super::chance::Chance;

const POOL: usize = 1 << 20;

const WORDS: &[&str] = &[
    "agent", "append", "branch", "buffer", "cache", "call", "check", "child", "commit", "cursor", "default", "diff",
    "entry", "error", "field", "file", "fold", "function", "header", "hook", "index", "label", "leaf", "line", "list",
    "lock", "merge", "message", "model", "node", "offset", "open", "parent", "parse", "path", "plan", "prompt", "read",
    "record", "result", "return", "root", "scan", "session", "split", "state", "store", "stream", "summary", "test",
    "token", "tool", "tree", "value", "version", "walk", "window", "write", "the", "a", "of", "to", "and", "in", "is",
    "not", "with", "from", "when", "that", "which", "before", "after", "every",
];

pub(super) struct Prose {
    text: String,
}

impl Prose {
    pub(super) fn new() -> Self {
        let mut chance = Chance::new(0x0ff5_0075);
        let mut text = String::with_capacity(POOL + 256);
        while text.len() < POOL {
            line(&mut chance, &mut text);
        }
        Self { text }
    }

    /// About `length` bytes from a random place, at most the whole pool.
    pub(super) fn cut(&self, chance: &mut Chance, length: usize) -> &str {
        let length = length.clamp(1, self.text.len());
        let start = self.text.floor_char_boundary(chance.below(self.text.len() - length + 1));
        let end = self.text.ceil_char_boundary(start + length);
        &self.text[start..end]
    }

    pub(super) fn word(chance: &mut Chance) -> &'static str {
        chance.pick(WORDS)
    }
}

fn line(chance: &mut Chance, text: &mut String) {
    let kind = chance.below(100);
    let count = 4 + chance.below(10);
    let words: Vec<&str> = (0..count).map(|_| Prose::word(chance)).collect();
    let rest = words[2..].join(" ");
    let (first, second) = (words[0], words[1]);
    match kind {
        0..30 => text.push_str(&format!("{}let {first} = {second}(\"{rest}\")?;", "    ".repeat(chance.below(4)))),
        30..42 => text.push_str(&format!("src/{first}/{second}.rs:{}:\t{rest}", chance.below(3000))),
        42..50 => text.push_str(&format!("{:>6}\t{first} {second} {rest}", chance.below(100_000))),
        50..55 => text.push_str(&format!("\u{1b}[1;32m{first}\u{1b}[0m C:\\{second}\\{first} {rest}")),
        55..58 => text.push_str(&format!("{first} — “{second}” déjà vu 木の枝 🌳 {rest}")),
        58..66 => {}
        _ => text.push_str(&format!("{first} {second} {rest}.")),
    }
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_have_about_the_length_asked_for() {
        let prose = Prose::new();
        let mut chance = Chance::new(3);
        for length in [1, 17, 5000, POOL * 2] {
            let got = prose.cut(&mut chance, length).len();
            assert!(
                got >= length.min(POOL) && got <= length.max(prose.text.len()) && (length > POOL || got <= length + 6),
                "{length} gave {got}"
            );
        }
    }

    #[test]
    fn the_pool_is_the_same_every_time_and_hard_to_encode() {
        let (one, two) = (Prose::new(), Prose::new());
        assert!(one.text == two.text);
        assert!(['"', '\\', '\t', '\u{1b}', '🌳'].iter().all(|c| one.text.contains(*c)));
    }
}
