//! What extensions say: messages of their own, and words in the place of the user.

use offshoot_agent::extensions::{Said, SaidVerdict, StreamingBehavior};
use offshoot_protocol::message::{Block, Content, CustomMessage, UserMessage};
use offshoot_protocol::request::{Delivery, Inject, InjectUser};
use serde_json::{Value, json};

use crate::contract::ENDED;
use crate::services::AgentServices;

impl AgentServices {
    pub(crate) fn send_message(&self, params: &Value) -> Result<String, String> {
        let message = params.get("message").cloned().unwrap_or_default();
        let mut message: CustomMessage =
            serde_json::from_value(message).map_err(|error| format!("sendMessage: the message is not one: {error}"))?;
        message.timestamp = 0;
        let options = params.get("options").cloned().unwrap_or_default();
        let triggers = options.get("triggerTurn").and_then(Value::as_bool).unwrap_or(false);
        let is_streaming = self.state()?.is_streaming;
        let delivery = match options.get("deliverAs").and_then(Value::as_str) {
            Some("nextTurn") => Delivery::NextPrompt,
            Some("followUp") if is_streaming || triggers => Delivery::FollowUp,
            _ if is_streaming || triggers => Delivery::Steer,
            _ => Delivery::Add,
        };
        self.done(Inject { message, delivery })
    }

    /// Always begins a turn. Commands, skills and templates are looked for where the extension wants it.
    pub(crate) fn send_user_message(&self, params: &Value) -> Result<String, String> {
        let content = params.get("content").cloned().unwrap_or_default();
        let mut content: Content = serde_json::from_value(content)
            .map_err(|error| format!("sendUserMessage: the content is neither a text nor a list of blocks: {error}"))?;
        let options = &params["options"];
        if options["expandPromptTemplates"] == json!(true) {
            match self.expanded(content)? {
                Some(expanded) => content = expanded,
                None => return Ok("null".to_owned()),
            }
        }
        let deliver_as = options["deliverAs"].as_str();
        let is_streaming = self.state()?.is_streaming;
        let delivery = match deliver_as {
            Some("followUp") => Delivery::FollowUp,
            Some(_) => Delivery::Steer,
            None if is_streaming => {
                return Err(
                    "the agent is at work: say with deliverAs (steer or followUp) when the message is sent".to_owned()
                );
            }
            None => Delivery::Steer,
        };
        if !self.shared()?.registry().listens("input") {
            return self.done(InjectUser { content, delivery });
        }
        let while_streaming = match delivery {
            Delivery::FollowUp => Some(StreamingBehavior::FollowUp),
            _ => Some(StreamingBehavior::Steer),
        };
        let (agent, while_streaming) = (self.agent()?, while_streaming.filter(|_| is_streaming));
        // Its process waits for this answer, and cannot look at the message meanwhile.
        drop(self.runtime.spawn(async move {
            let Some(extensions) = agent.extensions() else { return };
            let (text, images) = parts(content);
            let said = Said { text, images, while_streaming, is_of_extension: true };
            if let SaidVerdict::Continue(Said { text, images, .. }) = extensions.said(said).await {
                let content = UserMessage::new(text, images, 0).content;
                // The agent may have ended.
                drop(agent.ask(InjectUser { content, delivery }).await);
            }
        }));
        Ok("null".to_owned())
    }

    /// The content with its skill or prompt template expanded. `None` if it was an extension's command, which now runs.
    fn expanded(&self, content: Content) -> Result<Option<Content>, String> {
        let typed = match &content {
            Content::Text(text) => Some(text.clone()),
            Content::Blocks(blocks) => blocks.iter().find_map(|block| match block {
                Block::Text { text, .. } => Some(text.clone()),
                _ => None,
            }),
        };
        let Some(typed) = typed.filter(|typed| typed.starts_with('/')) else { return Ok(Some(content)) };
        let name = typed.trim_start_matches('/').split(char::is_whitespace).next().unwrap_or_default();
        if self.shared()?.registry().command(name).is_some() {
            let extensions = self.agent()?.extensions().ok_or_else(|| ENDED.to_owned())?;
            // The handler that sends it does not wait for the command.
            drop(self.runtime.spawn(async move { extensions.command(typed).await }));
            return Ok(None);
        }
        let expanded = self.state()?.resources.expand(&typed).map_err(|error| error.to_string())?;
        Ok(Some(match (content, expanded) {
            (content, None) => content,
            (Content::Text(_), Some(text)) => Content::Text(text),
            (Content::Blocks(mut blocks), Some(text)) => {
                if let Some(first) = blocks.iter_mut().find(|block| matches!(block, Block::Text { .. })) {
                    *first = Block::text(text);
                }
                Content::Blocks(blocks)
            }
        }))
    }
}

/// The text and the pictures of a content.
fn parts(content: Content) -> (String, Vec<Block>) {
    match content {
        Content::Text(text) => (text, Vec::new()),
        Content::Blocks(blocks) => {
            let text = |block: &Block| if let Block::Text { text, .. } = block { Some(text.clone()) } else { None };
            let texts = blocks.iter().filter_map(text).collect::<Vec<_>>().join("\n");
            (texts, blocks.into_iter().filter(|block| matches!(block, Block::Image { .. })).collect())
        }
    }
}
