//! What the front end shows of the open session: its last entries and its facts.

use std::sync::{Arc, Mutex};

use offshoot_agent::agent_session::AgentSession;
use offshoot_agent::request_queue::AgentState;
use offshoot_agent::writer::is_deleted;
use offshoot_app::app::{App, quoted};
use offshoot_protocol::model::Model;
use offshoot_protocol::{AgentError, SessionChangeReason};
use offshoot_session::clock::{Millis, ago};
use offshoot_session::context;
use offshoot_session::entry::Source as _;
use offshoot_session::error::{Error, Severity};
use offshoot_session::medium::real_path_or_same;
use offshoot_session::session::Session;
use offshoot_session::stats;
use offshoot_session::text::{counted, dollars, grouped};
use offshoot_session::todo::TodoList;
use offshoot_session::transcript::{Item, Level, ToolResult};
use offshoot_session::tree::NodeIx;
use offshoot_tui::app::msg::{Diverged, ModelAccess, Msg, Opened, OpenedReason, Persistence, SessionFacts};
use offshoot_tui::conversation::ConversationBlock;
use offshoot_tui::markdown::plain;
use offshoot_tui::transcript::PathLength;

use super::draft_files::DraftKey;
use super::extension_history;
use super::git_branch;
use super::job_context::JobContext;

/// The width of the last words that name a branch.
const NAMED: usize = 80;
/// The entries shown of an opened session; earlier ones are in the transcript.
const TAIL: usize = 60;

/// The leaf of an opened place, and the one of which it is a continuation.
#[derive(Default)]
pub(super) struct Leaves {
    pub(super) leaf: Option<String>,
    pub(super) grown_from: Option<String>,
}

/// Sends the last entries on the path to the leaf, without entries that later events are about. Without a reason it is the
/// start: the leaf is the current one.
pub(super) async fn open(context: &JobContext, agent: &AgentSession, reason: OpenedReason, leaves: Leaves) {
    let has_extensions = context.extensions.is_some();
    let read = agent.read(move |session| {
        let find = |id: Option<String>| id.and_then(|id| session.tree().find(&id));
        let (leaf, grown_from) = match reason {
            OpenedReason::Start => (session.leaf(), None),
            OpenedReason::Grown | OpenedReason::Changed(_) => (find(leaves.leaf), find(leaves.grown_from)),
        };
        let (opened, odd) = opened(session, reason, (leaf, grown_from), has_extensions)?;
        let lines = if has_extensions { extension_history::lines(session, leaf, TAIL) } else { Vec::new() };
        Ok::<_, Error>((opened, odd, lines))
    });
    let (read, start) = match reason {
        OpenedReason::Start => tokio::join!(read, start(context, agent)),
        OpenedReason::Grown | OpenedReason::Changed(_) => (read.await, None),
    };
    match read {
        Ok(Ok((opened, odd, lines))) => {
            let may_change = |item: &Item| matches!(item, Item::User(_) | Item::Answer(_));
            let items = opened.tail.iter().map(|block| &block.item).filter(|item| has_extensions && may_change(item));
            let held = extension_history::hold(context, lines, items.cloned().collect());
            let opened = Opened { start, held, ..opened };
            if !matches!(reason, OpenedReason::Start | OpenedReason::Changed(SessionChangeReason::Tree)) {
                odd.into_iter().for_each(|told| context.notice(Level::Warning, told));
            }
            context.tell(Msg::Opened(opened));
        }
        Ok(Err(error)) => context.notice(Level::Error, format!("the session cannot be read: {error}")),
        Err(error) => context.notice(Level::Error, error.to_string()),
    }
}

/// What the rows at the start name.
async fn start(context: &JobContext, agent: &AgentSession) -> Option<Box<SessionFacts>> {
    let state = agent.state().await.ok()?;
    let app = context.app.clone();
    let cwd = agent.read(move |session| app.environment.short(session.cwd().unwrap_or_default())).await.ok()?;
    let access = access(context, &state.model).await;
    let git_branch = git_branch::find(context, agent).await;
    let (model, thinking) = (Some(state.model), Some(state.thinking));
    Some(Box::new(SessionFacts { cwd, git_branch, model, thinking, access, ..SessionFacts::default() }))
}

fn opened(
    session: &Session,
    reason: OpenedReason,
    (leaf, grown_from): (Option<NodeIx>, Option<NodeIx>),
    has_extensions: bool,
) -> Result<(Opened, Vec<String>), Error> {
    let tree = session.tree();
    let grown = grown_from
        .filter(|from| leaf.into_iter().flat_map(|leaf| tree.ancestors(leaf)).take(TAIL).any(|ix| ix == *from));
    let reason = if grown.is_some() { OpenedReason::Grown } else { reason };
    let (mut tail, above) = tail(session, leaf, grown, has_extensions)?;
    if leaf == session.leaf() {
        tail.extend(session.interruption()?.map(ConversationBlock::new));
    }
    let length = PathLength::of(session.tree(), leaf, above);
    let odd = session.diagnostics().iter().filter(|told| told.severity() >= Severity::Warning).take(5);
    let odd = odd.map(|told| told.message.clone()).collect();
    Ok((
        Opened {
            reason,
            id: session.id().to_owned(),
            tail,
            hidden: length.groups_above,
            entries: length.entries,
            held: None,
            start: None,
        },
        odd,
    ))
}

/// The last entries, or those below one, and the entry before them.
fn tail(
    session: &Session,
    leaf: Option<NodeIx>,
    below: Option<NodeIx>,
    has_extensions: bool,
) -> Result<(Vec<ConversationBlock>, Option<NodeIx>), Error> {
    let tree = session.tree();
    let Some(leaf) = leaf else { return Ok((Vec::new(), None)) };
    let mut entries: Vec<NodeIx> = tree.ancestors(leaf).take(TAIL).take_while(|ix| Some(*ix) != below).collect();
    let mut above = entries.last().and_then(|last| tree.parent(*last));
    entries.reverse();
    let mut blocks: Vec<ConversationBlock> = Vec::new();
    let mut is_first = above.is_some();
    for ix in entries {
        let entry = session.entry(ix)?;
        let Some(item) = Item::of_entry(&entry).filter(Item::is_conversation) else {
            let block = if has_extensions { extension_history::drawn_entry(entry.line()) } else { None };
            blocks.extend(block);
            continue;
        };
        match item {
            // Its call is not among the shown entries.
            Item::Result(_) if is_first => above = Some(ix),
            Item::Result(result) => add_result(&mut blocks, result),
            item => {
                is_first = false;
                blocks.push(ConversationBlock::timed(item, tree.node(ix).time()));
            }
        }
    }
    Ok((blocks, above))
}

/// A result is attached to the answer with its call.
fn add_result(blocks: &mut Vec<ConversationBlock>, result: ToolResult) {
    match blocks.iter_mut().rev().find(|block| block.has_call(&result.call)) {
        Some(answer) => answer.results.push(Arc::new(result)),
        None => blocks.push(ConversationBlock::new(Item::Result(result))),
    }
}

/// The draft belongs to the open session.
pub(super) async fn own_draft(context: &JobContext, agent: &AgentSession) {
    // If the agent has ended, the draft stays where it is.
    if let Ok(owner) = agent.read(DraftKey::of).await {
        context.drafts.set_owner(owner);
    }
}

/// Sends the session's facts.
pub(super) async fn look(context: &JobContext, agent: &AgentSession) {
    let _look = context.looks.lock().await;
    own_draft(context, agent).await;
    let Ok(state) = agent.state().await else { return };
    let app = context.app.clone();
    let access = access(context, &state.model).await;
    let git_branch = git_branch::find(context, agent).await;
    match agent.read(move |session| seen(&app, session, &state)).await {
        Ok(Ok(facts)) => context.tell(Msg::SessionFacts(Box::new(SessionFacts { access, git_branch, ..facts }))),
        Ok(Err(error)) => context.notice(Level::Error, format!("the session cannot be looked at: {error}")),
        // The agent has ended.
        Err(_) => {}
    }
}

/// Whether the model can be asked, according to the current files.
async fn access(context: &JobContext, model: &Model) -> ModelAccess {
    match context.model_table().await {
        Ok(table) if table.can_ask(model) => ModelAccess::Ready,
        Ok(table) if table.usable().is_empty() => ModelAccess::NoKeys,
        Ok(_) => ModelAccess::NoKeyForModel,
        // A request will report the error.
        Err(_) => ModelAccess::Ready,
    }
}

/// The last reported problem of the session's file.
pub(super) type LastWarning = Arc<Mutex<Option<String>>>;

/// Checks what other programs did to the session; reports each problem once.
pub(super) async fn watch(context: JobContext, agent: AgentSession, told: LastWarning) {
    let mut is_readable = true;
    let odd = match agent.read(odd).await {
        Ok(None) => match agent.refresh().await {
            Ok(has_grown) => {
                if has_grown {
                    look(&context, &agent).await;
                }
                None
            }
            Err(AgentError::Ended) => return,
            Err(why) => {
                is_readable = false;
                let id = agent.read(|session| session.id().to_owned()).await.unwrap_or_default();
                Some(format!("{why}: /resume {id}"))
            }
        },
        Ok(odd) => odd,
        Err(_) => return,
    };
    let is_news = told.lock().is_ok_and(|mut told| std::mem::replace(&mut *told, odd.clone()) != odd);
    if is_news {
        odd.into_iter().for_each(|odd| context.notice(Level::Warning, odd));
        if is_readable {
            look(&context, &agent).await;
        }
    }
}

/// The problem of the session's file, and its solution.
fn odd(session: &Session) -> Option<String> {
    let is_current = session.tree().is_empty() || session.is_current().unwrap_or(true);
    if is_current {
        return session.file().filter(|_| session.has_waiting()).map(waiting);
    }
    Some(match is_deleted(session) {
        true => "another program deleted the session's file: the next message writes all of it again".to_owned(),
        false => format!(
            "another program put another file in the place of this session's: /clone continues with a copy of what is \
             here, /resume {} with the file",
            session.id()
        ),
    })
}

/// What can be done about entries that could not be written.
fn waiting(file: &std::path::Path) -> String {
    let file = quoted(&file.display().to_string());
    format!(
        "nothing is lost: what could not be written is kept beside the session and goes in with the next prompt. /clone \
         continues with it in a copy; `offshoot repair {file} --copy FILE` writes one anywhere"
    )
}

fn seen(app: &App, session: &Session, state: &AgentState) -> Result<SessionFacts, Error> {
    let overview = stats::overview(session, session.leaf())?;
    let branch = overview.label.unwrap_or_else(|| plain(&overview.last_words, NAMED));
    let is_spilled = session.spilled_ids().is_ok_and(|ids| !ids.is_empty());
    let file = session.file();
    Ok(SessionFacts {
        id: session.id().to_owned(),
        file: file.map(|file| app.environment.short(&file.display().to_string())),
        path: file.map(real_path_or_same),
        name: session.name()?.or_else(|| session.title().map(str::to_owned)),
        cwd: app.environment.short(session.cwd().unwrap_or_default()),
        model: Some(state.model.clone()),
        git_branch: None,
        access: ModelAccess::Ready,
        thinking: Some(state.thinking),
        approval: Some(state.approval),
        sandbox: state.sandbox.clone(),
        tokens: context::total_tokens(session, session.leaf(), session.dialect(), state.overhead)?,
        cost: overview.totals.cost,
        branch: Some(branch).filter(|branch| !branch.is_empty()),
        branches: overview.branches,
        todo: TodoList::at(session, session.leaf())?,
        persistence: match file {
            None => Persistence::InMemory,
            Some(_) if is_deleted(session) => Persistence::Deleted,
            Some(_) if is_spilled => Persistence::Spilled,
            Some(_) => Persistence::Durable,
        },
        diverged: newer(session, app.now()),
    })
}

/// Newer work on another branch, in its own words.
fn newer(session: &Session, now: Millis) -> Option<Diverged> {
    let work = session.newer_work()?;
    let node = session.tree().node(work);
    let entry = node.id()?.as_str().to_owned();
    let said = stats::last_request(session, work).ok().flatten().map(|said| format!(": “{}”", plain(&said, NAMED)));
    let when = node.time().map(|time| format!(", {}", ago(time, now))).unwrap_or_default();
    Some(Diverged { entry, message: format!("newer work{}{when}", said.unwrap_or_default()) })
}

/// Sends the session's counts and cost.
pub(super) async fn describe(context: &JobContext, agent: &AgentSession) {
    let Ok(state) = agent.state().await else { return };
    let app = context.app.clone();
    let about = agent.read(move |session| seen(&app, session, &state)).await;
    let (facts, stats) = match (about, agent.stats().await) {
        (Ok(Ok(facts)), Ok(stats)) => (facts, stats),
        (Ok(Err(error)), _) => return context.notice(Level::Error, format!("the session cannot be read: {error}")),
        (Err(error), _) | (_, Err(error)) => return context.notice(Level::Error, error.to_string()),
    };
    let row = |name: &str, value: String| format!("{name:<12}{value}");
    let usage = &stats.usage;
    let lines = vec![
        row("Name", facts.name.unwrap_or_else(|| "none: /name gives one".to_owned())),
        row("Id", facts.id),
        row("File", facts.file.unwrap_or_else(|| "none: the session is only in memory".to_owned())),
        row("Folder", facts.cwd),
        String::new(),
        row(
            "Messages",
            format!("{} of yours, {}", stats.user_messages, counted(stats.assistant_messages, "answer", "answers")),
        ),
        row(
            "Tools",
            [counted(stats.tool_calls, "call", "calls"), counted(stats.tool_results, "result", "results")].join(", "),
        ),
        row("Branches", facts.branches.to_string()),
        row(
            "Tokens",
            format!(
                "{} in, {} out, {} read from caches, {} written to them",
                grouped(usage.input),
                grouped(usage.output),
                grouped(usage.cache_read),
                grouped(usage.cache_write)
            ),
        ),
        row("Cost", format!("{} in all, {} on this branch", dollars(usage.cost), dollars(stats.path.cost))),
    ];
    context.tell(Msg::Page("Session".to_owned(), lines));
}
