//! What sorts of records and messages there are: the words of the format, as enums.
//!
//! One table each; unknown words keep their line and get `Unknown`. See `docs/format.md`, *Entries*
//! and *Messages*.

macro_rules! words {
    ($(#[$outer:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $text:literal,)* }) => {
        $(#[$outer])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum $name {
            $($(#[$doc])* $variant,)*
            /// Any other word; the line has it.
            Unknown,
        }

        impl $name {
            /// Every known one.
            pub const KNOWN: &'static [Self] = &[$(Self::$variant,)*];

            /// From the word in the file.
            pub fn from_word(word: &[u8]) -> Self {
                $(if word == $text.as_bytes() { return Self::$variant; })*
                Self::Unknown
            }

            /// The word in the file; `None` for unknown ones.
            pub fn word(self) -> Option<&'static str> {
                match self { $(Self::$variant => Some($text),)* Self::Unknown => None }
            }
        }
    };
}

words! {
    /// The `type` of a record.
    Kind {
        /// A message of the conversation.
        Message = "message",
        /// The model was chosen.
        ModelChange = "model_change",
        /// The thinking level was chosen.
        ThinkingLevelChange = "thinking_level_change",
        /// Earlier messages are replaced by a summary.
        Compaction = "compaction",
        /// The summary of a branch that was left.
        BranchSummary = "branch_summary",
        /// State of an extension; never seen by the model.
        Custom = "custom",
        /// A message of an extension; seen by the model as a user's.
        CustomMessage = "custom_message",
        /// A bookmark on an entry, or its removal.
        Label = "label",
        /// The session's display name.
        SessionInfo = "session_info",
        /// Usage outside the conversation (pi 0.87).
        Usage = "usage",
        /// An entry is replaced or left out for the model (pi 0.87).
        ContextEdit = "context_edit",
        /// Rules injected while streaming (omp).
        TtsrInjection = "ttsr_injection",
        /// How a subagent was started (omp).
        SessionInit = "session_init",
        /// A mode was entered or left (omp).
        ModeChange = "mode_change",
        /// A service tier was chosen (omp).
        ServiceTierChange = "service_tier_change",
        /// The title changed (omp).
        TitleChange = "title_change",
        /// An account was pinned (omp).
        CredentialPin = "credential_pin",
        /// Usage of another model (omp).
        ModelUsage = "model_usage",
        /// The context starts anew here (omp).
        ResetBoundary = "reset_boundary",
        /// The header; no entry.
        Session = "session",
        /// omp's title slot before the header; no entry.
        Title = "title",
    }
}

words! {
    /// The `role` of a message.
    Role {
        /// The person.
        User = "user",
        /// The model.
        Assistant = "assistant",
        /// What a tool answered.
        ToolResult = "toolResult",
        /// System prompt sections (pi 0.87).
        System = "system",
        /// Developer instructions (omp).
        Developer = "developer",
        /// A command that the person ran.
        BashExecution = "bashExecution",
        /// Python code that the person ran (omp).
        PythonExecution = "pythonExecution",
        /// A message of an extension.
        Custom = "custom",
        /// The same, in version 2.
        HookMessage = "hookMessage",
        /// A branch summary as a message.
        BranchSummary = "branchSummary",
        /// A compaction as a message.
        CompactionSummary = "compactionSummary",
        /// Files that the person mentioned (omp).
        FileMention = "fileMention",
    }
}

/// What entries of a kind are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum KindClass {
    /// What was said, and what stands for it. A kind that is not known may say something.
    Conversation,
    /// A change of how the conversation continues.
    Setting,
    /// What a program or an extension keeps so that it can continue.
    State,
    /// Names, labels and accounts of the session.
    Bookkeeping,
}

/// Which programs write a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum KindDialect {
    /// pi alone.
    Pi,
    /// oh-my-pi alone.
    Omp,
    /// Both.
    Both,
    /// Nobody knows.
    Unknown,
}

impl Kind {
    /// What entries of this kind are for.
    pub fn class(self) -> KindClass {
        match self {
            Self::Message
            | Self::CustomMessage
            | Self::Compaction
            | Self::BranchSummary
            | Self::ResetBoundary
            | Self::Unknown => KindClass::Conversation,
            Self::ModelChange | Self::ThinkingLevelChange | Self::ModeChange | Self::ContextEdit => KindClass::Setting,
            Self::Custom | Self::TtsrInjection | Self::SessionInit | Self::ServiceTierChange | Self::CredentialPin => {
                KindClass::State
            }
            Self::Label
            | Self::SessionInfo
            | Self::TitleChange
            | Self::Usage
            | Self::ModelUsage
            | Self::Session
            | Self::Title => KindClass::Bookkeeping,
        }
    }

    /// Which programs write this kind.
    pub fn dialect(self) -> KindDialect {
        match self {
            Self::Usage | Self::ContextEdit => KindDialect::Pi,
            Self::TtsrInjection
            | Self::SessionInit
            | Self::ModeChange
            | Self::ServiceTierChange
            | Self::TitleChange
            | Self::CredentialPin
            | Self::ModelUsage
            | Self::ResetBoundary
            | Self::Title => KindDialect::Omp,
            Self::Message
            | Self::ModelChange
            | Self::ThinkingLevelChange
            | Self::Compaction
            | Self::BranchSummary
            | Self::Custom
            | Self::CustomMessage
            | Self::Label
            | Self::SessionInfo
            | Self::Session => KindDialect::Both,
            Self::Unknown => KindDialect::Unknown,
        }
    }
}

/// The `customType` of the entry that holds the place of a damaged one.
pub const DAMAGED: &str = "offshoot.damaged";

/// The `customType` of the entry that makes a move of the leaf durable: child of the target, hidden in
/// trees and transcripts. Peers open at it, which is where the person went.
pub const LEAF_MARKER: &str = "offshoot.leaf";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_go_both_ways() {
        for kind in Kind::KNOWN {
            assert_eq!(Kind::from_word(kind.word().unwrap().as_bytes()), *kind);
        }
        for role in Role::KNOWN {
            assert_eq!(Role::from_word(role.word().unwrap().as_bytes()), *role);
        }
        assert_eq!(Kind::from_word(b"stack_pop"), Kind::Unknown);
    }
}
