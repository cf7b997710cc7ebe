//! The folders of other agents: what is in them, and what expires when.

use std::io::{self, Write};
use std::path::PathBuf;

use offshoot_foreign::Agent;
use offshoot_session::clock::{Millis, to_iso};
use offshoot_session::json::Object;
use offshoot_session::medium::Stamp;
use offshoot_session::session::Session;
use offshoot_session::text::counted;

use crate::failure::{Failure, FailureKind, Result};
use crate::given::{SessionName, Text};
use crate::input;
use crate::operation::{About, CommandGroup, Finished, FrontEnd, Operation, OperationEffect, Output};
use crate::place::Place;
use crate::when;
use crate::words::{Note, Words};

const DAY: Millis = 24 * 60 * 60 * 1000;

input! {
    /// What `sources` gets.
    pub struct SourcesInput {
        /// Only what expires within this time, such as 7d; the exit code is 1 if something does
        expiring: Option<Text> = option ("TIME"),
    }
}

/// Lists the folders of other agents.
#[derive(Debug)]
pub struct Sources;

/// A folder of an agent.
#[derive(Debug)]
pub struct SourceRow {
    agent: Agent,
    root: PathBuf,
    sessions: usize,
    is_kept: bool,
    /// When the agent deletes its oldest session; `None` if it never does.
    next: Option<Millis>,
    /// The sessions that expire within the time that was asked for, soonest first.
    expiring: Vec<(Millis, PathBuf)>,
}

/// What came of `sources`.
#[derive(Debug)]
pub struct SourcesOutput {
    rows: Vec<SourceRow>,
    now: Millis,
    failure: Option<Failure>,
}

impl Operation for Sources {
    type Input = SourcesInput;
    type Plan = SourcesOutput;
    type Written = ();
    type Output = SourcesOutput;

    const ABOUT: About = About {
        name: "sources",
        aliases: &[],
        title: "List the folders of other agents, and what they delete when",
        says: "Claude Code deletes a session when it was not changed for `cleanupPeriodDays`,\n\
               Gemini CLI for `general.sessionRetention.maxAge` of their settings, 30 days\n\
               otherwise. The other agents delete nothing by themselves. `offshoot keep on`\n\
               copies what would be lost.\n\n\
               --expiring lists the sessions that are deleted within a time; then the exit code\n\
               is 1 if there are any.\n\n\
               --json prints [{\"agent\", \"root\", \"sessions\", \"isKept\", \"expiresNext\",\n\
               \"expiring\": [{\"path\", \"at\"}]}].",
        examples: "Examples:\n  offshoot sources\n  offshoot sources --expiring 7d",
        past: "listed",
        effect: OperationEffect::Reads,
    };
    const GROUP: CommandGroup = CommandGroup::Maintain;
    const NOT_ON: &'static [FrontEnd] = &[FrontEnd::Rpc, FrontEnd::Slash];

    fn session(_: &SourcesInput) -> Option<&SessionName> {
        None
    }

    fn plan(place: &Place, _: Option<&Session>, input: &SourcesInput) -> Result<SourcesOutput> {
        let within = input.expiring.as_ref().map(|given| days(&given.0)).transpose()?;
        let now = place.now();
        let kept = place.archive().ok().and_then(|archive| archive.agents()).unwrap_or_default();
        let row = |agent: Agent| row_of(place, agent, kept.contains(&agent), within);
        let rows: Vec<SourceRow> = place.agents().into_iter().filter_map(row).collect();
        let count: usize = rows.iter().filter(|row| !row.is_kept).map(|row| row.expiring.len()).sum();
        let why = || format!("{} will be deleted, and no copy is kept", counted(count, "session", "sessions"));
        let failure = (count > 0).then(|| Failure::refused(FailureKind::Failed, why()));
        Ok(SourcesOutput { rows, now, failure })
    }

    fn output(plan: SourcesOutput, _: Finished<'_, ()>) -> Result<SourcesOutput> {
        Ok(plan)
    }
}

/// The folder of an agent, with what expires within a time.
fn row_of(place: &Place, agent: Agent, is_kept: bool, within: Option<Millis>) -> Option<SourceRow> {
    let root = place.root_of(agent)?;
    let keeps_for = agent.keeps_for(&root);
    let sessions = place.agents_sessions(Some(agent));
    let ends = |path: &PathBuf| {
        let modified = Stamp::of(&std::fs::symlink_metadata(path).ok()?).modified_at()?;
        Some((modified.saturating_add(keeps_for?), path.clone()))
    };
    let mut all: Vec<(Millis, PathBuf)> = sessions.iter().filter_map(|(_, path)| ends(path)).collect();
    all.sort();
    let next = all.first().map(|(at, _)| *at);
    let now = place.now();
    all.retain(|(at, _)| within.is_some_and(|within| *at <= now.saturating_add(within)));
    Some(SourceRow { agent, root, sessions: sessions.len(), is_kept, next, expiring: all })
}

/// The agents that delete sessions within so many days, in words, and how many; `None` if none does.
#[must_use]
pub fn expiring(place: &Place, days: Millis) -> Option<(String, usize)> {
    let deletes = |agent: &Agent| place.root_of(*agent).is_some_and(|root| agent.keeps_for(&root).is_some());
    let agents = place.agents().into_iter().filter(deletes);
    let rows = agents.filter_map(|agent| row_of(place, agent, false, Some(days.saturating_mul(DAY))));
    let rows: Vec<SourceRow> = rows.filter(|row| !row.expiring.is_empty()).collect();
    let titles: Vec<&str> = rows.iter().map(|row| row.agent.title()).collect();
    (!rows.is_empty()).then(|| (titles.join(" and "), rows.iter().map(|row| row.expiring.len()).sum()))
}

/// A time such as `7d` or `12h`.
fn days(given: &str) -> Result<Millis> {
    let wrong = || {
        let why = format!("{given:?} is not a time: a number with h, d or w is one, such as 7d");
        Failure::refused(FailureKind::Usage, why)
    };
    let unit = given.chars().next_back().ok_or_else(wrong)?;
    let number: Millis = given.strip_suffix(unit).and_then(|number| number.parse().ok()).ok_or_else(wrong)?;
    let length = match unit {
        'h' => DAY / 24,
        'd' => DAY,
        'w' => 7 * DAY,
        _ => return Err(wrong()),
    };
    Ok(number.saturating_mul(length).max(0))
}

impl Output for SourcesOutput {
    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        let row = |row: &SourceRow| {
            let expiring = row
                .expiring
                .iter()
                .map(|(at, path)| Object::new().str("path", &path.to_string_lossy()).str("at", &to_iso(*at)).finish());
            Object::new()
                .str("agent", row.agent.word())
                .str("root", &row.root.to_string_lossy())
                .raw("sessions", row.sessions)
                .raw("isKept", row.is_kept)
                .str_or_null("expiresNext", row.next.map(to_iso).as_deref())
                .raw("expiring", format!("[{}]", expiring.collect::<Vec<_>>().join(",")))
                .finish()
        };
        let rows: Vec<String> = self.rows.iter().map(row).collect();
        out.write_all(format!("[{}]", rows.join(",")).as_bytes())
    }

    fn failure(&self) -> Option<&Failure> {
        self.failure.as_ref()
    }

    fn words(&self, words: &mut Words) {
        for row in &self.rows {
            let kept = if row.is_kept { ", copied" } else { "" };
            let next = match row.next {
                Some(at) if at <= self.now => ", the oldest may be deleted at any time".to_owned(),
                Some(at) => format!(", the oldest is deleted on {}", when::day(at)),
                None => String::new(),
            };
            let sessions = counted(row.sessions, "session", "sessions");
            words.line(format!("{}  {}  {sessions}{next}{kept}", row.agent.title(), row.root.display()));
            for (at, path) in &row.expiring {
                words.line(format!("  {}  {}", when::day(*at), path.display()));
            }
        }
        if self.rows.is_empty() {
            words.notes.push(Note::Told("there is no folder of another agent here".to_owned()));
        }
    }
}
