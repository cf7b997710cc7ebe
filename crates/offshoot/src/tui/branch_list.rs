//! The branches of the session, for the user to choose from: their last words, age, cost and entries in columns. Branches
//! with the same last words also show how they begin.

use std::cmp::Reverse;
use std::collections::HashMap;

use offshoot_agent::agent_session::AgentSession;
use offshoot_session::clock::{Millis, ago};
use offshoot_session::entry::Source as _;
use offshoot_session::error::Error;
use offshoot_session::id::EntryId;
use offshoot_session::kind::Role;
use offshoot_session::session::Session;
use offshoot_session::stats::{self, Branch};
use offshoot_session::text::{counted, dollars, one_line};
use offshoot_session::transcript::Level;
use offshoot_tui::app::msg::Msg;
use offshoot_tui::markdown::plain;
use offshoot_tui::overlay::pick::{Choice, DETAILS};

use super::job_context::JobContext;

/// The longest words of a branch.
const LONGEST: usize = 200;
/// How many entries are looked at for words above a branch.
const NEAR: usize = 64;
/// The longest label, and the longest words that a branch begins with.
const LABEL: usize = 40;

/// Sends the branches, the newest first.
pub(super) async fn send(context: &JobContext, agent: &AgentSession) {
    let now = context.app.now();
    match agent.read(move |session| read(session, now)).await {
        Ok(Ok(branches)) => context.tell(Msg::Branches(branches)),
        Ok(Err(error)) => context.notice(Level::Error, format!("the branches cannot be listed: {error}")),
        Err(error) => context.notice(Level::Error, error.to_string()),
    }
}

/// The id of each branch's last entry, and its row.
fn read(session: &Session, now: Millis) -> Result<Vec<(String, Choice)>, Error> {
    let mut branches = stats::branches(session, session.leaf())?;
    branches.sort_by_key(|branch| Reverse(branch.time));
    let details = details(&branches, now);
    let mut names: Vec<String> = branches.iter().map(|branch| plain(&branch.last_words, LONGEST)).collect();
    tell_apart(&branches, &mut names, |branch| first_request(session, branch))?;
    tell_apart(&branches, &mut names, |branch| words_before(session, branch))?;
    let row = |((branch, name), detail): ((&Branch, String), String)| {
        let id = session.tree().node(branch.leaf).id().map(EntryId::as_str)?;
        let label = branch.label.as_ref().map(|label| format!("[{}] ", one_line(label, LABEL))).unwrap_or_default();
        Some((id.to_owned(), Choice { label: label + &name, detail, is_current: branch.is_open }))
    };
    Ok(branches.iter().zip(names).zip(details).filter_map(row).collect())
}

/// Puts other words before the names that begin alike, where these words differ.
fn tell_apart(
    branches: &[Branch],
    names: &mut [String],
    words: impl Fn(&Branch) -> Result<Option<String>, Error>,
) -> Result<(), Error> {
    let mut alike: HashMap<String, Vec<usize>> = HashMap::new();
    for (at, name) in names.iter().enumerate() {
        alike.entry(name.chars().take(LABEL).collect()).or_default().push(at);
    }
    for group in alike.into_values().filter(|group| group.len() > 1) {
        let before = |at: &usize| match branches.get(*at) {
            Some(branch) => Ok((*at, plain(&words(branch)?.unwrap_or_default(), LABEL))),
            None => Ok((*at, String::new())),
        };
        let before: Vec<(usize, String)> = group.iter().map(before).collect::<Result<_, Error>>()?;
        if before.iter().all(|(_, words)| before.first().is_some_and(|(_, first)| first == words)) {
            continue;
        }
        for (at, words) in before.into_iter().filter(|(_, words)| !words.is_empty()) {
            if let Some(name) = names.get_mut(at).filter(|name| **name != words) {
                *name = format!("{words} … {name}");
            }
        }
    }
    Ok(())
}

/// The first words of the user on the branch's own part, or the last ones above it.
fn first_request(session: &Session, branch: &Branch) -> Result<Option<String>, Error> {
    let tree = session.tree();
    let own = tree.ancestors(branch.leaf).take_while(|ix| Some(*ix) != branch.forks_from);
    match own.filter(|ix| tree.node(*ix).role() == Some(Role::User)).last() {
        Some(first) => Ok(stats::words(&session.entry(first)?)),
        None => branch.forks_from.map_or(Ok(None), |fork| stats::last_request(session, fork)),
    }
}

/// The last words before the branch leaves the others.
fn words_before(session: &Session, branch: &Branch) -> Result<Option<String>, Error> {
    let above = branch.forks_from.into_iter().flat_map(|fork| session.tree().ancestors(fork));
    for ix in above.take(NEAR) {
        if let Some(words) = stats::words(&session.entry(ix)?) {
            return Ok(Some(words));
        }
    }
    Ok(None)
}

/// The age, the cost and the number of entries of each branch's own part, in columns.
fn details(branches: &[Branch], now: Millis) -> Vec<String> {
    let has_cost = branches.iter().any(|branch| branch.own.cost > 0.0);
    let cells: Vec<Vec<String>> = branches
        .iter()
        .map(|branch| {
            let age = branch.time.map(|time| ago(time, now)).unwrap_or_default();
            let cost = has_cost.then(|| dollars(branch.own.cost));
            let entries = counted(branch.own.entries, "entry", "entries");
            [Some(age), cost, Some(entries)].into_iter().flatten().collect()
        })
        .collect();
    let width = |column: usize| cells.iter().filter_map(|row| row.get(column)).map(String::len).max().unwrap_or(0);
    let widths: Vec<usize> = (0..cells.first().map_or(0, Vec::len)).map(width).collect();
    let row = |row: &Vec<String>| {
        let cells: Vec<String> = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:>width$}")).collect();
        cells.join(DETAILS)
    };
    cells.iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use offshoot_session::session::Options;

    use super::*;

    fn message(id: &str, parent: &str, minute: u32, text: &str, cost: f64) -> String {
        let (role, usage) = match cost > 0.0 {
            true => ("assistant", format!(r#","usage":{{"cost":{{"total":{cost}}}}}"#)),
            false => ("user", String::new()),
        };
        format!(
            r#"{{"type":"message","id":"{id}","parentId":{parent},"timestamp":"2026-01-01T00:{minute:02}:00.000Z","message":{{"role":"{role}","content":[{{"type":"text","text":"{text}"}}]{usage}}}}}"#
        )
    }

    fn listed(lines: &[String]) -> Vec<String> {
        let header = r#"{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}"#;
        let text = format!("{header}\n{}\n", lines.join("\n"));
        let session = Session::from_text(&text, Options::default()).unwrap();
        // 00:20 of that day.
        let rows = read(&session, 1_767_226_800_000).unwrap();
        let row = |(id, choice): (String, Choice)| format!("{id} {} | {}", choice.label, choice.detail);
        rows.into_iter().map(row).collect()
    }

    /// Regression: each row had an id that nobody could use, and prices that stood in no column.
    #[test]
    fn figures_stand_in_columns_and_no_id_is_shown() {
        let long = vec![
            message("aaaaaaa1", "null", 0, "why?", 0.0),
            message("aaaaaaa2", "\"aaaaaaa1\"", 1, "Because.", 12.5),
            message("aaaaaaa3", "\"aaaaaaa1\"", 2, "**Or** not.", 0.25),
            message("aaaaaaa4", "\"aaaaaaa3\"", 12, "really?", 0.0),
        ];
        assert_eq!(
            listed(&long),
            [
                "aaaaaaa4 really? |  8 min ago ·  $0.25 · 2 entries",
                "aaaaaaa2 Because. | 19 min ago · $12.50 ·   1 entry"
            ]
        );
        assert_eq!(listed(&long[..1]), ["aaaaaaa1 why? | 20 min ago · 1 entry"]);
    }

    /// Regression: branches that end with the same words had the same row.
    #[test]
    fn branches_with_the_same_last_words_show_how_they_begin() {
        let lines = vec![
            message("aaaaaaa1", "null", 0, "why?", 0.0),
            message("aaaaaaa2", "\"aaaaaaa1\"", 1, "Because.", 1.0),
            message("aaaaaaa3", "\"aaaaaaa2\"", 2, "fix the build", 0.0),
            message("aaaaaaa4", "\"aaaaaaa3\"", 3, "Done.", 1.0),
            message("aaaaaaa5", "\"aaaaaaa2\"", 4, "write **tests**", 0.0),
            message("aaaaaaa6", "\"aaaaaaa5\"", 5, "Done.", 1.0),
            // The same request at another place.
            message("aaaaaaa7", "\"aaaaaaa1\"", 6, "write **tests**", 0.0),
            message("aaaaaaa8", "\"aaaaaaa7\"", 7, "Done.", 1.0),
        ];
        let names: Vec<_> = listed(&lines).iter().map(|row| row[9..].split(" | ").next().unwrap().to_owned()).collect();
        assert_eq!(names, ["why? … write tests … Done.", "Because. … write tests … Done.", "fix the build … Done."]);
    }
}
