//! Commands that only read: the agent's state, the session, its tree and cost.

use offshoot_agent::branch_files::patches;
use offshoot_agent::forecast::RequestPlace;
use offshoot_agent::stats::SessionStats;
use offshoot_session::compare::Comparison;
use offshoot_session::context;
use offshoot_session::entry::{Source as _, text_of};
use offshoot_session::id::EntryId;
use offshoot_session::json::Object;
use offshoot_session::kind::{Kind, Role};
use offshoot_session::list::SessionInfo;
use offshoot_session::session::Session;
use offshoot_session::store::Scope;
use offshoot_session::tree::NodeIx;

use super::records;
use super::responder::{Answered, RpcData};
use super::server::{RpcServer, not_found};
use crate::commands::branches;
use crate::error::Result;
use crate::records::{write_entries, write_tree};
use crate::{next_request, plans, select};

struct SessionState {
    file: Option<String>,
    id: String,
    name: Option<String>,
    messages: usize,
}

pub(super) async fn state(server: &RpcServer) -> Answered {
    let standing = server.agent.standing().await?;
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
    let pending = standing.steering.len() + standing.follow_up.len();
    let object = Object::new()
        .raw("model", records::model(&standing.model))
        .str("thinkingLevel", standing.thinking.as_str())
        .raw("isStreaming", standing.is_streaming)
        .raw("isCompacting", standing.is_at_a_job)
        .str("steeringMode", records::queue_mode(standing.steering_mode))
        .str("followUpMode", records::queue_mode(standing.follow_up_mode))
        .opt_str("sessionFile", state.file.as_deref())
        .str("sessionId", &state.id)
        .opt_str("sessionName", state.name.as_deref())
        .raw("autoCompactionEnabled", standing.auto_compaction)
        .raw("messageCount", state.messages)
        .raw("pendingMessageCount", pending);
    Ok(RpcData::Json(object.finish()))
}

pub(super) async fn messages(server: &RpcServer) -> Answered {
    let (snapshot, dialect) = server.read(|_, session| Ok((session.snapshot()?, session.dialect()))).await?;
    Ok(RpcData::streamed(move |out| {
        let context = context::build(&snapshot, snapshot.leaf(), dialect).map_err(std::io::Error::other)?;
        out.write_all(b"{\"messages\":")?;
        context.write_messages(&snapshot, out)?;
        out.write_all(b"}")
    }))
}

pub(super) async fn entries(server: &RpcServer, since: Option<String>) -> Answered {
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

pub(super) async fn tree(server: &RpcServer) -> Answered {
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
pub(super) async fn fork_messages(server: &RpcServer) -> Answered {
    server
        .read(|_, session| {
            let tree = session.tree();
            let path = session.leaf().map(|leaf| tree.path(leaf)).unwrap_or_default();
            let users = path.into_iter().filter(|ix| tree.node(*ix).role() == Some(Role::User));
            let mut messages = Vec::new();
            for ix in users {
                let text = message_text(session, ix, "")?;
                let id = tree.node(ix).id().map(EntryId::as_str);
                if let Some(id) = id.filter(|_| !text.is_empty()) {
                    messages.push(Object::new().str("entryId", id).str("text", &text).finish());
                }
            }
            Ok(RpcData::Json(format!("{{\"messages\":[{}]}}", messages.join(","))))
        })
        .await
}

/// The text of the newest answer that has any.
pub(super) async fn last_answer(server: &RpcServer) -> Answered {
    server
        .read(|_, session| {
            let tree = session.tree();
            let answers = session.leaf().into_iter().flat_map(|leaf| tree.ancestors(leaf));
            let mut last = None;
            for ix in answers.filter(|ix| tree.node(*ix).role() == Some(Role::Assistant)) {
                let text = message_text(session, ix, "")?;
                if !text.trim().is_empty() {
                    last = Some(text.trim().to_owned());
                    break;
                }
            }
            Ok(RpcData::Json(Object::new().str_or_null("text", last.as_deref()).finish()))
        })
        .await
}

fn message_text(session: &Session, ix: NodeIx, separator: &str) -> Result<String> {
    let entry = session.entry(ix)?;
    let content = entry.message().and_then(|message| message.get("content"));
    Ok(content.map(|content| text_of(content, separator)).unwrap_or_default())
}

pub(super) async fn stats(server: &RpcServer) -> Answered {
    let stats = server.agent.stats().await?;
    let window = server.agent.standing().await?.model.context_window;
    server
        .read(move |_, session| {
            let object = counts(session, &stats);
            let object = match window {
                0 => object,
                window => object.raw("contextUsage", context_usage(session, window)?),
            };
            Ok(RpcData::Json(object.finish()))
        })
        .await
}

fn counts(session: &Session, stats: &SessionStats) -> Object {
    let usage = &stats.usage;
    let tokens = Object::new()
        .raw("input", usage.input)
        .raw("output", usage.output)
        .raw("cacheRead", usage.cache_read)
        .raw("cacheWrite", usage.cache_write)
        .raw("total", usage.input + usage.output + usage.cache_read + usage.cache_write)
        .finish();
    let file = session.file().map(|file| file.display().to_string());
    Object::new()
        .opt_str("sessionFile", file.as_deref())
        .str("sessionId", session.id())
        .raw("userMessages", stats.user_messages)
        .raw("assistantMessages", stats.assistant_messages)
        .raw("toolCalls", stats.tool_calls)
        .raw("toolResults", stats.tool_results)
        .raw("totalMessages", stats.total_messages)
        .raw("tokens", tokens)
        .raw("cost", usage.cost)
}

/// Unknown between a compaction and the next answer: the reports of kept answers count what it took away.
fn context_usage(session: &Session, window: u64) -> Result<String> {
    let tree = session.tree();
    let mut path = session.leaf().into_iter().flat_map(|leaf| tree.ancestors(leaf));
    let counts = |ix: &NodeIx| {
        let node = tree.node(*ix);
        node.kind() == Kind::Compaction || node.role() == Some(Role::Assistant)
    };
    let is_compacted = path.find(counts).is_some_and(|ix| tree.node(ix).kind() == Kind::Compaction);
    if is_compacted {
        return Ok(format!(r#"{{"tokens":null,"contextWindow":{window},"percent":null}}"#));
    }
    let tokens = context::tokens(session, session.leaf(), session.dialect())?;
    #[expect(clippy::cast_precision_loss, reason = "a share of a window")]
    let percent = tokens as f64 / window as f64 * 100.0;
    Ok(Object::new().raw("tokens", tokens).raw("contextWindow", window).raw("percent", percent).finish())
}

pub(super) async fn all_branches(server: &RpcServer) -> Answered {
    let branches = server.read(|_, session| branches::all_as_json(session)).await?;
    Ok(RpcData::Json(format!("{{\"branches\":{branches}}}")))
}

pub(super) async fn compare(server: &RpcServer, a: String, b: String, patch: bool) -> Answered {
    server
        .read(move |app, session| {
            let (a, b) = (select::entry(app, session, &a)?, select::entry(app, session, &b)?);
            let mut compared = Comparison::new(session, a, b)?;
            while compared.work(session, plans::BUDGET)? {}
            let patches = if patch { Some(patches(session, &compared)?) } else { None };
            Ok(RpcData::Json(plans::comparison(session, &compared, patches.as_deref()).finish()))
        })
        .await
}

pub(super) async fn forecast(server: &RpcServer, entry: Option<String>) -> Answered {
    server
        .read(move |app, session| {
            let target = entry.map(|entry| select::entry(app, session, &entry)).transpose()?.or(session.leaf());
            let forecast = next_request::forecast(app, session, RequestPlace { target, more_tokens: 0 })?;
            Ok(RpcData::Json(next_request::json(&forecast)))
        })
        .await
}

pub(super) async fn sessions(server: &RpcServer, all: bool) -> Answered {
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

pub(super) async fn models(server: &RpcServer) -> Answered {
    let usable = server.models().await?.usable();
    Ok(RpcData::Json(records::models(usable.iter().map(AsRef::as_ref))))
}
