//! What an agent, its settings and its front ends say to each other: values that are looked at and compared.
//!
//! Data only: no runtime, network, file or terminal, and nothing is decided here. Modules are declared in reading order,
//! and each uses only those above it.

#![warn(missing_docs)]

mod thinking;
mod approval;
mod sandbox;
mod sending;
mod running;
pub mod message;

pub use approval::{ApprovalDecision, ApprovalMode};
pub use running::{PromptStorage, QueueMode, Retry};
pub use sandbox::{SandboxMode, SandboxNetwork};
pub use sending::{AnswerLimits, HttpOptions, Resend};
pub use thinking::{ThinkingBudgets, ThinkingLevel};
