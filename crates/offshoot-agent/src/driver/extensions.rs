//! What extensions are asked, and what they add to the session.

use std::sync::Arc;

use offshoot_protocol::message::{Block, Content, CustomMessage, Message, UserMessage};
use offshoot_protocol::request::{AppendEntry, Delivery};
use offshoot_protocol::{AgentError, Event};
use offshoot_session::compose::NewEntry;
use offshoot_session::json::Json;

use super::{Driver, DriverInput};
use crate::extensions::{Extensions, Question, RunAdditions, RunStart};
use crate::request;
use crate::request_queue::ReplyTo;
use crate::told_mode::{self, ToldMode};
use crate::turn::{OpenAnswer, Ticket, TurnInput};
use crate::window::{check_addition, window_of};
use crate::writer::OwnedSession;

impl Driver {
    /// The extensions, if they may have an answer.
    pub(super) fn extensions_for(&self, question: Question) -> Option<Arc<dyn Extensions>> {
        self.setup.extensions.clone().filter(|extensions| extensions.answers(question))
    }

    /// Sends a prompt, and the messages of extensions that have waited for it.
    pub(super) fn prompt(&mut self, message: UserMessage) {
        let images = match &message.content {
            Content::Blocks(blocks) => {
                blocks.iter().filter(|block| matches!(block, Block::Image { .. })).cloned().collect()
            }
            Content::Text(_) => Vec::new(),
        };
        self.run_start = Some(RunStart {
            prompt: message.text(),
            images,
            system: self.system_text(),
            tools: self.setup.tools.iter().map(|tool| tool.name().to_owned()).collect(),
            cwd: self.setup.tool_context.cwd.clone(),
        });
        self.run_system = None;
        let mut waiting = std::mem::take(&mut self.with_next_prompt);
        waiting.extend(self.news_of_mode());
        waiting.extend(self.news_of_sandbox());
        waiting.extend(self.news_of_plan());
        self.step(TurnInput::Prompt(std::iter::once(message.into()).chain(waiting).collect()));
    }

    /// The mode that the model must be told, because it was last told another one. A conversation without such a message knows the mode of the start by its tools.
    fn news_of_mode(&mut self) -> Option<Message> {
        let mode = self.setup.permissions.mode;
        let told = self.told_mode.or_else(|| self.writer.recorded().told_mode);
        let is_news = told.unwrap_or(self.began) != ToldMode::of(mode);
        self.told_mode = Some(ToldMode::of(mode));
        is_news.then(|| self.dated(told_mode::message(mode, self.has_plan_tool())))
    }

    /// Reads the last messages about the mode, the sandbox and a plan from the session again.
    pub(super) fn forget_told(&mut self) {
        (self.told_mode, self.knows_plan) = (None, false);
        self.known_sandbox.forget_told();
    }

    pub(super) fn admitted(&mut self, ticket: Ticket, additions: RunAdditions, open: Option<Box<OpenAnswer>>) {
        let RunAdditions { messages, system } = additions;
        self.run_system = system;
        let window = window_of(&self.setup.model);
        let (mut added, mut refused) = (Vec::new(), Vec::new());
        for message in messages {
            let what = format!("its message {}", message.custom_type);
            let message = self.dated(message);
            match window.as_ref().map_or(Ok(()), |window| check_addition(window, &what, &message)) {
                Ok(()) => added.push(message),
                Err(why) => refused.push(why),
            }
        }
        if let Some(extensions) = &self.setup.extensions {
            refused.into_iter().for_each(|why| extensions.refused("before_agent_start", why));
        }
        self.resumed = open.is_some().then_some(ticket);
        self.step(TurnInput::Admitted { ticket, added, open });
    }

    pub(super) fn inject(&mut self, message: CustomMessage, delivery: Delivery) -> Result<(), AgentError> {
        let message = self.dated(message);
        self.may_begin(delivery)?;
        self.check_size(&message)?;
        self.deliver(message, delivery);
        Ok(())
    }

    pub(super) fn inject_user(&mut self, content: Content, delivery: Delivery) -> Result<(), AgentError> {
        let mut message = UserMessage { content, timestamp: self.setup.clock.now() };
        self.redactor.redact_said(&mut message.content);
        self.may_begin(delivery)?;
        self.check_size(&message.clone().into())?;
        // An idle agent takes it as it takes a prompt.
        if self.state.is_idle() && matches!(delivery, Delivery::Steer | Delivery::FollowUp) {
            self.prompt(message);
        } else {
            self.deliver(message.into(), delivery);
        }
        Ok(())
    }

    /// Whether a message may begin a run, if it would.
    fn may_begin(&self, delivery: Delivery) -> Result<(), AgentError> {
        let begins = self.state.is_idle() && matches!(delivery, Delivery::Steer | Delivery::FollowUp);
        if begins { self.spending.check_begun_by_extension() } else { Ok(()) }
    }

    pub(super) fn deliver(&mut self, message: Message, delivery: Delivery) {
        match delivery {
            Delivery::NextPrompt => self.with_next_prompt.push(message),
            Delivery::Add => self.step(TurnInput::Add(message)),
            Delivery::Steer | Delivery::FollowUp if self.state.is_idle() => {
                self.run_system = None;
                self.step(TurnInput::Prompt(vec![message]));
            }
            Delivery::Steer => self.step(TurnInput::Steer(message)),
            Delivery::FollowUp => self.step(TurnInput::FollowUp(message)),
        }
    }

    /// With the time, and without keys.
    pub(super) fn dated(&self, message: CustomMessage) -> Message {
        let mut message = CustomMessage { timestamp: self.setup.clock.now(), ..message };
        self.redactor.redact_said(&mut message.content);
        message.into()
    }

    pub(super) fn append_entry(&mut self, new: AppendEntry, reply: ReplyTo<String>) {
        let AppendEntry { custom_type, data } = new;
        let own = self.own.clone();
        let work = move |owned: &mut OwnedSession| {
            let entry = data.as_deref().map(Json::parse).transpose();
            let data =
                entry.map_err(|error| AgentError::Failed(format!("the data of {custom_type} are no JSON: {error}")))?;
            let ids = owned.append(&[NewEntry::custom(&custom_type, data)])?;
            let id = ids.first().map(|id| id.as_str().to_owned()).unwrap_or_default();
            Ok((id, owned.leaf_entry()))
        };
        self.writer.handle().send(work, move |done| {
            let result = done.and_then(|result| result);
            drop(own.send(DriverInput::Added { result, reply }));
        });
    }

    pub(super) fn added(&mut self, result: Result<(String, Option<Event>), AgentError>, reply: ReplyTo<String>) {
        reply.send(result.map(|(id, event)| {
            event.into_iter().for_each(|event| self.outbox.tell(event));
            id
        }));
    }

    /// The messages come back through the loop: the events of their entries come first.
    pub(super) fn read_context(&mut self, ticket: Ticket) {
        let own = self.own.clone();
        let read = |owned: &mut OwnedSession| request::context_messages(owned.session());
        self.writer.handle().send(read, move |done| {
            let messages = done.and_then(|messages| messages);
            drop(own.send(DriverInput::ContextRead { ticket, messages }));
        });
    }

    pub(super) fn context_read(&mut self, ticket: Ticket, messages: Result<Vec<String>, AgentError>) {
        match messages {
            Ok(messages) if self.state.is_building(ticket) => self.build_with(ticket, Some(messages)),
            Ok(_) => {}
            Err(error) => self.step(TurnInput::BuildFailed { ticket, error }),
        }
    }
}
