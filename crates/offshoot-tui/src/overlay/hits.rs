//! Hits of a search in all sessions, as a list that grows by pages while the user walks down: which query is asked, what came
//! of it, and the row under the cursor. It reads no file: [`HitList::requests`] says what it needs, and [`HitList::take`] takes
//! the answers. An answer to a query that is not the last one is dropped.

mod view;

use std::borrow::Cow;
use std::path::PathBuf;

use offshoot_session::id::EntryId;
use offshoot_session::text::{counted, grouped};
use offshoot_session::tree::NodeIx;
use offshoot_workspace::search::{SearchHitRow, SearchPage, SearchWish};

use crate::overlay::tree::Snapshot;
use crate::text::clean;

/// A request of the list. The answer may come later.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HitRequest {
    /// Search: [`HitAnswer::Progress`], then [`HitAnswer::Found`]. A later search replaces this one.
    Search(u64, SearchWish),
    /// Stop the search.
    Stop,
    /// Open a session to read: [`HitAnswer::Read`].
    Read(u64, HitPlace),
}

/// Where a hit is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HitPlace {
    pub file: PathBuf,
    /// `None` for a session's name.
    pub entry: Option<EntryId>,
    /// The texts that were found there, the longest first.
    pub found: Vec<String>,
    /// What the reader says of the place.
    pub title: String,
    /// The agent of the open session whose session it is, by its id.
    pub child: Option<String>,
}

/// The answer to a [`HitRequest`], with its number.
#[derive(Debug, Clone)]
pub enum HitAnswer {
    /// How many sessions were read, and of how many.
    Progress(u64, u64, u64),
    Found(u64, Result<SearchPage, String>),
    Read(u64, Result<ReadHit, String>),
}

/// A session that was opened to read.
#[derive(Clone)]
pub struct ReadHit {
    pub place: HitPlace,
    /// The file without links.
    pub real: PathBuf,
    pub source: Snapshot,
    /// The end of the branch that is shown.
    pub leaf: Option<NodeIx>,
    /// The entry that was found, if it is still there.
    pub entry: Option<NodeIx>,
}

impl std::fmt::Debug for ReadHit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ReadHit").field("place", &self.place).finish_non_exhaustive()
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
enum SearchState {
    /// Nothing is searched for.
    #[default]
    Idle,
    /// How many sessions were read, and of how many, if any must be read.
    Searching(Option<(u64, u64)>),
    Done,
    Failed(String),
}

/// The hits of the last query.
#[derive(Debug, Default)]
pub struct HitList {
    rows: Vec<SearchHitRow>,
    known: SearchPage,
    wish: Option<SearchWish>,
    /// The number of the last request.
    number: u64,
    state: SearchState,
    cursor: usize,
    trouble: Option<String>,
    requests: Vec<HitRequest>,
}

impl HitList {
    /// The requests since the last call.
    pub fn requests(&mut self) -> Vec<HitRequest> {
        std::mem::take(&mut self.requests)
    }

    /// Searches for what was typed. The rows of the query before stay until the answer comes.
    pub fn search(&mut self, typed: &str, is_here: bool) {
        let typed = typed.trim();
        self.requests.retain(|request| !matches!(request, HitRequest::Search(..)));
        self.number += 1;
        self.trouble = None;
        if typed.is_empty() {
            (self.rows, self.known, self.wish, self.cursor) = (Vec::new(), SearchPage::default(), None, 0);
            self.state = SearchState::Idle;
            self.requests.push(HitRequest::Stop);
            return;
        }
        self.ask(SearchWish { typed: typed.to_owned(), skip: 0, is_here });
    }

    fn ask(&mut self, wish: SearchWish) {
        self.state = SearchState::Searching(None);
        self.wish = Some(wish.clone());
        self.requests.push(HitRequest::Search(self.number, wish));
    }

    /// Asks for the next page when the cursor comes near the last row.
    fn ask_for_more(&mut self) {
        let has_more = self.known.count > self.rows.len() || self.known.is_least;
        let is_near = self.cursor + 1 >= self.rows.len();
        if let (SearchState::Done, Some(wish), true, true) = (&self.state, &self.wish, has_more, is_near) {
            self.number += 1;
            self.ask(SearchWish { skip: self.rows.len(), ..wish.clone() });
        }
    }

    /// Takes an answer.
    pub fn take(&mut self, answer: HitAnswer) {
        match answer {
            HitAnswer::Progress(number, done, of) if number == self.number => {
                if let SearchState::Searching(progress) = &mut self.state {
                    *progress = Some((done, of));
                }
            }
            HitAnswer::Found(number, found) if number == self.number => self.found(found),
            HitAnswer::Read(_, Err(why)) => self.trouble = Some(why),
            HitAnswer::Progress(..) | HitAnswer::Found(..) | HitAnswer::Read(..) => {}
        }
    }

    fn found(&mut self, found: Result<SearchPage, String>) {
        let is_more = self.wish.as_ref().is_some_and(|wish| wish.skip > 0);
        match found {
            Ok(mut page) => {
                self.state = SearchState::Done;
                let rows: Vec<_> = std::mem::take(&mut page.rows).into_iter().map(harmless).collect();
                if is_more {
                    // Nothing more: what was counted as more has gone.
                    if rows.is_empty() {
                        (page.count, page.is_least) = (self.rows.len(), false);
                    }
                    self.rows.extend(rows);
                } else {
                    (self.rows, self.cursor) = (rows, 0);
                }
                self.known = page;
            }
            Err(why) => {
                if !is_more {
                    (self.rows, self.known, self.cursor) = (Vec::new(), SearchPage::default(), 0);
                }
                self.state = SearchState::Failed(why);
            }
        }
    }

    /// Whether this answer brings the rows that are awaited.
    pub(crate) fn awaits(&self, answer: &HitAnswer) -> bool {
        matches!(answer, HitAnswer::Found(number, _) if *number == self.number)
    }

    /// Asks for the session under the cursor.
    pub fn read(&mut self) {
        let Some(row) = self.rows.get(self.cursor) else { return };
        let place = place_of(row);
        self.trouble = None;
        self.requests.push(HitRequest::Read(self.number, place));
    }

    /// The file of the session under the cursor.
    pub fn file(&self) -> Option<PathBuf> {
        self.rows.get(self.cursor).map(|row| row.file.clone())
    }

    /// Moves the cursor to a row, or to the last one.
    pub fn go(&mut self, row: usize) {
        self.cursor = row.min(self.rows.len().saturating_sub(1));
        self.ask_for_more();
    }

    pub fn cursor(&self) -> usize {
        self.cursor
    }

    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are no hits.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Where the list stands, in words.
    pub fn status(&self) -> String {
        if let Some(trouble) = &self.trouble {
            return trouble.clone();
        }
        let sessions = || counted(self.known.sessions, "session", "sessions");
        match &self.state {
            SearchState::Idle => String::new(),
            SearchState::Failed(why) => why.clone(),
            SearchState::Searching(Some((done, of))) if done < of => {
                format!("reading sessions: {} of {}", grouped(*done as usize), grouped(*of as usize))
            }
            SearchState::Searching(_) => "searching…".to_owned(),
            SearchState::Done if self.rows.is_empty() => {
                format!("nothing was found in {}{}", sessions(), self.unread())
            }
            SearchState::Done => {
                let more = if self.known.is_least { "more than " } else { "" };
                let count = grouped(self.known.count.max(self.rows.len()));
                format!("{} of {more}{count} in {}{}", self.cursor + 1, sessions(), self.unread())
            }
        }
    }

    /// What could not be searched.
    fn unread(&self) -> String {
        let mut words = String::new();
        if self.known.unread > 0 {
            let files = counted(self.known.unread, "file", "files");
            words.push_str(&format!(" · {files} cannot be read"));
        }
        if self.known.left_out > 0 {
            words.push_str(&format!(" · {} too long", counted(self.known.left_out, "entry", "entries")));
        }
        words
    }
}

/// A row without what would steer a terminal, whoever made it.
fn harmless(mut row: SearchHitRow) -> SearchHitRow {
    if let Cow::Owned(clean) = clean(&row.snippet) {
        (row.snippet, row.ranges) = (clean, Vec::new());
    }
    row
}

fn place_of(row: &SearchHitRow) -> HitPlace {
    let text = |range: std::ops::Range<usize>| row.snippet.get(range).map(str::to_owned);
    let whole = row.ranges.first().zip(row.ranges.last()).and_then(|(first, last)| text(first.start..last.end));
    let found = whole.into_iter().chain(row.ranges.iter().cloned().filter_map(text)).collect();
    let title = if row.title.is_empty() { row.name.clone() } else { row.title.clone() };
    HitPlace { file: row.file.clone(), entry: row.entry.clone(), found, title, child: None }
}
