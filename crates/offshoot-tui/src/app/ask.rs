//! What the terminal asks of the agent: the requests that it sends and no others, each with its own answer. Does not know what
//! happens with an answer.

use offshoot_agent::agent_session::AgentSession;
use offshoot_protocol::AgentError;
use offshoot_protocol::request::{
    Abort, AbortBash, AgentRequest, AnswerForm, Approve, ClearQueue, CloneSession, Compact, FollowUp, Fork, Prompt,
    RunBash, SetApproval, SetFollowUpMode, SetModel, SetRunSettings, SetSteeringMode, SetThinkingLevel, StartSession,
    Steer, StopBackground, SwitchSession, ToChild,
};

macro_rules! front {
    ($($name:ident),* $(,)?) => {
        /// A request of the terminal.
        #[derive(Debug, Clone, PartialEq)]
        pub enum TerminalAsk { $($name($name)),* }

        /// A request with its answer.
        #[derive(Debug)]
        pub enum TerminalAnswer { $($name($name, Result<<$name as AgentRequest>::Reply, AgentError>)),* }

        impl TerminalAsk {
            /// Asks the agent.
            pub async fn send(self, agent: &AgentSession) -> TerminalAnswer {
                match self {
                    $(Self::$name(request) => {
                        let reply = agent.ask(request.clone()).await;
                        TerminalAnswer::$name(request, reply)
                    })*
                }
            }
        }

        $(
            impl From<$name> for TerminalAsk {
                fn from(request: $name) -> Self {
                    Self::$name(request)
                }
            }
        )*
    };
}

front! {
    Prompt, Steer, FollowUp, ClearQueue, Abort, RunBash, AbortBash, Compact, StartSession,
    SwitchSession, Fork, CloneSession, SetModel, SetThinkingLevel, SetSteeringMode, SetFollowUpMode, SetRunSettings, SetApproval, Approve, AnswerForm, StopBackground, ToChild,
}
