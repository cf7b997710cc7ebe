//! Finds what was said in all sessions, and says where.

mod hits;
mod index_words;
mod page;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use offshoot_protocol::Secrets;
use offshoot_search::index::IndexState;
use offshoot_search::{Found, SearchIndex, SearchQuery, SearchedPlace, scan};
use offshoot_session::clock::{Clock as _, Millis, SystemClock};
use offshoot_session::entry_name;
use offshoot_session::session::{Options, Session, SpillPolicy};
use offshoot_session::text::{counted, one_line};
use offshoot_session::zone::Zone;

use crate::failure::{Failure, FailureKind, Hint, Result};
use crate::given::{SessionName, Text};
use crate::input;
use crate::operation::{About, Finished, Operation, OperationEffect, Output, ScreenSize};
use crate::place::Place;
use crate::words::{Note, Say, Words};
use crate::worktrees::in_all_worktrees;

pub use hits::SearchHits;
pub use page::{SEARCH_PAGE, SearchHitRow, SearchPage, SearchWish, go_on, search_page};

/// How long a command goes on at least with what the index lacks, after it has shown its answer, in milliseconds: else as long as
/// the answer took.
const AFTERWARDS: Millis = 1000;

input! {
    /// What `search` gets.
    pub struct SearchInput {
        /// Words that were said, and filters
        query: Vec<Text> = arg,
        /// Search only the sessions of this folder
        here: bool = flag,
        /// Show at most N hits
        number: Option<usize> = option ("N" 'n'),
        /// Pass over the first N hits
        skip: Option<usize> = option ("N"),
        /// Read every session instead of the index
        scan: bool = flag,
        /// Make the index anew first
        rebuild: bool = flag (conflicts ["scan"]),
        /// Say what the index has, and search nothing
        status: bool = flag (conflicts ["query", "scan", "rebuild"]),
    }
}

/// Searches sessions.
#[derive(Debug)]
pub struct Search;

/// What came of `search`.
#[derive(Debug)]
pub enum SearchAnswer {
    /// What was found.
    Hits(Box<SearchHits>),
    /// The index's file, and its state.
    Index(PathBuf, IndexState),
}

impl Operation for Search {
    type Input = SearchInput;
    type Plan = SearchAnswer;
    type Written = ();
    type Output = SearchAnswer;

    const ABOUT: About = About {
        name: "search",
        aliases: &[],
        title: "Find what was said in any session, and where",
        says: "Searches everything that was said, called, printed, thought and summarised in\n\
               the sessions of offshoot, pi, oh-my-pi and other agents, on all branches. All\n\
               words must be in one message; case and accents do not matter, and the parts of identifiers\n\
               are words: `http header` finds `parseHTTPHeader`. If no message has the words,\n\
               they are looked for inside of other words.\n\n  \
               \"a phrase\"   these words in this order     a OR b   one of the two\n  \
               begin*       words that begin so           -word    messages without it\n  \
               ~part        any part of a word            /re/     a regular expression\n\n\
               Filters: agent:pi role:user|assistant|tool|thinking|summary|title tool:bash\n\
               file:src/list.rs cwd:DIR on:leaf since:7d until:2026-09-01 model:opus\n\
               session:ID is:error has:image sort:rank|new|old limit:N.\n\n\
               Quote the query for the shell: 'pool -hotel'. Each hit begins with\n\
               SESSION:ENTRY, which `show`, `tree`, `context` and `fork` take as the session.\n\
               `⑂` marks what is not on the current branch, `≡` what a compaction replaced.\n\
               Copies of an entry in forks are one hit. Rare words, titles, questions and\n\
               what is new come first. Keys that offshoot knows are never found.\n\n\
               An index of the words is kept in the cache folder, brought up to date at each\n\
               search, and may be deleted at any time. --status says what it has, --rebuild\n\
               makes it anew, --scan does without it.\n\n\
               Exit code 3 says that nothing was found. --json prints\n\n  \
               {\"hits\": [{\"session\", \"agent\", \"path\", \"entry\", \"offset\", \"kind\", \"tool\"?,\n    \
               \"time\", \"onPath\", \"compacted\", \"inside\", \"error\", \"title\"?, \"cwd\"?,\n    \
               \"snippet\", \"ranges\": [[START, END]], \"alsoIn\"?}], \"count\", \"more\",\n   \
               \"sessions\", \"leftOut\"}\n\n\
               `entry` is null for a session's name. `ranges` counts characters. `count` is\n\
               the number of all hits, or of some if `more` is true; `sessions` is that of\n\
               the sessions that were searched, `leftOut` that of the entries of more than\n\
               64 MiB, which are not. With --status:\n\n  \
               {\"file\", \"state\", \"why\"?, \"sessions\", \"texts\", \"bytes\"}",
        examples: "Examples:\n  offshoot search build fails\n  \
                   offshoot search '\"linker finds\" role:assistant since:30d'\n  \
                   offshoot search 'libssl -tests' --here\n  \
                   offshoot show \"$(offshoot search libssl -n 1 --json | jq -r '.hits[0] | .session + \":\" + .entry')\"",
        past: "searched",
        effect: OperationEffect::Reads,
    };

    fn session(_: &SearchInput) -> Option<&SessionName> {
        None
    }

    fn check(_: &Place, input: &SearchInput) -> Result<()> {
        if input.query.is_empty() && !input.status && !input.rebuild {
            return Err(Failure::refused(FailureKind::Usage, "nothing is searched for").hint(help()));
        }
        Ok(())
    }

    fn plan(place: &Place, _: Option<&Session>, input: &SearchInput) -> Result<SearchAnswer> {
        find(place, input)
    }

    fn output(answer: SearchAnswer, _: Finished<'_, ()>) -> Result<SearchAnswer> {
        Ok(answer)
    }
}

/// Finds what was asked for. The index is brought up to date, but not with all that later searches need.
fn find(place: &Place, input: &SearchInput) -> Result<SearchAnswer> {
    let begin = SystemClock.now();
    let typed: Vec<&str> = input.query.iter().map(|Text(text)| text.as_str()).collect();
    let typed = typed.join(" ");
    let query = if typed.is_empty() { None } else { Some(query_of(place, &typed, input)?) };
    let index = place.search_index().filter(|_| !input.scan);
    let (skip, keys) = (input.skip.unwrap_or_default(), place.known_keys());
    // The real clock: it is compared with file times.
    let now = SystemClock.now();
    let is_over = || place.is_stopped();
    let found = on_sessions(place, &keys, &is_over, |searched| {
        if let Some(index) = index.filter(|_| input.rebuild) {
            index.remove();
            // Whoever waits for the whole index has each session read once.
            index.clone().with_blocks_later_above(u64::MAX).refresh(searched, now)?;
        }
        let Some(query) = &query else { return Ok(None) };
        let found = match index {
            Some(index) => index.search(searched, query, skip, now)?,
            None => scan(searched, query, skip)?,
        };
        Ok(Some(found))
    })?;
    if place.is_stopped() {
        return Err(Failure::Stopped);
    }
    let Some(found) = found else { return index_answer(index, input.rebuild) };
    let nothing = found.hits.is_empty().then(|| nothing_found(&found, &typed, skip));
    let sessions = place.infos(&found.hits.iter().map(|hit| hit.path.clone()).collect())?;
    let took = SystemClock.now().saturating_sub(begin);
    let place = place.clone();
    Ok(SearchAnswer::Hits(Box::new(SearchHits { found, sessions, skip, typed, nothing, place, keys, took })))
}

fn on_sessions<T>(
    place: &Place,
    keys: &Secrets,
    is_over: &(dyn Fn() -> bool + Sync),
    work: impl FnOnce(SearchedPlace<'_>) -> Result<T>,
) -> Result<T> {
    let progress = place.progress("searching sessions");
    let store = place.store_with_agents()?.with_children();
    work(SearchedPlace {
        store: &store,
        mask: &|text| keys.masked(text),
        open: &|file| {
            store.open_file(file, Options { progress: None, ..place.options_for(file, SpillPolicy::default()) })
        },
        progress: &|done, total| progress(done as u64, total as u64),
        is_over,
    })
}

/// Adds to the index what later searches need.
fn go_on_indexing(place: &Place, is_over: &(dyn Fn() -> bool + Sync)) -> Result<()> {
    on_sessions(place, &place.known_keys(), is_over, |searched| {
        if let Some(index) = place.search_index() {
            index.refresh(searched, SystemClock.now())?;
            let _is_whole = index.make_blocks(searched);
        }
        Ok(())
    })
}

/// What the index has.
fn index_answer(index: Option<&SearchIndex>, was_just_made: bool) -> Result<SearchAnswer> {
    let index =
        index.ok_or_else(|| Failure::refused(FailureKind::NotFound, "there is no cache folder for an index"))?;
    let state = if was_just_made { index.state_when_made() } else { index.state() };
    Ok(SearchAnswer::Index(index.file().to_path_buf(), state))
}

fn query_of(place: &Place, typed: &str, input: &SearchInput) -> Result<SearchQuery> {
    let zone = Zone::local();
    let when = |given: &str| entry_name::time(given, place.now(), &zone);
    let mut query = SearchQuery::parse(typed, &when)
        .map_err(|bad| Failure::refused(FailureKind::Usage, bad.to_string()).hint(help()))?;
    let filters = &mut query.filters;
    let folder = match (filters.folders.first(), input.here) {
        (Some(folder), _) => Some(place.folder(folder)),
        (None, true) => Some(place.cwd().to_string_lossy().into_owned()),
        (None, false) => None,
    };
    let all = folder.map(|folder| in_all_worktrees(Path::new(&folder))).unwrap_or_default();
    filters.folders = all.into_iter().map(|folder| folder.to_string_lossy().into_owned()).collect();
    filters.limit = input.number.or(filters.limit);
    Ok(query)
}

fn help() -> Hint {
    Hint::Text("`offshoot help search` lists what a query may have".to_owned())
}

fn nothing_found(found: &Found, typed: &str, skip: usize) -> Failure {
    let sessions = counted(found.sessions, "session", "sessions");
    let typed = one_line(typed, 80);
    if found.count > 0 {
        let count = counted(found.count, "hit", "hits");
        return Failure::refused(FailureKind::NotFound, format!("there are only {count} for {typed}, not over {skip}"));
    }
    let unread = match found.diagnostics.len() {
        0 => String::new(),
        count => format!("; {} could not be read", counted(count, "session", "sessions")),
    };
    Failure::refused(FailureKind::NotFound, format!("nothing was found for {typed} in {sessions}{unread}"))
}

impl Output for SearchAnswer {
    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        match self {
            Self::Hits(found) => found.write_json(out),
            Self::Index(file, state) => out.write_all(index_words::json(file, state).as_bytes()),
        }
    }

    fn words(&self, words: &mut Words) {
        match self {
            Self::Hits(found) => found.add_words(words),
            Self::Index(file, state) => words.line(index_words::line(file, state)),
        }
    }

    fn stream(&self, size: ScreenSize, say: &mut Say<'_>) -> Result<()> {
        match self {
            Self::Hits(found) => found.say_hits(size, say),
            Self::Index(..) => Ok(()),
        }
    }

    /// Goes on with the index.
    fn afterwards(&self) {
        let Self::Hits(hits) = self else { return };
        if hits.found.is_index_behind {
            let end = SystemClock.now() + hits.took.max(AFTERWARDS);
            // Only later searches need it; they say what is wrong.
            drop(go_on_indexing(&hits.place, &|| SystemClock.now() > end));
        }
    }

    fn notes(&self) -> Vec<Note> {
        match self {
            Self::Hits(found) => vec![Note::OddOf("FILE".to_owned(), found.found.diagnostics.clone())],
            Self::Index(..) => Vec::new(),
        }
    }

    fn failure(&self) -> Option<&Failure> {
        match self {
            Self::Hits(found) => found.nothing.as_ref(),
            Self::Index(..) => None,
        }
    }
}
