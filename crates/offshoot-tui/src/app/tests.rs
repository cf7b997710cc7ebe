//! Tests of the whole front end: messages in, terminal screens out.

mod agents;
mod calls;
mod conversation;
mod faces;
mod hostile;
mod overlays;
mod pager;
mod search;
mod times;

use std::sync::Arc;

use offshoot_protocol::message::{
    AssistantMessage, Block as Content, Message, StopReason, ToolResultMessage, Usage, UserMessage,
};
use offshoot_protocol::model::Model as LanguageModel;
use offshoot_protocol::{Event, ThinkingLevel, Update};
use offshoot_session::entry::Source as _;
use offshoot_session::json::Json;
use offshoot_session::kind::Role;
use offshoot_session::transcript::{Item, Level, ToolResult};
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::{Position, Rect, Size};
use ratatui::style::{Color, Modifier};

use super::model::{Model, Overlay, Preferences};
use super::msg::{Msg, Opened, SessionFacts};
use super::screen::Screen;
use super::update::update;
use super::view;
use crate::conversation::ConversationBlock;
use crate::editor::Editor;
use crate::keymap::Key;
use crate::message::Habits;
use crate::testing::{SIZES, Wire, text_of, tokens_of};
use crate::theme::Theme;
use crate::transcript::Path;

/// A change of the front end.
type Tell<'a> = &'a dyn Fn(&mut Model);

fn model(theme: &Theme, (columns, rows): (u16, u16)) -> Model {
    let habits = Habits {
        cwd: "/home/me/work".to_owned(),
        home: "/home/me".to_owned(),
        expand_key: "ctrl+o".to_owned(),
        thinking_key: "ctrl+t".to_owned(),
        ..Habits::default()
    };
    let preferences =
        Preferences { theme: theme.clone(), habits, home: Some("/home/me".to_owned()), ..Preferences::default() };
    let mut model = Model::new(preferences, Editor::default(), "");
    model.folds = (false, false);
    update(&mut model, Msg::Resized(Size::new(columns, rows)));
    let facts = SessionFacts {
        model: Some(Arc::new(language_model("m1", "test"))),
        thinking: Some(ThinkingLevel::Medium),
        cwd: "~/work".to_owned(),
        ..SessionFacts::default()
    };
    update(&mut model, Msg::SessionFacts(Box::new(facts)));
    model
}

fn language_model(id: &str, provider: &str) -> LanguageModel {
    LanguageModel {
        id: id.to_owned(),
        provider: provider.to_owned(),
        reasoning: true,
        context_window: 200_000,
        ..LanguageModel::default()
    }
}

/// The bytes that are sent to the terminal, from an empty screen on.
fn sent(theme: &Theme, size: (u16, u16), tell: Tell<'_>) -> Vec<u8> {
    let mut model = model(theme, size);
    tell(&mut model);
    let wire = Wire::default();
    let mut screen = Screen::new(
        wire.clone(),
        model.size,
        Position::ORIGIN,
        super::screen::OnResize { rewraps: true, is_late: false },
    )
    .unwrap();
    let laid = view::print(&mut model);
    screen.print(&laid.lines, &[]);
    screen.draw(&view::bottom(&mut model).draw(&model)).unwrap();
    if model.overlay.as_ref().is_some_and(Overlay::is_full) {
        view::prepare_full(&mut model);
        screen.draw_full(|frame| view::full(&model, frame)).unwrap();
    }
    screen.send().unwrap();
    wire.0.borrow().clone()
}

/// The screen of a terminal that reads these bytes.
fn shown(bytes: &[u8], (columns, rows): (u16, u16)) -> Buffer {
    let mut parser = vt100::Parser::new(rows, columns, 0);
    parser.process(bytes);
    let mut buf = Buffer::empty(Rect::new(0, 0, columns, rows));
    for at in buf.area.positions() {
        let Some(cell) = parser.screen().cell(at.y, at.x) else { continue };
        let colour = |colour| match colour {
            vt100::Color::Default => Color::Reset,
            vt100::Color::Idx(nth) => Color::Indexed(nth),
            vt100::Color::Rgb(red, green, blue) => Color::Rgb(red, green, blue),
        };
        let own = &mut buf[at];
        if cell.has_contents() {
            own.set_symbol(cell.contents());
        }
        own.set_fg(colour(cell.fgcolor())).set_bg(colour(cell.bgcolor()));
        let styles = [
            (cell.bold(), Modifier::BOLD),
            (cell.dim(), Modifier::DIM),
            (cell.italic(), Modifier::ITALIC),
            (cell.underline(), Modifier::UNDERLINED),
            (cell.inverse(), Modifier::REVERSED),
        ];
        own.modifier = styles.into_iter().filter(|(is_so, _)| *is_so).map(|(_, modifier)| modifier).collect();
    }
    buf
}

/// The screen as text, the same in every theme. Each theme has its own colours.
fn terminal(size: (u16, u16), tell: Tell<'_>) -> String {
    text_of(&tokens_of(|theme| shown(&sent(theme, size, tell), size)))
}

/// All screens of a table in one size, each below its name.
fn screens(size: (u16, u16), table: &[(&str, Tell<'_>)]) -> String {
    let screens = table.iter().map(|(name, tell)| format!("## {name}\n{}\n", terminal(size, *tell).trim_end()));
    screens.collect::<Vec<_>>().join("\n")
}

fn heard(model: &mut Model, event: Event) {
    update(model, Msg::Agent(Arc::new(event)));
}

/// Presses keys, given by their names and separated by blanks.
fn press(model: &mut Model, keys: &str) {
    for key in keys.split(' ') {
        update(model, Msg::Key(Key::parse(key).unwrap().event()));
    }
}

fn write(model: &mut Model, text: &str) {
    for letter in text.chars() {
        update(model, Msg::Key(KeyEvent::new(KeyCode::Char(letter), KeyModifiers::NONE)));
    }
}

fn item(message: &str) -> Item {
    let json = Json::parse(message).unwrap();
    match json.str("role") {
        Some(role) => Item::of_message(Role::from_word(role.as_bytes()), json),
        None => Item::of_line(message).unwrap(),
    }
}

/// A message with the results of its tool calls.
fn block(message: &str, results: &[&str]) -> ConversationBlock {
    let result = |message: &&str| match item(message) {
        Item::Result(result) => Arc::new(result),
        other => panic!("{other:?}"),
    };
    ConversationBlock {
        results: results.iter().map(result).collect::<Vec<Arc<ToolResult>>>(),
        ..ConversationBlock::new(item(message))
    }
}

fn opened(model: &mut Model, tail: Vec<ConversationBlock>) {
    update(model, Msg::Opened(Opened { tail, ..Opened::default() }));
}

fn answer(content: Vec<Content>) -> Message {
    Message::from(AssistantMessage {
        content,
        api: String::new(),
        provider: "test".to_owned(),
        model: "m1".to_owned(),
        response_id: None,
        usage: Usage::default(),
        stop_reason: StopReason::Stop,
        error_message: None,
        timestamp: 0,
    })
}

/// An answer that is only an error.
fn failed(why: &str) -> Message {
    let Message::Assistant(mut message) = answer(Vec::new()) else { panic!("it is an answer") };
    let own = Arc::make_mut(&mut message);
    (own.stop_reason, own.error_message) = (StopReason::Error, Some(why.to_owned()));
    Message::Assistant(message)
}

fn gave(call: &str, tool: &str, text: &str) -> Arc<ToolResultMessage> {
    Arc::new(ToolResultMessage {
        tool_call_id: call.to_owned(),
        tool_name: tool.to_owned(),
        content: vec![Content::text(text)],
        details: None,
        nested_calls: None,
        is_error: false,
        timestamp: 0,
    })
}

/// Shows a partial result of the call `1` of the last answer.
fn tool_prints(model: &mut Model, tool: &str, args: serde_json::Value, text: &str) {
    let (tool_call_id, tool_name, partial_result) = ("1".to_owned(), tool.to_owned(), gave("1", tool, text));
    heard(model, Event::ToolExecutionUpdate { tool_call_id, tool_name, args, partial_result });
}

fn updated(model: &mut Model, update: Update) {
    heard(model, Event::MessageUpdate { usage: Usage::default(), assistant_message_event: update });
}

/// A question, and a streaming answer.
fn streaming(model: &mut Model, question: &str, thought: &str, said: &str) {
    heard(model, Event::AgentStart);
    heard(model, Event::MessageEnd { message: UserMessage::new(question, Vec::new(), 0).into() });
    heard(model, Event::MessageStart { message: answer(Vec::new()) });
    updated(model, Update::ThinkingStart { content_index: 0 });
    updated(model, Update::ThinkingDelta { content_index: 0, delta: thought.to_owned() });
    updated(model, Update::TextStart { content_index: 1 });
    updated(model, Update::TextDelta { content_index: 1, delta: said.to_owned() });
}

fn notice(model: &mut Model, level: Level, text: &str) {
    update(model, Msg::Notice(level, text.to_owned()));
}
