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
            &match (params.get("parentId"), id("parentId").and_then(|id| tree.find(id))) {
                (_, Some(parent)) => tree.children(parent).collect::<Vec<_>>(),
                (Some(Value::Null | Value::String(_)), None) => {
                    tree.roots().filter(|root| tree.parent_id(*root).map(EntryId::as_str) == id("parentId")).collect()
                }
                (_, None) => Vec::new(),
            },
        ),
        "getBranch" => {
            let end = match params.get("fromId") {
                None | Some(Value::Null) => session.leaf(),
                Some(id) => id.as_str().and_then(|id| tree.find(id)),
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
    let moved = match method {
        "branch" => {
            let id = text(params, "id")?;
            owned.write(|session| session.branch(id).map(|()| None))
        }
        "resetLeaf" => owned.write(|session| {
            session.reset_leaf();
            Ok(None)
        }),
        _ => {
            params.get("id").ok_or_else(|| missing("id"))?;
            let (id, summary, details) =
                (opt_text(params, "id")?, text(params, "summary")?, member_text(params, "details"));
            let details = parsed(details.as_deref())?;
            let new = NewBranchSummary { summary, details, from_hook: Some(true), usage: None };
            owned.write(|session| session.branch_with_summary(id, &new).map(Some))
        }
    };
    moved.map(|id| id.map_or_else(|| "null".to_owned(), |id| quote(id.as_str()))).map_err(|error| error.to_string())
}

type Made = Result<NewEntry, String>;
type Composed = Result<Option<NewEntry>, String>;

fn composed(method: &str, params: &Value, dialect: Dialect) -> Option<Composed> {
    match method {
        "branch" | "resetLeaf" | "branchWithSummary" => Some(Ok(None)),
        _ => appended(method, params, dialect).map(|made| made.map(Some)),
    }
}

fn appended(method: &str, params: &Value, dialect: Dialect) -> Option<Made> {
    Some(match method {
        "appendMessage" => with_json(member_text(params, "message").as_deref(), |message| {
            let message = message.ok_or("a message is an object")?;
            NewEntry::message(message).map_err(|error| error.to_string())
        }),
        "appendThinkingLevelChange" => text(params, "level").map(|level| NewEntry::thinking_level(level, dialect)),
        "appendModelChange" => model(params, dialect),
        "appendCustomEntry" => with_json(member_text(params, "data").as_deref(), |data| {
            Ok(NewEntry::custom(text(params, "customType")?, data))
        }),
        "appendCustomMessageEntry" => custom_message(params),
        "appendCompaction" => compaction(params, dialect),
        "appendUsage" => with_json(member_text(params, "usage").as_deref(), |usage| {
            let usage = usage.ok_or("the usage is an object")?;
            let (kind, provider, model) = (text(params, "kind")?, text(params, "provider")?, text(params, "model")?);
            Ok(NewEntry::usage(kind, provider, model, usage, opt_text(params, "note")?))
        }),
        "appendSessionInfo" => text(params, "name").map(NewEntry::session_info),
        "appendLabelChange" => label(params),
        _ => return None,
    })
}

fn model(params: &Value, dialect: Dialect) -> Made {
    Ok(NewEntry::model(text(params, "provider")?, text(params, "modelId")?, dialect))
}

fn label(params: &Value) -> Made {
    Ok(NewEntry::label(text(params, "targetId")?, opt_text(params, "label")?))
}

fn custom_message(params: &Value) -> Made {
    let details = member_text(params, "details");
    with_json(member_text(params, "content").as_deref(), |content| {
        let content = content.ok_or("the content is a text or a list of blocks")?;
        let display = match params.get("display") {
            None | Some(Value::Null) => true,
            Some(given) => given.as_bool().ok_or("the argument \"display\" must be true or false")?,
        };
        NewEntry::custom_message(text(params, "customType")?, content, display, parsed(details.as_deref())?)
            .map_err(|error| error.to_string())
    })
}

/// Other words in the place of an entry of the branch.
fn context_edit(session: &Session, params: &Value) -> Result<NewEntry, String> {
    let id = text(params, "targetId")?;
    let found =
        session.tree().find(id).filter(|ix| session.leaf().is_some_and(|leaf| session.tree().path(leaf).contains(ix)));
    let target = found.ok_or_else(|| format!("the entry {id} is not on the branch"))?;
    let replacement = member_text(params, "replacement").unwrap_or_else(|| "null".to_owned());
    let replacement = Json::parse(&replacement).map_err(|error| error.to_string())?;
    NewEntry::context_edit(id, session.tree().node(target).role(), replacement).map_err(|error| error.to_string())
}

fn compaction(params: &Value, dialect: Dialect) -> Made {
    let (details, usage) = (member_text(params, "details"), member_text(params, "usage"));
    let tokens_before = match params.get("tokensBefore") {
        None | Some(Value::Null) => 0,
        Some(given) => given.as_u64().ok_or("the argument \"tokensBefore\" must be a number of tokens")?,
    };
    let new = NewCompaction {
        summary: text(params, "summary")?,
        first_kept: opt_text(params, "firstKeptEntryId")?,
        tokens_before,
        details: parsed(details.as_deref())?,
        from_hook: params.get("fromHook").and_then(Value::as_bool),
        usage: parsed(usage.as_deref())?,
        ..NewCompaction::default()
    };
    Ok(NewEntry::compaction(&new, dialect))
}

fn missing(name: &str) -> String {
    format!("the argument {name:?} is missing")
}

fn text<'a>(params: &'a Value, name: &str) -> Result<&'a str, String> {
    opt_text(params, name)?.ok_or_else(|| missing(name))
}

/// An optional text; null counts as absent.
fn opt_text<'a>(params: &'a Value, name: &str) -> Result<Option<&'a str>, String> {
    let given = params.get(name).filter(|value| !value.is_null());
    given.map(|value| value.as_str().ok_or_else(|| format!("the argument {name:?} must be a text"))).transpose()
}

fn parsed(json: Option<&str>) -> Result<Option<Json<'_>>, String> {
    json.map(Json::parse).transpose().map_err(|error| error.to_string())
}

fn with_json(json: Option<&str>, make: impl FnOnce(Option<Json<'_>>) -> Made) -> Made {
    make(parsed(json)?)
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

#[cfg(test)]
mod tests {
    use offshoot_session::session::{NewSession, Options};
    use serde_json::json;

    use super::*;

    fn session() -> Session {
        let entries = r#"[{"type":"message","id":"a1b2c3d4","parentId":null,"timestamp":"2026-02-01T12:00:00.000Z","message":{"role":"user","content":"hi","timestamp":1}}]"#;
        Session::seeded(Json::parse(entries).unwrap(), &NewSession::default(), Options::default()).unwrap()
    }

    #[test]
    fn an_unknown_parent_has_no_children_and_null_means_the_roots() {
        let session = session();
        let children = |params| read(&session, "getChildren", &params).unwrap().unwrap();
        assert_eq!(children(json!({"parentId": "nope"})), "[]");
        assert_eq!(children(json!({"parentId": "a1b2c3d4"})), "[]");
        assert!(children(json!({"parentId": null})).contains("a1b2c3d4"));
        assert_eq!(children(json!({})), "[]");
        assert_eq!(children(json!({"parentId": 7})), "[]");
        assert_eq!(read(&session, "getBranch", &json!({"fromId": 7})).unwrap().unwrap(), "[]");
    }

    /// A label on the entry `""` was appended, and a name of `""` in place of a number.
    #[test]
    fn a_missing_or_wrong_text_is_refused() {
        let session = session();
        for (method, params, why) in [
            ("appendLabelChange", json!({"label": "x"}), "\"targetId\" is missing"),
            ("appendLabelChange", json!({"targetId": "a1b2c3d4", "label": 7}), "\"label\" must be a text"),
            ("appendSessionInfo", json!({"name": 7}), "\"name\" must be a text"),
            ("appendModelChange", json!({"provider": "p"}), "\"modelId\" is missing"),
            ("appendThinkingLevelChange", json!({}), "\"level\" is missing"),
            ("appendCustomEntry", json!({"data": 1}), "\"customType\" is missing"),
            ("appendCustomMessageEntry", json!({"content": "x"}), "\"customType\" is missing"),
            (
                "appendCustomMessageEntry",
                json!({"customType": "x", "content": "x", "display": 1}),
                "\"display\" must be true or false",
            ),
            ("appendCompaction", json!({"firstKeptEntryId": "a1b2c3d4", "tokensBefore": 1}), "\"summary\" is missing"),
            ("appendCompaction", json!({"summary": "s", "tokensBefore": "many"}), "\"tokensBefore\" must be a number"),
            ("appendUsage", json!({"kind": "k", "provider": "p", "usage": {}}), "\"model\" is missing"),
        ] {
            let made = composed(method, &params, session.dialect()).unwrap();
            let refused = made.err().unwrap_or_default();
            assert!(refused.contains(why), "{method} {params}: {refused:?}");
        }
    }
}
