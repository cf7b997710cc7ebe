//! Lets extensions draw what an event brings, before the front end gets the event: printed rows do not change any more.

use std::sync::Arc;
use std::time::Duration;

use offshoot_agent::lenient_json;
use offshoot_extensions::ExtensionSet;
use offshoot_extensions::drawing::Renderer;
use offshoot_protocol::Event;
use offshoot_protocol::message::{Block, Content, CustomMessage, Message, ToolResultMessage};
use offshoot_session::clock::{Clock as _, SystemClock};
use offshoot_session::text::counted;
use offshoot_tui::app::extension::ExtensionMsg;
use offshoot_tui::message::{DrawnCall, Foldable};
use serde_json::{Value, json};

use super::extension_front::{DrawnCall as KeptCall, ExtensionUiState};
use super::extension_streams::{DueCall, StreamStep};
use super::job_context::JobContext;

/// How long an event waits for an extension; then it is shown as usual.
pub(super) const LIMIT: Duration = Duration::from_millis(500);
/// After an extension was too slow, none is asked for so many milliseconds.
pub(super) const PAUSE: i64 = 5_000;
const MAX_ROWS: usize = 200;
const MAX_ROW: usize = 4 << 10;
/// The margin of the conversation.
const MARGIN: usize = 2;

pub(super) struct Drawing<'a> {
    ui_state: &'a Arc<ExtensionUiState>,
    extensions: &'a ExtensionSet,
    columns: usize,
}

/// The width of the conversation.
pub(super) fn columns() -> usize {
    let columns = terminal_size::terminal_size().map_or(80, |(columns, _)| usize::from(columns.0));
    columns.saturating_sub(MARGIN).max(1)
}

/// How far a call has come.
#[derive(Clone, Copy)]
enum CallStage<'a> {
    /// Its arguments are those so far.
    Streams,
    Complete,
    /// With a part of its result.
    Runs(Option<&'a Arc<ToolResultMessage>>),
    Done(&'a Arc<ToolResultMessage>),
}

/// Draws calls again, as their extension wants it.
pub(super) async fn redraw(context: JobContext, calls: Vec<String>) {
    let Some(drawing) = Drawing::of(&context) else { return };
    for call in calls.iter().filter_map(|call| drawing.ui_state.call(call)) {
        drawing.draw_call(call).await;
    }
}

/// Draws calls with more of their arguments, beside the answer that streams.
async fn draw_growing(context: JobContext, wait: u64) {
    tokio::time::sleep(Duration::from_millis(wait)).await;
    let Some(drawing) = Drawing::of(&context) else { return };
    let streams = || drawing.ui_state.streams();
    let (began, stale) = (SystemClock.now(), streams().take_stale());
    for DueCall { id, name, arguments } in stale {
        let Some(call) = drawing.kept_call((&id, &name), &arguments, CallStage::Streams) else { continue };
        let Some(rows) = drawing.call_rows(call).await else { continue };
        // What is drawn of the whole call comes after this.
        let streams = streams();
        if streams.has(&id) {
            drawing.ui_state.send(ExtensionMsg::DrawnCall(id, rows));
        }
    }
    streams().drawn(began, SystemClock.now());
}

/// Sends the rows of an event to the front end, if an extension draws it.
pub(super) async fn draw(context: &JobContext, event: &Event) {
    let Some(drawing) = Drawing::of(context) else { return undraw(context, event) };
    let ui_state = drawing.ui_state;
    match event {
        Event::MessageEnd { message: Message::Custom(message) } if message.display => drawing.message(message).await,
        Event::MessageStart { message: Message::Assistant(_) } => ui_state.streams().forget(),
        Event::MessageUpdate { assistant_message_event, .. } => {
            let began = SystemClock.now();
            let step = ui_state.streams().follow(assistant_message_event, began);
            match step {
                StreamStep::Nothing => {}
                StreamStep::Begins(DueCall { id, name, arguments }) => {
                    drawing.call((&id, &name), &arguments, CallStage::Streams).await;
                    ui_state.streams().drawn(began, SystemClock.now());
                }
                StreamStep::Grows(wait) => drop(tokio::spawn(draw_growing(context.clone(), wait))),
            }
        }
        Event::MessageEnd { message: Message::Assistant(answer) } => {
            ui_state.streams().forget();
            for block in &answer.content {
                if let Block::ToolCall { id, name, arguments, .. } = block {
                    drawing.call((id, name), arguments, CallStage::Complete).await;
                }
            }
        }
        Event::ToolExecutionStart { tool_call_id, tool_name, args } => {
            drawing.call((tool_call_id, tool_name), args, CallStage::Runs(None)).await;
        }
        Event::ToolExecutionUpdate { tool_call_id, tool_name, args, partial_result } => {
            drawing.call((tool_call_id, tool_name), args, CallStage::Runs(Some(partial_result))).await;
        }
        Event::ToolExecutionEnd { tool_call_id, tool_name, result, .. } => {
            let args = ui_state.call(tool_call_id).map(|call| call.members["args"].clone()).unwrap_or_default();
            drawing.call((tool_call_id, tool_name), &args, CallStage::Done(result)).await;
        }
        Event::EntryAppended { entry } => drawing.entry(&entry.0).await,
        _ => {}
    }
}

/// While nothing is drawn: rows of fewer arguments, or of a part of a result, make room for offshoot's own.
fn undraw(context: &JobContext, event: &Event) {
    let Some(ui_state) = &context.ui_state else { return };
    let undraw = |id: &String| {
        if ui_state.call(id).is_some() {
            ui_state.send(ExtensionMsg::DrawnCall(id.clone(), Foldable::default()));
        }
    };
    match event {
        Event::MessageEnd { message: Message::Assistant(answer) } => {
            let calls = answer.content.iter();
            calls
                .filter_map(|block| if let Block::ToolCall { id, .. } = block { Some(id) } else { None })
                .for_each(undraw);
        }
        Event::ToolExecutionEnd { tool_call_id, .. } => undraw(tool_call_id),
        _ => {}
    }
}

impl<'a> Drawing<'a> {
    /// `None` while nothing is drawn.
    pub(super) fn of(context: &'a JobContext) -> Option<Self> {
        let (ui_state, extensions) = (context.ui_state.as_ref()?, context.extensions.as_ref()?);
        if ui_state.pauses_drawing(SystemClock.now()) {
            return None;
        }
        Some(Self { ui_state, extensions, columns: columns() })
    }

    /// What a renderer makes of it, folded and unfolded.
    async fn both(&self, renderer: Renderer, name: &str, members: Value) -> Option<Foldable<Value>> {
        let mut members = members;
        members["width"] = json!(self.columns);
        members["expanded"] = json!(false);
        let folded = self.once(renderer, name, members.clone()).await?;
        members["expanded"] = json!(true);
        let open = self.once(renderer, name, members).await?;
        Some(Foldable { folded, open })
    }

    async fn once(&self, renderer: Renderer, name: &str, members: Value) -> Option<Value> {
        match tokio::time::timeout(LIMIT, self.extensions.draw(renderer, name, members)).await {
            Ok(Ok(drawn)) => Some(drawn),
            Ok(Err(failure)) => {
                self.ui_state.failed_on_screen(&format!("drawing {name}"), &failure);
                None
            }
            Err(_) => {
                self.ui_state.pause_drawing(SystemClock.now() + PAUSE);
                None
            }
        }
    }

    async fn message(&self, message: &Arc<CustomMessage>) {
        let Ok(value) = serde_json::to_value(Message::Custom(Arc::clone(message))) else { return };
        let text = match &message.content {
            Content::Text(text) => text.clone(),
            Content::Blocks(blocks) => {
                let text = |block: &Block| if let Block::Text { text, .. } = block { Some(text.clone()) } else { None };
                blocks.iter().filter_map(text).collect::<Vec<_>>().join("\n")
            }
        };
        self.note(&message.custom_type, text, value).await;
    }

    async fn note(&self, custom_type: &str, text: String, message: Value) {
        if !self.extensions.draws(Renderer::Message, custom_type) {
            return;
        }
        let drawn = self.both(Renderer::Message, custom_type, json!({"message": message})).await;
        if let Some(rows) = drawn.as_ref().and_then(rows_of_both) {
            let custom_type = custom_type.to_owned();
            self.ui_state.send(ExtensionMsg::DrawnNote { custom_type, text, rows });
        }
    }

    /// An entry of an extension that was recorded just now, or its message, which an idle agent only records.
    async fn entry(&self, line: &str) {
        let Ok(entry) = lenient_json::from_str::<Value>(line) else { return };
        let Some((custom_type, rows)) = self.entry_rows(&entry).await else { return self.recorded(&entry).await };
        let id = entry["id"].as_str().unwrap_or_default().to_owned();
        self.ui_state.send(ExtensionMsg::DrawnEntry { custom_type, id, rows });
    }

    /// An entry or a message of an extension that has its place among the blocks.
    pub(super) async fn recorded(&self, entry: &Value) {
        if let Some((custom_type, rows)) = self.entry_rows(entry).await {
            let text = entry["id"].as_str().unwrap_or_default().to_owned();
            self.ui_state.send(ExtensionMsg::DrawnNote { custom_type, text, rows });
        }
        let Some(custom_type) = entry["customType"].as_str().filter(|_| entry["type"] == "custom_message") else {
            return;
        };
        if entry["display"] == false {
            return;
        }
        let text = match &entry["content"] {
            Value::String(text) => text.clone(),
            blocks => {
                let texts = blocks.as_array().into_iter().flatten().filter_map(|block| block["text"].as_str());
                texts.collect::<Vec<_>>().join("\n")
            }
        };
        let mut message = entry.clone();
        message["role"] = json!("custom");
        self.note(custom_type, text, message).await;
    }

    /// The type and the rows of an entry that its extension draws.
    async fn entry_rows(&self, entry: &Value) -> Option<(String, Foldable<Vec<String>>)> {
        let custom_type = entry["customType"].as_str().filter(|_| entry["type"] == "custom")?;
        if !self.extensions.draws(Renderer::Entry, custom_type) {
            return None;
        }
        let drawn = self.both(Renderer::Entry, custom_type, json!({"entry": entry})).await?;
        Some((custom_type.to_owned(), rows_of_both(&drawn)?))
    }

    /// A call of a session that is opened, with the message of its result.
    pub(super) async fn recorded_call(&self, (id, name): (&str, &str), args: &Value, result: Option<&Value>) {
        if !self.extensions.draws(Renderer::Tool, name) {
            return;
        }
        let mut members = json!({"toolCallId": id, "args": args, "executionStarted": result.is_some()});
        if let Some(result) = result {
            members["result"] = json!({"content": result["content"], "details": result["details"]});
            members["isPartial"] = json!(false);
            members["isError"] = json!(result["isError"] == true);
        }
        let call = KeptCall { id: id.to_owned(), tool: name.to_owned(), members };
        self.ui_state.keep_call(call.clone());
        self.draw_call(call).await;
    }

    async fn call(&self, call: (&str, &str), args: &Value, stage: CallStage<'_>) {
        if let Some(call) = self.kept_call(call, args, stage) {
            self.ui_state.keep_call(call.clone());
            self.draw_call(call).await;
        }
    }

    /// What an extension needs to draw a call; `None` if none draws it.
    fn kept_call(&self, (id, name): (&str, &str), args: &Value, stage: CallStage<'_>) -> Option<KeptCall> {
        if !self.extensions.draws(Renderer::Tool, name) {
            return None;
        }
        let (has_begun, result) = match stage {
            CallStage::Streams | CallStage::Complete => (false, None),
            CallStage::Runs(result) => (true, result.map(|result| (result, true))),
            CallStage::Done(result) => (true, Some((result, false))),
        };
        let is_complete = !matches!(stage, CallStage::Streams);
        let mut members = json!({
            "toolCallId": id, "args": args, "argsComplete": is_complete, "executionStarted": has_begun
        });
        if let Some((result, is_partial)) = result {
            members["result"] = json!({"content": result.content, "details": result.details});
            members["isPartial"] = json!(is_partial);
            members["isError"] = json!(result.is_error);
        }
        Some(KeptCall { id: id.to_owned(), tool: name.to_owned(), members })
    }

    async fn draw_call(&self, call: KeptCall) {
        let id = call.id.clone();
        // Rows of fewer arguments would stay.
        let rows = self.call_rows(call).await.unwrap_or_default();
        self.ui_state.send(ExtensionMsg::DrawnCall(id, rows));
    }

    async fn call_rows(&self, KeptCall { tool, members, .. }: KeptCall) -> Option<Foldable<DrawnCall>> {
        let drawn = self.both(Renderer::Tool, &tool, members).await?;
        let parts = |drawn: &Value| DrawnCall { call: rows_of(&drawn["call"]), result: rows_of(&drawn["result"]) };
        Some(Foldable { folded: parts(&drawn.folded), open: parts(&drawn.open) })
    }
}

/// `None` where the extension leaves it to offshoot.
fn rows_of_both(drawn: &Foldable<Value>) -> Option<Foldable<Vec<String>>> {
    Some(Foldable { folded: rows_of(&drawn.folded)?, open: rows_of(&drawn.open)? })
}

fn rows_of(drawn: &Value) -> Option<Vec<String>> {
    let cut = |row: &Value| {
        let row = row.as_str().unwrap_or_default();
        row.get(..row.floor_char_boundary(MAX_ROW)).unwrap_or_default().to_owned()
    };
    let all = drawn["rows"].as_array()?;
    let mut rows: Vec<String> = all.iter().take(MAX_ROWS).map(cut).collect();
    if all.len() > MAX_ROWS {
        rows.push(format!("… {}, not shown", counted(all.len() - MAX_ROWS, "more row", "more rows")));
    }
    Some(rows)
}
