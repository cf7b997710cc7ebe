//! Suggests a line when an operation finds no session of the given name.

use offshoot_app::app::quoted;
use offshoot_session::error::Error;
use offshoot_session::session::SpillPolicy;
use offshoot_workspace::{Access, Arg, ArgForm, ArgKind, Failure, LATEST, Place, Row, is_path};

/// The suggested line, if no session has the first word as its name: another word names a session, or the first word names an
/// entry of the latest one.
pub(super) fn misplaced(
    row: &Row,
    (words, options): (&[String], &[String]),
    failure: &Failure,
    place: &Place,
) -> Option<String> {
    let (Failure::Session(Error::SessionNotFound { given }, _), [first, rest @ ..]) = (failure, words) else {
        return None;
    };
    if first != given {
        return None;
    }
    if row.about.name == "name" && !words.iter().any(|word| word.starts_with('-')) {
        return Some(format!("offshoot name {LATEST} {}", quoted(&words.join(" "))));
    }
    let is_session = |word: &String| word == LATEST || is_path(word) || place.file(word, Access::Read).is_ok();
    let found = match rest.iter().position(is_session) {
        Some(at) => {
            let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
            words.swap(0, at + 1);
            Some(words)
        }
        None => {
            let latest = place.open(LATEST, Access::Read, SpillPolicy::default()).ok()?;
            place.entry(&latest, first).ok()?;
            let is_free = |name: &str| !options.iter().any(|option| option == name);
            let at = row.args.iter().any(|arg| arg.name == "at").then_some("--at").filter(|at| is_free(at));
            let is_entry =
                |arg: &Arg| matches!(arg.kind, ArgKind::Entry | ArgKind::EntryRange) && arg.form == ArgForm::Positional;
            let has_place = at.is_some() || row.args.iter().any(is_entry);
            has_place.then(|| std::iter::once(LATEST).chain(at).chain(words.iter().map(String::as_str)).collect())
        }
    };
    // Only looking for a better line: what it would have told is of no use.
    drop(place.take_notes());
    let options = options.iter().map(String::as_str);
    let typed = found?.into_iter().chain(options).map(quoted).collect::<Vec<_>>().join(" ");
    Some(format!("offshoot {} {typed}", row.about.name))
}
