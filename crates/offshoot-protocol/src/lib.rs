//! What an agent, its settings and its front ends say to each other: values that are looked at and compared.
//!
//! Data only: no runtime, network, file or terminal, and nothing is decided here. Modules are declared in reading order,
//! and each uses only those above it.

#![warn(missing_docs)]

mod thinking;
mod peer;
mod cache_retention;
mod secret;
mod levels;
mod approval;
mod sandbox;
mod sending;
mod running;
pub mod message;
pub mod model;
mod model_levels;
mod price;
mod raw_json;
mod compaction;
mod bash_result;
mod approval_record;
mod session_change;
mod notice;
mod form;
mod child;
mod background;
mod update;
mod event;
mod agent_event;
mod crash;
mod key_error;
mod window;
mod folder_refusal;
mod files_along;
mod error;
mod settled;
pub mod request;

pub use agent_event::{AgentEvent, AgentId};
pub use approval::{ApprovalDecision, ApprovalMode, ApprovalScope, ApprovalTier, ForeseenQuestion, OfferedRule};
pub use approval_record::{ApprovalOutcome, ApprovalRecord, ApprovedBy};
pub use background::{BackgroundCommand, BackgroundState};
pub use bash_result::{BashResult, BashRun};
pub use cache_retention::CacheRetention;
pub use child::{ChildState, ChildStatus};
pub use compaction::{CompactionResult, Reason, SummarySource};
pub use crash::Crash;
pub use error::{AgentError, SessionError, in_words};
pub use event::Event;
pub use files_along::{ComesBack, FilesAlong, FilesThatCame};
pub use folder_refusal::FolderRefusal;
pub use form::{FieldAnswer, FieldKind, Form, FormAnswer, FormField, FormOption, FormSource, TextFormat};
pub use key_error::KeyError;
pub use levels::Levels;
pub use notice::NoticeCode;
pub use peer::{OWN_IN_PROJECT, Peer, PeerFolder, project_folders};
pub use raw_json::RawJson;
pub use running::{PromptStorage, QueueMode, Retry, RunSettings};
pub use sandbox::{SandboxMode, SandboxNetwork};
pub use secret::{MASK, Secret, Secrets};
pub use sending::{AnswerLimits, HttpOptions, Resend};
pub use session_change::{SessionChangeReason, SessionReason, ShutdownReason};
pub use settled::Settled;
pub use thinking::{ThinkingBudgets, ThinkingLevel};
pub use update::Update;
pub use window::{OversizedPrompt, SizeJudge, Window};
