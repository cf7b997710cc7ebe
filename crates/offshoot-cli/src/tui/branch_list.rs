//! The branches of the session, for the user to choose from: their last words, age, cost and entries in columns.

use std::cmp::Reverse;

use offshoot_agent::agent_session::AgentSession;
use offshoot_session::clock::{Millis, ago};
use offshoot_session::entry::Source as _;
use offshoot_session::error::Error;
use offshoot_session::id::EntryId;
use offshoot_session::session::Session;
use offshoot_session::stats::{self, Branch};
use offshoot_session::text::{counted, one_line};
use offshoot_session::transcript::Level;
use offshoot_tui::app::msg::Msg;
use offshoot_tui::markdown::plain;
use offshoot_tui::overlay::pick::{Choice, DETAILS};

use super::job_context::JobContext;

/// The longest words of a branch.
const LONGEST: usize = 200;
/// The longest label.
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
    let row = |(branch, detail): (&Branch, String)| {
        let id = session.tree().node(branch.leaf).id().map(EntryId::as_str)?;
        let label = branch.label.as_ref().map(|label| format!("[{}] ", one_line(label, LABEL))).unwrap_or_default();
        let label = label + &plain(&branch.last_words, LONGEST);
        Some((id.to_owned(), Choice { label, detail, is_current: branch.is_open }))
    };
    Ok(branches.iter().zip(details).filter_map(row).collect())
}

/// The age, the cost and the number of entries of each branch's own part, in columns.
fn details(branches: &[Branch], now: Millis) -> Vec<String> {
    let has_cost = branches.iter().any(|branch| branch.own.cost > 0.0);
    let cells: Vec<Vec<String>> = branches
        .iter()
        .map(|branch| {
            let age = branch.time.map(|time| ago(time, now)).unwrap_or_default();
            let cost = has_cost.then(|| format!("${:.2}", branch.own.cost));
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
}
