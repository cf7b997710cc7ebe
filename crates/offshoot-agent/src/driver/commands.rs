//! Commands of front ends, and whether they are possible during a turn or a job.

use offshoot_session::compose::NewEntry;
use offshoot_session::id::EntryId;

use super::replace::NextSession;
use super::{Driver, DriverInput, Waiter, Waiting, WriteOf, Written};
use crate::command::{Command, Reply, Standing, ToolList, UserPrompt, joined};
use crate::error::AgentError;
use crate::event::{Event, Reason};
use crate::extensions::Happening;
use crate::key_redactor::KeyRedactor;
use crate::message::{Message, UserMessage};
use crate::request::{Frame, overhead_tokens};
use crate::setup::{ReloadedSetup, Setup};
use crate::turn::{Job, TurnInput};
use crate::window::{OversizedPrompt, Window};
use crate::writer::OwnedSession;

/// Why a command is refused during a job.
const AT_A_JOB: &str = "a summary is being written: stop it, or wait for its end";

/// What happens to a command during a turn or a job.
enum WhileBusy {
    Begins,
    Refused(&'static str),
    StopsTurn,
    /// Also stops the user's shell command: both are recorded in the session that is left.
    StopsAll,
}

fn while_busy(command: &Command) -> WhileBusy {
    match command {
        Command::Prompt(_) => WhileBusy::Refused("the agent is at work: steer it, or say it as a follow-up"),
        Command::NavigateTree(_) => WhileBusy::Refused("the agent is at work: stop it before going elsewhere"),
        Command::Reload(_) => WhileBusy::Refused("the agent is at work: reload when it has finished"),
        Command::Operate(operation) => operation.refused_at_work().map_or(WhileBusy::Begins, WhileBusy::Refused),
        Command::BringBack(_) => WhileBusy::Refused("the agent is at work: stop it first"),
        Command::Compact { .. } => WhileBusy::StopsTurn,
        Command::NewSession { .. }
        | Command::SwitchSession { .. }
        | Command::Fork { .. }
        | Command::ForkAt { .. }
        | Command::Clone
        | Command::PrepareSession(_) => WhileBusy::StopsAll,
        Command::Abort
        | Command::WaitForIdle
        | Command::Steer(_)
        | Command::FollowUp(_)
        | Command::Inject { .. }
        | Command::InjectUser { .. }
        | Command::AppendEntry { .. }
        | Command::SetTools { .. }
        | Command::SetActiveTools(_)
        | Command::SetResources(_)
        | Command::ClearQueue
        | Command::Bash { .. }
        | Command::AbortBash
        | Command::SetModel(_)
        | Command::SetThinkingLevel(_)
        | Command::SetName(_)
        | Command::SetLabel { .. }
        | Command::SetSteeringMode(_)
        | Command::SetFollowUpMode(_)
        | Command::SetAutoCompaction(_)
        | Command::SetAutoRetry(_)
        | Command::SetRules(_)
        | Command::SetSystemPrompt(_)
        | Command::Approve { .. }
        | Command::SetApproval(_)
        | Command::BuiltIn(_)
        | Command::RunNested(_)
        | Command::Inspect => WhileBusy::Begins,
    }
}

impl Driver {
    pub(super) fn asked(&mut self, command: Command, reply: Waiter) {
        if self.is_ending {
            return refuse(reply, AgentError::Ended);
        }
        if self.is_replacing || self.is_operating || self.is_leaving() {
            return self.deferred.push_back((command, reply));
        }
        let is_idle = self.state.is_idle();
        match while_busy(&command) {
            WhileBusy::Refused(why) if !is_idle => {
                let why = if self.state.is_at_a_job() { AT_A_JOB } else { why };
                refuse(reply, AgentError::Busy(why));
            }
            WhileBusy::StopsTurn if !is_idle => {
                self.deferred.push_back((command, reply));
                self.abort();
            }
            WhileBusy::StopsAll if !is_idle || self.bash.is_some() => {
                self.deferred.push_back((command, reply));
                self.stop_bash();
                self.abort();
            }
            WhileBusy::Begins | WhileBusy::Refused(_) | WhileBusy::StopsTurn | WhileBusy::StopsAll => {
                self.begin(command, reply);
            }
        }
    }

    /// Whether the session is about to be left, but the user's stopped shell command has not ended.
    fn is_leaving(&self) -> bool {
        let stops_all = |(command, _): &(Command, Waiter)| matches!(while_busy(command), WhileBusy::StopsAll);
        self.bash.is_some() && self.deferred.front().is_some_and(stops_all)
    }

    pub(super) fn abort(&mut self) {
        let at = self.setup.clock.now();
        self.step(TurnInput::Abort { at });
    }

    /// Answers callers that wait for the end, if nothing is running.
    fn settle_if_idle(&mut self) {
        if self.state.is_idle() && !self.is_replacing && !self.is_operating {
            self.settle(&crate::turn::Settled::Done, None);
        }
    }

    /// Starts deferred commands when nothing is running.
    pub(super) fn catch_up(&mut self) {
        while self.state.is_idle() && !self.is_replacing && !self.is_operating && !self.is_leaving() {
            let Some((command, reply)) = self.deferred.pop_front() else { return };
            self.begin(command, reply);
        }
    }

    fn begin(&mut self, command: Command, reply: Waiter) {
        match command {
            Command::Prompt(said) => match self.message(said) {
                Ok(message) => {
                    self.waiting.push(Waiting::Prompt(reply));
                    self.prompt(message);
                }
                Err(error) => refuse(reply, error),
            },
            Command::Steer(said) => self.queue(said, TurnInput::Steer, reply),
            Command::FollowUp(said) => self.queue(said, TurnInput::FollowUp, reply),
            Command::Inject { message, delivery } => self.inject(message, delivery, reply),
            Command::InjectUser { content, delivery } => self.inject_user(content, delivery, reply),
            Command::AppendEntry { custom_type, data } => self.append_entry(custom_type, data, reply),
            Command::SetTools { source, tools } => self.set(reply, |driver| driver.set_tools(source, &tools)),
            Command::SetActiveTools(names) => self.set(reply, |driver| driver.activate_tools(&names)),
            Command::ClearQueue => {
                let (steering, follow_up) = self.state.queued();
                self.step(TurnInput::ClearQueue);
                answer(reply, Reply::Queue(steering, follow_up));
            }
            Command::Abort => {
                self.waiting.push(Waiting::Settled(reply));
                self.abort();
                self.settle_if_idle();
            }
            Command::WaitForIdle => {
                self.waiting.push(Waiting::Settled(reply));
                self.settle_if_idle();
            }
            Command::Compact { instructions } => {
                self.do_job(Job::Compaction { reason: Reason::Manual, instructions }, reply);
            }
            Command::NavigateTree(navigation) => self.do_job(Job::Navigation(Box::new(navigation)), reply),
            Command::Operate(operation) => self.operate(&operation, reply),
            Command::BringBack(what) => self.do_job(Job::BringBack(what), reply),
            Command::NewSession { parent } => self.replace(NextSession::Fresh { parent }, reply),
            Command::SwitchSession { file, folder } => self.replace(NextSession::Stored { file, folder }, reply),
            Command::Fork { entry } => self.replace(NextSession::Before(entry), reply),
            Command::ForkAt { entry } => self.replace(NextSession::At(entry), reply),
            Command::Clone => self.replace(NextSession::Copy, reply),
            Command::PrepareSession(prepared) => self.replace(NextSession::Prepared(prepared), reply),
            Command::Bash { command, exclude_from_context } => self.run_bash(command, exclude_from_context, reply),
            Command::AbortBash => {
                self.stop_bash();
                done(reply);
            }
            Command::SetModel(model) => {
                self.reset(|setup| setup.model = model);
                done(reply);
            }
            Command::SetThinkingLevel(level) => {
                self.reset(|setup| setup.thinking = level);
                answer(reply, Reply::Thinking(self.setup.thinking()));
            }
            Command::SetName(name) => self.set_name(&name, reply),
            Command::SetLabel { entry, label } => self.set_label(entry, label, reply),
            Command::SetSteeringMode(mode) => self.set(reply, |driver| driver.setup.steering = mode),
            Command::SetFollowUpMode(mode) => self.set(reply, |driver| driver.setup.follow_up = mode),
            Command::SetAutoCompaction(is_on) => self.set(reply, |driver| driver.setup.compaction.enabled = is_on),
            Command::SetAutoRetry(is_on) => self.set(reply, |driver| driver.setup.retry.enabled = is_on),
            Command::SetRules(rules) => self.set(reply, |driver| driver.setup.follow(*rules)),
            Command::SetSystemPrompt(prompt) => self.set(reply, |driver| driver.setup.system = prompt.into()),
            Command::SetResources(resources) => self.set(reply, |driver| driver.setup.use_resources(resources)),
            Command::Reload(ReloadedSetup(new)) => self.set(reply, |driver| driver.reload(&new)),
            Command::Approve { id, decision, message } => self.approve(id, decision, message, reply),
            Command::SetApproval(mode) => self.set_approval(mode, reply),
            Command::RunNested(nested) => self.run_nested(nested, reply),
            Command::BuiltIn(name) => answer(reply, Reply::BuiltIn(self.built_in(&name))),
            Command::Inspect => answer(reply, Reply::Standing(Box::new(self.standing()))),
        }
    }

    /// Takes a setup that was read anew.
    pub(super) fn reload(&mut self, new: &Setup) {
        self.reload_tools(new);
        self.redactor = KeyRedactor::of(self.setup.keys.as_ref(), None);
        self.limit_extensions();
    }

    /// Agents that extensions start may do no more than this one.
    pub(super) fn limit_extensions(&self) {
        if let Some(extensions) = &self.setup.extensions {
            extensions.limit(self.setup.limits());
        }
    }

    fn do_job(&mut self, job: Job, reply: Waiter) {
        self.waiting.push(Waiting::Job(reply));
        self.step(TurnInput::Do(job));
    }

    /// Changes the configuration of the machine and of later requests.
    fn set(&mut self, reply: Waiter, change: impl FnOnce(&mut Self)) {
        change(self);
        self.configure();
        done(reply);
    }

    fn set_name(&mut self, name: &str, reply: Waiter) {
        let entry = NewEntry::session_info(name);
        let given = name.to_owned();
        let name = Some(name.trim().to_owned()).filter(|name| !name.is_empty());
        self.change(reply, Reply::Done, move |owned| {
            if owned.session().is_named(&given).map_err(AgentError::from)? {
                return Ok(None);
            }
            owned.append(&[entry])?;
            Ok(Some(Event::SessionInfoChanged { name }))
        });
    }

    fn set_label(&mut self, entry: String, label: Option<String>, reply: Waiter) {
        self.change(reply, Reply::Done, move |owned| {
            owned.session().find(&entry)?;
            if owned.session().is_labelled(&EntryId::new(&entry), label.as_deref()) {
                return Ok(None);
            }
            owned.append(&[NewEntry::label(&entry, label.as_deref())])?;
            Ok(owned.leaf_entry())
        });
    }

    fn reset(&mut self, change: impl FnOnce(&mut Setup)) {
        let (before, model) = (self.setup.thinking(), self.setup.model.clone());
        change(&mut self.setup);
        self.configure();
        self.record_settings();
        let level = self.setup.thinking();
        if level != before {
            self.outbox.tell(Event::ThinkingLevelChanged { level: level.as_str().to_owned() });
        }
        if let Some(extensions) = &self.setup.extensions {
            let now = self.setup.model.clone();
            if (&now.provider, &now.id) != (&model.provider, &model.id) {
                extensions.tell_happening(Happening::ModelSelected { before: model, now });
            }
            if level != before {
                extensions.tell_happening(Happening::ThinkingSelected { before, now: level });
            }
        }
    }

    fn standing(&self) -> Standing {
        let (steering, follow_up) = self.state.queued();
        let Frame { system, tools, .. } = self.frame();
        Standing {
            model: self.setup.model.clone(),
            thinking: self.setup.thinking(),
            is_streaming: !self.state.is_idle() && !self.state.is_at_a_job(),
            settled: self.settled.clone(),
            is_at_a_job: self.state.is_at_a_job(),
            steering,
            follow_up,
            overhead: overhead_tokens(&system, &tools),
            system,
            resources: self.setup.resources.clone(),
            tools: ToolList(self.tool_set.all().into()),
            active_tools: self.setup.tools.iter().map(|tool| tool.name().to_owned()).collect(),
            steering_mode: self.setup.steering,
            follow_up_mode: self.setup.follow_up,
            auto_compaction: self.setup.compaction.enabled,
            approval: self.setup.permissions.mode,
            limits: self.setup.limits(),
            branch_reserve: self.setup.branch_reserve,
        }
    }

    fn queue(&mut self, said: UserPrompt, input: impl FnOnce(Message) -> TurnInput, reply: Waiter) {
        match self.message(said) {
            Ok(message) => {
                self.step(input(message.into()));
                done(reply);
            }
            Err(error) => refuse(reply, error),
        }
    }

    /// What is sent for a prompt, if it can fit the model's window.
    fn message(&self, said: UserPrompt) -> Result<UserMessage, AgentError> {
        let UserPrompt { before, text, images } = said;
        let text = self.setup.resources.expand(&text)?.unwrap_or(text);
        let message =
            UserMessage::new(self.redactor.redact_text(joined(&before, &text)), images, self.setup.clock.now());
        self.check_size(&message.clone().into())?;
        Ok(message)
    }

    /// Refuses what cannot fit the model's window by itself.
    pub(super) fn check_size(&self, message: &Message) -> Result<(), OversizedPrompt> {
        Window::of(&self.setup.model).map_or(Ok(()), |window| window.check(message))
    }

    /// Records a changed model or thinking level, if the session has begun; otherwise the first prompt does.
    fn record_settings(&mut self) {
        let now = self.settings();
        self.write(Vec::new(), WriteOf::Beside("the choice of model and thinking level"), move |owned| {
            owned.append_settings(&now).map(|()| None)
        });
    }

    /// Runs a write, and replies when it is durable.
    pub(super) fn change(
        &mut self,
        reply: Waiter,
        with: Reply,
        work: impl FnOnce(&mut OwnedSession) -> Written + Send + 'static,
    ) {
        let own = self.own.clone();
        self.writer.handle().send(work, move |done| {
            let result = done.and_then(|result| result);
            drop(own.send(DriverInput::Changed { result, reply, with }));
        });
    }

    pub(super) fn changed(&mut self, result: Written, reply: Waiter, with: Reply) {
        let result = result.map(|event| {
            if let Some(event) = event {
                self.outbox.tell(event);
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
    // The caller may have stopped waiting.
    drop(reply.send(Ok(with)));
}

pub(super) fn refuse(reply: Waiter, why: AgentError) {
    drop(reply.send(Err(why)));
}
