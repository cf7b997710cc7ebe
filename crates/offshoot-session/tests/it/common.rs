//! Small sessions for tests, from pictures.

use offshoot_session::compose::NewEntry;
use offshoot_session::context::Message;
use offshoot_session::entry::Source as _;
use offshoot_session::json::Json;
use offshoot_session::session::{NewSession, Session};
use offshoot_session::testing::fixed_options;
use offshoot_session::tree::NodeIx;

pub(crate) const HEADER: &str =
    r#"{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}"#;

pub(crate) fn at(cwd: &str) -> NewSession<'_> {
    NewSession { cwd, ..NewSession::default() }
}

pub(crate) fn say(session: &mut Session, role: &str, text: &str) -> String {
    let message = format!(r#"{{"role":"{role}","content":[{{"type":"text","text":"{text}"}}]}}"#);
    session.append(&NewEntry::message(Json::parse(&message).unwrap()).unwrap()).unwrap().to_string()
}

/// One line of a picture: `id parent what`, where `what` is `U`, `A`, `T` (messages whose text is their id), `k=KEPT`,
/// `bs=TEXT`, `l=TARGET=TEXT`, `edit=TARGET=JSON`, or a JSON object of other members. The parent `-` means none.
pub(crate) fn line(picture: &str, second: usize) -> String {
    let mut words = picture.splitn(3, ' ');
    let (id, parent, what) = (words.next().unwrap(), words.next().unwrap(), words.next().unwrap());
    let parent = if parent == "-" { "null".to_owned() } else { format!("\"{parent}\"") };
    let envelope = format!(
        r#""id":"{id}","parentId":{parent},"timestamp":"2026-01-01T00:{:02}:{:02}.000Z""#,
        second / 60,
        second % 60
    );
    let message = |role: &str| {
        let more = if role == "assistant" { r#","provider":"p","model":"m""# } else { "" };
        format!(
            r#"{{"type":"message",{envelope},"message":{{"role":"{role}","content":[{{"type":"text","text":"{id}"}}]{more}}}}}"#
        )
    };
    let parts: Vec<&str> = what.splitn(3, '=').collect();
    match parts.as_slice() {
        ["U"] => message("user"),
        ["A"] => message("assistant"),
        ["T"] => message("toolResult"),
        ["k", kept] => {
            format!(
                r#"{{"type":"compaction",{envelope},"summary":"S{id}","firstKeptEntryId":"{kept}","tokensBefore":9}}"#
            )
        }
        ["bs", text] => format!(r#"{{"type":"branch_summary",{envelope},"fromId":"x","summary":"{text}"}}"#),
        ["l", target, ""] => format!(r#"{{"type":"label",{envelope},"targetId":"{target}"}}"#),
        ["l", target, text] => format!(r#"{{"type":"label",{envelope},"targetId":"{target}","label":"{text}"}}"#),
        ["edit", target, replacement] => {
            format!(r#"{{"type":"context_edit",{envelope},"targetId":"{target}","replacement":{replacement}}}"#)
        }
        _ => format!("{{{envelope},{}", what.strip_prefix('{').unwrap()),
    }
}

pub(crate) fn text(pictures: &[&str]) -> String {
    let lines = pictures.iter().enumerate().map(|(at, picture)| line(picture, at + 1));
    std::iter::once(HEADER.to_owned()).chain(lines).fold(String::new(), |text, line| text + &line + "\n")
}

pub(crate) fn session(pictures: &[&str]) -> Session {
    Session::from_text(&text(pictures), fixed_options()).unwrap()
}

/// The messages of a context as role and text.
pub(crate) fn messages(session: &Session, leaf: Option<NodeIx>) -> Vec<String> {
    let context = session.context_at(leaf).unwrap();
    context.messages(session).map(|message| short(&message.unwrap())).collect()
}

pub(crate) fn open_messages(session: &Session) -> Vec<String> {
    messages(session, session.leaf())
}

fn short(message: &Message) -> String {
    let json = message.json();
    let text = match json.get("content").or_else(|| json.get("summary")) {
        Some(content) => offshoot_session::entry::text_of(content, "|"),
        None => String::new(),
    };
    match json.str("role").as_deref() {
        Some("user" | "assistant" | "toolResult") => text,
        Some(role) => format!("{role}({text})"),
        None => json.text().to_owned(),
    }
}

pub(crate) fn context_json(session: &Session) -> String {
    let mut out = Vec::new();
    session.context().unwrap().write_json(session, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

pub(crate) fn ids(session: &Session) -> Vec<String> {
    let tree = session.tree();
    tree.entries().map(|ix| tree.node(ix).id().map_or("-".to_owned(), ToString::to_string)).collect()
}

/// The tree as `depth id` words.
pub(crate) fn shape(session: &Session) -> String {
    let tree = session.tree();
    let word = |(depth, ix): (usize, NodeIx)| format!("{depth}{}", tree.node(ix).id().map_or("-", |id| id.as_str()));
    tree.walk().map(word).collect::<Vec<_>>().join(" ")
}

/// A turn with these calls, which cost half a dollar.
pub(crate) fn assistant(calls: &[&str], more: &str) -> String {
    let calls: Vec<String> = calls
        .iter()
        .map(|id| {
            format!(
                r#"{{"type":"toolCall","id":"{id}","name":"write","arguments":{{"path":"x-{id}","content":"1.0e2"}}}}"#
            )
        })
        .collect();
    format!(
        r#"{{"type":"message","message":{{"role":"assistant","content":[{}],"provider":"p2","model":"m2"{more},"usage":{{"input":5,"output":6,"totalTokens":190000,"cost":{{"total":0.5}}}},"timestamp":1.50}}}}"#,
        calls.join(",")
    )
}

pub(crate) fn result(call: &str) -> String {
    format!(
        r#"{{"type":"message","message":{{"role":"toolResult","toolCallId":"{call}","toolName":"write","content":[{{"type":"text","text":"ok"}}],"isError":false}}}}"#
    )
}
