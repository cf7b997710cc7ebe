//! The live conversation of a real agent equals the transcript of its session.

use std::collections::VecDeque;
use std::sync::Mutex;

use futures_util::stream;
use offshoot_agent::agent_session::AgentSession;
use offshoot_agent::provider::{Delta, Deltas, Provider, Request};
use offshoot_agent::tool;
use offshoot_agent::{Approver, Setup};
use offshoot_protocol::message::{AssistantMessage, Block, StopReason, Usage};
use offshoot_protocol::model::Model;
use serde_json::{Value, json};

use super::*;
use crate::app::live::Live;
use crate::message::{Folds, RowRenderer};

/// A model that streams the given answers.
struct Script(Mutex<VecDeque<AssistantMessage>>);

impl Provider for Script {
    fn stream(&self, _: Request) -> Deltas {
        let message = self.0.lock().unwrap().pop_front().unwrap_or_else(|| says(vec![Block::text("that is all")]));
        let mut deltas = vec![Delta::Start];
        for (index, block) in message.content.iter().enumerate() {
            deltas.extend(pieces(index, block));
        }
        let answer = offshoot_agent::provider::Answer { message, failure: None };
        deltas.push(Delta::Done(Box::new(answer)));
        Box::pin(stream::iter(deltas))
    }
}

fn pieces(index: usize, block: &Block) -> Vec<Delta> {
    let cut = |text: &str| -> Vec<String> {
        let letters: Vec<_> = text.chars().collect();
        letters.chunks(7).map(|letters| letters.iter().collect()).collect()
    };
    match block {
        Block::Text { text, .. } => {
            let texts = cut(text).into_iter().map(|delta| Delta::Text { index, delta });
            std::iter::once(Delta::TextStart { index }).chain(texts).chain([Delta::TextEnd { index }]).collect()
        }
        Block::Thinking { thinking, .. } => {
            let texts = cut(thinking).into_iter().map(|delta| Delta::Thinking { index, delta });
            std::iter::once(Delta::ThinkingStart { index }).chain(texts).chain([Delta::ThinkingEnd { index }]).collect()
        }
        Block::ToolCall { id, name, arguments, .. } => {
            let start = Delta::ToolCallStart { index, id: id.clone(), name: name.clone() };
            let texts = cut(&arguments.to_string()).into_iter().map(|delta| Delta::ToolCall { index, delta });
            std::iter::once(start).chain(texts).chain([Delta::ToolCallEnd { index }]).collect()
        }
        Block::Image { .. } => Vec::new(),
    }
}

fn says(content: Vec<Block>) -> AssistantMessage {
    let has_calls = content.iter().any(|block| matches!(block, Block::ToolCall { .. }));
    AssistantMessage {
        content,
        api: "a".to_owned(),
        provider: "p".to_owned(),
        model: "m".to_owned(),
        response_id: None,
        usage: Usage::default(),
        stop_reason: if has_calls { StopReason::ToolUse } else { StopReason::Stop },
        error_message: None,
        timestamp: 0,
    }
}

fn calls(id: &str, name: &str, arguments: Value) -> Block {
    Block::ToolCall {
        id: id.to_owned(),
        name: name.to_owned(),
        arguments,
        arguments_error: None,
        thought_signature: None,
    }
}

fn script(dir: &std::path::Path) -> Vec<AssistantMessage> {
    let path = |name: &str| dir.join(name).display().to_string();
    let edit = json!({"path": path("a.rs"), "edits": [{"oldText": "1", "newText": "2"}]});
    vec![
        says(vec![
            Block::thinking("I should write\n\nand then read."),
            Block::text("\n\nFirst **write**:\n\n- one\n- two\n\n```rust\nlet a = 1;\n```\n"),
            calls("w", "write", json!({"path": path("a.rs"), "content": "let a = 1;\nlet b = 2;\n"})),
        ]),
        says(vec![calls("r", "read", json!({"path": path("a.rs")})), calls("l", "ls", json!({"path": path("")}))]),
        says(vec![
            Block::text("Now change it."),
            calls("e", "edit", edit),
            calls("x", "read", json!({"path": path("none")})),
        ]),
        says(vec![
            calls("b", "bash", json!({"command": "seq 1 30; exit 3"})),
            calls("u", "unknown", json!({"a": [1]})),
        ]),
        says(vec![Block::text("Done.\n\n| a | b |\n|---|---|\n| 1 | 2 |")]),
        says(vec![Block::text("## Goal\nMend it.")]),
        AssistantMessage {
            stop_reason: StopReason::Error,
            error_message: Some("the server is on fire".to_owned()),
            ..says(vec![Block::text("half an ans")])
        },
    ]
}

/// A conversation with tools, a user command, a compaction and a failure: the live blocks, the rows printed on the way,
/// and the session.
struct Talk {
    conversation: Conversation,
    live: Live,
    printed: Vec<Line<'static>>,
    session: Vec<String>,
    path: Path,
    entries: Vec<Entry>,
}

impl Talk {
    fn print(&mut self, width: usize) {
        let (theme, habits) = (Theme::default(), Habits::default());
        let look = RowRenderer { theme: &theme, width, habits: &habits };
        self.printed.extend(self.live.print(&self.conversation, &look, Folds::default()).lines);
    }
}

fn converse(width: impl Fn(usize) -> usize) -> Talk {
    let dir = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let provider = Arc::new(Script(Mutex::new(script(dir.path()).into())));
        let model = Arc::new(Model { context_window: 100_000, ..Model::default() });
        let mut setup = Setup::new(provider, model, dir.path(), Approver::Nobody);
        setup.tools = tool::all(&setup.shell);
        setup.compaction.keep_recent_tokens = 10;
        let session =
            Session::in_memory(&NewSession { cwd: "/", ..NewSession::default() }, Options::default()).unwrap();
        let agent = AgentSession::start(session, setup).unwrap();
        let mut events = agent.subscribe();
        let mut talk = Talk {
            conversation: Conversation::default(),
            live: Live::default(),
            printed: Vec::new(),
            session: Vec::new(),
            path: Path::default(),
            entries: Vec::new(),
        };
        let mut take = |talk: &mut Talk| {
            let mut count = 0;
            while let Ok(told) = events.try_recv() {
                talk.conversation.apply(&told.event);
                count += 1;
                talk.print(width(count));
            }
        };
        agent.prompt("please mend a.rs").await.unwrap();
        take(&mut talk);
        let ran = agent.bash("echo hello", false).await.unwrap();
        talk.conversation.shell_ended(&ran);
        agent.compact(None).await.unwrap();
        take(&mut talk);
        agent.prompt("and again").await.unwrap();
        take(&mut talk);
        let read = |session: &Session| {
            let entries: Vec<_> = session.tree().entries().map(|ix| session.entry(ix).unwrap()).collect();
            (Path::of(session.tree(), session.leaf()), entries)
        };
        (talk.path, talk.entries) = agent.read(read).await.unwrap();
        agent.close().await;
        talk.session = talk.entries.iter().map(|entry| entry.line().to_owned()).collect();
        talk
    })
}

fn all(transcript: &mut Transcript, conversation: &Conversation, width: u16, supply: &[Entry]) -> Vec<Line<'static>> {
    loop {
        let wanted = transcript.lay_out(conversation, &Theme::default(), Size::new(width, u16::MAX));
        if wanted.is_empty() {
            break;
        }
        transcript.supply(supply.iter().filter(|entry| wanted.contains(&entry.ix)).cloned());
    }
    let keys: Vec<_> = transcript.visible.iter().map(|slice| slice.key).collect();
    keys.into_iter().flat_map(|key| transcript.peek(key).unwrap().lines.clone()).collect()
}

fn shown(lines: &[Line<'_>]) -> String {
    lines.iter().map(|line| line.to_string() + "\n").collect()
}

#[test]
fn a_transcript_that_grew_live_is_the_one_that_a_session_opens_with() {
    let talk = converse(|_| 80);
    let (mut grown, mut resumed) = (Transcript::new(Habits::default()), Transcript::new(Habits::default()));
    grown.join(&talk.conversation, 0);
    resumed.open(talk.path.clone());
    for parts in [None, Some(Parts::Tools), Some(Parts::Thinking)] {
        for transcript in [&mut resumed, &mut grown] {
            parts.into_iter().for_each(|parts| transcript.fold_all(parts));
        }
        for width in [80, 40, 5] {
            let live = all(&mut grown, &talk.conversation, width, &[]);
            let opened = all(&mut resumed, &talk.conversation, width, &talk.entries);
            assert_eq!(shown(&live), shown(&opened), "{parts:?} at {width}: {:?}", talk.session);
            assert_eq!(live, opened, "the styles, {parts:?} at {width}");
        }
    }
    let text: String =
        all(&mut resumed, &talk.conversation, 80, &talk.entries).iter().map(|line| line.to_string() + "\n").collect();
    for word in
        ["please mend", "let a = 2;", "exit code 3", "$ echo hello", "compaction", "error: the server is on fire"]
    {
        assert!(text.contains(word), "{word}: {text}");
    }
}

#[test]
fn what_is_printed_as_it_comes_is_the_whole_each_row_once() {
    let mut talk = converse(|_| 60);
    talk.print(60);
    let theme = Theme::default();
    let look = RowRenderer { theme: &theme, width: 60, habits: &Habits::default() };
    assert!(talk.live.rows(&talk.conversation, &look, Folds::default(), 100).is_empty());
    let mut resumed = Transcript::new(Habits::default());
    resumed.open(talk.path.clone());
    let whole = all(&mut resumed, &talk.conversation, 60, &talk.entries);
    assert_eq!(shown(&talk.printed), shown(&whole));
    assert_eq!(talk.printed, whole, "the styles");
}
