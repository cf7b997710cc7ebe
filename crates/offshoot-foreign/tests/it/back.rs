//! Paths as new files of Claude Code and Codex: what they say is what the session says, and they have what the agents ask for.

use std::collections::HashSet;
use std::path::Path;

use offshoot_foreign::{
    Agent, BackFormat, BackReport, BackWish, ImportWish, KeptVersions, OpenEnd, import_foreign, write_back,
};
use offshoot_session::context::Message;
use offshoot_session::entry::Source as _;
use offshoot_session::json::Json;
use offshoot_session::llm::convert;
use offshoot_session::session::{Options, Session};

use crate::support::{fixtures, golden, open};

const ID: &str = "0a0b0c0d-0000-4000-8000-000000000001";

fn wish<'a>(format: BackFormat, session: &'a Session) -> BackWish<'a> {
    let leaf = session.tree().skip_leaf_markers(session.leaf().unwrap()).unwrap();
    let (id, cwd, now) = (ID, "/home/u/work/demo", 1_790_000_000_000);
    BackWish { format, session, leaf, id, cwd, now, provider: Some("corp"), model: None }
}

fn written(wish: &BackWish<'_>) -> (String, BackReport) {
    let mut text = String::new();
    let report = write_back(wish, &mut |line| {
        text += line;
        text.push('\n');
        Ok(())
    })
    .unwrap();
    (text, report)
}

fn read(format: BackFormat, folder: &Path, text: &str) -> Session {
    let name = match format {
        BackFormat::Claude => format!("{ID}.jsonl"),
        BackFormat::Codex => format!("rollout-2026-09-21T00-00-00-{ID}.jsonl"),
    };
    let file = folder.join(name);
    std::fs::write(&file, text).unwrap();
    open(&file).session
}

/// What the model is sent: role, texts, calls and results, without thinking.
fn sent(session: &Session) -> Vec<String> {
    let context = session.context().unwrap();
    let messages: Vec<Message> = context.messages(session).map(Result::unwrap).collect();
    let said = |message: &Message| {
        let json = message.json();
        let content = json.get("content").unwrap_or(Json::NULL);
        let part = |block: Json<'_>| match block.str("type")?.as_ref() {
            "text" => block.str("text").map(std::borrow::Cow::into_owned),
            "image" => Some("(picture)".to_owned()),
            "toolCall" => Some(format!("{}{}", block.str("name")?, block.get("arguments")?.text())),
            _ => None,
        };
        let parts = match content.as_str() {
            Some(text) => vec![text.into_owned()],
            None => content.items().filter_map(part).collect(),
        };
        format!("{}: {}", message.role.word().unwrap_or_default(), parts.join(" | "))
    };
    convert(messages).0.iter().map(said).collect()
}

/// A session with everything: two compactions, of which each keeps something, foreign and native thinking, pictures, a call
/// without result, odd ids, a command, a hidden message, and an answer that failed.
fn everything() -> Session {
    let user = |text: &str| format!(r#"{{"role":"user","content":"{text}"}}"#);
    let answer = |content: &str, stop: &str, (api, provider, model): (&str, &str, &str)| {
        format!(
            r#"{{"role":"assistant","content":[{content}],"api":"{api}","provider":"{provider}","model":"{model}","usage":{{"input":3,"output":4,"cacheRead":5,"cacheWrite":6,"totalTokens":18}},"stopReason":"{stop}"}}"#
        )
    };
    let claude = ("anthropic-messages", "anthropic", "claude-opus-4-8");
    let gpt = ("openai-responses", "openai", "gpt-5.4");
    let text = |text: &str| format!(r#"{{"type":"text","text":"{text}"}}"#);
    let call = |id: &str, name: &str| {
        format!(r#"{{"type":"toolCall","id":"{id}","name":"{name}","arguments":{{"path":"a.rs"}}}}"#)
    };
    let result = |id: &str, text: &str| {
        format!(
            r#"{{"role":"toolResult","toolCallId":"{id}","toolName":"read","content":[{{"type":"text","text":"{text}"}}],"isError":false}}"#
        )
    };
    let signed = r#"{"type":"thinking","thinking":"hm","thinkingSignature":"c2ln"}"#;
    let hollow = r#"{"type":"thinking","thinking":"","thinkingSignature":"c2ln"}"#;
    let redacted = r#"{"type":"thinking","thinking":"","redacted":true,"thinkingSignature":"ZGF0YQ=="}"#;
    let item = r#"{"type":"thinking","thinking":"sum","thinkingSignature":"{\"type\":\"reasoning\",\"summary\":[],\"encrypted_content\":\"enc\"}"}"#;
    let picture = r#"{"role":"user","content":[{"type":"text","text":"look"},{"type":"image","data":"aGk=","mimeType":"image/png"},{"type":"image","data":"aGk=","mimeType":"image/tiff"}]}"#;
    let compaction = |summary: &str, kept: &str| {
        format!(r#""type":"compaction","summary":"{summary}","firstKeptEntryId":"{kept}","tokensBefore":900"#)
    };
    let message = |json: String| format!(r#""type":"message","message":{json}"#);
    let entries = [
        message(user("first")),
        message(answer(&[signed, hollow, redacted, &text("an answer"), &call("odd|id", "read file")].join(","), "toolUse", claude)),
        message(result("odd|id", "content of a.rs")),
        message(answer(&[item, &text("from another model")].join(","), "stop", gpt)),
        message(user("kept")),
        message(answer(&text("kept answer"), "stop", claude)),
        compaction("SUMMARY ONE", "00000005"),
        message(picture.to_owned()),
        message(answer(&[text("two calls"), call("c1", "read"), call("c2", "read")].join(","), "toolUse", claude)),
        message(result("c1", "one")),
        message(answer(hollow, "stop", claude)),
        message(answer(&text("half"), "aborted", claude)),
        compaction("SUMMARY TWO", "00000004"),
        r#""type":"custom_message","customType":"x.note","content":"a hidden note","display":false"#.to_owned(),
        message(r#"{"role":"bashExecution","command":"ls","output":"a.rs","exitCode":0,"cancelled":false,"truncated":false}"#.to_owned()),
        message(user("last")),
        message(answer(&text("the end"), "stop", gpt)),
        r#""type":"session_info","name":"Everything"#.to_owned() + "\"",
    ];
    let mut lines = vec![format!(
        r#"{{"type":"session","version":3,"id":"{ID}","timestamp":"2026-09-20T10:00:00.000Z","cwd":"/"}}"#
    )];
    for (number, entry) in (1..).zip(&entries) {
        let parent = if number == 1 { "null".to_owned() } else { format!("\"{:08}\"", number - 1) };
        lines.push(format!(
            r#"{{{entry},"id":"{number:08}","parentId":{parent},"timestamp":"2026-09-20T10:00:{number:02}.000Z"}}"#
        ));
    }
    Session::from_text(&(lines.join("\n") + "\n"), Options::default()).unwrap()
}

#[test]
fn a_session_with_everything_is_spelled_for_both() {
    let folder = tempfile::tempdir().unwrap();
    let session = everything();
    assert!(session.diagnostics().is_empty(), "{:?}", session.diagnostics());
    for (format, name) in [(BackFormat::Claude, "back-claude.txt"), (BackFormat::Codex, "back-codex.txt")] {
        let (text, report) = written(&wish(format, &session));
        golden(name, &format!("{text}{report:?}\n"));
        let again = read(format, folder.path(), &text);
        assert!(again.diagnostics().is_empty(), "{:?}", again.diagnostics());
        assert_eq!(again.name().unwrap().as_deref(), Some("Everything"));
        // A summary is said in other words, and what was left out is said.
        let plain = |said: Vec<String>| -> Vec<String> {
            let is_summary = |said: &String| said.contains("SUMMARY");
            said.into_iter()
                .filter(|said| !is_summary(said))
                .map(|said| said.replace("read file", "read_file"))
                .collect()
        };
        let (mut now, mut before) = (plain(sent(&again)), plain(sent(&session)));
        for said in before.iter_mut().chain(&mut now) {
            *said = said.replace(" | (no text)", "").replace("(no text)", "");
            *said = said.replace("[a picture of the type image/tiff was left out]", "(picture)");
        }
        if format == BackFormat::Codex {
            // What a compaction of Codex keeps is read as hidden messages, without calls: the golden file has them.
            for said in [&mut now, &mut before] {
                *said = said.split_off(said.iter().position(|said| said.contains("a hidden note")).unwrap());
            }
        }
        assert_eq!(now, before, "{format:?}");
    }
}

fn imported(agent: Agent, path: &Path) -> Session {
    let mut text = String::new();
    let wish = ImportWish {
        agent,
        path,
        id: None,
        end: OpenEnd::Taken,
        known: &HashSet::new(),
        versions: &KeptVersions::default(),
        child: None,
    };
    import_foreign(wish, &mut |line| {
        text += line.text;
        text.push('\n');
        Ok(())
    })
    .unwrap();
    Session::from_text(&text, Options::default()).unwrap()
}

#[test]
fn a_path_that_came_from_the_agent_has_its_own_records() {
    let folder = tempfile::tempdir().unwrap();
    let claude = fixtures("claude-code").join("projects/-home-u-work-demo/11111111-2222-4222-8222-222222222222.jsonl");
    let codex = "sessions/2026/09/24/rollout-2026-09-24T13-00-00-01a0d387-4530-74a2-8c7a-000000000001.jsonl";
    for (format, path) in [(BackFormat::Claude, claude), (BackFormat::Codex, fixtures("codex").join(codex))] {
        let session = imported(format.agent(), &path);
        let (text, report) = written(&wish(format, &session));
        assert!(report.is_native && report.losses.is_empty(), "{report:?}");
        let again = read(format, folder.path(), &text);
        let (now, before) = (sent(&again), sent(&session));
        assert_eq!(now.len(), before.len(), "{format:?}");
        for (now, before) in now.iter().zip(&before) {
            // The file with the whole output is beside the old transcript.
            assert!(now == before || now.contains("<persisted-output>"), "{format:?}: {now}\n{before}");
        }
        assert_eq!(again.id(), ID);
        assert!(!text.contains(r#""sessionId":"11111111"#));
        // Every line but those of the tail is one of the source, except for ids.
        let source = std::fs::read_to_string(&path).unwrap();
        let plain = |line: &str| {
            line.replace(ID, "ID").replace(session.id(), "ID").split("\"parentUuid\"").next().unwrap().len()
        };
        let known: HashSet<usize> = source.lines().map(plain).collect();
        let own = text.lines().filter(|line| known.contains(&plain(line))).count();
        assert!(own + 3 >= text.lines().count(), "{format:?}");
    }
}

/// Lines that hang on nothing would be a conversation without its beginning, and unsigned thinking is refused by the API.
#[test]
fn a_replayed_chain_has_no_gap_and_no_unsigned_thinking() {
    for name in ["11111111", "22222222", "33333333", "55555555", "66666666", "77777777"] {
        let path = fixtures("claude-code")
            .join(format!("projects/-home-u-work-demo/{name}-2222-4222-8222-222222222222.jsonl"));
        let session = imported(Agent::Claude, &path);
        let (text, report) = written(&wish(BackFormat::Claude, &session));
        assert!(report.is_native, "{name}");
        let mut seen: HashSet<String> = HashSet::new();
        let mut roots = 0;
        for line in text.lines() {
            let record = Json::parse(line).unwrap();
            assert_eq!(record.str("sessionId").as_deref().unwrap_or(ID), ID, "{line}");
            let Some(uuid) = record.str("uuid") else { continue };
            match record.str("parentUuid") {
                Some(parent) => assert!(seen.contains(parent.as_ref()), "{name}: {line}"),
                None => roots += usize::from(record.str("logicalParentUuid").is_none()),
            }
            seen.insert(uuid.into_owned());
            let content = record.get("message").and_then(|message| message.get("content")).unwrap_or(Json::NULL);
            let thinking = content.items().filter(|block| block.str("type").is_some_and(|kind| kind == "thinking"));
            assert!(
                thinking.into_iter().all(|block| block.str("signature").is_some_and(|text| !text.is_empty())),
                "{line}"
            );
        }
        assert!(roots <= 1, "{name}: {roots} roots");
        let last = text.lines().last().unwrap();
        assert!(last.contains("last-prompt"), "{name}: {last}");
    }
}

/// What somebody adds to an imported session is no record of the agent's.
#[test]
fn a_path_that_somebody_continued_is_spelled_anew() {
    let path = fixtures("claude-code").join("projects/-home-u-work-demo/66666666-2222-4222-8222-222222222222.jsonl");
    let mut session = imported(Agent::Claude, &path);
    let message = r#"{"role":"user","content":"and now?","timestamp":1790000000000}"#;
    let new = offshoot_session::compose::NewEntry::message(Json::parse(message).unwrap()).unwrap();
    session.append(&new).unwrap();
    let (text, report) = written(&wish(BackFormat::Claude, &session));
    assert!(!report.is_native);
    assert!(text.contains("and now?"));
}
