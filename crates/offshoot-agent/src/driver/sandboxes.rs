//! Another sandbox in the middle of a conversation, and what the model knows of it. Sets no sandbox up.

use offshoot_protocol::message::Message;

use super::Driver;
use crate::request_queue::ReplyTo;
use crate::sandbox::Sandbox;
use crate::setup::Setup;
use crate::told_sandbox;

/// What the model knows of the sandbox.
pub(super) struct KnownSandbox {
    /// Of a conversation without a message about it.
    beginning: String,
    /// The last message about it that this program has sent.
    told: Option<String>,
}

impl KnownSandbox {
    /// By the system prompt of this setup.
    pub(super) fn of(setup: &Setup) -> Self {
        Self { beginning: words(setup), told: None }
    }

    /// The conversation is another one.
    pub(super) fn forget_told(&mut self) {
        self.told = None;
    }
}

impl Driver {
    /// A helper that waits for a command of the sandbox before ends with it.
    pub(super) fn set_sandbox(&mut self, sandbox: Option<&Sandbox>, reply: ReplyTo<()>) {
        self.setup.use_sandbox(sandbox.cloned());
        self.limit_extensions();
        reply.answer(());
        self.decide_again();
    }

    /// The message about the sandbox that the model needs, because it was last told of another one.
    pub(super) fn news_of_sandbox(&mut self) -> Option<Message> {
        let now = words(&self.setup);
        let told = self.known_sandbox.told.clone().or_else(|| self.writer.recorded().told_sandbox);
        let is_news = told.as_ref().unwrap_or(&self.known_sandbox.beginning) != &now;
        if is_news {
            self.known_sandbox.told = Some(now.clone());
        }
        is_news.then(|| self.dated(told_sandbox::message(&now)))
    }
}

fn words(setup: &Setup) -> String {
    told_sandbox::words(setup.tool_context.sandbox.as_ref(), &setup.tool_context.cwd)
}
