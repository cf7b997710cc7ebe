//! What front ends ask, and whether it is possible during a turn or a job.

use offshoot_protocol::message::{Message, UserMessage};
use offshoot_protocol::request::{
    Abort, AbortBash, Children, ClearQueue, ClearedQueue, CloneSession, Compact, FollowUp, Fork, ForkAt, Inject,
    InjectUser, PrepareSession, Prompt, SetActiveTools, SetApproval, SetAutoCompaction, SetAutoRetry, SetFollowUpMode,
    SetModel, SetRunSettings, SetSteeringMode, SetSystemPrompt, SetThinkingLevel, Spoken, StartSession, Steer,
    SwitchSession, UserPrompt, WaitForIdle, WhileBusy,
};
use offshoot_protocol::{AgentError, Event, OversizedPrompt, Reason};

use super::replace::NextSession;
use super::sandboxes::KnownSandbox;
use super::{Driver, Waiting, WriteOf};
use crate::extensions::Happening;
use crate::key_redactor::KeyRedactor;
use crate::request::{Frame, overhead_tokens};
use crate::request_queue::{
    AgentState, Asked, BuiltIn, Continue, Inspect, NextSandbox, Reload, ReplyTo, SetResources, SetSandbox, SetTools,
    ToolList,
};
use crate::setup::{ReloadedSetup, Setup};
use crate::turn::{Job, TurnInput};
use crate::window::{self, window_of};

/// Why a request is refused during a job.
const AT_A_JOB: &str = "a summary is being written: stop it, or wait for its end";

impl Driver {
    pub(super) fn asked(&mut self, asked: Asked) {
        if self.is_ending {
            return asked.refuse(AgentError::Ended);
        }
        if self.is_replacing || self.is_operating || self.is_leaving() {
            return self.deferred.push_back(asked);
        }
        let is_idle = self.state.is_idle();
        match asked.while_busy() {
            WhileBusy::Refused(why) if !is_idle => {
                let why = if self.state.is_at_a_job() { AT_A_JOB } else { why };
                asked.refuse(AgentError::Busy(why));
            }
            WhileBusy::StopsTurn if !is_idle => {
                self.deferred.push_back(asked);
                self.abort();
            }
            WhileBusy::StopsAll if !is_idle || self.bash.is_some() => {
                self.deferred.push_back(asked);
                self.stop_bash();
                self.abort();
            }
            WhileBusy::Begins | WhileBusy::Refused(_) | WhileBusy::StopsTurn | WhileBusy::StopsAll => self.begin(asked),
        }
    }

    /// Whether the session is about to be left, but the user's stopped shell command has not ended.
    fn is_leaving(&self) -> bool {
        let stops_all = |asked: &Asked| matches!(asked.while_busy(), WhileBusy::StopsAll);
        self.bash.is_some() && self.deferred.front().is_some_and(stops_all)
    }

    pub(super) fn abort(&mut self) {
        let at = self.setup.clock.now();
        self.step(TurnInput::Abort { at });
    }

    /// Answers callers that wait for the end, if nothing is running.
    fn settle_if_idle(&mut self) {
        if self.state.is_idle() && !self.is_replacing && !self.is_operating {
            self.settle(&offshoot_protocol::Settled::Done, None);
        }
    }

    /// Starts deferred requests when nothing is running.
    pub(super) fn catch_up(&mut self) {
        while self.state.is_idle() && !self.is_replacing && !self.is_operating && !self.is_leaving() {
            let Some(asked) = self.deferred.pop_front() else { return };
            self.begin(asked);
        }
    }

    /// Answers deferred requests as if they had arrived now, when an operation has begun to wait for its summary.
    pub(super) fn take_deferred(&mut self) {
        std::mem::take(&mut self.deferred).into_iter().for_each(|asked| self.asked(asked));
    }

    fn begin(&mut self, asked: Asked) {
        match asked {
            Asked::Prompt(Prompt(said), reply) => match self.message(said) {
                Ok(message) => {
                    self.waiting.push(Waiting::Prompt(reply));
                    self.prompt(message);
                }
                Err(error) => reply.refuse(error),
            },
            Asked::Children(Children, reply) => reply.answer(self.child_states()),
            Asked::ToChild(order, reply) => self.order_child(order, reply),
            Asked::Continue(Continue, reply) => {
                self.waiting.push(Waiting::Prompt(reply));
                self.step(TurnInput::Continue);
            }
            Asked::Steer(Steer(said), reply) => self.queue(said, TurnInput::Steer, reply),
            Asked::FollowUp(FollowUp(said), reply) => self.queue(said, TurnInput::FollowUp, reply),
            Asked::Inject(Inject { message, delivery }, reply) => reply.send(self.inject(message, delivery)),
            Asked::InjectUser(InjectUser { content, delivery }, reply) => {
                reply.send(self.inject_user(content, delivery));
            }
            Asked::AppendEntry(new, reply) => self.append_entry(new, reply),
            Asked::SetTools(SetTools { source, tools }, reply) => {
                self.set(reply, |driver| driver.set_tools(source, &tools));
            }
            Asked::SetActiveTools(SetActiveTools(names), reply) => {
                self.set(reply, |driver| driver.activate_tools(&names));
            }
            Asked::ClearQueue(ClearQueue, reply) => {
                let (steering, follow_up) = self.state.queued();
                self.step(TurnInput::ClearQueue);
                reply.answer(ClearedQueue { steering, follow_up });
            }
            Asked::Abort(Abort, reply) => {
                self.waiting.push(Waiting::Settled(reply));
                self.abort();
                self.settle_if_idle();
            }
            Asked::WaitForIdle(WaitForIdle, reply) => {
                self.waiting.push(Waiting::Settled(reply));
                self.settle_if_idle();
            }
            Asked::Compact(Compact(instructions), reply) => {
                let job = Job::Compaction { reason: Reason::Manual, instructions };
                self.do_job(job, Waiting::Compaction(reply));
            }
            Asked::Operate(operation, reply) => self.operate(operation, reply),
            Asked::StartSession(StartSession { parent }, reply) => self.replace(NextSession::Fresh { parent }, reply),
            Asked::SwitchSession(SwitchSession { file, folder }, reply) => {
                self.replace(NextSession::Stored { file, folder }, reply);
            }
            Asked::Fork(Fork { entry, files }, reply) => self.replace(NextSession::Before(entry, files), reply),
            Asked::ForkAt(ForkAt { entry }, reply) => self.replace(NextSession::At(entry), reply),
            Asked::CloneSession(CloneSession, reply) => self.replace(NextSession::Copy, reply),
            Asked::PrepareSession(PrepareSession(prepared), reply) => {
                self.replace(NextSession::Prepared(prepared), reply);
            }
            Asked::RunBash(run, reply) => self.run_bash(run, reply),
            Asked::AbortBash(AbortBash, reply) => {
                self.stop_bash();
                reply.answer(());
            }
            Asked::SetModel(SetModel(model), reply) => {
                self.reset(|setup| setup.model = model);
                reply.answer(());
            }
            Asked::SetThinkingLevel(SetThinkingLevel(level), reply) => {
                self.reset(|setup| setup.thinking = level);
                reply.answer(self.setup.thinking());
            }
            Asked::SetSteeringMode(SetSteeringMode(mode), reply) => {
                self.set(reply, |driver| driver.setup.steering = mode);
            }
            Asked::SetFollowUpMode(SetFollowUpMode(mode), reply) => {
                self.set(reply, |driver| driver.setup.follow_up = mode);
            }
            Asked::SetAutoCompaction(SetAutoCompaction(is_on), reply) => {
                self.set(reply, |driver| driver.setup.compaction.enabled = is_on);
            }
            Asked::SetAutoRetry(SetAutoRetry(is_on), reply) => {
                self.set(reply, |driver| driver.setup.retry.enabled = is_on);
            }
            Asked::SetRunSettings(SetRunSettings(rules), reply) => {
                self.set(reply, |driver| driver.setup.follow(*rules));
            }
            Asked::SetSystemPrompt(SetSystemPrompt(prompt), reply) => {
                self.set(reply, |driver| driver.setup.system = prompt.into());
            }
            Asked::SetResources(SetResources(resources), reply) => {
                self.set(reply, |driver| driver.setup.use_resources(resources));
            }
            Asked::Reload(Reload(ReloadedSetup(new)), reply) => self.set(reply, |driver| driver.reload(&new)),
            Asked::Approve(answer, reply) => self.approve(answer, reply),
            Asked::StopBackground(stop, reply) => self.stop_background(stop, reply),
            Asked::AnswerForm(answer, reply) => self.answer_form(answer, reply),
            Asked::SetApproval(SetApproval(mode), reply) => self.set_approval(mode, reply),
            Asked::SetSandbox(SetSandbox(NextSandbox(sandbox)), reply) => self.set_sandbox(sandbox.as_deref(), reply),
            Asked::RunNested(nested, reply) => self.run_nested(nested, reply),
            Asked::BuiltIn(BuiltIn(name), reply) => reply.answer(self.built_in(&name)),
            Asked::Inspect(Inspect, reply) => reply.answer(self.state()),
        }
    }

    /// Takes a setup that was read anew.
    pub(super) fn reload(&mut self, new: &Setup) {
        self.reload_tools(new);
        self.redactor = KeyRedactor::of(self.setup.keys.as_ref(), None);
        self.known_sandbox = KnownSandbox::of(&self.setup);
        self.limit_extensions();
    }

    /// Agents that extensions start may do no more than this one.
    pub(super) fn limit_extensions(&self) {
        if let Some(extensions) = &self.setup.extensions {
            extensions.limit(self.setup.limits());
        }
    }

    fn do_job(&mut self, job: Job, caller: Waiting) {
        self.waiting.push(caller);
        self.step(TurnInput::Do(job));
    }

    /// Changes the configuration of the machine and of later requests.
    fn set(&mut self, reply: ReplyTo<()>, change: impl FnOnce(&mut Self)) {
        change(self);
        self.configure();
        reply.answer(());
    }

    fn reset(&mut self, change: impl FnOnce(&mut Setup)) {
        let (before, model) = (self.setup.thinking(), self.setup.model.clone());
        change(&mut self.setup);
        self.configure();
        self.record_settings();
        let level = self.setup.thinking();
        if level != before {
            self.outbox.tell(Event::ThinkingLevelChanged { level });
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

    fn state(&self) -> AgentState {
        let (steering, follow_up) = self.state.queued();
        let Frame { system, tools, .. } = self.frame();
        AgentState {
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
            tools: ToolList(self.tool_set.usable().into()),
            active_tools: self.setup.tools.iter().map(|tool| tool.name().to_owned()).collect(),
            steering_mode: self.setup.steering,
            follow_up_mode: self.setup.follow_up,
            auto_compaction: self.setup.compaction.enabled,
            approval: self.setup.permissions.mode,
            granted: self.approvals.granted.clone(),
            limits: self.setup.limits(),
            sandbox: self
                .setup
                .tool_context
                .sandbox
                .as_ref()
                .map(|sandbox| sandbox.report(&self.setup.tool_context.cwd)),
            branch_reserve: self.setup.branch_reserve,
        }
    }

    fn queue(&mut self, said: UserPrompt, input: impl FnOnce(Message) -> TurnInput, reply: ReplyTo<Spoken<()>>) {
        match self.message(said) {
            Ok(message) => {
                self.step(input(message.into()));
                reply.answer(Spoken::Taken(()));
            }
            Err(error) => reply.refuse(error),
        }
    }

    /// What is sent for a prompt, if it can fit the model's window.
    fn message(&self, said: UserPrompt) -> Result<UserMessage, AgentError> {
        let expanded = self.setup.resources.expand(&said.text).map_err(|error| error.to_string())?;
        let said = UserPrompt { text: expanded.unwrap_or(said.text), ..said };
        let text = self.redactor.redact_text(said.with_files());
        let message = UserMessage::new(text, said.images, self.setup.clock.now());
        self.check_size(&message.clone().into())?;
        Ok(message)
    }

    /// Refuses what cannot fit the model's window by itself.
    pub(super) fn check_size(&self, message: &Message) -> Result<(), OversizedPrompt> {
        window_of(&self.setup.model).map_or(Ok(()), |window| window::check_size(&window, message))
    }

    /// Records a changed model or thinking level, if the session has begun; otherwise the first prompt does.
    fn record_settings(&mut self) {
        let now = self.settings();
        self.write(Vec::new(), WriteOf::Beside("the choice of model and thinking level"), move |owned| {
            owned.append_settings(&now).map(|()| None)
        });
    }
}
