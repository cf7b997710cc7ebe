//! The hits of a search, in words and as JSON.

use std::collections::HashMap;
use std::io::{self, Write};
use std::path::Path;

use offshoot_protocol::Secrets;
use offshoot_search::{Found, SearchHit, agent_word};
use offshoot_session::clock::{Millis, to_iso};
use offshoot_session::id::{EntryId, ShortIds};
use offshoot_session::json::{Object, quote};
use offshoot_session::list::SessionInfo;
use offshoot_session::text::{counted, cut, grouped, one_line, width};

use crate::failure::{Failure, Result};
use crate::operation::ScreenSize;
use crate::operations::list::short_ids_among;
use crate::place::Place;
use crate::when;
use crate::words::{Line, NextStep, Note, Role, Say, Words};

/// What was found.
#[derive(Debug)]
pub struct SearchHits {
    pub(super) found: Found,
    /// The sessions of the hits: titles are shown.
    pub(super) sessions: Vec<SessionInfo>,
    pub(super) skip: usize,
    pub(super) typed: String,
    pub(super) nothing: Option<Failure>,
    pub(super) place: Place,
    pub(super) keys: Secrets,
    /// How long it took.
    pub(super) took: Millis,
}

/// The width of who said it, and of when.
const SPEAKER: usize = 9;
const AGE: usize = 10;
/// The characters that are kept of an id.
const NAME: usize = 40;
/// The width that words have at least beside them.
const LEAST: usize = 30;

impl SearchHits {
    /// Sessions in the order of their best hits.
    pub(super) fn by_session(&self) -> Vec<Vec<&SearchHit>> {
        let mut groups: Vec<Vec<&SearchHit>> = Vec::new();
        let mut places: HashMap<&Path, usize> = HashMap::new();
        for hit in &self.found.hits {
            let place = *places.entry(&hit.path).or_insert(groups.len());
            match groups.get_mut(place) {
                Some(group) => group.push(hit),
                None => groups.push(vec![hit]),
            }
        }
        groups
    }

    pub(super) fn infos(&self) -> HashMap<&Path, &SessionInfo> {
        self.sessions.iter().map(|info| (info.path.as_path(), info)).collect()
    }

    pub(super) fn short_ids(&self) -> ShortIds<'_> {
        short_ids_among(self.found.hits.iter().map(|hit| hit.session.as_str()), &self.found.session_ids)
    }

    /// What a session is called: its name, else its first words; without keys.
    pub(super) fn title(&self, hit: &SearchHit, info: Option<&SessionInfo>) -> Option<String> {
        let title = info.map(|info| info.name.as_deref().unwrap_or(&info.first_message)).or(hit.title.as_deref())?;
        Some(self.keys.masked(title).unwrap_or_else(|| title.to_owned()))
    }

    /// The line above the hits of a session.
    fn heading(&self, hit: &SearchHit, info: Option<&SessionInfo>, size: ScreenSize) -> Line {
        let folder = one_line(&self.place.short(hit.folder.as_deref().unwrap_or_default()), 60);
        let modified = info.and_then(|info| info.modified).map(|time| when::ago(time, self.place.now()));
        let agent = Some(agent_word(hit.flavour)).filter(|word| *word != "offshoot");
        let others = [Some(folder).filter(|folder| !folder.is_empty()), modified, agent.map(str::to_owned)];
        let others: String = others.into_iter().flatten().map(|other| format!(" · {other}")).collect();
        let room = size.width.map_or(100, |all| all.saturating_sub(width(&others)).clamp(20, 100));
        let title = self.title(hit, info).unwrap_or_else(|| "?".to_owned());
        Line::of(Role::Bold, cut(&one_line(&title, 100), room)).and(Role::Dim, others)
    }

    /// A hit in a line, on a narrow screen in two.
    fn rows(&self, hit: &SearchHit, ids: &ShortIds<'_>, size: ScreenSize) -> Vec<Line> {
        let name = name(hit, ids);
        let age = hit.at.map_or_else(|| "?".to_owned(), |time| when::ago(time, self.place.now()));
        let marks = match (hit.is_on_path, hit.is_compacted) {
            (false, _) => "⑂ ",
            (true, true) => "≡ ",
            (true, false) => "",
        };
        let speaker = match &hit.tool {
            Some(tool) => one_line(tool, SPEAKER),
            None => hit.kind.word().to_owned(),
        };
        let role = if hit.is_error { Role::Error } else { Role::Tool };
        let named = Line::from("  ").and(Role::Id, name.clone()).and(Role::Plain, "  ");
        let before = width(&name) + SPEAKER.max(width(&speaker)) + AGE.max(width(&age)) + 8;
        let is_narrow = size.width.is_some_and(|all| all < before + LEAST);
        let room = |used: usize| size.width.map_or(usize::MAX, |all| all.saturating_sub(used + width(marks)));
        if is_narrow {
            let facts = named.and(role, speaker).and(Role::Dim, format!("  {age}"));
            let words = Line::from("    ").and(Role::Mark, marks);
            return vec![facts, with_snippet(words, hit, room(4))];
        }
        let facts = named.and(role, format!("{speaker:<SPEAKER$}")).and(Role::Dim, format!("  {age:>AGE$}  "));
        vec![with_snippet(facts.and(Role::Mark, marks), hit, room(before))]
    }

    fn hit_json(&self, hit: &SearchHit, info: Option<&SessionInfo>) -> String {
        let ranges = hit.snippet.ranges.iter().map(|range| {
            let characters = |end: usize| hit.snippet.text.get(..end).map_or(0, |text| text.chars().count());
            format!("[{},{}]", characters(range.start), characters(range.end))
        });
        let ranges: Vec<String> = ranges.collect();
        let title = self.title(hit, info);
        let object = Object::new()
            .str("session", &hit.session)
            .str("agent", agent_word(hit.flavour))
            .str("path", &hit.path.to_string_lossy())
            .str_or_null("entry", hit.entry.as_ref().map(EntryId::as_str))
            .raw("offset", hit.offset)
            .str("kind", hit.kind.word())
            .opt_str("tool", hit.tool.as_deref())
            .str_or_null("time", hit.at.map(to_iso).as_deref())
            .raw("onPath", hit.is_on_path)
            .raw("compacted", hit.is_compacted)
            .raw("inside", hit.is_inside)
            .raw("error", hit.is_error)
            .opt_str("title", title.as_deref())
            .opt_str("cwd", hit.folder.as_deref())
            .str("snippet", &hit.snippet.text)
            .raw("ranges", format!("[{}]", ranges.join(",")));
        if hit.also_in.is_empty() {
            return object.finish();
        }
        let also: Vec<String> = hit.also_in.iter().map(|id| quote(id)).collect();
        object.raw("alsoIn", format!("[{}]", also.join(","))).finish()
    }

    fn shown_to(&self) -> usize {
        self.skip + self.found.hits.len()
    }
}

/// A hit as commands take it.
pub(super) fn name(hit: &SearchHit, ids: &ShortIds<'_>) -> String {
    let session = one_line(ids.get(&hit.session), NAME);
    match &hit.entry {
        Some(entry) => format!("{session}:{}", one_line(entry.as_str(), NAME)),
        None => session,
    }
}

/// Adds the words of a hit, cut to a screen, with what was found in another role.
fn with_snippet(mut line: Line, hit: &SearchHit, room: usize) -> Line {
    let shown = cut(&hit.snippet.text, room);
    let shown = shown.as_ref();
    let mut at = 0;
    for range in hit.snippet.ranges.iter().filter(|range| range.end <= shown.len()) {
        line = line.and(Role::Plain, shown.get(at..range.start).unwrap_or_default());
        line = line.and(Role::Bold, shown.get(range.clone()).unwrap_or_default());
        at = range.end;
    }
    line.and(Role::Plain, shown.get(at..).unwrap_or_default())
}

impl SearchHits {
    pub(super) fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        let infos = self.infos();
        out.write_all(b"{\"hits\":[")?;
        for (at, hit) in self.found.hits.iter().enumerate() {
            let comma = if at > 0 { ",\n" } else { "" };
            write!(out, "{comma}{}", self.hit_json(hit, infos.get(hit.path.as_path()).copied()))?;
        }
        let Found { count, is_least, sessions, left_out, .. } = &self.found;
        write!(out, "],\"count\":{count},\"more\":{is_least},\"sessions\":{sessions},\"leftOut\":{left_out}}}")
    }

    pub(super) fn add_words(&self, words: &mut Words) {
        words.is_long = true;
        words.is_streamed = true;
        if self.found.left_out > 0 {
            let entries = counted(self.found.left_out, "entry", "entries");
            words.notes.push(Note::Told(format!("{entries} of more than 64 MiB were not searched")));
        }
        if self.found.count > self.shown_to() && !self.found.hits.is_empty() {
            let (from, to, count) = (grouped(self.skip + 1), grouped(self.shown_to()), grouped(self.found.count));
            let more = if self.found.is_least { "more than " } else { "" };
            words.notes.push(Note::Told(format!("hits {from} to {to} of {more}{count}")));
            let next = NextStep::of_all("search", "shows the next").with(&self.typed);
            words.next.push(next.with("--skip").with(self.shown_to().to_string()));
        }
    }

    pub(super) fn say_hits(&self, size: ScreenSize, say: &mut Say<'_>) -> Result<()> {
        let (ids, infos) = (self.short_ids(), self.infos());
        for (number, group) in self.by_session().into_iter().enumerate() {
            let Some(first) = group.first() else { continue };
            let said = |error: io::Error| Failure::io("write the hits", &error);
            if number > 0 {
                say(&Line::default().into()).map_err(said)?;
            }
            say(&self.heading(first, infos.get(first.path.as_path()).copied(), size).into()).map_err(said)?;
            for hit in group {
                self.rows(hit, &ids, size).into_iter().try_for_each(|row| say(&row.into())).map_err(said)?;
            }
        }
        Ok(())
    }
}
