//! Hostile text in every field that the front end shows. Only plain text reaches the terminal.

use offshoot_protocol::{RawJson, Reason, SessionChangeReason};
use offshoot_session::json::quote;
use serde_json::json;

use super::*;
use crate::app::cmd::Purpose;
use crate::app::model::Picking;
use crate::app::msg::{Diverged, ListedModel, OpenedReason};
use crate::overlay::pick::{Choice, Pick};
use crate::overlay::settings::Files;
use crate::testing::{a_megabyte, assert_plain, hostile_texts, with_in_every_field};
use offshoot_settings::{Layer, Layers, Scope};

/// A screen with a text in each of its fields.
type Fill = fn(&mut Model, &str);

const SCREENS: [(&str, Fill); 23] = [
    ("conversation", |model, text| opened(model, said(text))),
    ("conversation, open", |model, text| {
        press(model, "ctrl+o ctrl+t");
        opened(model, said(text));
    }),
    ("tools", |model, text| opened(model, tools(text))),
    ("tools, open", |model, text| {
        press(model, "ctrl+o");
        opened(model, tools(text));
    }),
    ("an answer comes in", |model, text| streaming(model, text, text, text)),
    ("a tool is at work", at_work),
    ("notices", noticed),
    ("messages wait", |model, text| {
        let all = vec![text.to_owned(), text.to_owned()];
        heard(model, Event::QueueUpdate { steering: all.clone(), follow_up: all });
    }),
    ("status", placed),
    ("typed", |model, text| text.chars().take(200).for_each(|c| write(model, c.encode_utf8(&mut [0; 4])))),
    ("pasted", |model, text| drop(update(model, Msg::Paste(text.to_owned())))),
    ("a draft, and the words of another program", |model, text| {
        model.editor.restore(&[text.to_owned()]);
        update(model, Msg::Written(Some(format!("{text}\n{text}"))));
    }),
    ("an unknown command", |model, text| {
        update(model, Msg::Paste(format!("/{text}")));
        press(model, "enter");
    }),
    ("files to complete", |model, text| {
        write(model, "@");
        update(model, Msg::Files(vec![format!("x{text}"), format!("x/{text}/y")]));
        write(model, "x");
    }),
    ("models", |model, text| {
        update(model, Msg::Models(vec![ListedModel { model: Arc::new(language_model(text, text)), has_key: false }]));
        update(model, Msg::Paste(text.to_owned()));
    }),
    ("branches", |model, text| {
        let choice = Choice { label: text.to_owned(), detail: text.to_owned(), is_current: true };
        update(model, Msg::Branches(vec![(text.to_owned(), choice)]));
    }),
    ("a question", |model, text| {
        let pick = Pick::ask(text, text, &[text, text]);
        model.overlay = Some(Overlay::Pick(Box::new(pick), Picking::Branch(Vec::new())));
    }),
    ("to be read", |model, text| over(model, text, Purpose::Transcript)),
    ("to begin before", |model, text| over(model, text, Purpose::Fork)),
    ("tree", |model, text| {
        over(model, text, Purpose::Tree);
        press(model, "ctrl+a");
        update(model, Msg::Paste(text.to_owned()));
    }),
    ("settings", settings),
    ("help", |model, text| {
        press(model, "?");
        update(model, Msg::Paste(text.to_owned()));
    }),
    ("a page", |model, text| drop(update(model, Msg::Page(text.to_owned(), vec![text.to_owned(), text.to_owned()])))),
];

fn said(text: &str) -> Vec<ConversationBlock> {
    let text = quote(text);
    let messages = [
        format!(
            r#"{{"role":"user","content":[{{"type":"text","text":{text}}},{{"type":"image","data":"","mimeType":{text}}},{{"type":{text}}}]}}"#
        ),
        format!(
            r#"{{"role":"assistant","content":[{{"type":"thinking","thinking":{text}}},{{"type":"text","text":{text}}},{{"type":{text}}}],"stopReason":"error","errorMessage":{text}}}"#
        ),
        format!(r#"{{"role":"bashExecution","command":{text},"output":{text},"exitCode":1,"fullOutputPath":{text}}}"#),
        format!(r#"{{"type":"custom_message","customType":{text},"content":{text},"display":true}}"#),
        format!(r#"{{"type":"compaction","summary":{text},"tokensBefore":1}}"#),
        format!(r#"{{"type":"branch_summary","summary":{text},"fromId":{text}}}"#),
    ];
    messages.iter().map(|message| block(message, &[])).collect()
}

fn tools(text: &str) -> Vec<ConversationBlock> {
    let names = ["bash", "read", "write", "edit", "grep", "find", "ls", text];
    names.iter().flat_map(|name| [tool(name, text, false), tool(name, text, true)]).collect()
}

fn tool(name: &str, text: &str, is_error: bool) -> ConversationBlock {
    let (name, text) = (quote(name), quote(text));
    let arguments = format!(
        r#"{{"path":{text},"command":{text},"pattern":{text},"content":{text},"glob":{text},"edits":[{{"oldText":"a","newText":{text}}}]}}"#
    );
    let called = format!(
        r#"{{"role":"assistant","content":[{{"type":"toolCall","id":"c","name":{name},"arguments":{arguments}}}],"stopReason":"toolUse"}}"#
    );
    let gave = format!(
        r#"{{"role":"toolResult","toolCallId":"c","toolName":{name},"content":[{{"type":"text","text":{text}}}],"details":{{"diff":{text}}},"isError":{is_error}}}"#
    );
    block(&called, &[&gave])
}

fn at_work(model: &mut Model, text: &str) {
    let (name, arguments) = (text.to_owned(), json!({ "path": text, "command": text }));
    let call = Content::ToolCall {
        id: "1".to_owned(),
        name,
        arguments: arguments.clone(),
        arguments_error: None,
        thought_signature: None,
    };
    heard(model, Event::MessageEnd { message: answer(vec![Content::text(text), call]) });
    tool_prints(model, text, arguments, text);
    model.conversation.start_shell(text, true);
    heard(model, Event::BashExecutionUpdate { delta: text.to_owned(), omitted: 0 });
}

fn noticed(model: &mut Model, text: &str) {
    for level in [Level::Info, Level::Warning, Level::Error] {
        notice(model, level, text);
    }
    let error_message = text.to_owned();
    heard(model, Event::AutoRetryStart { attempt: 1, max_attempts: 2, delay_ms: 3, error_message });
    heard(model, Event::Failed { error: text.to_owned() });
    heard(model, Event::SessionInfoChanged { name: Some(text.to_owned()) });
    heard(
        model,
        Event::CompactionEnd {
            reason: Reason::Manual,
            result: None,
            aborted: false,
            will_retry: false,
            error_message: Some(text.to_owned()),
        },
    );
    let note = format!(r#"{{"type":"custom_message","customType":{0},"content":{0},"display":true}}"#, quote(text));
    heard(model, Event::EntryAppended { entry: RawJson(note) });
    update(
        model,
        Msg::Opened(Opened {
            reason: OpenedReason::Changed(SessionChangeReason::Resume),
            id: text.to_owned(),
            ..Opened::default()
        }),
    );
}

fn placed(model: &mut Model, text: &str) {
    let facts = SessionFacts {
        id: text.to_owned(),
        name: Some(text.to_owned()),
        cwd: text.to_owned(),
        branch: Some(text.to_owned()),
        model: Some(Arc::new(language_model(text, text))),
        diverged: Some(Diverged { entry: text.to_owned(), message: text.to_owned() }),
        git_branch: Some(text.to_owned()),
        ..model.facts.clone()
    };
    update(model, Msg::SessionFacts(Box::new(facts)));
}

fn over(model: &mut Model, text: &str, purpose: Purpose) {
    let session = with_in_every_field(text);
    let leaf = session.leaf();
    model.conversation.open_place(Vec::new(), Path::of(session.tree(), leaf).entries());
    update(model, Msg::Snapshot(purpose, Arc::new(session), leaf));
}

fn settings(model: &mut Model, text: &str) {
    let file = format!(r#"{{"theme":{0},"externalEditor":{0},"defaultModel":{0}}}"#, quote(text));
    let layers = Layers { global: Layer::read(&file, Scope::Global).unwrap().0, ..Layers::default() };
    let files = Files { global: text.to_owned(), project: Some(text.to_owned()) };
    update(model, Msg::Settings(layers, files, vec![text.to_owned()]));
    write(model, "theme");
    update(model, Msg::Stored(Err(text.to_owned())));
}

#[test]
fn hostile_text_in_every_field_stays_words() {
    for (name, text) in hostile_texts() {
        for (screen, fill) in SCREENS {
            for size in SIZES {
                let sent = sent(&Theme::default(), size, &|model| fill(model, &text));
                let what = format!("{name} in {screen} at {size:?}");
                assert_plain(&sent, &what);
            }
        }
    }
}

#[test]
fn a_line_of_a_megabyte_in_every_field_costs_what_is_seen() {
    let text = a_megabyte();
    let few: Fill = |model, text| opened(model, vec![tool("bash", text, false), tool(text, text, true)]);
    // The tests of `message` cover all other tools.
    let others = SCREENS.into_iter().filter(|(screen, _)| !screen.starts_with("tools"));
    for (screen, fill) in others.chain([("two tools", few)]) {
        let sent = sent(&Theme::default(), (40, 12), &|model| fill(model, &text));
        assert_plain(&sent, screen);
    }
}
