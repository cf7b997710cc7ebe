//! Loads, filters and orders the sessions of one scope. Handles no keys and draws nothing.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use offshoot_session::clock::Millis;
use offshoot_session::list::SessionInfo;
use offshoot_session::text::one_line;
use offshoot_workspace::SessionProgram;

use super::lineage::{self, ListedRow, Member};
use super::search::{Fields, FirstMatch, Query, TextHits};

/// A session for the selector, with its list information and canonical paths.
#[derive(Debug, Clone)]
pub struct Listed {
    /// The list information. Its texts are not kept.
    pub info: SessionInfo,
    /// The canonical path of the session's file. Two paths are the same session if their canonical paths are equal.
    pub real: PathBuf,
    /// The canonical path of the parent session's file.
    pub parent: Option<PathBuf>,
    pub origin: SessionProgram,
}

/// The order of the sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sort {
    /// As a tree of parent and child sessions. With a search, best match first.
    #[default]
    Threaded,
    /// Last activity first.
    Recent,
    /// Best match first with a search, otherwise last activity first.
    Relevance,
}

/// The filter by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Names {
    /// Sessions with and without a name.
    #[default]
    All,
    Named,
}

/// The loading state of a list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) enum Filling {
    /// Not requested yet.
    #[default]
    Unasked,
    /// The number of files read, and the total if it is known.
    Reading(usize, Option<usize>),
    /// Complete. The value is the number of unreadable files.
    Done(usize),
    Failed(String),
}

/// Which results of a search stay valid for the next search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kept {
    Nothing,
    /// Sessions that did not match still do not match.
    Misses,
}

impl Kept {
    /// A query that extends the previous one matches no more sessions. This does not hold for patterns.
    pub(super) fn from(before: &str, now: &str) -> Self {
        let is_longer = !before.trim().is_empty() && now.starts_with(before);
        if is_longer && !now.trim_start().starts_with("re:") { Self::Misses } else { Self::Nothing }
    }
}

/// A session as the list shows it, with short sanitised texts.
#[derive(Debug, Clone)]
pub(super) struct SessionListRow {
    pub(super) path: PathBuf,
    pub(super) real: PathBuf,
    pub(super) id: String,
    pub(super) cwd: String,
    /// `Some` if the session has a name, even if the name has no visible characters.
    pub(super) name: Option<String>,
    pub(super) first: String,
    pub(super) modified: Option<Millis>,
    pub(super) messages: u64,
    pub(super) origin: SessionProgram,
    /// The fields that are searched before the messages.
    fields: Fields,
    /// The match in the session's messages.
    pub(super) said: Option<FirstMatch>,
    parent: Option<usize>,
    is_gone: bool,
    score: Score,
    is_asked: bool,
}

/// How well a row matches the search.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
enum Score {
    #[default]
    Unknown,
    /// The fields do not match, and the messages were not searched yet.
    Unsearched,
    Known(Option<f64>),
}

/// The maximum length of a kept name or first message.
pub(super) const KEPT: usize = 300;

impl SessionListRow {
    fn new(listed: Listed) -> Self {
        let Listed { info, real, origin, .. } = listed;
        let is_named = info.name.as_deref().is_some_and(|name| !name.trim().is_empty());
        let (id, cwd) = (one_line(&info.id, KEPT), one_line(&info.cwd, 4 * KEPT));
        let name = info.name.filter(|_| is_named).map(|name| one_line(&name, KEPT));
        let first = one_line(&info.first_message, KEPT);
        Self {
            real,
            fields: Fields::new(name.as_deref(), &cwd, &id, &first),
            said: None,
            id,
            cwd,
            name,
            first,
            modified: info.modified,
            messages: info.message_count,
            origin,
            parent: None,
            is_gone: false,
            score: Score::default(),
            is_asked: false,
            path: info.path,
        }
    }

    /// The title of the session: its name, or else its first message.
    pub(super) fn words(&self) -> &str {
        self.name.as_deref().filter(|name| !name.is_empty()).unwrap_or(&self.first)
    }

    pub(super) fn rename(&mut self, name: Option<String>) {
        self.name = name;
        self.fields = Fields::new(self.name.as_deref(), &self.cwd, &self.id, &self.first);
    }

    /// Searches the fields.
    fn search(&mut self, query: &Query) {
        let known = query.score(&self.fields, &TextHits::default());
        self.score = known.map_or(Score::Unsearched, |score| Score::Known(Some(score)));
        self.said = None;
    }

    fn fits(&self) -> Option<f64> {
        match self.score {
            Score::Unknown => Some(0.0),
            Score::Unsearched => None,
            Score::Known(score) => score,
        }
    }
}

/// The sessions of one scope.
#[derive(Debug, Default)]
pub(super) struct List {
    rows: Vec<SessionListRow>,
    /// Row numbers by canonical path.
    by_real: HashMap<PathBuf, usize>,
    /// Rows that wait for their parent, by the parent's canonical path.
    waiting: HashMap<PathBuf, Vec<usize>>,
    /// All present rows, last activity first.
    recent: Vec<usize>,
    shown: Vec<ListedRow>,
    pub(super) filling: Filling,
}

impl List {
    /// Adds sessions, and updates the sessions that are already listed.
    pub(super) fn add(&mut self, batch: Vec<Listed>, query: Option<&Query>) {
        for listed in batch {
            let parent = listed.parent.clone();
            let mut row = SessionListRow::new(listed);
            if let Some(query) = query {
                row.search(query);
            }
            let at = self.insert_row(row);
            if let Some(parent) = parent {
                self.link(at, parent);
            }
        }
        self.order();
    }

    fn insert_row(&mut self, row: SessionListRow) -> usize {
        let children = self.waiting.remove(&row.real).unwrap_or_default();
        let at = match self.by_real.get(&row.real) {
            Some(at) => {
                let at = *at;
                if let Some(known) = self.rows.get_mut(at) {
                    *known = row;
                }
                at
            }
            None => {
                let at = self.rows.len();
                self.by_real.insert(row.real.clone(), at);
                self.rows.push(row);
                at
            }
        };
        for child in children {
            if let Some(child) = self.rows.get_mut(child) {
                child.parent = Some(at);
            }
        }
        at
    }

    /// Puts sessions below their parents.
    pub(super) fn link_all(&mut self, parents: Vec<(PathBuf, PathBuf)>) {
        for (session, parent) in parents {
            if let Some(at) = self.by_real.get(&session) {
                self.link(*at, parent);
            }
        }
    }

    fn link(&mut self, at: usize, parent: PathBuf) {
        match self.by_real.get(&parent) {
            Some(parent) => {
                if let Some(row) = self.rows.get_mut(at) {
                    row.parent = Some(*parent);
                }
            }
            None => self.waiting.entry(parent).or_default().push(at),
        }
    }

    /// Sorts all rows by last activity.
    fn order(&mut self) {
        let rows = &self.rows;
        let known = self.recent.len();
        self.recent.retain(|at| rows.get(*at).is_some_and(|row| !row.is_gone));
        if known != rows.len() || self.recent.len() != known {
            let mut is_in = vec![false; rows.len()];
            for at in &self.recent {
                if let Some(is_in) = is_in.get_mut(*at) {
                    *is_in = true;
                }
            }
            let new = rows.iter().enumerate().filter(|(at, row)| !row.is_gone && is_in.get(*at) == Some(&false));
            self.recent.extend(new.map(|(at, _)| at));
        }
        let key = |at: &usize| rows.get(*at).map(|row| (row.modified, row.path.file_name()));
        // The rows are almost sorted, so this is a merge.
        self.recent.sort_by(|a, b| key(b).cmp(&key(a)));
    }

    /// Searches the fields of every row.
    pub(super) fn search(&mut self, query: Option<&Query>, kept: Kept) {
        for row in &mut self.rows {
            if kept == Kept::Misses && row.score == Score::Known(None) {
                continue;
            }
            row.is_asked = false;
            match query {
                Some(query) => row.search(query),
                None => (row.score, row.said) = (Score::Unknown, None),
            }
        }
    }

    /// Takes the matches in the sessions' messages.
    pub(super) fn judge(&mut self, query: &Query, judged: Vec<(PathBuf, TextHits)>) {
        for (path, hits) in judged {
            if let Some(row) = self.by_real.get(&path).and_then(|at| self.rows.get_mut(*at)) {
                row.score = Score::Known(query.score(&row.fields, &hits));
                row.said = hits.first;
            }
        }
    }

    /// The files to search that were not requested yet, last activity first. Marks them as requested.
    pub(super) fn unasked(&mut self) -> Vec<PathBuf> {
        let mut files = Vec::new();
        for at in &self.recent {
            if let Some(row) = self.rows.get_mut(*at)
                && row.score == Score::Unsearched
                && !std::mem::replace(&mut row.is_asked, true)
            {
                files.push(row.real.clone());
            }
        }
        files
    }

    /// The number of rows that are not fully searched.
    pub(super) fn count_unsearched(&self) -> usize {
        self.rows.iter().filter(|row| !row.is_gone && row.score == Score::Unsearched).count()
    }

    /// Computes the shown rows and their order.
    pub(super) fn arrange(&mut self, sort: Sort, names: Names, is_search: bool) {
        let rows = &self.rows;
        let is_shown = |row: &SessionListRow| (names == Names::All || row.name.is_some()) && row.fits().is_some();
        let order: Vec<usize> = self.recent.iter().copied().filter(|at| rows.get(*at).is_some_and(is_shown)).collect();
        self.shown = match (sort, is_search) {
            (Sort::Threaded, false) => {
                let member = |row: &SessionListRow| Member { modified: row.modified, parent: row.parent };
                lineage::grow(&rows.iter().map(member).collect::<Vec<_>>(), &order)
            }
            (Sort::Recent, _) | (Sort::Relevance, false) => order.into_iter().map(ListedRow::alone).collect(),
            (Sort::Threaded | Sort::Relevance, true) => {
                let score = |at: usize| rows.get(at).and_then(SessionListRow::fits).unwrap_or_default();
                let mut scored: Vec<(f64, usize)> = order.into_iter().map(|at| (score(at), at)).collect();
                scored.sort_by(|a, b| a.0.total_cmp(&b.0));
                scored.into_iter().map(|(_, at)| ListedRow::alone(at)).collect()
            }
        };
    }

    pub(super) fn shown(&self) -> &[ListedRow] {
        &self.shown
    }

    pub(super) fn len(&self) -> usize {
        self.recent.len()
    }

    pub(super) fn at(&self, place: usize) -> Option<&SessionListRow> {
        self.rows.get(self.shown.get(place)?.row)
    }

    /// The place of a session among the shown rows.
    pub(super) fn place_of(&self, real: &Path) -> Option<usize> {
        let row = *self.by_real.get(real)?;
        self.shown.iter().position(|shown| shown.row == row)
    }

    pub(super) fn row_mut(&mut self, real: &Path) -> Option<&mut SessionListRow> {
        self.rows.get_mut(*self.by_real.get(real)?)
    }

    /// The canonical path of a listed file.
    pub(super) fn real_of(&self, file: &Path) -> Option<&Path> {
        self.rows.iter().find(|row| row.path == file).map(|row| row.real.as_path())
    }

    /// Removes a session from the list, or adds it again.
    pub(super) fn set_gone(&mut self, real: &Path, is_gone: bool) {
        if let Some(row) = self.row_mut(real) {
            row.is_gone = is_gone;
            self.order();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(id: &str, modified: Millis, parent: Option<&str>) -> Listed {
        let info = SessionInfo {
            path: format!("/s/{id}.jsonl").into(),
            id: id.to_owned(),
            cwd: "/w".to_owned(),
            name: None,
            parent_session_path: None,
            created: None,
            modified: Some(modified),
            message_count: 1,
            tokens: 0,
            cost: 0.0,
            first_message: format!("first of {id}"),
            all_messages_text: None,
        };
        let parent = parent.map(|parent| format!("/s/{parent}.jsonl").into());
        Listed { real: info.path.clone(), info, parent, origin: SessionProgram::Offshoot }
    }

    fn ids(list: &List) -> Vec<(&str, usize)> {
        let row = |shown: &ListedRow| list.rows.get(shown.row).map(|row| (row.id.as_str(), shown.depth));
        list.shown.iter().filter_map(row).collect()
    }

    #[test]
    fn batches_in_any_order_come_to_the_same() {
        let all = || {
            vec![
                listed("a", 1, None),
                listed("b", 2, Some("a")),
                listed("c", 9, Some("b")),
                listed("d", 5, None),
                listed("e", 3, Some("gone")),
            ]
        };
        let mut whole = List::default();
        whole.add(all(), None);
        whole.arrange(Sort::Threaded, Names::All, false);
        assert_eq!(ids(&whole), [("a", 0), ("b", 1), ("c", 2), ("d", 0), ("e", 0)]);
        let mut pieces = List::default();
        for one in all().into_iter().rev() {
            pieces.add(vec![one], None);
            pieces.arrange(Sort::Threaded, Names::All, false);
        }
        assert_eq!(ids(&pieces), ids(&whole));
    }

    #[test]
    fn a_session_that_comes_twice_is_one() {
        let mut list = List::default();
        list.add(vec![listed("a", 1, None), listed("b", 2, None)], None);
        list.add(vec![listed("a", 3, Some("b"))], None);
        list.arrange(Sort::Recent, Names::All, false);
        assert_eq!(ids(&list), [("a", 0), ("b", 0)]);
        list.arrange(Sort::Threaded, Names::All, false);
        assert_eq!(ids(&list), [("b", 0), ("a", 1)]);
    }

    #[test]
    fn what_was_said_counts_as_soon_as_it_is_known() {
        let query = Query::parse("\"deep down\"");
        let mut list = List::default();
        list.add(vec![listed("a", 1, None), listed("b", 2, None)], None);
        list.search(Some(&query), Kept::Nothing);
        list.arrange(Sort::Threaded, Names::All, true);
        assert!(ids(&list).is_empty());
        assert_eq!(list.unasked(), [PathBuf::from("/s/b.jsonl"), PathBuf::from("/s/a.jsonl")]);
        assert!(list.unasked().is_empty());
        let hits = || TextHits { found: vec![true], first: None };
        list.judge(&query, vec![("/s/a.jsonl".into(), hits()), ("/s/nobody.jsonl".into(), hits())]);
        list.arrange(Sort::Threaded, Names::All, true);
        assert_eq!(ids(&list), [("a", 0)]);
        assert_eq!(list.count_unsearched(), 1);
    }

    #[test]
    fn what_did_not_fit_is_not_searched_again_for_more_words() {
        let mut list = List::default();
        list.add(vec![listed("a", 1, None), listed("b", 2, None)], None);
        let query = Query::parse("x");
        list.search(Some(&query), Kept::Nothing);
        let hits = |is_found| TextHits { found: vec![is_found], first: None };
        list.judge(&query, vec![("/s/a.jsonl".into(), hits(false)), ("/s/b.jsonl".into(), hits(true))]);
        list.search(Some(&Query::parse("xy")), Kept::from("x", "xy"));
        assert_eq!(list.unasked(), [PathBuf::from("/s/b.jsonl")]);
        list.search(Some(&Query::parse("y")), Kept::from("xy", "y"));
        assert_eq!(list.unasked().len(), 2);
        for (before, now) in [("", "x"), ("x", "y"), ("re", "re:"), ("re:a", "re:a|b")] {
            assert_eq!(Kept::from(before, now), Kept::Nothing, "{before} {now}");
        }
        for now in ["gpt5 x", "gpt \"x", "gpt\"x\" y"] {
            assert_eq!(Kept::from("gpt", now), Kept::Misses);
        }
    }

    #[test]
    fn what_is_gone_can_come_back() {
        let mut list = List::default();
        list.add(vec![listed("a", 1, None), listed("b", 2, Some("a"))], None);
        list.set_gone(Path::new("/s/a.jsonl"), true);
        list.arrange(Sort::Threaded, Names::All, false);
        assert_eq!(ids(&list), [("b", 0)]);
        list.set_gone(Path::new("/s/a.jsonl"), false);
        list.arrange(Sort::Threaded, Names::All, false);
        assert_eq!(ids(&list), [("a", 0), ("b", 1)]);
    }
}
