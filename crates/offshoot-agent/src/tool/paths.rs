//! Resolves paths of models and people: `~`, a leading `@`, `file://`, unusual spaces, and macOS's spellings. Reads
//! nothing but whether a file exists.

use std::path::{Component, Path, PathBuf};

use unicode_normalization::UnicodeNormalization as _;

use super::ToolContext;

/// The absolute path, with `.` and `..` removed by name, as in a shell's `cd`.
pub(super) fn resolve(text: &str, place: &ToolContext) -> PathBuf {
    let plain: String = text.chars().map(|c| if is_odd_space(c) { ' ' } else { c }).collect();
    let plain = plain.strip_prefix('@').unwrap_or(&plain);
    let path = match (plain.strip_prefix('~'), &place.home) {
        (Some(""), Some(home)) => home.clone(),
        (Some(rest), Some(home)) if rest.starts_with('/') => home.join(rest.trim_start_matches('/')),
        _ => plain.strip_prefix("file://").map_or_else(|| PathBuf::from(plain), from_url),
    };
    clean(&place.cwd.join(path))
}

/// Like [`resolve`], for a file that should exist: if it does not, macOS's spellings are tried (a narrow space before
/// AM and PM, decomposed letters, a curly apostrophe).
pub(super) fn resolve_existing(text: &str, place: &ToolContext) -> PathBuf {
    let path = resolve(text, place);
    let Some(name) = path.to_str().filter(|_| !path.exists()) else { return path };
    let decomposed: String = name.nfd().collect();
    let spellings =
        [narrow_spaces(name), decomposed.clone(), name.replace('\'', "\u{2019}"), decomposed.replace('\'', "\u{2019}")];
    let found = spellings.into_iter().filter(|other| other != name).map(PathBuf::from).find(|other| other.exists());
    found.unwrap_or(path)
}

fn is_odd_space(c: char) -> bool {
    matches!(c, '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}')
}

/// Decodes percent signs; malformed ones stay.
fn from_url(url: &str) -> PathBuf {
    let path = url.strip_prefix("localhost").unwrap_or(url);
    let (mut bytes, mut rest) = (Vec::new(), path.as_bytes());
    while let Some((first, tail)) = rest.split_first() {
        let hex = (*first == b'%').then(|| tail.get(..2)).flatten().and_then(|two| std::str::from_utf8(two).ok());
        match hex.and_then(|two| u8::from_str_radix(two, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = tail.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    PathBuf::from(String::from_utf8(bytes).unwrap_or_else(|_| path.to_owned()))
}

fn clean(path: &Path) -> PathBuf {
    let mut cleaned = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                cleaned.pop();
            }
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => cleaned.push(part),
        }
    }
    cleaned
}

/// `Screenshot 10.15.00 PM.png`, as macOS spells it.
fn narrow_spaces(name: &str) -> String {
    let mut spelled = String::with_capacity(name.len() + 4);
    for (at, c) in name.char_indices() {
        let next: Option<&[u8]> = name.as_bytes().get(at + 1..at + 4);
        let is_half_of_day =
            next.is_some_and(|next| matches!(next, [half, m, b'.'] if b"aApP".contains(half) && b"mM".contains(m)));
        spelled.push(if c == ' ' && is_half_of_day { '\u{202f}' } else { c });
    }
    spelled
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::OutputFolder;

    fn place(cwd: &Path) -> ToolContext {
        ToolContext {
            call_id: String::new(),
            cwd: cwd.to_owned(),
            home: Some("/home/ann".into()),
            outputs: OutputFolder::new("/nowhere", "s"),
            session_env: Vec::new(),
            images: true,
            sandbox: None,
            keys: Default::default(),
        }
    }

    #[test]
    fn what_people_and_models_write_becomes_a_path() {
        let place = place(Path::new("/work"));
        for (text, path) in [
            ("a/b", "/work/a/b"),
            ("./a/../b", "/work/b"),
            ("../../..", "/"),
            ("/etc//x/.", "/etc/x"),
            ("~", "/home/ann"),
            ("~/x", "/home/ann/x"),
            ("~x", "/work/~x"),
            ("@src/a.rs", "/work/src/a.rs"),
            ("@~/x", "/home/ann/x"),
            ("a\u{a0}b\u{202f}c\u{3000}d", "/work/a b c d"),
            ("file:///tmp/a%20b", "/tmp/a b"),
            ("file:///tmp/100%", "/tmp/100%"),
            ("", "/work"),
        ] {
            assert_eq!(resolve(text, &place), Path::new(path), "{text:?}");
        }
    }

    #[test]
    fn files_with_names_of_macos_are_found_by_what_people_type() {
        for (there, typed) in [
            ("Shot 10.15.00\u{202f}PM.png", "Shot 10.15.00 PM.png"),
            ("cafe\u{301}.txt", "caf\u{e9}.txt"),
            ("Capture d\u{2019}ecran.png", "Capture d'ecran.png"),
            ("d\u{2019}e\u{301}cran.png", "d'\u{e9}cran.png"),
        ] {
            let dir = tempfile::tempdir().unwrap();
            std::fs::write(dir.path().join(there), "x").unwrap();
            let place = place(dir.path());
            assert_eq!(resolve_existing(typed, &place), dir.path().join(there));
            assert_eq!(resolve_existing("missing", &place), dir.path().join("missing"));
        }
    }
}
