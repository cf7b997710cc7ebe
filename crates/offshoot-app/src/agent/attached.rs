//! Pictures that a typed prompt names as `@NAME`: they are sent with it, as those of the command line are. Other files that it
//! names stay words, which the model reads if it wants to.

use std::collections::HashSet;
use std::io::Read as _;

use offshoot_agent::is_picture;
use offshoot_agent::tool::PathBase;
use offshoot_protocol::request::UserPrompt;
use offshoot_session::medium::open_regular;

use super::input::picture_file;
use crate::app::App;
use crate::error::Result;

/// No more names of a prompt are looked at.
const NAMES: usize = 100;
/// What shows the format of a file.
const START: u64 = 4096;

/// Whether a prompt may name a file.
pub fn may_attach(prompt: &UserPrompt) -> bool {
    names(&prompt.text).next().is_some()
}

/// The prompt with the pictures that it names, each once. Files are named from the folder `cwd`.
///
/// # Errors
/// A picture cannot be sent.
pub fn with_pictures(app: &App, mut prompt: UserPrompt, cwd: &str) -> Result<UserPrompt> {
    let text = prompt.text.clone();
    let base = PathBase { cwd: cwd.as_ref(), home: app.environment.home.as_deref() };
    let mut seen = HashSet::new();
    for name in names(&text).take(NAMES) {
        let path = base.attached(name).path;
        if !starts_as_picture(&path) || !seen.insert(path.clone()) {
            continue;
        }
        let (mut before, mut images) = (String::new(), Vec::new());
        picture_file(app, &path, Some(cwd), (&mut before, &mut images))?;
        let parts = [prompt.before.as_str(), before.trim_end_matches('\n')];
        prompt.before = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n");
        prompt.images.extend(images);
    }
    Ok(prompt)
}

/// Only regular files that can be read are pictures.
fn starts_as_picture(path: &std::path::Path) -> bool {
    let mut start = Vec::new();
    let read = open_regular(path).and_then(|file| file.take(START).read_to_end(&mut start));
    read.is_ok() && is_picture(&start)
}

/// The words with an `@` before them, without it; a name with blanks is quoted.
fn names(text: &str) -> impl Iterator<Item = &str> {
    let starts = text.match_indices('@').filter(|(at, _)| {
        let before = text.get(..*at).unwrap_or_default().chars().next_back();
        before.is_none_or(|before| before.is_whitespace() || "([{<".contains(before))
    });
    starts.filter_map(|(at, _)| {
        let rest = text.get(at + 1..)?;
        let name = match rest.strip_prefix('"') {
            Some(quoted) => quoted.split('"').next(),
            None => rest.split(char::is_whitespace).next().map(without_mark),
        };
        name.filter(|name| !name.is_empty())
    })
}

/// A mark at the end of a sentence is not part of the name.
fn without_mark(name: &str) -> &str {
    name.trim_end_matches([',', ';', ':', '?', '!', ')', ']', '}', '>', '.'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_words_with_an_at_sign() {
        let found = |text: &str| names(text).map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(found("@a.png and (@b.png), @\"my shot.png\"?"), ["a.png", "b.png", "my shot.png"]);
        assert_eq!(found("what is in @c.png? mail me@x.org @ @\"\""), ["c.png"]);
        assert!(found("no file").is_empty());
    }
}
