//! Commands that only read: the agent's state, the session, its tree and cost.

use offshoot_agent::forecast::RequestPlace;
use offshoot_agent::request_queue::AgentState;
use offshoot_agent::stats::SessionStats;
use offshoot_app::error::Result;
use offshoot_app::{lookup, next_request};
use offshoot_session::context;
use offshoot_session::entry::Source as _;
use offshoot_session::id::EntryId;
use offshoot_session::json::Object;
use offshoot_session::kind::Role;
use offshoot_session::list::SessionInfo;
use offshoot_session::session::Session;
use offshoot_session::store::Scope;
use offshoot_session::tree::NodeIx;
use offshoot_workspace::branches;
use offshoot_workspace::compare::{ComparedBranches, Patches};

use crate::records::{
    CalledData, CommandsData, ContextUsageData, ForkMessageData, ForkMessagesData, LastTextData, ModelData, ModelsData,
    StateData, StatsData, TokensData,
};
use crate::responder::{Answered, RpcData};
use crate::server::{RpcServer, not_found};
use offshoot_session::records::{write_entries, write_tree};

struct SessionState {
    file: Option<String>,
    id: String,
    name: Option<String>,
    messages: usize,
}

/// The commands of extensions, then templates and skills.
pub(crate) async fn commands(server: &RpcServer) -> Answered {
    if let Some(extensions) = &server.extensions {
        // They add commands, templates and skills.
        extensions.begun().await;
    }
    let resources = server.agent.state().await?.resources;
    let mut commands = server.extensions.as_ref().map(|set| set.commands()).unwrap_or_default();
    let found = serde_json::to_value(CommandsData::new(&resources))?;
    commands.extend(found["commands"].as_array().cloned().unwrap_or_default());
    if let Some(live) = server.agent.live_tools() {
        let prompts = live.prompts().into_iter().map(|prompt| serde_json::to_value(CalledData::of_server(prompt)));
        commands.extend(prompts.collect::<std::result::Result<Vec<_>, _>>()?);
    }
    Ok(RpcData::Json(serde_json::json!({"commands": commands}).to_string()))
}

pub(crate) async fn state(server: &RpcServer) -> Answered {
    let agent = server.agent.state().await?;
    let counted = server.client().counted.clone();
    let (state, counted) = server
        .read(move |_, session| {
            let leaf = session.leaf_id().map(|leaf| leaf.as_str().to_owned());
            let now = (session.id().to_owned(), session.tree().len(), leaf);
            let messages = match counted {
                Some((id, entries, leaf, messages)) if (&id, entries, &leaf) == (&now.0, now.1, &now.2) => messages,
                _ => context::build(session, session.leaf(), session.dialect())?.messages(session).count(),
            };
            let state = SessionState {
                file: session.file().map(|file| file.display().to_string()),
                id: session.id().to_owned(),
                name: session.name()?,
                messages,
            };
            Ok((state, (now.0, now.1, now.2, messages)))
        })
        .await?;
    server.client().counted = Some(counted);
    RpcData::of(&StateData {
        model: ModelData::new(&agent.model),
        thinking_level: agent.thinking.as_str(),
        is_streaming: agent.is_streaming,
        is_compacting: agent.is_at_a_job,
        steering_mode: agent.steering_mode.into(),
        follow_up_mode: agent.follow_up_mode.into(),
        session_file: state.file,
        session_id: state.id,
        session_name: state.name,
        auto_compaction_enabled: agent.auto_compaction,
        message_count: state.messages,
        pending_message_count: agent.steering.len() + agent.follow_up.len(),
    })
}

pub(crate) async fn messages(server: &RpcServer) -> Answered {
    let (snapshot, dialect) = server.read(|_, session| Ok((session.snapshot()?, session.dialect()))).await?;
    Ok(RpcData::streamed(move |out| {
        let context = context::build(&snapshot, snapshot.leaf(), dialect).map_err(std::io::Error::other)?;
        out.write_all(b"{\"messages\":")?;
        context.write_messages(&snapshot, out)?;
        out.write_all(b"}")
    }))
}

pub(crate) async fn entries(server: &RpcServer, since: Option<String>) -> Answered {
    let (snapshot, leaf) = snapshot(server).await?;
    let mut entries: Vec<NodeIx> = snapshot.tree().entries().collect();
    if let Some(since) = since {
        let found = snapshot.tree().find(&since).and_then(|ix| entries.iter().position(|entry| *entry == ix));
        let found = found.ok_or_else(|| not_found(format!("there is no entry {since}")))?;
        entries.drain(..=found);
    }
    Ok(RpcData::streamed(move |out| {
        out.write_all(b"{\"entries\":")?;
        write_entries(out, &snapshot, &entries)?;
        out.write_all(with_leaf(leaf.as_deref()).as_bytes())
    }))
}

pub(crate) async fn tree(server: &RpcServer) -> Answered {
    let (snapshot, leaf) = snapshot(server).await?;
    Ok(RpcData::streamed(move |out| {
        out.write_all(b"{\"tree\":")?;
        write_tree(out, &snapshot)?;
        out.write_all(with_leaf(leaf.as_deref()).as_bytes())
    }))
}

async fn snapshot(
    server: &RpcServer,
) -> std::result::Result<(offshoot_session::session::Snapshot, Option<String>), super::responder::RpcFailure> {
    server.read(|_, session| Ok((session.snapshot()?, session.leaf_id().map(|id| id.as_str().to_owned())))).await
}

fn with_leaf(leaf: Option<&str>) -> String {
    let object = Object::new().str_or_null("leafId", leaf).finish();
    format!(",{}", object.trim_start_matches('{'))
}

/// The user's messages on the path to the leaf.
pub(crate) async fn fork_messages(server: &RpcServer) -> Answered {
    server
        .read(|_, session| {
            let tree = session.tree();
            let path = session.leaf().map(|leaf| tree.path(leaf)).unwrap_or_default();
            let users = path.into_iter().filter(|ix| tree.node(*ix).role() == Some(Role::User));
            let mut messages = Vec::new();
            for ix in users {
                let text = session.entry(ix)?.message_text("").unwrap_or_default();
                let id = tree.node(ix).id().map(EntryId::as_str);
                if let Some(id) = id.filter(|_| !text.is_empty()) {
                    messages.push(ForkMessageData { entry_id: id.to_owned(), text });
                }
            }
            Ok(ForkMessagesData { messages })
        })
        .await
        .and_then(|data| RpcData::of(&data))
}

/// The text of the newest answer that has any.
pub(crate) async fn last_answer(server: &RpcServer) -> Answered {
    server
        .read(|_, session| {
            let tree = session.tree();
            let answers = session.leaf().into_iter().flat_map(|leaf| tree.ancestors(leaf));
            let mut last = None;
            for ix in answers.filter(|ix| tree.node(*ix).role() == Some(Role::Assistant)) {
                let text = session.entry(ix)?.message_text("").unwrap_or_default();
                if !text.trim().is_empty() {
                    last = Some(text.trim().to_owned());
                    break;
                }
            }
            Ok(LastTextData { text: last })
        })
        .await
        .and_then(|data| RpcData::of(&data))
}

pub(crate) async fn stats(server: &RpcServer) -> Answered {
    let stats = server.agent.stats().await?;
    let AgentState { model, overhead, .. } = server.agent.state().await?;
    let window = model.context_window;
    server
        .read(move |_, session| {
            let context_usage = if window == 0 { None } else { Some(context_usage(session, window, overhead)?) };
            Ok(StatsData { context_usage, ..counts(session, &stats) })
        })
        .await
        .and_then(|data| RpcData::of(&data))
}

fn counts(session: &Session, stats: &SessionStats) -> StatsData {
    let usage = &stats.usage;
    let tokens = TokensData {
        input: usage.input,
        output: usage.output,
        cache_read: usage.cache_read,
        cache_write: usage.cache_write,
        total: usage.input + usage.output + usage.cache_read + usage.cache_write,
    };
    StatsData {
        session_file: session.file().map(|file| file.display().to_string()),
        session_id: session.id().to_owned(),
        user_messages: stats.user_messages,
        assistant_messages: stats.assistant_messages,
        tool_calls: stats.tool_calls,
        tool_results: stats.tool_results,
        total_messages: stats.total_messages,
        tokens,
        cost: usage.cost,
        context_usage: None,
    }
}

/// The context as the next request would have it.
fn context_usage(session: &Session, window: u64, overhead: u64) -> Result<ContextUsageData> {
    let weight = context::weigh(session, session.leaf(), session.dialect())?;
    let tokens = weight.total(overhead);
    #[expect(clippy::cast_precision_loss, reason = "a share of a window")]
    let percent = tokens as f64 / window as f64 * 100.0;
    Ok(ContextUsageData {
        tokens,
        context_window: window,
        percent,
        message_tokens: weight.messages,
        overhead_tokens: overhead,
    })
}

pub(crate) async fn all_branches(server: &RpcServer) -> Answered {
    let branches = server.read(|_, session| Ok(branches::all_branches(session)?)).await?;
    let branches: Vec<String> = branches.iter().map(branches::ListedBranch::to_json).collect();
    Ok(RpcData::Json(format!("{{\"branches\":[{}]}}", branches.join(","))))
}

pub(crate) async fn compare(server: &RpcServer, a: String, b: String, patch: bool) -> Answered {
    let wanted = Patches::wanted(patch);
    server
        .read(move |app, session| {
            let (a, b) = (lookup::entry(app, session, &a)?, lookup::entry(app, session, &b)?);
            Ok(RpcData::Json(ComparedBranches::read(&app.place(), session, (a, b), wanted)?.to_json(session.tree())))
        })
        .await
}

pub(crate) async fn forecast(server: &RpcServer, entry: Option<String>) -> Answered {
    let overhead = server.agent.state().await?.overhead;
    server
        .read(move |app, session| {
            let target = entry.map(|entry| lookup::entry(app, session, &entry)).transpose()?.or(session.leaf());
            let forecast = next_request::forecast(app, session, RequestPlace { target, more_tokens: 0, overhead })?;
            Ok(RpcData::Json(forecast.to_json()))
        })
        .await
}

pub(crate) async fn sessions(server: &RpcServer, all: bool) -> Answered {
    let cwd = server.read(|_, session| Ok(session.cwd().map(str::to_owned))).await?;
    server
        .blocking(move |app| {
            let cwd = cwd.unwrap_or_else(|| app.cwd());
            let scope = Scope { cwd: (!all).then_some(cwd.as_str()), with_text: false };
            let (sessions, _) = app.list(&app.store()?, scope, &mut |_, _| {})?;
            let sessions: Vec<String> = sessions.iter().map(SessionInfo::to_json).collect();
            Ok(RpcData::Json(format!("{{\"sessions\":[{}]}}", sessions.join(","))))
        })
        .await
}

pub(crate) async fn models(server: &RpcServer) -> Answered {
    let usable = server.models().await?.usable();
    RpcData::of(&ModelsData { models: usable.iter().map(|model| ModelData::new(model)).collect() })
}
