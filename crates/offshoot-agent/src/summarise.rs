//! The interface to summarisers, and the model as one. Knows no session. A summary that is cut off or unusable is an
//! error: it never becomes an entry.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use offshoot_protocol::message::{AssistantMessage, Block, StopReason, UserMessage, text_of};
use offshoot_protocol::model::Model;
use offshoot_protocol::{CacheRetention, Retry, Secret, ThinkingLevel};
use offshoot_session::summariser::{SummariserAnswer, SummariserRequest as Wanted};

use crate::provider::{Answer as Answered, Delta, Hooks, Provider, Request};
use crate::turn::{NextTry, Trying, next_try};

/// Dropping this stops the summariser.
pub type Summary = Pin<Box<dyn Future<Output = Result<SummariserAnswer, String>> + Send>>;

/// A summariser.
pub trait AsyncSummariser: Send + Sync {
    /// Writes a summary; the error is a message.
    fn summarise(&self, wanted: Wanted) -> Summary;

    /// The name in the `details.summariser` of entries; `None` for a model.
    fn name(&self) -> Option<&'static str> {
        None
    }
}

/// Tokens of a growing summary between two reports.
const STEP: u64 = 16;

/// Receives the progress of a summary.
pub type Listener = Arc<dyn Fn(Trying) + Send + Sync>;

#[derive(Clone)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct ModelSummariser {
    pub provider: Arc<dyn Provider>,
    pub model: Arc<Model>,
    pub thinking: ThinkingLevel,
    pub key: Option<Secret>,
    pub retry: Retry,
    pub listener: Option<Listener>,
}

impl AsyncSummariser for ModelSummariser {
    fn summarise(&self, wanted: Wanted) -> Summary {
        let this = self.clone();
        Box::pin(async move { this.ask(&wanted).await })
    }
}

impl ModelSummariser {
    async fn ask(&self, wanted: &Wanted) -> Result<SummariserAnswer, String> {
        let mut attempt = 0;
        loop {
            let Answered { message, failure } = self.once(wanted).await?;
            let next = failure.as_ref().map(|failure| next_try(&self.retry, attempt, 0, failure));
            let Some(NextTry::After(delay_ms)) = next else {
                if attempt > 0 {
                    self.tell(Trying::Finished);
                }
                return read(&message);
            };
            attempt += 1;
            let (max_attempts, error_message) = (self.retry.max_retries, message.error_message.unwrap_or_default());
            self.tell(Trying::Scheduled { attempt, max_attempts, delay_ms, error_message });
            tokio::time::sleep(Duration::from_millis(delay_ms)).await;
            self.tell(Trying::Started);
        }
    }

    fn tell(&self, trying: Trying) {
        if let Some(listener) = &self.listener {
            listener(trying);
        }
    }

    async fn once(&self, wanted: &Wanted) -> Result<Answered, String> {
        // It is sent once: a cache would cost and never be read.
        let model = Model { cache_retention: CacheRetention::None, ..Model::clone(&self.model) };
        let request = Request {
            model: Arc::new(model),
            system: wanted.system.to_owned(),
            messages: vec![UserMessage::new(wanted.prompt.clone(), Vec::new(), 0).into()],
            tools: Vec::new(),
            thinking: self.thinking,
            max_tokens: Some(match self.model.max_tokens {
                0 => wanted.max_tokens,
                most => wanted.max_tokens.min(most),
            }),
            key: self.key.clone(),
            session_id: None,
            hooks: Hooks::default(),
        };
        let mut deltas = self.provider.stream(request);
        let (mut characters, mut reported) = (0, 0);
        while let Some(delta) = std::future::poll_fn(|context| deltas.as_mut().poll_next(context)).await {
            match delta {
                Delta::Done(answer) => return Ok(*answer),
                Delta::Text { delta, .. } | Delta::Thinking { delta, .. } => characters += delta.chars().count(),
                _ => continue,
            }
            let tokens = u64::try_from(characters / 4).unwrap_or(u64::MAX);
            if tokens >= reported + STEP {
                reported = tokens;
                self.tell(Trying::Grown { tokens });
            }
        }
        Err("the model's answer never ended".to_owned())
    }
}

fn read(message: &AssistantMessage) -> Result<SummariserAnswer, String> {
    match message.stop_reason {
        StopReason::Stop => {}
        StopReason::Length => return Err("the summary reached the model's limit and was cut off".to_owned()),
        StopReason::ToolUse => return Err("the model called a tool instead of writing a summary".to_owned()),
        StopReason::Pending | StopReason::Error | StopReason::Aborted => {
            let said = message.error_message.clone();
            return Err(said.unwrap_or_else(|| "the model gave no summary".to_owned()));
        }
    }
    if message.content.iter().any(|block| matches!(block, Block::ToolCall { .. })) {
        return Err("the model called a tool instead of writing a summary".to_owned());
    }
    let text = text_of(&message.content);
    if text.trim().is_empty() {
        return Err("the model's summary is empty".to_owned());
    }
    Ok(SummariserAnswer { text, usage: serde_json::to_string(&message.usage).ok() })
}
