//! Strings of a terminal: `OSC`, `DCS` and `APC`, which are answers to queries of this program or of one before it. None is
//! text that somebody typed.

use crate::theme::Background;

use super::Decoded;
use super::key::ESCAPE;

/// After so many milliseconds without bytes, bytes continue a string only if they have its end.
pub(super) const PATIENCE: u64 = 2000;
/// So much of a string is looked at.
const LONGEST: usize = 128;
/// What is longer is no answer.
const TOO_LONG: usize = 1 << 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StringKind {
    Osc,
    Dcs,
    Apc,
}

impl StringKind {
    /// By the byte after the escape. As keys they are Alt and `]`, `P` or `_`.
    pub(super) fn of(introducer: u8) -> Option<Self> {
        match introducer {
            b']' => Some(Self::Osc),
            b'P' => Some(Self::Dcs),
            b'_' => Some(Self::Apc),
            _ => None,
        }
    }

    /// Whether answers begin so. Nobody types it in the same moment.
    pub(super) fn begins_with(self, byte: u8) -> bool {
        match self {
            Self::Osc => byte.is_ascii_digit(),
            Self::Dcs => byte.is_ascii_digit() || matches!(byte, b'>' | b'!' | b'$' | b'+'),
            Self::Apc => byte == b'G',
        }
    }

    /// Whether bytes that come later are the rest of an answer. Keys come one by one.
    pub(super) fn continues(self, bytes: &[u8]) -> bool {
        let letter = |byte: &u8| !byte.is_ascii_digit();
        let after = || bytes.iter().position(letter).and_then(|at| bytes.get(at..)).unwrap_or_default();
        let begins = |starts: &[&[u8]]| starts.iter().any(|start| after().starts_with(start));
        match self {
            Self::Osc => bytes.first().is_some_and(u8::is_ascii_digit) && begins(&[b";"]),
            Self::Dcs => begins(&[b">|", b"!|", b"$r", b"+r"]),
            Self::Apc => bytes.starts_with(b"Gi="),
        }
    }
}

/// Whether the end of a string comes before a key.
pub(super) fn has_end(bytes: &[u8]) -> bool {
    let end = bytes.iter().position(|byte| *byte < b' ').unwrap_or(bytes.len());
    matches!(bytes.get(end..), Some([0x07, ..] | [ESCAPE, b'\\', ..]))
}

#[derive(Debug)]
pub(super) struct OpenString {
    kind: StringKind,
    /// Its beginning.
    text: Vec<u8>,
    length: usize,
}

impl OpenString {
    pub(super) fn of(kind: StringKind) -> Self {
        Self { kind, text: Vec::new(), length: 0 }
    }

    /// Takes what belongs to the string. Answers how many bytes that is, and whether the string has ended. A key ends it, too.
    pub(super) fn take(&mut self, bytes: &[u8]) -> (usize, bool) {
        let end = bytes.iter().position(|byte| *byte < b' ').unwrap_or(bytes.len());
        let (text, rest) = bytes.split_at(end);
        let room = LONGEST.saturating_sub(self.text.len());
        self.text.extend(text.iter().take(room));
        self.length = self.length.saturating_add(end);
        match rest {
            [0x07, ..] => (end + 1, true),
            [ESCAPE, b'\\', ..] => (end + 2, true),
            // Its other half has not come.
            [ESCAPE] => (end, false),
            [] => (end, self.length > TOO_LONG),
            [..] => {
                self.text.clear();
                (end, true)
            }
        }
    }

    pub(super) fn meaning(&self) -> Option<Decoded> {
        let text = std::str::from_utf8(&self.text).ok().filter(|_| self.kind == StringKind::Osc)?;
        Background::of_answer(text.strip_prefix("11;")?).map(Decoded::Background)
    }
}
