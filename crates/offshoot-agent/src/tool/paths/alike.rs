//! Finds what exists under names that look the same: another blank, composed or decomposed letters, a curly apostrophe.
//! Lists only folders of names that can look different. Knows no `~` and no `@`.

use std::io;
use std::path::{Component, Path, PathBuf};

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

/// More look-alikes of one name are not told apart in a message.
const MOST: usize = 8;

/// Whether the name is there, be it a link that leads nowhere. A folder that cannot be searched counts as having it.
pub(super) fn exists(path: &Path) -> bool {
    match std::fs::symlink_metadata(path) {
        Ok(_) => true,
        Err(error) => !matches!(
            error.kind(),
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory | io::ErrorKind::InvalidInput
        ),
    }
}

/// The existing paths that look like an absolute one, which does not exist.
pub(super) fn alike(path: &Path) -> Vec<PathBuf> {
    let mut found = vec![PathBuf::new()];
    for part in path.components() {
        found = found.into_iter().flat_map(|folder| next(&folder, part)).take(MOST).collect();
    }
    found.retain(|other| other != path);
    found
}

fn next(folder: &Path, part: Component<'_>) -> Vec<PathBuf> {
    let exact = folder.join(part);
    match part {
        Component::Normal(name) => {
            let mut found = name.to_str().map_or_else(Vec::new, |name| siblings(folder, name));
            found.retain(|other| *other != exact);
            if exists(&exact) {
                found.insert(0, exact);
            }
            found
        }
        Component::Prefix(_) | Component::RootDir | Component::CurDir | Component::ParentDir => vec![exact],
    }
}

/// What a folder has that looks like this name, by name.
fn siblings(folder: &Path, name: &str) -> Vec<PathBuf> {
    if !name.chars().any(|c| !c.is_ascii() || plain(c) != c || matches!(c, ' ' | '\'')) {
        return Vec::new();
    }
    let wanted = folded(name);
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let names = entries.filter_map(Result::ok).filter_map(|entry| entry.file_name().into_string().ok());
    let mut found: Vec<PathBuf> =
        names.filter(|other| folded(other) == wanted).map(|other| folder.join(other)).collect();
    found.sort();
    found
}

fn folded(name: &str) -> String {
    name.chars().map(plain).nfc().collect()
}

fn plain(c: char) -> char {
    match c {
        '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => ' ',
        '\u{2018}' | '\u{2019}' => '\'',
        _ => c,
    }
}

/// Whether the character looks like another one, or like none.
pub(super) fn is_deceptive(c: char) -> bool {
    plain(c) != c
        || c.is_control()
        || is_combining_mark(c)
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}
