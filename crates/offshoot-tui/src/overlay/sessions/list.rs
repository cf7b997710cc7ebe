//! The sessions of one scope as they come in, and which of them are shown in which order. Knows no key and no screen.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use offshoot_session::clock::Millis;
use offshoot_session::list::SessionInfo;
use offshoot_session::text::one_line;

use super::lineage::{self, ListedRow, Member};
use super::search::{Fields, Query, TextHits};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Origin {
    /// offshoot's own.
    #[default]
    Own,
    Pi,
    Omp,
}

/// A session for the selector: what a list knows of it, and what only the file system knows.
#[derive(Debug, Clone)]
pub struct Listed {
    /// What a list shows. Texts in it are not kept.
    pub info: SessionInfo,
    /// Its file without links: two paths are the same session if these are the same.
    pub real: PathBuf,
    /// The file of the session that it came of, without links.
    pub parent: Option<PathBuf>,
    pub origin: Origin,
}

/// In which order sessions are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sort {
    /// By what came of what; with a search, by how well it fits.
    #[default]
    Threaded,
    /// Last activity first.
    Recent,
    /// With a search, by how well it fits; else last activity first.
    Relevance,
}

/// Which sessions are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Names {
    /// All.
    #[default]
    All,
    Named,
}

/// How far a list is read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) enum Filling {
    /// Nobody asked for it.
    #[default]
    Unasked,
    /// So many are done, of so many if that is known.
    Reading(usize, Option<usize>),
    /// But for so many files that cannot be read.
    Done(usize),
    Failed(String),
}

/// What of a search still holds for the next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kept {
    Nothing,
    /// What did not fit does not fit now.
    Misses,
}

impl Kept {
    /// Words and phrases that are typed on, or to which others are added, fit no more than before. Patterns may.
    pub(super) fn from(before: &str, now: &str) -> Self {
        let is_longer = !before.trim().is_empty() && now.starts_with(before);
        if is_longer && !now.trim_start().starts_with("re:") { Self::Misses } else { Self::Nothing }
    }
}

/// A session as it is shown: few words of it, already harmless.
#[derive(Debug, Clone)]
pub(super) struct SessionListRow {
    pub(super) path: PathBuf,
    pub(super) real: PathBuf,
    pub(super) id: String,
    pub(super) cwd: String,
    /// `Some` if it was named, even if nothing of the name can be shown.
    pub(super) name: Option<String>,
    pub(super) first: String,
    pub(super) modified: Option<Millis>,
    pub(super) messages: u64,
    pub(super) origin: Origin,
    /// What of it is searched before its text is.
    fields: Fields,
    /// The words around what the search found in what was said.
    pub(super) snippet: Option<String>,
    parent: Option<usize>,
    is_gone: bool,
    score: Score,
    is_asked: bool,
}

/// How well a row fits the search.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
enum Score {
    #[default]
    Unknown,
    /// What is known of it does not fit; what was said in it was not searched yet.
    Unsearched,
    Known(Option<f64>),
}

/// So much of a name or first message is kept.
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
            snippet: None,
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

    /// What stands for the session: its name, else what was said first.
    pub(super) fn words(&self) -> &str {
        self.name.as_deref().filter(|name| !name.is_empty()).unwrap_or(&self.first)
    }

    pub(super) fn rename(&mut self, name: Option<String>) {
        self.name = name;
        self.fields = Fields::new(self.name.as_deref(), &self.cwd, &self.id, &self.first);
    }

    /// Searches what is known of it.
    fn search(&mut self, query: &Query) {
        let known = query.score(&self.fields, &TextHits::default());
        self.score = known.map_or(Score::Unsearched, |score| Score::Known(Some(score)));
        self.snippet = None;
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
    /// Row numbers by file without links.
    by_real: HashMap<PathBuf, usize>,
    /// Rows whose parent has not come yet, by its file.
    waiting: HashMap<PathBuf, Vec<usize>>,
    /// All rows that are there, last activity first.
    recent: Vec<usize>,
    shown: Vec<ListedRow>,
    pub(super) filling: Filling,
}

impl List {
    /// Takes sessions in; one that is known already is brought up to date.
    pub(super) fn add(&mut self, batch: Vec<Listed>, query: Option<&Query>) {
        for listed in batch {
            let parent = listed.parent.clone();
            let mut row = SessionListRow::new(listed);
            if let Some(query) = query {
                row.search(query);
            }
            let at = self.place(row);
            if let Some(parent) = parent {
                self.link(at, parent);
            }
        }
        self.order();
    }

    fn place(&mut self, row: SessionListRow) -> usize {
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

    /// Puts all rows into the order of lists.
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
        // Nearly in order already: then this is a merge.
        self.recent.sort_by(|a, b| key(b).cmp(&key(a)));
    }

    /// Searches what is known of every row.
    pub(super) fn search(&mut self, query: Option<&Query>, kept: Kept) {
        for row in &mut self.rows {
            if kept == Kept::Misses && row.score == Score::Known(None) {
                continue;
            }
            row.is_asked = false;
            match query {
                Some(query) => row.search(query),
                None => (row.score, row.snippet) = (Score::Unknown, None),
            }
        }
    }

    /// Takes what was found in what was said.
    pub(super) fn judge(&mut self, query: &Query, judged: Vec<(PathBuf, TextHits)>) {
        for (path, hits) in judged {
            if let Some(row) = self.by_real.get(&path).and_then(|at| self.rows.get_mut(*at)) {
                row.score = Score::Known(query.score(&row.fields, &hits));
                row.snippet = hits.snippet;
            }
        }
    }

    /// The files whose texts nobody was asked to search yet, last activity first. Now somebody is.
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

    /// How many rows nobody has searched whole.
    pub(super) fn count_unsearched(&self) -> usize {
        self.rows.iter().filter(|row| !row.is_gone && row.score == Score::Unsearched).count()
    }

    /// Works out what is shown.
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

    /// Where a session is shown.
    pub(super) fn place_of(&self, real: &Path) -> Option<usize> {
        let row = *self.by_real.get(real)?;
        self.shown.iter().position(|shown| shown.row == row)
    }

    pub(super) fn row_mut(&mut self, real: &Path) -> Option<&mut SessionListRow> {
        self.rows.get_mut(*self.by_real.get(real)?)
    }

    /// A listed file without links.
    pub(super) fn real_of(&self, file: &Path) -> Option<&Path> {
        self.rows.iter().find(|row| row.path == file).map(|row| row.real.as_path())
    }

    /// Takes a session out, or back in.
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
        Listed { real: info.path.clone(), info, parent, origin: Origin::Own }
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
        let hits = || TextHits { found: vec![true], snippet: None };
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
        let hits = |is_found| TextHits { found: vec![is_found], snippet: None };
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
