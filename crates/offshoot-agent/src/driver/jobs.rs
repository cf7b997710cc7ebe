//! Compactions and walks through the tree: planned on the session's thread, summarised beside it, written at the end in
//! one step. If the model gives no summary, the summariser without a model does, and the entry says so.

use offshoot_session::branch_summary::{self, BranchPlan, Instructions};
use offshoot_session::compact::{self, Plan, Planned};
use offshoot_session::compose::NewEntry;
use offshoot_session::entry::{Source as _, text_of};
use offshoot_session::error::Error;
use offshoot_session::id::EntryId;
use offshoot_session::json::{Json, Object};
use offshoot_session::kind::{Kind, Role};
use offshoot_session::session::Session;
use offshoot_session::summariser::{Answer, Drafted, Extractive, Request};
use std::sync::Arc;

use super::{Driver, In, Recorded};
use crate::command::{Navigated, Navigation};
use crate::error::AgentError;
use crate::event::{Event, Raw};
use crate::model::Access;
use crate::summarise::{Listener, ModelSummariser, Summarise};
use crate::turn::{Draft, Input, Job, Ticket};
use crate::words::in_words;
use crate::writer::{Desk, Owned};

/// What a job came to, before it is written.
pub(crate) struct Ready {
    what: What,
    warning: Option<String>,
}

enum What {
    Compaction { plan: Box<Plan>, drafted: Drafted },
    Navigation { navigation: Navigation, summary: Option<(Box<BranchPlan>, Drafted)> },
}

/// What a job came to, in the file.
pub(crate) struct Committed {
    result: Raw,
    navigated: Option<(Navigated, Event, Recorded)>,
}

/// What both jobs need.
struct Means {
    desk: Desk,
    summariser: Result<Arc<dyn Summarise>, String>,
}

impl Driver {
    pub(super) fn draft(&mut self, ticket: Ticket, job: Job) {
        let own = self.own.clone();
        let means = Means { desk: self.writer.desk().clone(), summariser: self.summariser(ticket) };
        let settings = self.setup.compaction();
        let window = match self.setup.model.context_window {
            0 => branch_summary::DEFAULT_WINDOW,
            window => window,
        };
        let budget = window.saturating_sub(self.setup.branch_reserve);
        let navigation = self.navigation.take().unwrap_or_default();
        self.spawn(async move {
            let ready = match job {
                Job::Compaction { instructions, .. } => {
                    let begins = || drop(own.send(In::Machine(Input::Planned { ticket })));
                    compaction(&means, settings, instructions, begins).await
                }
                Job::Navigation => walk(&means, navigation, budget).await,
            };
            drop(own.send(In::Drafted { ticket, ready: Box::new(ready) }));
        });
    }

    /// Who writes summaries; that a model is asked again is told.
    fn summariser(&self, ticket: Ticket) -> Result<Arc<dyn Summarise>, String> {
        if let Some(summariser) = &self.setup.summariser {
            return Ok(summariser.clone());
        }
        let setup = &self.setup;
        let Access { model, key } = setup.keys.access(&setup.model).map_err(|error| error.to_string())?;
        let provider = setup.provider.clone();
        let own = self.own.clone();
        let listener: Listener = Arc::new(move |trying| drop(own.send(In::Machine(Input::Trying { ticket, trying }))));
        let (thinking, retry) = (setup.thinking(), setup.retry);
        Ok(Arc::new(ModelSummariser { provider, model, thinking, key, retry, listener: Some(listener) }))
    }

    pub(super) fn drafted(&mut self, ticket: Ticket, ready: Result<Ready, Draft>) {
        let draft = match ready {
            Ok(ready) => {
                let warning = ready.warning.clone();
                self.ready = Some(ready);
                Draft::Ready { warning }
            }
            Err(draft) => draft,
        };
        self.step(Input::Drafted { ticket, draft });
    }

    pub(super) fn commit(&mut self, ticket: Ticket) {
        let Some(ready) = self.ready.take() else { return };
        let own = self.own.clone();
        self.writer.desk().give(move |owned| {
            let result = write(owned, ready);
            drop(own.send(In::Committed { ticket, result }));
        });
    }

    pub(super) fn committed(&mut self, ticket: Ticket, result: Result<Committed, AgentError>) {
        match result {
            Ok(Committed { result, navigated }) => {
                if let Some((navigated, event, recorded)) = navigated {
                    // What the new place lacks of model and thinking comes with the next prompt.
                    self.recorded = recorded;
                    self.navigated = Some(navigated);
                    self.tell(event);
                }
                self.step(Input::Committed { ticket, result });
            }
            Err(error) => self.step(Input::WriteFailed { error }),
        }
    }
}

async fn compaction(
    means: &Means,
    settings: compact::Settings,
    instructions: Option<String>,
    begins: impl Fn(),
) -> Result<Ready, Draft> {
    let plan = means.desk.ask(move |owned| plan(owned.session(), &settings)).await;
    let plan = plan.unwrap_or_else(|| Err(ended()))?;
    begins();
    let requests = plan.requests(instructions.as_deref());
    let by_model = summarise(means, requests).await;
    let by_model = by_model.and_then(|(answers, name)| plan.summary(&answers, name).map_err(|error| in_words(&error)));
    let (drafted, warning) = match by_model {
        Ok(drafted) => (drafted, None),
        Err(why) => {
            let again = plan.clone();
            let by_rule = means.desk.ask(move |owned| again.run(&Extractive::new(owned.session()), None)).await;
            (without_model(by_rule, &why)?, Some(why))
        }
    };
    Ok(Ready { what: What::Compaction { plan, drafted }, warning })
}

fn plan(session: &Session, settings: &compact::Settings) -> Result<Box<Plan>, Draft> {
    match compact::plan(session, session.leaf(), session.dialect(), settings) {
        Ok(Planned::Cut(plan)) => Ok(plan),
        Ok(Planned::AlreadyCompacted) => Err(Draft::Nothing("already compacted")),
        Ok(Planned::TooSmall) => Err(Draft::Nothing("the session is too small to be compacted")),
        Err(error) => Err(Draft::Failed(error.into())),
    }
}

/// Asks for one summary after the other.
async fn summarise(means: &Means, requests: Vec<Request>) -> Result<(Vec<Answer>, Option<&'static str>), String> {
    let summariser = means.summariser.clone()?;
    let mut answers = Vec::with_capacity(requests.len());
    for request in requests {
        answers.push(summariser.summarise(request).await?);
    }
    Ok((answers, summariser.name()))
}

fn without_model(by_rule: Option<Result<Drafted, Error>>, why: &str) -> Result<Drafted, Draft> {
    match by_rule {
        Some(Ok(drafted)) => Ok(drafted),
        Some(Err(error)) => {
            Err(Draft::Failed(AgentError::Failed(format!("{why}; and without a model: {}", in_words(&error)))))
        }
        None => Err(ended()),
    }
}

fn ended() -> Draft {
    Draft::Failed(AgentError::Ended)
}

async fn walk(means: &Means, navigation: Navigation, budget: u64) -> Result<Ready, Draft> {
    let target = navigation.target.clone();
    let wants = navigation.summarize;
    let planned = means.desk.ask(move |owned| plan_walk(owned.session(), &target, wants, budget)).await;
    let Some(plan) = planned.unwrap_or_else(|| Err(ended()))? else {
        return Ok(Ready { what: What::Navigation { navigation, summary: None }, warning: None });
    };
    let instructions = match (&navigation.instructions, navigation.replace_instructions) {
        (None, _) => Instructions::Plain,
        (Some(text), false) => Instructions::Focus(text),
        (Some(text), true) => Instructions::Instead(text),
    };
    let by_model = match plan.request(instructions) {
        None => plan.summary(None, None).map_err(|error| in_words(&error)),
        Some(request) => summarise(means, vec![request])
            .await
            .and_then(|(answers, name)| plan.summary(answers.first(), name).map_err(|error| in_words(&error))),
    };
    let (drafted, warning) = match by_model {
        Ok(drafted) => (drafted, None),
        Err(why) => {
            let again = plan.clone();
            let by_rule = move |owned: &mut Owned| again.run(&Extractive::new(owned.session()), Instructions::Plain);
            (without_model(means.desk.ask(by_rule).await, &why)?, Some(why))
        }
    };
    Ok(Ready { what: What::Navigation { navigation, summary: Some((plan, drafted)) }, warning })
}

fn plan_walk(session: &Session, target: &str, wants: bool, budget: u64) -> Result<Option<Box<BranchPlan>>, Draft> {
    let failed = |error: Error| Draft::Failed(error.into());
    let ix = session.find(target).map_err(failed)?;
    if !wants || session.leaf() == Some(ix) {
        return Ok(None);
    }
    let plan = branch_summary::plan(session, session.leaf(), Some(ix), budget).map_err(failed)?;
    Ok(Some(Box::new(plan)).filter(|plan| !plan.entries.is_empty()))
}

fn write(owned: &mut Owned, ready: Ready) -> Result<Committed, AgentError> {
    match ready.what {
        What::Compaction { plan, drafted } => {
            let entry = plan.entry(&drafted, owned.session().dialect());
            owned.append(&[entry])?;
            let result = Object::new()
                .str("summary", &drafted.text)
                .str("firstKeptEntryId", plan.first_kept_id.as_str())
                .raw("tokensBefore", plan.tokens_before)
                .raw("estimatedTokensAfter", plan.tokens_after(&drafted.text))
                .raw("details", &drafted.details);
            let result = drafted.usage.iter().fold(result, |result, usage| result.raw("usage", usage));
            let report = compact::report::report(&plan, &drafted.text).to_json();
            Ok(Committed { result: Raw(result.raw("report", report).finish()), navigated: None })
        }
        What::Navigation { navigation, summary } => go(owned, &navigation, summary, ready.warning),
    }
}

/// Moves the leaf, durably.
fn go(
    owned: &mut Owned,
    navigation: &Navigation,
    summary: Option<(Box<BranchPlan>, Drafted)>,
    warning: Option<String>,
) -> Result<Committed, AgentError> {
    let session = owned.session();
    let ix = session.find(&navigation.target)?;
    let is_there = session.leaf() == Some(ix);
    let (leaf, editor_text) = if is_there || navigation.is_behind { (Some(ix), None) } else { place(session, ix)? };
    let summary = owned.write(|session| {
        let id = leaf.and_then(|leaf| session.tree().node(leaf).id().cloned());
        match summary {
            Some((_, drafted)) => {
                session.branch_with_summary(id.as_ref().map(EntryId::as_str), &drafted.branch_summary()).map(Some)
            }
            None if is_there => Ok(None),
            None => match leaf {
                Some(leaf) => session.switch(leaf).map(|()| None),
                // Before the first entry nothing can be marked: the next message is a new root.
                None => {
                    session.reset_leaf();
                    Ok(None)
                }
            },
        }
    })?;
    if let Some(label) = &navigation.label {
        let target = summary.as_ref().map_or(navigation.target.as_str(), EntryId::as_str);
        owned.append(&[NewEntry::label(target, Some(label))])?;
    }
    let session = owned.session();
    let event = Event::SessionChanged {
        reason: "tree",
        session_id: session.id().to_owned(),
        session_file: session.file().map(|file| file.display().to_string()),
    };
    let summary = summary.map(|id| id.as_str().to_owned());
    let navigated = Navigated { editor_text, summary, aborted: false, warning };
    Ok(Committed { result: Raw("null".to_owned()), navigated: Some((navigated, event, Recorded::of(session))) })
}

/// Where going to an entry leads: before a message that is to be said anew, else to the entry itself.
fn place(
    session: &Session,
    ix: offshoot_session::tree::NodeIx,
) -> Result<(Option<offshoot_session::tree::NodeIx>, Option<String>), AgentError> {
    let tree = session.tree();
    let node = tree.node(ix);
    let is_user = node.role() == Some(Role::User);
    if !is_user && node.kind() != Kind::CustomMessage {
        return Ok((Some(ix), None));
    }
    let entry = session.entry(ix)?;
    let content = match is_user {
        true => entry.message().and_then(|message| message.get("content")),
        false => entry.get("content"),
    };
    let text = content.map(|content: Json<'_>| text_of(content, ""));
    Ok((tree.parent(ix), text))
}
