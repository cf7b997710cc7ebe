//! Key hints. They show only bound keys, by short names.

use crate::keymap::{Action, Keymap};
use crate::text;

/// The short names of keys.
const SHORT: [(&str, &str); 8] = [
    ("pageUp", "pgup"),
    ("pageDown", "pgdn"),
    ("up", "↑"),
    ("down", "↓"),
    ("left", "←"),
    ("right", "→"),
    ("escape", "esc"),
    ("delete", "del"),
];

/// Actions, and their common effect in a word or two.
pub(crate) type Hint<'a> = (&'a [Action], &'a str);

/// The first keys of some actions. Common modifiers are written once. `None` if no key is bound to any of them.
pub(crate) fn keys(keymap: &Keymap, actions: &[Action]) -> Option<String> {
    let mut keys: Vec<String> =
        actions.iter().filter_map(|action| keymap.hint(*action)).map(|key| short(&key)).collect();
    keys.dedup();
    let first = keys.first()?;
    let prefix =
        first.strip_suffix('+').unwrap_or(first).rfind('+').and_then(|at| first.get(..=at)).unwrap_or_default();
    let rests: Option<Vec<&str>> = keys.iter().map(|key| last(key, prefix)).collect();
    Some(match rests {
        Some(rests) => format!("{prefix}{}", rests.join("/")),
        None => keys.join("/"),
    })
}

/// The hints, separated by dots.
pub(crate) fn line(keymap: &Keymap, hints: &[Hint<'_>]) -> String {
    parts(keymap, hints).join(" · ")
}

/// As many of the first hints as fit into these columns.
pub(crate) fn fit(keymap: &Keymap, hints: &[Hint<'_>], columns: usize) -> String {
    let named = parts(keymap, hints);
    text::joined(&named.iter().map(String::as_str).collect::<Vec<_>>(), columns)
}

/// The hints that have a bound key.
pub(crate) fn parts(keymap: &Keymap, hints: &[Hint<'_>]) -> Vec<String> {
    hints.iter().filter_map(|(actions, does)| Some(format!("{} {does}", keys(keymap, actions)?))).collect()
}

/// The key without its modifiers, if it has exactly these modifiers.
fn last<'a>(key: &'a str, modifiers: &str) -> Option<&'a str> {
    key.strip_prefix(modifiers).filter(|rest| rest.len() == 1 || !rest.contains('+'))
}

/// A key with its modifiers, by its short name.
fn short(key: &str) -> String {
    let (modifiers, name) = match key.strip_suffix('+').unwrap_or(key).rfind('+') {
        Some(at) => key.split_at_checked(at + 1).unwrap_or(("", key)),
        None => ("", key),
    };
    let known = SHORT.iter().find(|(long, _)| *long == name);
    format!("{modifiers}{}", known.map_or(name, |(_, short)| short))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_short_names_and_share_their_modifiers() {
        use Action::{FoldOrUp, SelectCancel, SelectConfirm, SelectDown, SelectUp, TranscriptLineUp, UnfoldOrDown};
        let (keymap, _) = Keymap::read(
            r#"{"tui.select.up":"ctrl++","tui.select.down":"ctrl+/","tui.select.confirm":[],"tui.select.cancel":"+"}"#,
        );
        let usual = Keymap::default();
        assert_eq!(keys(&usual, &[SelectUp, SelectDown]).as_deref(), Some("↑/↓"));
        assert_eq!(keys(&usual, &[FoldOrUp, UnfoldOrDown]).as_deref(), Some("ctrl+←/→"));
        assert_eq!(keys(&usual, &[SelectUp, TranscriptLineUp]).as_deref(), Some("↑"), "one key is named once");
        assert_eq!(keys(&keymap, &[SelectUp, SelectDown]).as_deref(), Some("ctrl++//"));
        assert_eq!(keys(&keymap, &[SelectCancel, FoldOrUp]).as_deref(), Some("+/ctrl+←"));
        assert_eq!(line(&keymap, &[(&[SelectConfirm], "take"), (&[SelectCancel], "leave")]), "+ leave");
    }
}
