//! An event beside the agent that it is of.

use std::sync::Arc;

use crate::event::Event;

/// An agent among those that a front end hears.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum AgentId {
    /// The agent that the front end talks to.
    #[default]
    Root,
    /// One that another agent has started.
    Child(Arc<str>),
}

/// An event and the agent that it is of. Cloning copies nothing.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct AgentEvent {
    pub agent: AgentId,
    pub event: Arc<Event>,
}

impl AgentEvent {
    /// Of the agent that the front end talks to.
    #[must_use]
    pub fn of_root(event: Arc<Event>) -> Self {
        Self { agent: AgentId::Root, event }
    }

    /// One line of JSON, without line feed. That of a child has its id as `agent`; the other is pi's.
    #[must_use]
    pub fn to_json(&self) -> String {
        let mut json = self.event.to_json();
        if let AgentId::Child(id) = &self.agent {
            json.pop();
            json.push_str(r#","agent":"#);
            json.push_str(&serde_json::Value::from(id.as_ref()).to_string());
            json.push('}');
        }
        json
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_events_of_children_name_their_agent() {
        let event = Arc::new(Event::AgentSettled { aborted: false });
        let root = AgentEvent::of_root(event.clone());
        assert_eq!(root.to_json(), r#"{"type":"agent_settled","aborted":false}"#);
        let child = AgentEvent { agent: AgentId::Child("scout-\"1".into()), event };
        assert_eq!(child.to_json(), r#"{"type":"agent_settled","aborted":false,"agent":"scout-\"1"}"#);
        let turn = AgentEvent { agent: AgentId::Child("a".into()), event: Arc::new(Event::TurnStart) };
        assert_eq!(turn.to_json(), r#"{"type":"turn_start","agent":"a"}"#);
    }
}
