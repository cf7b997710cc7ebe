//! What front ends want, and whether it goes with what is under way.

use offshoot_session::compose::NewEntry;

use super::{Driver, In, Waiter, Waiting, Written};
use crate::command::{Command, Reply, Said, Standing};
use crate::error::AgentError;
use crate::event::{Event, Reason};
use crate::message::UserMessage;
use crate::setup::Setup;
use crate::turn::{Input, Job};
use crate::writer::Owned;

impl Driver {
    pub(super) fn asked(&mut self, command: Command, reply: Waiter) {
        let is_busy = !self.state.is_idle() || self.is_replacing;
        match command {
            Command::Abort => {
                self.waiting.push(Waiting::Settled(reply));
                let at = self.setup.clock.now();
                self.step(Input::Abort { at });
                self.settle_if_idle();
            }
            Command::WaitForIdle => {
                self.waiting.push(Waiting::Settled(reply));
                self.settle_if_idle();
            }
            Command::Prompt(_) if is_busy && !self.is_replacing => {
                let why = "the agent is at work: steer it, or say it as a follow-up";
                refuse(reply, AgentError::Busy(why));
            }
            Command::NavigateTree(_) if is_busy && !self.is_replacing => {
                refuse(reply, AgentError::Busy("the agent is at work: stop it before going elsewhere"));
            }
            Command::Compact { .. }
            | Command::NewSession
            | Command::SwitchSession(_)
            | Command::Fork { .. }
            | Command::Clone
                if is_busy =>
            {
                self.deferred.push_back((command, reply));
                let at = self.setup.clock.now();
                self.step(Input::Abort { at });
            }
            command if self.is_replacing => self.deferred.push_back((command, reply)),
            command => self.begin(command, reply),
        }
    }

    /// Nothing goes on: who waits for that is answered.
    fn settle_if_idle(&mut self) {
        if self.state.is_idle() && !self.is_replacing {
            self.settle(&crate::turn::Settled::Done);
        }
    }

    /// Begins what waited until nothing is under way.
    pub(super) fn catch_up(&mut self) {
        while self.state.is_idle() && !self.is_replacing {
            let Some((command, reply)) = self.deferred.pop_front() else { return };
            self.begin(command, reply);
        }
    }

    /// After a write that failed everything may be tried again once nothing waits behind it any more.
    fn mend(&mut self) {
        if self.is_broken && self.state.is_idle() && self.outbox.is_quiet() {
            self.is_broken = false;
            self.writer.desk().give(Owned::try_again);
        }
    }

    fn begin(&mut self, command: Command, reply: Waiter) {
        self.mend();
        match command {
            Command::Prompt(said) => {
                // Without a key nothing is recorded: nobody could answer.
                match self.setup.keys.access(&self.setup.model) {
                    Ok(access) => self.access = Some(access),
                    Err(why) => return refuse(reply, why.into()),
                }
                self.waiting.push(Waiting::Settled(reply));
                let message = self.message(said);
                self.step(Input::Prompt(vec![message]));
            }
            Command::Steer(said) => {
                let message = self.message(said);
                self.step(Input::Steer(message));
                done(reply);
            }
            Command::FollowUp(said) => {
                let message = self.message(said);
                self.step(Input::FollowUp(message));
                done(reply);
            }
            Command::ClearQueue => {
                let (steering, follow_up) = self.state.queued();
                self.step(Input::ClearQueue);
                answer(reply, Reply::Queue(steering, follow_up));
            }
            Command::Compact { instructions } => {
                self.compacted = None;
                self.waiting.push(Waiting::Compaction(reply));
                self.step(Input::Do(Job::Compaction { reason: Reason::Manual, instructions }));
            }
            Command::NavigateTree(navigation) => {
                self.navigated = None;
                self.navigation = Some(navigation);
                self.waiting.push(Waiting::Navigation(reply));
                self.step(Input::Do(Job::Navigation));
            }
            Command::NewSession | Command::SwitchSession(_) | Command::Fork { .. } | Command::Clone => {
                self.end_bash();
                self.replace(command, reply);
            }
            Command::Bash { command, exclude_from_context } => self.run_bash(command, exclude_from_context, reply),
            Command::AbortBash => {
                self.stop_bash();
                done(reply);
            }
            Command::Abort | Command::WaitForIdle => self.asked(command, reply),
            settings => self.set(settings, reply),
        }
    }

    fn set(&mut self, command: Command, reply: Waiter) {
        match command {
            Command::SetModel(model) => {
                self.reset(|setup| setup.model = model);
                done(reply);
            }
            Command::SetThinkingLevel(level) => {
                self.reset(|setup| setup.thinking = level);
                answer(reply, Reply::Thinking(self.setup.thinking()));
            }
            Command::SetName(name) => {
                let entry = NewEntry::session_info(&name);
                let name = Some(name.trim().to_owned()).filter(|name| !name.is_empty());
                self.change(reply, Reply::Done, move |owned| {
                    owned.append(&[entry])?;
                    Ok(Some(Event::SessionInfoChanged { name }))
                });
            }
            Command::SetLabel { entry, label } => {
                let new = NewEntry::label(&entry, label.as_deref());
                self.change(reply, Reply::Done, move |owned| {
                    owned.session().find(&entry)?;
                    owned.append(&[new])?;
                    Ok(owned.leaf_entry())
                });
            }
            Command::SetSteeringMode(mode) => {
                self.setup.steering = mode;
                done(reply);
            }
            Command::SetFollowUpMode(mode) => {
                self.setup.follow_up = mode;
                done(reply);
            }
            Command::SetAutoCompaction(is_on) => {
                self.auto_compaction = is_on;
                done(reply);
            }
            Command::SetAutoRetry(is_on) => {
                self.setup.retry.enabled = is_on;
                done(reply);
            }
            Command::SetRules(rules) => {
                self.auto_compaction = rules.compaction.enabled;
                self.setup.follow(*rules);
                done(reply);
            }
            Command::SetSystemPrompt(prompt) => {
                self.setup.system = prompt;
                done(reply);
            }
            Command::Inspect => answer(reply, Reply::Standing(Box::new(self.standing()))),
            // Everything else is begun elsewhere.
            _ => done(reply),
        }
        self.configure();
    }

    /// Has another model answer, or the model think more or less. What changes by that is recorded and told.
    fn reset(&mut self, change: impl FnOnce(&mut Setup)) {
        let before = self.setup.thinking();
        change(&mut self.setup);
        self.record_settings();
        let level = self.setup.thinking();
        if level != before {
            self.tell(Event::ThinkingLevelChanged { level: level.as_str().to_owned() });
        }
    }

    fn standing(&self) -> Standing {
        let (steering, follow_up) = self.state.queued();
        Standing {
            model: self.setup.model.clone(),
            thinking: self.setup.thinking(),
            is_streaming: !self.state.is_idle() && !self.state.is_at_a_job(),
            is_at_a_job: self.state.is_at_a_job(),
            steering,
            follow_up,
            system: self.setup.system.clone(),
            auto_compaction: self.auto_compaction,
        }
    }

    fn message(&self, said: Said) -> UserMessage {
        UserMessage::new(said.text, said.images, self.setup.clock.now())
    }

    /// Writes what changed of model and thinking, if the session has begun; else the first prompt brings it along.
    fn record_settings(&mut self) {
        if !self.recorded.has_entries {
            return;
        }
        let entries = self.settings_entries();
        if entries.is_empty() {
            return;
        }
        let own = self.own.clone();
        self.outbox.after_write(Vec::new());
        self.writer.desk().give(move |owned| {
            let result = owned.append(&entries).map(|_| None);
            drop(own.send(In::Written { result, ticket: None }));
        });
    }

    /// Does something that writes, and answers when it is durable.
    fn change(&mut self, reply: Waiter, with: Reply, work: impl FnOnce(&mut Owned) -> Written + Send + 'static) {
        self.recorded.has_entries = true;
        let own = self.own.clone();
        self.writer.desk().give(move |owned| {
            let result = work(owned);
            drop(own.send(In::Changed { result, reply, with }));
        });
    }

    pub(super) fn changed(&mut self, result: Written, reply: Waiter, with: Reply) {
        let result = result.map(|event| {
            if let Some(event) = event {
                self.tell(event);
            }
            with
        });
        drop(reply.send(result));
    }
}

fn done(reply: Waiter) {
    answer(reply, Reply::Done);
}

pub(super) fn answer(reply: Waiter, with: Reply) {
    // Who does not wait any more needs no answer.
    drop(reply.send(Ok(with)));
}

pub(super) fn refuse(reply: Waiter, why: AgentError) {
    drop(reply.send(Err(why)));
}
