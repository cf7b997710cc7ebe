//! What each command and key asks for, and how the screens look, without an agent.

use std::sync::Arc;

use insta::assert_snapshot;
use offshoot_agent::command::{Command, Navigated, Reply};
use offshoot_agent::error::AgentError;
