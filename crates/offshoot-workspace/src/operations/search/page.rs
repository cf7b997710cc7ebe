//! A page of hits for a list on a screen: short texts without control characters. The same operation as the command's.

use std::ops::Range;
use std::path::PathBuf;

use offshoot_search::{SearchHit, agent_word};
use offshoot_session::clock::Millis;
use offshoot_session::id::{EntryId, ShortIds};
use offshoot_session::list::SessionInfo;
use offshoot_session::text::one_line;

use super::hits::{SearchHits, name};
use super::{Search, SearchAnswer, SearchInput, find, go_on_indexing};
use crate::failure::Result;
use crate::given::Text;
use crate::operation::Operation as _;
use crate::place::Place;

/// How many hits a page has.
pub const SEARCH_PAGE: usize = 30;

/// The characters that are kept of a title, a folder, a name.
const TITLE: usize = 200;
const FOLDER: usize = 300;
const NAME: usize = 40;

/// A hit in a list.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchHitRow {
    /// The session's file.
    pub file: PathBuf,
    /// The entry; `None` for the name of a session.
    pub entry: Option<EntryId>,
    /// `SESSION:ENTRY`, as commands take it.
    pub name: String,
    /// What the session is called: its name, else its first words.
    pub title: String,
    /// The folder of the session, with `~` for the home directory.
    pub folder: String,
    /// Whose session it is.
    pub agent: &'static str,
    /// Who said it: a kind of text, or a tool.
    pub speaker: String,
    /// When it was said.
    pub at: Option<Millis>,
    /// Whether it is on the way to the session's leaf.
    pub is_on_path: bool,
    /// Whether a compaction replaced it there.
    pub is_compacted: bool,
    /// Whether a word was found inside of another one only.
    pub is_inside: bool,
    /// Whether it failed.
    pub is_error: bool,
    /// How many other sessions have a copy of it.
    pub copies: usize,
    /// The words around it, in one line.
    pub snippet: String,
    /// Where in them what was found is, in bytes.
    pub ranges: Vec<Range<usize>>,
}

/// A page of hits, the best first; those of a session are together.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SearchPage {
    /// The hits.
    pub rows: Vec<SearchHitRow>,
    /// How many there are in all, or at least.
    pub count: usize,
    /// Whether there may be more than `count`.
    pub is_least: bool,
    /// How many sessions were searched.
    pub sessions: usize,
    /// How many files could not be read.
    pub unread: usize,
    /// How many entries were too long to be searched.
    pub left_out: usize,
    /// Whether the index lacks something that [`go_on`] makes.
    pub is_index_behind: bool,
}

/// What is searched for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchWish {
    /// Words and filters, as a person types them.
    pub typed: String,
    /// How many hits are passed over.
    pub skip: usize,
    /// Whether only the sessions of this folder are searched.
    pub is_here: bool,
}

/// Searches all sessions as `search` does.
///
/// # Errors
/// The query is none, the store cannot be read, or the search was stopped.
pub fn search_page(place: &Place, wish: &SearchWish) -> Result<SearchPage> {
    let input = SearchInput {
        query: vec![Text(wish.typed.clone())],
        here: wish.is_here,
        number: Some(SEARCH_PAGE),
        skip: Some(wish.skip),
        scan: false,
        rebuild: false,
        status: false,
    };
    Search::check(place, &input)?;
    Ok(match find(place, &input)? {
        SearchAnswer::Hits(hits) => hits.page(),
        SearchAnswer::Index(..) => SearchPage::default(),
    })
}

/// Adds to the index what later searches need, after an answer that lacks it, until somebody stops it.
///
/// # Errors
/// There is no store.
pub fn go_on(place: &Place) -> Result<()> {
    go_on_indexing(place, &|| place.is_stopped())
}

impl SearchHits {
    fn page(&self) -> SearchPage {
        let (ids, infos) = (self.short_ids(), self.infos());
        let row = |hit: &SearchHit| self.row(hit, infos.get(hit.path.as_path()).copied(), &ids);
        SearchPage {
            rows: self.by_session().into_iter().flatten().map(row).collect(),
            count: self.found.count,
            is_least: self.found.is_least,
            sessions: self.found.sessions,
            unread: self.found.diagnostics.len(),
            left_out: self.found.left_out,
            is_index_behind: self.found.is_index_behind,
        }
    }

    fn row(&self, hit: &SearchHit, info: Option<&SessionInfo>, ids: &ShortIds<'_>) -> SearchHitRow {
        let folder = hit.folder.as_deref().unwrap_or_default();
        SearchHitRow {
            file: hit.path.clone(),
            entry: hit.entry.clone(),
            name: name(hit, ids),
            title: one_line(&self.title(hit, info).unwrap_or_default(), TITLE),
            folder: one_line(&self.place.short(folder), FOLDER),
            agent: agent_word(hit.flavour),
            speaker: hit.tool.as_deref().map_or_else(|| hit.kind.word().to_owned(), |tool| one_line(tool, NAME)),
            at: hit.at,
            is_on_path: hit.is_on_path,
            is_compacted: hit.is_compacted,
            is_inside: hit.is_inside,
            is_error: hit.is_error,
            copies: hit.also_in.len(),
            snippet: hit.snippet.text.clone(),
            ranges: hit.snippet.ranges.clone(),
        }
    }
}
