//! What extensions read of the session, and what they add to it, under the names of pi's session manager.

use std::path::Path;

use offshoot_agent::command::PreparedSession;
use offshoot_agent::writer::OwnedSession;
use offshoot_session::compose::{NewBranchSummary, NewCompaction, NewEntry};
use offshoot_session::entry::Source as _;
use offshoot_session::header::Dialect;
use offshoot_session::id::EntryId;
use offshoot_session::json::{Json, quote};
use offshoot_session::records::{write_entries, write_entry, write_tree};
use offshoot_session::session::Session;
use offshoot_session::tree::NodeIx;
use serde_json::Value;

use crate::contract::member_text;

type Answer = Result<String, String>;

/// Reads; `None` for a method that reads nothing of the session.
pub(crate) fn read(session: &Session, method: &str, params: &Value) -> Option<Answer> {
    let tree = session.tree();
    let text = |text: Option<&str>| Ok(text.map_or_else(|| "null".to_owned(), quote));
    let path = |path: Option<&Path>| text(path.map(|path| path.display().to_string()).as_deref());
    let id = |name: &str| params.get(name).and_then(Value::as_str);
    Some(match method {
        "getCwd" => text(session.cwd()),
        "getSessionDir" => path(session.file().and_then(Path::parent)),
        "getSessionId" => text(Some(session.id())),
        "getSessionFile" => path(session.file()),
        "getLeafId" => text(session.leaf_id().map(EntryId::as_str)),
        "getLeafEntry" => one(session, session.leaf()),
        "getEntry" => one(session, id("id").and_then(|id| tree.find(id))),
        "getLabel" => text(id("id").and_then(|id| tree.label(&EntryId::new(id))).map(|label| label.text.as_str())),
        "getHeader" => Ok(session.header_line().clone()),
        "getEntryCount" => Ok(tree.len().to_string()),
        "getEntries" => many(session, &tree.entries().collect::<Vec<_>>()),
        "getChildren" => many(
            session,
            &match id("parentId").and_then(|id| tree.find(id)) {
                Some(parent) => tree.children(parent).collect::<Vec<_>>(),
                None => tree.roots().collect(),
            },
        ),
        "getBranch" => {
            let end = match id("fromId") {
                Some(id) => tree.find(id),
                None => session.leaf(),
            };
            many(session, &end.map(|end| tree.path(end)).unwrap_or_default())
        }
        "getTree" => written(|out| write_tree(out, session)),
        "getSessionName" => match session.name() {
            Ok(name) => text(name.as_deref().or(session.title())),
            Err(error) => Err(error.to_string()),
        },
        "contextEntries" => context_entries(session).map_err(|error| error.to_string()),
        "buildSessionContext" => session
            .context()
            .map_err(|error| error.to_string())
            .and_then(|context| written(|out| context.write_json(session, out))),
        _ => return None,
    })
}

/// Appends or moves the leaf; `None` for a method that does neither. Answers the id.
pub(crate) fn write(owned: &mut OwnedSession, method: &str, params: &Value) -> Option<Answer> {
    let dialect = owned.session().dialect();
    let composed = match method {
        "appendContextEdit" => context_edit(owned.session(), params).map(Some),
        _ => composed(method, params, dialect)?,
    };
    let entry = match composed {
        Ok(Some(entry)) => entry,
        Ok(None) => return Some(moved(owned, method, params)),
        Err(why) => return Some(Err(why)),
    };
    let appended = owned.append(&[entry]).map_err(|error| error.to_string());
    Some(appended.map(|ids| ids.first().map_or_else(|| "null".to_owned(), |id| quote(id.as_str()))))
}

/// The session that a method puts in the place of one that is being prepared.
pub(crate) fn prepared(method: &str, params: &Value) -> Option<PreparedSession> {
    let text = |name: &str| params.get(name).and_then(Value::as_str).map(str::to_owned);
    Some(match method {
        "newSession" => PreparedSession::New { id: text("id"), parent: text("parentSession") },
        "setSessionFile" => PreparedSession::File(text("sessionFile").unwrap_or_default().into()),
        "createBranchedSession" => PreparedSession::Path { leaf: text("leafId").unwrap_or_default() },
        _ => return None,
    })
}

fn moved(owned: &mut OwnedSession, method: &str, params: &Value) -> Answer {
    let text = |name: &str| params.get(name).and_then(Value::as_str);
    let details = member_text(params, "details");
    owned
        .write(|session| match method {
            "branch" => session.branch(text("id").unwrap_or_default()).map(|()| None),
            "resetLeaf" => {
                session.reset_leaf();
                Ok(None)
            }
            _ => {
                let details = details.as_deref().map(Json::parse).transpose().ok().flatten();
                let summary = text("summary").unwrap_or_default();
                let new = NewBranchSummary { summary, details, from_hook: Some(true), usage: None };
                session.branch_with_summary(text("id"), &new).map(Some)
            }
        })
        .map(|id| id.map_or_else(|| "null".to_owned(), |id| quote(id.as_str())))
        .map_err(|error| error.to_string())
}

type Composed = Result<Option<NewEntry>, String>;

fn composed(method: &str, params: &Value, dialect: Dialect) -> Option<Composed> {
    let text = |name: &str| params.get(name).and_then(Value::as_str).unwrap_or_default();
    let json = |name: &str| member_text(params, name);
    let entry = match method {
        "appendMessage" => with_json(json("message").as_deref(), |message| {
            let message = message.ok_or("a message is an object")?;
            NewEntry::message(message).map_err(|error| error.to_string())
        }),
        "appendThinkingLevelChange" => Ok(NewEntry::thinking_level(text("level"), dialect)),
        "appendModelChange" => Ok(NewEntry::model(text("provider"), text("modelId"), dialect)),
        "appendCustomEntry" => {
            with_json(json("data").as_deref(), |data| Ok(NewEntry::custom(text("customType"), data)))
        }
        "appendCustomMessageEntry" => {
            let details = json("details");
            with_json(json("content").as_deref(), |content| {
                let content = content.ok_or("the content is a text or a list of blocks")?;
                let details = details.as_deref().map(Json::parse).transpose().map_err(|error| error.to_string())?;
                let display = params.get("display").and_then(Value::as_bool).unwrap_or(true);
                NewEntry::custom_message(text("customType"), content, display, details)
                    .map_err(|error| error.to_string())
            })
        }
        "appendCompaction" => Ok(compaction(params, dialect)),
        "appendUsage" => with_json(json("usage").as_deref(), |usage| {
            let usage = usage.ok_or("the usage is an object")?;
            let note = params.get("note").and_then(Value::as_str);
            Ok(NewEntry::usage(text("kind"), text("provider"), text("model"), usage, note))
        }),
        "appendSessionInfo" => Ok(NewEntry::session_info(text("name"))),
        "appendLabelChange" => Ok(NewEntry::label(text("targetId"), params.get("label").and_then(Value::as_str))),
        "branch" | "resetLeaf" | "branchWithSummary" => return Some(Ok(None)),
        _ => return None,
    };
    Some(entry.map(Some))
}

/// Other words in the place of an entry of the branch.
fn context_edit(session: &Session, params: &Value) -> Result<NewEntry, String> {
    let id = params.get("targetId").and_then(Value::as_str).unwrap_or_default();
    let found =
        session.tree().find(id).filter(|ix| session.leaf().is_some_and(|leaf| session.tree().path(leaf).contains(ix)));
    let target = found.ok_or_else(|| format!("the entry {id} is not on the branch"))?;
    let replacement = member_text(params, "replacement").unwrap_or_else(|| "null".to_owned());
    let replacement = Json::parse(&replacement).map_err(|error| error.to_string())?;
    NewEntry::context_edit(id, session.tree().node(target).role(), replacement).map_err(|error| error.to_string())
}

fn compaction(params: &Value, dialect: Dialect) -> NewEntry {
    let text = |name: &str| params.get(name).and_then(Value::as_str);
    let json = |name: &str| member_text(params, name);
    let (details, usage) = (json("details"), json("usage"));
    NewEntry::compaction(
        &NewCompaction {
            summary: text("summary").unwrap_or_default(),
            first_kept: text("firstKeptEntryId"),
            tokens_before: params.get("tokensBefore").and_then(Value::as_u64).unwrap_or_default(),
            details: details.as_deref().and_then(|json| Json::parse(json).ok()),
            from_hook: params.get("fromHook").and_then(Value::as_bool),
            usage: usage.as_deref().and_then(|json| Json::parse(json).ok()),
            ..NewCompaction::default()
        },
        dialect,
    )
}

fn with_json(
    text: Option<&str>,
    make: impl FnOnce(Option<Json<'_>>) -> Result<NewEntry, String>,
) -> Result<NewEntry, String> {
    let json = text.map(Json::parse).transpose().map_err(|error| error.to_string())?;
    make(json)
}

/// The entries of the context, each with its message as the model gets it.
fn context_entries(session: &Session) -> offshoot_session::error::Result<String> {
    let mut out = String::from("[");
    for message in session.context()?.messages(session) {
        let message = message?;
        let source = message.entry.as_ref().and_then(|id| session.tree().find(id.as_str()));
        let source = one(session, source).unwrap_or_else(|_| "null".to_owned());
        let comma = if out.len() > 1 { "," } else { "" };
        out.push_str(&format!(r#"{comma}{{"sourceEntry":{source},"messages":[{}]}}"#, message.json));
    }
    out.push(']');
    Ok(out)
}

fn one(session: &Session, ix: Option<NodeIx>) -> Answer {
    match ix {
        Some(ix) => written(|out| write_entry(out, session, ix)),
        None => Ok("null".to_owned()),
    }
}

fn many(session: &Session, entries: &[NodeIx]) -> Answer {
    written(|out| write_entries(out, session, entries))
}

fn written(write: impl FnOnce(&mut dyn std::io::Write) -> std::io::Result<()>) -> Answer {
    let mut out = Vec::new();
    write(&mut out).map_err(|error| format!("could not read the session: {error}"))?;
    String::from_utf8(out).map_err(|error| error.to_string())
}
