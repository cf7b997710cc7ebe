//! What is heard of the agent.

use offshoot_agent::command::{AgentError, Command, Reply};
use offshoot_agent::event::{Event, Update};
use offshoot_agent::message::{Block, Message, text_of};

use crate::app::cmd::Cmd;
use crate::app::model::{Item, Model};
use crate::app::msg::Level;

pub(super) fn event(model: &mut Model, event: &Event) -> Vec<Cmd> {
    match event {
        Event::AgentStart => model.is_working = true,
        Event::AgentSettled { .. } => {
            model.is_working = false;
            return vec![Cmd::Look];
        }
        Event::MessageStart { message: Message::Assistant(_) } => {
            model.live.push(Item::Answer { blocks: Vec::new(), error: None });
        }
        Event::MessageUpdate { assistant_message_event, .. } => grow(model, assistant_message_event),
        Event::MessageEnd { message } => ended(model, message),
        Event::ToolExecutionStart { tool_call_id, tool_name, args } => model.live.push(Item::Tool {
            id: tool_call_id.clone(),
            name: tool_name.clone(),
            args: args.to_string(),
            output: String::new(),
            ended: None,
        }),
        Event::ToolExecutionUpdate { tool_call_id, partial_result, .. } => {
            tool(model, tool_call_id, &text_of(&partial_result.content), None);
        }
        Event::ToolExecutionEnd { tool_call_id, result, is_error, .. } => {
            tool(model, tool_call_id, &text_of(&result.content), Some(*is_error));
        }
        Event::QueueUpdate { steering, follow_up } => model.queue = (steering.clone(), follow_up.clone()),
        Event::Failed { error } => model.finished.push(Item::Notice(Level::Error, error.clone())),
        Event::AutoRetryStart { attempt, max_attempts, delay_ms, error_message } => {
            let seconds = delay_ms.div_ceil(1000);
            let text = format!("{error_message}; trying again in {seconds} s ({attempt} of {max_attempts})");
            model.finished.push(Item::Notice(Level::Warning, text));
        }
        Event::CompactionEnd { error_message: Some(why), .. } => {
            model.finished.push(Item::Notice(Level::Warning, format!("compaction: {why}")));
        }
        Event::SessionChanged { .. } => return vec![Cmd::Look],
        _ => {}
    }
    settle(model);
    Vec::new()
}

pub(super) fn answered(model: &mut Model, command: &Command, result: Result<Reply, AgentError>) -> Vec<Cmd> {
    if let Err(error) = result {
        model.finished.push(Item::Notice(Level::Error, error.to_string()));
        if let (Command::Prompt(said), true) = (command, model.editor.is_empty()) {
            model.editor.clone_from(&said.text);
        }
    }
    vec![Cmd::Look]
}

fn grow(model: &mut Model, update: &Update) {
    let Some(Item::Answer { blocks, .. }) = model.live.last_mut() else { return };
    match update {
        Update::TextStart { .. } => blocks.push(Block::text("")),
        Update::ThinkingStart { .. } => blocks.push(Block::thinking("")),
        Update::TextDelta { delta, .. } => {
            if let Some(Block::Text { text, .. }) = blocks.last_mut() {
                text.push_str(delta);
            }
        }
        Update::ThinkingDelta { delta, .. } => {
            if let Some(Block::Thinking { thinking, .. }) = blocks.last_mut() {
                thinking.push_str(delta);
            }
        }
        _ => {}
    }
}

fn ended(model: &mut Model, message: &Message) {
    match message {
        Message::User(user) => model.finished.push(Item::User(user.text())),
        Message::Assistant(answer) => {
            model.live.retain(|item| !matches!(item, Item::Answer { .. }));
            let item = Item::Answer { blocks: answer.content.clone(), error: answer.error_message.clone() };
            model.finished.push(item);
        }
        Message::ToolResult(_) => {}
    }
}

fn tool(model: &mut Model, call: &str, text: &str, is_end: Option<bool>) {
    for item in &mut model.live {
        if let Item::Tool { id, output, ended, .. } = item
            && id == call
        {
            text.clone_into(output);
            *ended = is_end;
        }
    }
}

/// What stands first and is finished leaves what is drawn anew.
fn settle(model: &mut Model) {
    while let Some(Item::Tool { ended: Some(_), .. }) = model.live.first() {
        model.finished.push(model.live.remove(0));
    }
}
