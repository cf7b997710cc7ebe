//! Turns paths of pictures that a terminal pastes when files are dropped on it into names that attach them: `@/tmp/shot.png`.
//! Opens no file: the file is read when the prompt is sent.

/// The endings of files that may be pictures.
const ENDINGS: [&str; 5] = [".png", ".jpg", ".jpeg", ".gif", ".webp"];
/// Longer texts are not lists of paths.
const LONGEST: usize = 16 << 10;

/// The names for a pasted text that consists of paths of pictures: quoted, with backslashes, as addresses (`file://`), or with blanks
/// as they are.
pub(super) fn attached(pasted: &str) -> Option<String> {
    let text = Some(pasted.trim()).filter(|text| text.len() <= LONGEST && !text.contains(['\n', '\r']))?;
    all_named(shell_words(text)).or_else(|| all_named(bare_paths(text)))
}

fn all_named(paths: Option<Vec<String>>) -> Option<String> {
    let names: Option<Vec<String>> = paths?.iter().map(|path| named(path)).collect();
    names.filter(|names| !names.is_empty()).map(|names| names.concat())
}

/// The paths of a text in which blanks are parts of names. After a blank, only a word that begins as a whole path does is the next
/// path. `None` for a command such as `/compact`.
fn bare_paths(text: &str) -> Option<Vec<String>> {
    let mut paths: Vec<String> = Vec::new();
    for word in text.split(' ') {
        let begins = ["/", "~/", "file://"].iter().any(|start| word.starts_with(start));
        match paths.last_mut() {
            _ if begins => paths.push(word.to_owned()),
            Some(path) => {
                path.push(' ');
                path.push_str(word);
            }
            None => return None,
        }
    }
    let is_command =
        text.strip_prefix('/').is_some_and(|rest| !rest.split(' ').next().unwrap_or_default().contains('/'));
    (!is_command).then(|| paths.iter().map(|path| without_backslashes(path.trim_end_matches(' '))).collect())
}

/// The path without the backslashes that escape characters for a shell.
fn without_backslashes(path: &str) -> String {
    let mut letters = path.chars();
    let mut next = || match letters.next()? {
        '\\' => letters.next().or(Some('\\')),
        letter => Some(letter),
    };
    std::iter::from_fn(&mut next).collect()
}

fn named(word: &str) -> Option<String> {
    let path = match word.strip_prefix("file://") {
        Some(address) => unescaped(address.strip_prefix("localhost").unwrap_or(address))?,
        None => word.to_owned(),
    };
    let lower = path.to_lowercase();
    let is_picture = ENDINGS.iter().any(|ending| lower.ends_with(ending));
    let is_whole = path.starts_with('/') || path.starts_with("~/");
    if !is_picture || !is_whole || path.contains(['"', '\n']) {
        return None;
    }
    Some(if path.contains(char::is_whitespace) { format!("@\"{path}\" ") } else { format!("@{path} ") })
}

/// The bytes of an address, if they are a text.
fn unescaped(address: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = address.as_bytes();
    while let Some((first, more)) = rest.split_first() {
        (rest, bytes) = match (first, more.split_at_checked(2)) {
            (b'%', Some((digits, more))) => {
                let digits = std::str::from_utf8(digits).ok()?;
                bytes.push(u8::from_str_radix(digits, 16).ok()?);
                (more, bytes)
            }
            _ => {
                bytes.push(*first);
                (more, bytes)
            }
        };
    }
    String::from_utf8(bytes).ok()
}

/// The words of a line as a shell reads them, which no blank but these two ends; `None` if a quote stays open.
fn shell_words(text: &str) -> Option<Vec<String>> {
    let (mut words, mut word) = (Vec::new(), None::<String>);
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => word.get_or_insert_default().push(letters.next()?),
            '\'' | '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match letters.next()? {
                        end if end == letter => break,
                        '\\' if letter == '"' => word.push(letters.next()?),
                        inside => word.push(inside),
                    }
                }
            }
            ' ' | '\t' => words.extend(word.take()),
            letter => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    Some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_pictures_become_names_that_attach_them() {
        for (pasted, name) in [
            ("/tmp/shot.png", Some("@/tmp/shot.png ")),
            (" '/tmp/my shot.PNG' ", Some("@\"/tmp/my shot.PNG\" ")),
            ("/tmp/my\\ shot.png", Some("@\"/tmp/my shot.png\" ")),
            ("~/a.jpg /tmp/b.webp", Some("@~/a.jpg @/tmp/b.webp ")),
            ("file:///tmp/my%20shot.gif", Some("@\"/tmp/my shot.gif\" ")),
            ("file:///tmp/%ff.gif", None),
            ("/tmp/notes.txt", None),
            ("/tmp/my shot.png", Some("@\"/tmp/my shot.png\" ")),
            ("~/my  shot.png", Some("@\"~/my  shot.png\" ")),
            ("/tmp/my\\ big shot.png", Some("@\"/tmp/my big shot.png\" ")),
            ("/tmp/John's shot.png", Some("@\"/tmp/John's shot.png\" ")),
            ("/tmp/a.png /tmp/my shot.png ~/b c.gif", Some("@/tmp/a.png @\"/tmp/my shot.png\" @\"~/b c.gif\" ")),
            ("file:///tmp/my shot.png", Some("@\"/tmp/my shot.png\" ")),
            // macOS has such a blank in the names of screenshots, and leaves it without a backslash.
            ("/tmp/Shot\\ at\\ 9.41\u{202f}AM.png", Some("@\"/tmp/Shot at 9.41\u{202f}AM.png\" ")),
            ("/tmp/notes.txt and /tmp/shot.png", None),
            ("/compact what is in shot.png", None),
            ("see /tmp/shot.png", None),
            ("see /tmp/my shot.png", None),
            ("shot.png", None),
            ("/tmp/a.png\n/tmp/b.png", None),
            ("'/tmp/shot.png", None),
            ("'/tmp/a\"b.png'", None),
            ("", None),
        ] {
            assert_eq!(attached(pasted).as_deref(), name, "{pasted}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_text_panics(text in "(file://)?[/~%\\\\'\" a-f.png日]{0,30}") {
            drop(attached(&text));
        }
    }
}
