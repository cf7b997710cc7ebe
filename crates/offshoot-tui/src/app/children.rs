//! The agents that the open session has started: where they stand, and what those that run are saying. It is fed with events and with
//! what the program has read of their files. Reads nothing, and draws nothing.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;

use offshoot_protocol::{ChildState, Event};
use offshoot_session::children::ChildList;
use offshoot_session::clock::Millis;
use offshoot_session::text::{counted, dollars};

use crate::conversation::Conversation;
use crate::overlay::pick::DETAILS;
use crate::overlay::tree::AgentRow;
use crate::text::clean;

/// The characters of what an agent said last, in a row.
const LAST_SAID: usize = 60;

/// What an agent says while it runs.
#[derive(Debug, Default)]
pub struct AgentTalk {
    /// The entry below which everything is that it says.
    pub leaf: Option<String>,
    pub conversation: Conversation,
    /// The messages that wait until it reads them.
    pub queued: Vec<String>,
}

/// The agents of the open session.
#[derive(Debug, Default)]
pub struct ChildAgents {
    /// As their files were when they were read last.
    stored: ChildList,
    /// Those of this run of the program.
    states: BTreeMap<String, ChildState>,
    talks: HashMap<String, AgentTalk>,
}

impl ChildAgents {
    /// Takes where an agent stands. `is_read` says whether somebody reads what it says.
    pub fn tell(&mut self, state: &ChildState, is_read: bool) {
        if state.status.is_end() && !is_read {
            self.talks.remove(&state.id);
        }
        self.states.insert(state.id.clone(), state.clone());
    }

    /// Takes an event of an agent itself.
    pub fn hear(&mut self, id: &str, event: &Event, now: Millis) {
        if let Event::SessionChanged { leaf_id, .. } = event {
            let talk = AgentTalk { leaf: leaf_id.clone(), ..AgentTalk::default() };
            self.talks.insert(id.to_owned(), talk);
            return;
        }
        let Some(talk) = self.talks.get_mut(id) else { return };
        if let Event::QueueUpdate { steering, follow_up } = event {
            talk.queued = steering.iter().chain(follow_up).cloned().collect();
        }
        talk.conversation.set_now(now);
        talk.conversation.apply(event);
        // Its file has what is dropped.
        talk.conversation.forget(talk.conversation.next_number());
    }

    /// Takes what the files say.
    pub fn set_stored(&mut self, stored: ChildList) {
        self.stored = stored;
    }

    /// Nobody reads what this agent says any more.
    pub fn leave(&mut self, id: &str) {
        if !self.is_running(id) {
            self.talks.remove(id);
        }
    }

    /// What an agent of this run says.
    #[must_use]
    pub fn talk(&self, id: &str) -> Option<&AgentTalk> {
        self.talks.get(id)
    }

    /// Whether it is at work, or waits for its turn.
    #[must_use]
    pub fn is_running(&self, id: &str) -> bool {
        self.states.get(id).is_some_and(|state| !state.status.is_end())
    }

    /// The ids of those that run and that no other agent has started.
    pub fn running(&self) -> impl Iterator<Item = &str> {
        let running = self.states.iter().filter(|(id, state)| !state.status.is_end() && !id.contains('.'));
        running.map(|(id, _)| id.as_str())
    }

    /// All of them, each before those that it has started.
    #[must_use]
    pub fn rows(&self) -> Vec<AgentRow> {
        let stored: BTreeMap<&str, _> = self.stored.children.iter().map(|child| (child.id.as_str(), child)).collect();
        let ids: BTreeSet<&str> = self.states.keys().map(String::as_str).chain(stored.keys().copied()).collect();
        let mut ids: Vec<&str> = ids.into_iter().collect();
        // `Alpha.Beta` comes after `Alpha`, before `Alpha-2`.
        ids.sort_by(|one, other| one.split('.').cmp(other.split('.')));
        ids.into_iter()
            .filter_map(|id| {
                let (state, stored) = (self.states.get(id), stored.get(id));
                let file = state.and_then(|state| state.file.clone()).map(PathBuf::from);
                let standing = match (state, stored) {
                    (Some(state), _) => standing_of(state),
                    (None, Some(child)) => {
                        let status = child.status.as_deref().unwrap_or("open").to_owned();
                        let messages = counted(child.messages, "message", "messages");
                        join([Some(status), Some(messages), money(child.cost)])
                    }
                    (None, None) => return None,
                };
                let agent = state.map_or_else(|| stored.map_or("", |child| child.agent.as_str()), |state| &state.agent);
                Some(AgentRow {
                    id: id.to_owned(),
                    file: file.or_else(|| stored.map(|child| child.file.clone())),
                    parent_entry: stored.and_then(|child| child.parent_entry.clone()),
                    name: name_of(id, agent),
                    standing,
                    is_running: self.is_running(id),
                })
            })
            .collect()
    }

    /// The row of one agent.
    #[must_use]
    pub fn row(&self, id: &str) -> Option<AgentRow> {
        self.rows().into_iter().find(|row| row.id == id)
    }

    /// What all of them have cost, and how many there are. Each entry counts once: those of this run by what they say, which has their
    /// own agents in it, the others by their files.
    #[must_use]
    pub fn cost(&self) -> (f64, usize) {
        let is_first = |id: &&String| !id.contains('.');
        let live: f64 = self.states.iter().filter(|(id, _)| is_first(id)).map(|(_, state)| state.cost).sum();
        let others = self.stored.children.iter().filter(|child| {
            let first = child.id.split('.').next().unwrap_or_default();
            !self.states.contains_key(first)
        });
        let ids: BTreeSet<&str> = self.states.keys().map(String::as_str).collect();
        let more = self.stored.children.iter().filter(|child| !ids.contains(child.id.as_str())).count();
        (live + others.map(|child| child.cost).sum::<f64>(), ids.len() + more)
    }
}

fn join<const N: usize>(parts: [Option<String>; N]) -> String {
    parts.into_iter().flatten().collect::<Vec<_>>().join(DETAILS)
}

fn money(cost: f64) -> Option<String> {
    (cost > 0.0).then(|| dollars(cost))
}

/// The last part of its id, with the definition that it follows if that has another name.
fn name_of(id: &str, agent: &str) -> String {
    let name = id.rsplit('.').next().unwrap_or_default();
    let indent = "  ".repeat(id.matches('.').count());
    let agent = if agent.is_empty() || agent == name { String::new() } else { format!("{DETAILS}{agent}") };
    clean(&format!("{indent}{name}{agent}")).into_owned()
}

fn standing_of(state: &ChildState) -> String {
    let requests = (state.requests > 0).then(|| counted(state.requests, "request", "requests"));
    let said = state.last_text.as_ref().map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "));
    let said = said.map(|said| said.chars().take(LAST_SAID).collect::<String>()).filter(|said| !said.is_empty());
    let does = match state.status.is_end() {
        true => state.why.clone(),
        false => state.current_tool.clone().or(said),
    };
    clean(&join([Some(state.status.as_str().to_owned()), requests, money(state.cost), does])).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use offshoot_protocol::ChildStatus;
    use offshoot_session::children::ChildInfo;

    fn state(id: &str, status: ChildStatus, cost: f64) -> ChildState {
        ChildState {
            id: id.to_owned(),
            agent: "scout".to_owned(),
            parent_tool_call_id: "c".to_owned(),
            index: 0,
            task: "look".to_owned(),
            file: None,
            model: "p/m".to_owned(),
            status,
            requests: 2,
            tokens: 10,
            cost,
            current_tool: Some("bash".to_owned()),
            last_text: None,
            why: None,
        }
    }

    fn stored(id: &str, cost: f64) -> ChildInfo {
        ChildInfo {
            file: format!("/s/{id}.jsonl").into(),
            id: id.to_owned(),
            session_id: id.to_owned(),
            agent: "task".to_owned(),
            task: String::new(),
            parent_entry: Some("e1".to_owned()),
            tool_call_id: None,
            status: Some("completed".to_owned()),
            messages: 1,
            tokens: 0,
            cost,
        }
    }

    #[test]
    fn each_entry_counts_once_whether_a_file_or_an_event_has_it() {
        let mut agents = ChildAgents::default();
        let children = vec![stored("Alpha", 0.25), stored("Alpha.Beta", 0.25), stored("Old", 1.0)];
        agents.set_stored(ChildList { children, left_out: 0 });
        assert_eq!(agents.cost(), (1.5, 3));
        agents.tell(&state("Alpha", ChildStatus::Running, 0.75), false);
        agents.tell(&state("Alpha.Beta", ChildStatus::Running, 0.5), false);
        agents.tell(&state("New", ChildStatus::Pending, 0.0), false);
        assert_eq!(agents.cost(), (1.75, 4));
        let rows: Vec<String> = agents.rows().iter().map(|row| format!("{}: {}", row.name, row.standing)).collect();
        assert_eq!(
            rows,
            [
                "Alpha · scout: running · 2 requests · $0.75 · bash",
                "  Beta · scout: running · 2 requests · $0.50 · bash",
                "New · scout: pending · 2 requests · bash",
                "Old · task: completed · 1 message · $1.00"
            ]
        );
        assert!(agents.is_running("New") && !agents.is_running("Old"));
        assert_eq!(agents.row("Alpha").unwrap().file, Some("/s/Alpha.jsonl".into()));
    }

    #[test]
    fn what_an_agent_says_is_kept_while_it_runs_or_somebody_reads_it() {
        let opened = Event::SessionChanged {
            reason: offshoot_protocol::SessionChangeReason::New,
            session_id: "x".to_owned(),
            session_file: None,
            leaf_id: Some("e9".to_owned()),
            grown_from: None,
        };
        let mut agents = ChildAgents::default();
        agents.hear("Alpha", &Event::AgentStart, 0);
        assert!(agents.talk("Alpha").is_none(), "it is not known what comes before");
        agents.hear("Alpha", &opened, 0);
        agents.hear("Alpha", &Event::QueueUpdate { steering: vec!["a".to_owned()], follow_up: Vec::new() }, 0);
        let talk = agents.talk("Alpha").unwrap();
        assert_eq!((talk.leaf.as_deref(), talk.queued.len()), (Some("e9"), 1));
        agents.tell(&state("Alpha", ChildStatus::Completed, 0.0), true);
        assert!(agents.talk("Alpha").is_some());
        agents.leave("Alpha");
        assert!(agents.talk("Alpha").is_none());
    }
}
