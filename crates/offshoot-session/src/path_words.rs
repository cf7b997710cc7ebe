//! A path as text that loses nothing: a name of a session is text, and a file's name may have bytes that are not UTF-8.
//!
//! Each such byte is one character of a block that Unicode keeps for private use (U+10FF80 to U+10FFFF), as Python does it with
//! characters that Rust's text cannot have. Reads no file.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

/// The character of byte 0x80 is this far above it.
const BLOCK: u32 = 0x0010_ff00;

/// A path's text. Text that is UTF-8 is itself.
#[must_use]
pub fn path_words(path: &OsStr) -> String {
    let mut words = String::new();
    for chunk in path.as_bytes().utf8_chunks() {
        words.push_str(chunk.valid());
        words.extend(chunk.invalid().iter().filter_map(|byte| char::from_u32(BLOCK + u32::from(*byte))));
    }
    words
}

/// The path of a text that [`path_words`] has made.
#[must_use]
pub fn path_of_words(words: &str) -> PathBuf {
    if !has_bytes(words) {
        return PathBuf::from(words);
    }
    let mut bytes = Vec::with_capacity(words.len());
    for word in words.chars() {
        match byte_of(word) {
            Some(byte) => bytes.push(byte),
            None => bytes.extend_from_slice(word.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    PathBuf::from(OsString::from_vec(bytes))
}

/// Whether a text has a byte that is not UTF-8: it can only be a path.
#[must_use]
pub fn has_bytes(words: &str) -> bool {
    words.chars().any(|word| byte_of(word).is_some())
}

/// A word with such bytes as a shell reads it: `$'a\xff.jsonl'`.
pub(crate) fn shell_bytes(words: &str) -> String {
    let mut spelled = String::from("$'");
    for word in words.chars() {
        match byte_of(word) {
            Some(byte) => spelled += &format!("\\x{byte:02x}"),
            None if matches!(word, '\'' | '\\') => spelled.extend(['\\', word]),
            None => spelled.push(word),
        }
    }
    spelled + "'"
}

/// The `file:` URI of a path, in which no byte of the name has another meaning.
#[must_use]
pub fn file_uri(path: &Path) -> String {
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    let bytes = whole.as_os_str().as_bytes().iter();
    bytes.fold(String::from("file:"), |uri, byte| match byte {
        b'/' | b'-' | b'.' | b'_' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => {
            uri + char::from(*byte).encode_utf8(&mut [0])
        }
        other => uri + &format!("%{other:02x}"),
    })
}

fn byte_of(word: char) -> Option<u8> {
    u32::from(word).checked_sub(BLOCK).and_then(|byte| u8::try_from(byte).ok()).filter(|byte| *byte >= 0x80)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_path_comes_back() {
        let all: Vec<u8> = (1..=255).collect();
        for bytes in [&b"a/b.jsonl"[..], b"a\xff.jsonl", "\u{e4}\u{fffd}".as_bytes(), b"\xf0\x9f\x98", &all] {
            let path = OsStr::from_bytes(bytes);
            assert_eq!(path_of_words(&path_words(path)).as_os_str(), path);
        }
        assert_eq!(path_words(OsStr::new("ä.jsonl")), "ä.jsonl");
        assert_eq!(shell_bytes(&path_words(OsStr::from_bytes(b"it's\xff"))), r"$'it\'s\xff'");
    }
}
