//! Lists the sessions of a folder, or of every folder.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::io::{self, Write};
use std::path::Path;

use offshoot_session::children::{ChildInfo, ChildList};
use offshoot_session::clock::Millis;
use offshoot_session::entry_name;
use offshoot_session::error::Diagnostic;
use offshoot_session::id::ShortIds;
use offshoot_session::list::SessionInfo;
use offshoot_session::session::Session;
use offshoot_session::store::{Scope, WorkFolder};
use offshoot_session::text::{dollars, in_short, one_line};
use offshoot_session::zone::Zone;

use crate::failure::{Failure, FailureKind, Hint, Result};
use crate::given::{FolderName, SessionName, Text};
use crate::operation::{About, Finished, Operation, OperationEffect, Output};
use crate::place::{ListedParents, Place, SessionProgram};
use crate::when;
use crate::words::{NextStep, Note, Role, TableColumn, Words, WordsTable};
use crate::{closed_words, input};

closed_words! {
    /// What sessions are sorted by.
    pub enum SortKey {
        /// The last activity.
        Activity = "activity",
        /// When it was begun.
        Created = "created",
        /// The number of messages.
        Messages = "messages",
        /// The tokens that were used.
        Tokens = "tokens",
        /// What it cost.
        Cost = "cost",
    }
}

closed_words! {
    /// Whose sessions are listed.
    pub enum ListedProgram {
        /// offshoot's.
        Offshoot = "offshoot",
        /// pi's.
        Pi = "pi",
        /// oh-my-pi's.
        Omp = "omp",
        /// Claude Code's.
        Claude = "claude",
        /// Codex'.
        Codex = "codex",
        /// opencode's.
        Opencode = "opencode",
        /// Gemini CLI's.
        Gemini = "gemini",
        /// Goose's.
        Goose = "goose",
        /// Crush's.
        Crush = "crush",
        /// Copilot CLI's.
        Copilot = "copilot",
        /// Cursor CLI's.
        Cursor = "cursor",
        /// Aider's.
        Aider = "aider",
        /// Those of every agent.
        All = "all",
    }
}

impl ListedProgram {
    pub(crate) fn takes(self, program: SessionProgram) -> bool {
        match self {
            Self::All => true,
            Self::Offshoot => program == SessionProgram::Offshoot,
            Self::Pi => program == SessionProgram::Pi,
            Self::Omp => program == SessionProgram::Omp,
            Self::Claude => program == SessionProgram::Claude,
            Self::Codex => program == SessionProgram::Codex,
            Self::Opencode => program == SessionProgram::Opencode,
            Self::Gemini => program == SessionProgram::Gemini,
            Self::Goose => program == SessionProgram::Goose,
            Self::Crush => program == SessionProgram::Crush,
            Self::Copilot => program == SessionProgram::Copilot,
            Self::Cursor => program == SessionProgram::Cursor,
            Self::Aider => program == SessionProgram::Aider,
        }
    }

    /// Whether the folders of other agents are looked at.
    fn is_foreign(self) -> bool {
        match self {
            Self::Offshoot | Self::Pi | Self::Omp => false,
            Self::Claude
            | Self::Codex
            | Self::Opencode
            | Self::Gemini
            | Self::Goose
            | Self::Crush
            | Self::Copilot
            | Self::Cursor
            | Self::Aider
            | Self::All => true,
        }
    }
}

input! {
    /// What `list` gets.
    pub struct ListInput {
        /// List the sessions of every folder
        all: bool = flag,
        /// List the sessions of this folder instead
        cwd: Option<FolderName> = option ("DIR" conflicts ["all"]),
        /// List the sessions of this program only, or of every agent
        agent: Option<ListedProgram> = option ("PROGRAM"),
        /// List sessions with activity since then: an age such as 2h, 3d, 1w, or a date
        since: Option<Text> = option ("TIME"),
        /// List the first N sessions only
        number: Option<usize> = option ("N" 'n'),
        /// Sort by this key, largest or latest first
        sort: Option<SortKey> = option ("KEY"),
        /// List the agents that each session has started below it
        children: bool = flag,
        /// With --json: add the text of all messages, for searching
        text: bool = flag (requires ["json"]),
    }
}

/// Lists sessions.
#[derive(Debug)]
pub struct List;

/// The sessions that are listed.
#[derive(Debug)]
pub struct ListedSessions {
    /// All that were looked at: their ids are told apart.
    looked_at: Vec<SessionInfo>,
    /// Which of them are listed.
    wanted: Vec<usize>,
    diagnostics: Vec<Diagnostic>,
    input: ListInput,
}

/// What came of `list`.
#[derive(Debug)]
pub struct ListOutput {
    listed: ListedSessions,
    /// Of each listed session, if they are listed.
    children: Vec<ChildList>,
    place: Place,
}

impl Operation for List {
    type Input = ListInput;
    type Plan = ListedSessions;
    type Written = ();
    type Output = ListOutput;

    const ABOUT: About = About {
        name: "list",
        aliases: &["ls"],
        title: "List the sessions of this folder, newest activity first",
        says: "Sessions of offshoot, pi and oh-my-pi are listed together; those of pi and\n\
               oh-my-pi are marked. --agent claude, codex and others list those of other\n\
               agents, which are only read, and --agent all lists everything. One that is only\n\
               there as a copy of `keep` is marked archived. The id is the shortest start that\n\
               is unique, with at least four characters. A session without a name shows its first message.\n\
               Tokens and cost are what providers reported, summed over all branches. With\n\
               --all the column of tokens needs a terminal of at least 100 columns.\n\n\
               --json prints an array of pi's `SessionInfo`, with tokens and cost:\n\n  \
               [{\"path\", \"id\", \"cwd\", \"name\"?, \"parentSessionPath\"?, \"created\",\n    \
               \"modified\", \"messageCount\", \"firstMessage\", \"allMessagesText\"?,\n    \
               \"tokens\", \"cost\"}]\n\n\
               Times are ISO 8601 in UTC, or null. `messageCount` counts the messages of\n\
               all branches and all roles. --text adds `allMessagesText`, --children adds\n\
               `children`: an array with id, path, agent, status, tokens and cost.",
        examples: "Examples:\n  offshoot list\n  offshoot list --all\n  \
                   offshoot list --all --since 1w --sort cost -n 5\n  \
                   offshoot list --all --json | jq -r '.[] | select(.messageCount > 100) | .path'",
        past: "listed",
        effect: OperationEffect::Reads,
    };

    fn session(_: &ListInput) -> Option<&SessionName> {
        None
    }

    fn plan(place: &Place, _: Option<&Session>, input: &ListInput) -> Result<ListedSessions> {
        let since = input.since.as_ref().map(|given| since(place, &given.0)).transpose()?;
        let is_foreign = input.agent.is_some_and(ListedProgram::is_foreign);
        let store = &if is_foreign { place.store_with_agents()? } else { place.store()?.clone() };
        let here = place.cwd().to_string_lossy();
        // Ids are unique among the sessions that are looked at, so another folder's are found among all.
        let is_here = !input.all && input.cwd.is_none();
        let scope = Scope { cwd: Some(&*here).filter(|_| is_here), with_text: input.text };
        let progress = place.progress("reading sessions");
        let told = &mut |done: usize, total: usize| progress(done as u64, total as u64);
        let (mut looked_at, diagnostics) = place.list(store, scope, told)?;
        ListedParents::name(store, &mut looked_at);
        drop(progress);
        let mut folder = input.cwd.as_ref().map(|folder| WorkFolder::new(&place.folder(&folder.0)));
        let mut is_wanted = |info: &SessionInfo| {
            folder.as_mut().is_none_or(|folder| !info.cwd.is_empty() && folder.is(&info.cwd))
                && input.agent.is_none_or(|agent| agent.takes(place.program_of(store, info)))
                && since.is_none_or(|since| info.modified.is_some_and(|time| time >= since))
        };
        let mut wanted: Vec<(usize, &SessionInfo)> =
            looked_at.iter().enumerate().filter(|(_, info)| is_wanted(info)).collect();
        sort(&mut wanted, input.sort.unwrap_or(SortKey::Activity));
        wanted.truncate(input.number.unwrap_or(usize::MAX));
        let wanted = wanted.into_iter().map(|(at, _)| at).collect();
        Ok(ListedSessions { looked_at, wanted, diagnostics, input: input.clone() })
    }

    fn output(listed: ListedSessions, finished: Finished<'_, ()>) -> Result<ListOutput> {
        let place = finished.place;
        let files: Vec<&Path> = match listed.input.children {
            true => listed.wanted().map(|info| info.path.as_path()).collect(),
            false => Vec::new(),
        };
        // A folder that cannot be read has none.
        let children = place.children(&files).into_iter().map(std::result::Result::unwrap_or_default).collect();
        Ok(ListOutput { listed, children, place: place.clone() })
    }
}

/// A time as a person gives it.
pub(crate) fn since(place: &Place, given: &str) -> Result<Millis> {
    let help = "an age is a number with s, m, h, d or w, such as 2h; a date is 2026-01-14 or 2026-01-14T10:00";
    entry_name::time(given, place.now(), &Zone::local()).ok_or_else(|| {
        Failure::refused(FailureKind::Usage, format!("{given:?} is not a time")).hint(Hint::Text(help.to_owned()))
    })
}

/// Sessions that are equal in the key stay in the order of their activity.
fn sort(sessions: &mut [(usize, &SessionInfo)], key: SortKey) {
    match key {
        SortKey::Activity => {}
        SortKey::Created => sessions.sort_by_key(|(_, info)| Reverse(info.created)),
        SortKey::Messages => sessions.sort_by_key(|(_, info)| Reverse(info.message_count)),
        SortKey::Tokens => sessions.sort_by_key(|(_, info)| Reverse(info.tokens)),
        SortKey::Cost => sessions.sort_by(|(_, a), (_, b)| b.cost.total_cmp(&a.cost)),
    }
}

/// Starts of ids that name their sessions: the end of an id is a name too.
pub(crate) fn short_ids(sessions: &[SessionInfo]) -> ShortIds<'_> {
    let all = || sessions.iter().map(|info| info.id.as_str());
    let mut ids = ShortIds::of(all());
    all().for_each(|id| ids.beside(id));
    let mut backwards: Vec<String> = all().map(|id| id.chars().rev().collect()).collect();
    backwards.sort_unstable();
    ids.avoid(|start| {
        let start: String = start.chars().rev().collect();
        let at = backwards.partition_point(|id| *id < start);
        backwards.get(at).is_some_and(|id| id.starts_with(&start))
    });
    ids
}

/// The same of a few ids among others.
pub(crate) fn short_ids_among<'a>(few: impl Iterator<Item = &'a str>, others: &[String]) -> ShortIds<'a> {
    let mut ids = ShortIds::of(few);
    let of_few: Vec<&str> = ids.whole_ids().collect();
    let all = || others.iter().map(String::as_str).chain(of_few.iter().copied());
    all().for_each(|id| ids.beside(id));
    // Nearly every start is seen to be the end of no id by its own end.
    let last_four = |word: &str| word.as_bytes().last_chunk::<4>().copied();
    let ends: HashSet<[u8; 4]> = all().filter_map(last_four).collect();
    let may_be_end = |start: &str| last_four(start).is_none_or(|end| ends.contains(&end));
    ids.avoid(|start| may_be_end(start) && all().any(|id| id.ends_with(start)));
    ids
}

impl ListedSessions {
    fn wanted(&self) -> impl Iterator<Item = &SessionInfo> {
        self.wanted.iter().filter_map(|at| self.looked_at.get(*at))
    }
}

impl ListOutput {
    /// The listed sessions with the agents that are listed of them.
    fn wanted(&self) -> impl Iterator<Item = (&SessionInfo, &[ChildInfo])> {
        let children = self.children.iter().map(|list| list.children.as_slice());
        self.listed.wanted().zip(children.chain(std::iter::repeat(&[][..])))
    }

    fn cells(&self, info: &SessionInfo, ids: &ShortIds<'_>) -> Vec<String> {
        let place = &self.place;
        let store = place.store_with_agents();
        let mark = match store.map_or(SessionProgram::Offshoot, |store| place.program_of(&store, info)) {
            SessionProgram::Offshoot => "",
            other if place.is_kept(&info.path) => &format!("{}, archived", other.word()),
            other => other.word(),
        };
        let folder = if self.listed.input.all { one_line(&place.short(&info.cwd), 200) } else { String::new() };
        vec![
            info.modified.map_or_else(|| "?".to_owned(), |time| when::ago(time, place.now())),
            one_line(ids.get(&info.id), 40),
            mark.to_owned(),
            info.message_count.to_string(),
            if info.tokens > 0 { in_short(info.tokens) } else { String::new() },
            if info.cost > 0.0 { dollars(info.cost) } else { String::new() },
            folder,
            one_line(info.name.as_deref().unwrap_or(&info.first_message), 200),
        ]
    }

    /// The rows of the agents of a session, below its own.
    fn rows_of_children(children: &[ChildInfo]) -> Vec<(Vec<String>, Role)> {
        let row = |child: &ChildInfo| {
            let indent = "  ".repeat(child.depth());
            let cells = vec![
                String::new(),
                String::new(),
                String::new(),
                child.messages.to_string(),
                if child.tokens > 0 { in_short(child.tokens) } else { String::new() },
                if child.cost > 0.0 { dollars(child.cost) } else { String::new() },
                String::new(),
                one_line(&format!("{indent}◆ {}", child.standing()), 200),
            ];
            (cells, Role::Dim)
        };
        children.iter().map(row).collect()
    }

    fn table(&self) -> WordsTable {
        let ids = short_ids(&self.listed.looked_at);
        let role = |info: &SessionInfo| if info.name.is_some() { Role::Bold } else { Role::Plain };
        let rows = |(info, children): (&SessionInfo, &[ChildInfo])| {
            let own = (self.cells(info, &ids), role(info));
            std::iter::once(own).chain(Self::rows_of_children(children)).collect::<Vec<_>>()
        };
        WordsTable {
            columns: vec![
                TableColumn::right("WHEN", Role::Dim),
                TableColumn::left("ID", Role::Id),
                TableColumn::left("OF", Role::Mark),
                TableColumn::right("MESSAGES", Role::Plain).leaves(2),
                TableColumn::right("TOKENS", Role::Plain).leaves(1),
                TableColumn::right("COST", Role::Plain).leaves(3),
                TableColumn::left("FOLDER", Role::Dim).cut_to(28),
                TableColumn::left("SESSION", Role::Plain),
            ],
            rows: self.wanted().flat_map(rows).collect(),
        }
    }

    fn say_nothing_is_there(&self, words: &mut Words) {
        let ListedSessions { input, .. } = &self.listed;
        let mut told = |text: String| words.notes.push(Note::Told(text));
        if let Some(given) = self.place.named_store().filter(|folder| !folder.is_dir()) {
            return told(format!("the folder {} does not exist", given.display()));
        }
        if input.agent.is_some() || input.since.is_some() || input.number.is_some() {
            return told("no session matches these options".to_owned());
        }
        if input.all {
            return told("there are no sessions yet".to_owned());
        }
        let folder = input.cwd.as_ref().map(|folder| self.place.folder(&folder.0));
        let folder = folder.unwrap_or_else(|| self.place.cwd().to_string_lossy().into_owned());
        told(format!("there are no sessions of {} yet", self.place.short(&folder)));
        words.next.push(NextStep::of_all("list", "shows those of every folder").with("--all"));
    }
}

impl Output for ListOutput {
    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(b"[")?;
        for (at, (info, children)) in self.wanted().enumerate() {
            let comma = if at > 0 { ",\n" } else { "" };
            let mut object = info.to_object().raw("tokens", info.tokens).raw("cost", info.cost);
            if self.listed.input.children {
                let children: Vec<String> = children.iter().map(ChildInfo::to_json).collect();
                object = object.raw("children", format_args!("[{}]", children.join(",")));
            }
            write!(out, "{comma}{}", object.finish())?;
        }
        out.write_all(b"]")
    }

    fn words(&self, words: &mut Words) {
        words.is_long = true;
        words.table(self.table());
        if self.listed.wanted.is_empty() {
            self.say_nothing_is_there(words);
        }
    }

    fn notes(&self) -> Vec<Note> {
        vec![Note::OddOf("FILE".to_owned(), self.listed.diagnostics.clone())]
    }
}
