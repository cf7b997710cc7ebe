//! The keys typed in each scene and what is timed. A row of [`SCENES`] is one run of the program.

use std::path::Path;
use std::time::Duration;

use anyhow::{Result, bail};

use super::rounds::RoundFigures;
use super::stage::{Home, Stage};
use super::terminal::Terminal;

/// Whether the screen shows the awaited state.
type IsSo = fn(&str) -> bool;

pub(super) struct Scene {
    pub(super) name: &'static str,
    pub(super) what: &'static str,
    pub(super) play: fn(&Stage) -> Result<RoundFigures>,
}

pub(super) const SCENES: &[Scene] = &[
    Scene { name: "new", what: "`offshoot` on no session", play: new },
    Scene { name: "open", what: "a session of 50 MB, opened before", play: open },
    Scene { name: "open-first", what: "a session of 50 MB, never opened before", play: open_first },
    Scene { name: "million", what: "a session of 1,000,000 entries, opened before, and `/tree`", play: million },
    Scene { name: "editor", what: "writing below 100,000 entries", play: editor },
    Scene { name: "reading", what: "the reading view (Alt+T) of 100,000 entries", play: reading },
    Scene { name: "tree", what: "`/tree` with 100,000 entries", play: tree },
    Scene { name: "tree-first", what: "100,000 entries without an index: the session, then `/tree`", play: tree_first },
    Scene { name: "resume", what: "`/resume` over 10,000 sessions, listed before", play: resume },
    Scene { name: "resume-first", what: "`/resume` over 10,000 sessions, never listed before", play: resume_first },
    Scene { name: "resume-search", what: "a word searched in 10,000 sessions, listed before", play: resume_search },
    Scene { name: "pick", what: "`-r` over 10,000 sessions, listed before", play: pick },
    Scene { name: "pick-first", what: "`-r` over 10,000 sessions, never listed before", play: pick_first },
];

pub(super) const FIRST: &str = "first picture";
pub(super) const WORDS: &str = "the last words";
pub(super) const SOME: &str = "the first sessions";
pub(super) const TREE: &str = "`/tree`";
pub(super) const HITS: &str = "the first hits";
const STATUS: &str = "the status line";
const ALL: &str = "all 10,000";
/// Keys timed per round.
const KEYS: usize = 200;
/// The pause before a key, in which earlier work is drawn.
const PAUSE: Duration = Duration::from_millis(3);
/// Without a frame for this long, nothing is in progress.
const QUIET: Duration = Duration::from_millis(400);

const UP: &str = "\x1b[A";
const DOWN: &str = "\x1b[B";
const PAGE_UP: &str = "\x1b[5~";
const PAGE_DOWN: &str = "\x1b[6~";
const HOME: &str = "\x1b[H";
const END: &str = "\x1b[F";
const FOLD: &str = "\x1b[1;5D";
const UNFOLD: &str = "\x1b[1;5C";
const NEXT_FILTER: &str = "\x0f";
const READING: &str = "\x1bt";
const BACKSPACE: &str = "\x7f";

/// The search prompts of the tree and of the session list.
const TREE_SEARCH: &str = "Type to search:";
const LIST_SEARCH: &str = ">";

fn new(stage: &Stage) -> Result<RoundFigures> {
    let home = stage.fresh_home()?;
    let mut taken = RoundFigures::default();
    let mut terminal = home.run(&[])?;
    starts(&mut terminal, &mut taken, &[FIRST, STATUS])?;
    finish(terminal, taken)
}

fn open(stage: &Stage) -> Result<RoundFigures> {
    let home = home_with_opened_session(stage, &stage.fifty)?;
    opened(&home, &stage.fifty)
}

fn million(stage: &Stage) -> Result<RoundFigures> {
    let home = home_with_opened_session(stage, &stage.million)?;
    let mut taken = RoundFigures::default();
    let mut terminal = open_and_settle(&home, &stage.million, Some(&mut taken))?;
    open_tree(&mut terminal, &mut taken, TREE)?;
    keys(&mut terminal, &mut taken, "Up", &[UP])?;
    finish(terminal, taken)
}

fn open_first(stage: &Stage) -> Result<RoundFigures> {
    opened(&stage.fresh_home()?, &stage.fifty)
}

fn opened(home: &Home<'_>, file: &Path) -> Result<RoundFigures> {
    let mut taken = RoundFigures::default();
    let mut terminal = home.run(&[Path::new("--session"), file])?;
    starts(&mut terminal, &mut taken, &[FIRST, WORDS, STATUS])?;
    finish(terminal, taken)
}

fn starts(terminal: &mut Terminal, taken: &mut RoundFigures, wanted: &[&'static str]) -> Result<()> {
    let is_so: [(&str, IsSo); 3] = [(FIRST, |_| true), (WORDS, has_words), (STATUS, has_status)];
    for what in wanted {
        for (_, is_so) in is_so.iter().filter(|(known, _)| known == what) {
            taken.time(what, terminal.first(what, is_so)?);
        }
    }
    Ok(())
}

fn editor(stage: &Stage) -> Result<RoundFigures> {
    let home = home_with_opened_session(stage, &stage.hundred)?;
    let mut taken = RoundFigures::default();
    let mut terminal = open_and_settle(&home, &stage.hundred, Some(&mut taken))?;
    // A blank at the end of a line would not change the frame.
    let words = "the,quick,brown,fox,jumps,over,the,lazy,dog,";
    let letters: Vec<&str> = words.split_inclusive(|_| true).collect();
    keys(&mut terminal, &mut taken, "a letter", &letters)?;
    keys(&mut terminal, &mut taken, "Backspace", &[BACKSPACE])?;
    finish(terminal, taken)
}

fn reading(stage: &Stage) -> Result<RoundFigures> {
    let home = home_with_opened_session(stage, &stage.hundred)?;
    let mut taken = RoundFigures::default();
    let mut terminal = open_and_settle(&home, &stage.hundred, None)?;
    let seen = terminal.key(READING, "the reading view", |screen| screen.contains("q leave"))?;
    taken.time(FIRST, seen.took);
    terminal.settle(QUIET)?;
    keys(&mut terminal, &mut taken, "Up", &[UP])?;
    keys(&mut terminal, &mut taken, "Page Up", &[PAGE_UP])?;
    keys(&mut terminal, &mut taken, "g, G (the ends)", &["g", "G"])?;
    terminal.key("g", "the top", |_| true)?;
    keys(&mut terminal, &mut taken, "Down", &[DOWN])?;
    keys(&mut terminal, &mut taken, "Page Down", &[PAGE_DOWN])?;
    finish(terminal, taken)
}

fn tree(stage: &Stage) -> Result<RoundFigures> {
    let home = home_with_opened_session(stage, &stage.hundred)?;
    let mut taken = RoundFigures::default();
    let mut terminal = open_and_settle(&home, &stage.hundred, None)?;
    open_tree(&mut terminal, &mut taken, FIRST)?;
    keys(&mut terminal, &mut taken, "Up", &[UP])?;
    keys(&mut terminal, &mut taken, "Home, End", &[HOME, END])?;
    terminal.key(HOME, "the top", |_| true)?;
    keys(&mut terminal, &mut taken, "Down", &[DOWN])?;
    keys(&mut terminal, &mut taken, "Page Down", &[PAGE_DOWN])?;
    keys(&mut terminal, &mut taken, "Ctrl+Left, Ctrl+Right (branches, folds)", &[FOLD, FOLD, UNFOLD, UNFOLD])?;
    keys(&mut terminal, &mut taken, "Ctrl+O (the next filter)", &[NEXT_FILTER])?;
    let typed = terminal.key("e", "the search", |screen| searches(screen, TREE_SEARCH, "e"))?;
    taken.time("the first letter of the first search", typed.took);
    let found = terminal.until("all that is found", |screen| {
        let mut lines = screen.lines().map(str::trim);
        lines.any(|line| line == format!("{TREE_SEARCH} e"))
    })?;
    taken.time("the first search, to its end", found.duration_since(typed.at));
    terminal.key(BACKSPACE, "no search", |screen| searches(screen, TREE_SEARCH, ""))?;
    search(&mut terminal, &mut taken, TREE_SEARCH)?;
    finish(terminal, taken)
}

fn tree_first(stage: &Stage) -> Result<RoundFigures> {
    let home = stage.fresh_home()?;
    let mut taken = RoundFigures::default();
    let mut terminal = home.run(&[Path::new("--session"), &stage.hundred])?;
    starts(&mut terminal, &mut taken, &[FIRST, WORDS])?;
    open_tree(&mut terminal, &mut taken, "`/tree`, asked for at once")?;
    terminal.key("\x1b", "the conversation", has_words)?;
    terminal.settle(QUIET)?;
    home.forget()?;
    open_tree(&mut terminal, &mut taken, "`/tree`, the index removed again")?;
    finish(terminal, taken)
}

fn resume(stage: &Stage) -> Result<RoundFigures> {
    let home = home_with_catalogue(stage, &stage.crowd)?;
    let (mut terminal, mut taken) = resumed(&home, &stage.crowd)?;
    list_keys(&mut terminal, &mut taken)?;
    finish(terminal, taken)
}

fn resume_first(stage: &Stage) -> Result<RoundFigures> {
    let (terminal, taken) = resumed(&stage.fresh_home()?, &stage.crowd)?;
    finish(terminal, taken)
}

/// The newest of the sessions that have the word is behind 249 others.
fn resume_search(stage: &Stage) -> Result<RoundFigures> {
    let home = home_with_catalogue(stage, &stage.archive)?;
    let (mut terminal, _) = resumed(&home, &stage.archive)?;
    terminal.settle(QUIET)?;
    let mut taken = RoundFigures::default();
    let seen = terminal.key("zanzi", "a hit", |screen| screen.contains("ferry to Zanzibar"))?;
    taken.time(HITS, seen.took);
    let all = terminal.until("all hits", |screen| screen.contains("/20)") && !screen.contains("still to be"))?;
    taken.time("all that is found", all.duration_since(seen.at));
    let seen = terminal.key("b", "a hit of a longer word", |screen| searches(screen, LIST_SEARCH, "zanzib"))?;
    taken.time("a letter more", seen.took);
    finish(terminal, taken)
}

fn resumed(home: &Home<'_>, sessions: &Path) -> Result<(Terminal, RoundFigures)> {
    let mut taken = RoundFigures::default();
    let mut terminal = home.run(&[Path::new("--session-dir"), sessions])?;
    terminal.first(STATUS, has_status)?;
    terminal.settle(QUIET)?;
    terminal.key("/resume", "the command", |screen| screen.contains("/resume"))?;
    terminal.settle(QUIET)?;
    let seen = terminal.key("\r", "the list", |screen| screen.contains("Resume session"))?;
    taken.time(FIRST, seen.took);
    let some = terminal.until("sessions", has_sessions)?;
    taken.time(SOME, some.duration_since(seen.at));
    let all = terminal.until("all sessions", |screen| screen.contains("/10000)"))?;
    taken.time(ALL, all.duration_since(seen.at));
    Ok((terminal, taken))
}

fn pick(stage: &Stage) -> Result<RoundFigures> {
    let (mut terminal, mut taken) = picked(&home_with_catalogue(stage, &stage.crowd)?, &stage.crowd)?;
    list_keys(&mut terminal, &mut taken)?;
    finish(terminal, taken)
}

fn pick_first(stage: &Stage) -> Result<RoundFigures> {
    let (terminal, taken) = picked(&stage.fresh_home()?, &stage.crowd)?;
    finish(terminal, taken)
}

fn picked(home: &Home<'_>, sessions: &Path) -> Result<(Terminal, RoundFigures)> {
    let mut taken = RoundFigures::default();
    let mut terminal = home.run(&[Path::new("-r"), Path::new("--session-dir"), sessions])?;
    taken.time(FIRST, terminal.first("the list", |screen| screen.contains("Resume session"))?);
    taken.time(SOME, terminal.first("sessions", has_sessions)?);
    taken.time(ALL, terminal.first("all sessions", |screen| screen.contains("/10000)"))?);
    Ok((terminal, taken))
}

fn list_keys(terminal: &mut Terminal, taken: &mut RoundFigures) -> Result<()> {
    terminal.settle(QUIET)?;
    keys(terminal, taken, "Down", &[DOWN])?;
    keys(terminal, taken, "Page Down", &[PAGE_DOWN])?;
    keys(terminal, taken, "Home, End", &[HOME, END])?;
    search(terminal, taken, LIST_SEARCH)
}

/// Types a word and deletes it, letter by letter, without waiting for results.
fn search(terminal: &mut Terminal, taken: &mut RoundFigures, prompt: &str) -> Result<()> {
    let word = "parser";
    let longer = (1..=word.len()).map(|end| (end - 1..end, 0..end));
    let shorter = (0..word.len()).rev().map(|end| (0..0, 0..end));
    for (typed, shown) in longer.chain(shorter).cycle().take(KEYS) {
        let (typed, shown) = (word.get(typed).unwrap_or_default(), word.get(shown).unwrap_or_default());
        let key = if typed.is_empty() { BACKSPACE } else { typed };
        let seen = terminal.key(key, "the search", |screen| searches(screen, prompt, shown))?;
        taken.time("a letter of a search", seen.took);
    }
    Ok(())
}

/// Whether exactly `query` is shown in the search line, possibly followed by the search's progress.
fn searches(screen: &str, prompt: &str, query: &str) -> bool {
    let asked = format!("{prompt} {query}");
    let is_asked = |line: &str| line == asked.trim_end() || line.starts_with(&format!("{asked}  "));
    screen.lines().map(str::trim).any(is_asked)
}

/// Types keys one after the other, each after the previous one's frame.
fn keys(terminal: &mut Terminal, taken: &mut RoundFigures, what: &'static str, keys: &[&str]) -> Result<()> {
    let mut idle = 0;
    for key in keys.iter().cycle().take(KEYS) {
        terminal.settle(PAUSE)?;
        match terminal.key_that_changes(key, without_forecast)? {
            Some(seen) => taken.time(what, seen.took),
            None => idle += 1,
        }
    }
    if idle * 10 > KEYS {
        bail!("{what}: {idle} of {KEYS} keys changed nothing on the screen, which shows:\n{}", terminal.screen());
    }
    Ok(())
}

/// The screen without the tree's forecast, which follows the place, such as `(3/9)`, and arrives later than its frame.
fn without_forecast(screen: &str) -> String {
    let kept = screen.lines().map(|line| match line.split_once(')') {
        Some((place, _)) if place.trim_start().starts_with('(') && place.contains('/') => place,
        _ => line,
    });
    kept.fold(String::new(), |all, line| all + line + "\n")
}

fn open_tree(terminal: &mut Terminal, taken: &mut RoundFigures, what: &'static str) -> Result<()> {
    terminal.key("/tree", "the command", |screen| screen.contains("/tree"))?;
    terminal.settle(QUIET)?;
    let seen = terminal.key("\r", "the tree", |screen| screen.contains("Session tree"))?;
    taken.time(what, seen.took);
    terminal.settle(QUIET)?;
    Ok(())
}

/// A home in which the session was opened before.
fn home_with_opened_session<'a>(stage: &'a Stage, file: &Path) -> Result<Home<'a>> {
    let home = stage.fresh_home()?;
    open_and_settle(&home, file, None)?.end()?;
    Ok(home)
}

/// A home in which the sessions were listed before.
fn home_with_catalogue<'a>(stage: &'a Stage, sessions: &Path) -> Result<Home<'a>> {
    let home = stage.fresh_home()?;
    let (mut terminal, _) = picked(&home, sessions)?;
    // The catalogue is saved once all rows are shown.
    terminal.settle(QUIET)?;
    terminal.end()?;
    Ok(home)
}

/// An open session with nothing in progress.
fn open_and_settle(home: &Home<'_>, file: &Path, taken: Option<&mut RoundFigures>) -> Result<Terminal> {
    let mut terminal = home.run(&[Path::new("--session"), file])?;
    match taken {
        Some(taken) => starts(&mut terminal, taken, &[FIRST, WORDS, STATUS])?,
        None => drop(terminal.first(STATUS, has_status)?),
    }
    terminal.settle(QUIET)?;
    Ok(terminal)
}

fn finish(terminal: Terminal, mut taken: RoundFigures) -> Result<RoundFigures> {
    taken.peak(terminal.peak_mib()?);
    terminal.end()?;
    Ok(taken)
}

fn has_words(screen: &str) -> bool {
    screen.lines().filter(|line| !line.trim().is_empty()).count() > 15
}

/// Whether the fill level of the context is shown.
fn has_status(screen: &str) -> bool {
    screen.contains("% of 200k")
}

/// Whether a session row is shown: one is always selected.
fn has_sessions(screen: &str) -> bool {
    screen.lines().any(|line| line.starts_with("› "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_is_seen_by_its_words_alone() {
        let screen = " Resume\n  Type to search: par  12 %\n> parser\n";
        assert!(searches(screen, TREE_SEARCH, "par") && !searches(screen, TREE_SEARCH, "pa"));
        assert!(searches(screen, LIST_SEARCH, "parser") && !searches(screen, LIST_SEARCH, "parse"));
        assert!(searches("  Type to search:", TREE_SEARCH, "") && !searches(screen, TREE_SEARCH, ""));
    }

    #[test]
    fn a_forecast_is_no_effect_of_a_key() {
        let kept = without_forecast;
        assert_eq!(kept("› a (b)\n  (3/9)"), kept("› a (b)\n  (3/9)  5 tokens"));
        assert_ne!(kept("› a (b)\n  (3/9)"), kept("› a (c)\n  (3/9)"));
        assert_ne!(kept("  (3/9)"), kept("  (4/9)"));
    }

    #[test]
    fn names_of_scenes_differ() {
        let names: std::collections::BTreeSet<&str> = SCENES.iter().map(|scene| scene.name).collect();
        assert_eq!(names.len(), SCENES.len());
    }
}
