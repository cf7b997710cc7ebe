//! The words of the format for kinds of records and roles of messages. Unknown words become `Unknown`; their lines
//! stay. See *Entries* and *Messages* in `docs/format.md`.

macro_rules! words {
    ($(#[$outer:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $text:literal,)* }) => {
        $(#[$outer])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[repr(u8)]
        #[expect(missing_docs, reason = "most words say what they mean")]
        pub enum $name {
            $($(#[$doc])* $variant,)*
            /// Any other word.
            Unknown,
        }

        impl $name {
            /// All known values.
            pub const KNOWN: &'static [Self] = &[$(Self::$variant,)*];

            /// The value of a word in files.
            pub fn from_word(word: &[u8]) -> Self {
                $(if word == $text.as_bytes() { return Self::$variant; })*
                Self::Unknown
            }

            /// The word in files; `None` for `Unknown`.
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
        ModelChange = "model_change",
        ThinkingLevelChange = "thinking_level_change",
        /// A summary that replaces earlier messages.
        Compaction = "compaction",
        /// The summary of a branch that was left.
        BranchSummary = "branch_summary",
        /// State of an extension, not sent to the model.
        Custom = "custom",
        /// A message of an extension, sent to the model as a user message.
        CustomMessage = "custom_message",
        /// A label on an entry, or its removal.
        Label = "label",
        /// The session's name.
        SessionInfo = "session_info",
        /// Usage outside the conversation (pi 0.87).
        Usage = "usage",
        /// An edit that replaces or omits an entry for the model (pi 0.87).
        ContextEdit = "context_edit",
        /// Rules injected while streaming (omp).
        TtsrInjection = "ttsr_injection",
        /// A subagent's start (omp).
        SessionInit = "session_init",
        /// A change of mode (omp).
        ModeChange = "mode_change",
        /// A change of service tier (omp).
        ServiceTierChange = "service_tier_change",
        /// A change of title (omp).
        TitleChange = "title_change",
        /// A pinned account (omp).
        CredentialPin = "credential_pin",
        /// Usage of another model (omp).
        ModelUsage = "model_usage",
        /// A restart of the context (omp).
        ResetBoundary = "reset_boundary",
        /// The header, which is not an entry.
        Session = "session",
        /// omp's title slot before the header, which is not an entry.
        Title = "title",
    }
}

words! {
    /// The `role` of a message.
    Role {
        User = "user",
        Assistant = "assistant",
        ToolResult = "toolResult",
        /// System prompt sections (pi 0.87).
        System = "system",
        /// Developer instructions (omp).
        Developer = "developer",
        /// A command that the user ran.
        BashExecution = "bashExecution",
        /// Python code that the user ran (omp).
        PythonExecution = "pythonExecution",
        /// A message of an extension.
        Custom = "custom",
        /// [`Role::Custom`] in version 2.
        HookMessage = "hookMessage",
        /// A branch summary as a message.
        BranchSummary = "branchSummary",
        /// A compaction as a message.
        CompactionSummary = "compactionSummary",
        /// Files that the user mentioned (omp).
        FileMention = "fileMention",
    }
}

words! {
    /// The operation that a marker records.
    Operation {
        Switch = "switch",
        Pop = "pop",
        Pick = "pick",
        Merge = "merge",
        Compact = "compact",
        /// The newest compaction, taken back on a branch of its own.
        Uncompact = "uncompact",
        Undo = "undo",
    }
}

/// The purpose of an entry's kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum KindClass {
    /// What was said, and summaries of it. Unknown kinds may be part of it.
    Conversation,
    /// A change of how the conversation continues.
    Setting,
    /// What a program or extension stores to resume.
    State,
    /// Names, labels and accounts.
    Bookkeeping,
}

/// What an entry of a kind says to the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum KindSpeech {
    /// Its member `message`, of any role.
    Message,
    /// A message whose members are the line's.
    CustomMessage,
    /// A summary of a branch beside the path.
    BranchSummary,
    /// A summary in the place of what came before.
    Compaction,
    /// Nothing by itself. Some change what others say.
    Nothing,
}

/// The programs that write a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names say it; `Omp` is oh-my-pi")]
pub enum KindDialect {
    Pi,
    Omp,
    Both,
    Unknown,
}

#[expect(missing_docs, reason = "the other functions return the type of their name")]
impl Kind {
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

    pub fn speech(self) -> KindSpeech {
        match self {
            Self::Message => KindSpeech::Message,
            Self::CustomMessage => KindSpeech::CustomMessage,
            Self::BranchSummary => KindSpeech::BranchSummary,
            Self::Compaction => KindSpeech::Compaction,
            Self::ModelChange
            | Self::ThinkingLevelChange
            | Self::Custom
            | Self::Label
            | Self::SessionInfo
            | Self::Usage
            | Self::ContextEdit
            | Self::TtsrInjection
            | Self::SessionInit
            | Self::ModeChange
            | Self::ServiceTierChange
            | Self::TitleChange
            | Self::CredentialPin
            | Self::ModelUsage
            | Self::ResetBoundary
            | Self::Session
            | Self::Title
            | Self::Unknown => KindSpeech::Nothing,
        }
    }

    /// Whether its line may have a member `usage`. A message has it inside.
    pub fn has_usage(self) -> bool {
        match self {
            Self::Compaction | Self::BranchSummary | Self::Usage | Self::ModelUsage => true,
            Self::Message
            | Self::ModelChange
            | Self::ThinkingLevelChange
            | Self::Custom
            | Self::CustomMessage
            | Self::Label
            | Self::SessionInfo
            | Self::ContextEdit
            | Self::TtsrInjection
            | Self::SessionInit
            | Self::ModeChange
            | Self::ServiceTierChange
            | Self::TitleChange
            | Self::CredentialPin
            | Self::ResetBoundary
            | Self::Session
            | Self::Title
            | Self::Unknown => false,
        }
    }

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

/// The `customType` of the entry that replaces a damaged one.
pub const DAMAGED: &str = "offshoot.damaged";

/// The `customType` of the entry that makes a move of the leaf durable. It is a child of the target and hidden in trees
/// and transcripts. Peers open the session at it, which is where the user went.
pub const LEAF_MARKER: &str = "offshoot.leaf";

/// The `customType` of the entry that begins an operation of several entries. Hidden as [`LEAF_MARKER`] is.
pub const OPERATION_MARKER: &str = "offshoot.op";

/// The `customType` of the entry that keeps the bytes of another program's record. Hidden as [`LEAF_MARKER`] is.
pub const SOURCE_RECORD: &str = "offshoot.source";

/// The `customType` of the entry that says where an imported session comes from. Hidden as [`LEAF_MARKER`] is.
pub const IMPORT_MARKER: &str = "offshoot.import";

/// The custom types of entries that say nothing to people and are hidden in trees and transcripts.
pub const HIDDEN: [&str; 4] = [LEAF_MARKER, OPERATION_MARKER, SOURCE_RECORD, IMPORT_MARKER];

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
