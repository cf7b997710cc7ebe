//! Asks a model server of the person's own for its models. Each answer is bounded in size and time; a server that redirects is not
//! followed. Decides nothing about where servers are.

use std::time::Duration;

use futures_util::future::join_all;
use futures_util::{StreamExt as _, stream};
use offshoot_protocol::Secret;
use offshoot_session::clock::Millis;
use offshoot_session::text::counted;
use serde_json::{Value, json};

use super::classify::AnswerTrouble;
use super::http::Http;
use super::local_answers::{ListedLocally, llama_props, lm_studio_models, ollama_show, ollama_tags, openai_models};
use super::local_server::{LocalModel, LocalModels, LocalServer};
use super::wire::Outgoing;

/// A server that has not answered all by then is not waited for.
const PATIENCE: Duration = Duration::from_secs(5);
/// A longer answer is not a list of models.
const LONGEST_ANSWER: usize = 8 << 20;
/// How many models of a server are asked about at once.
const AT_ONCE: usize = 8;

/// What became of the question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LocalAnswer {
    /// The server answered.
    Found {
        /// Its models.
        found: LocalModels,
        /// What was left out, in words.
        left_out: Vec<String>,
    },
    /// Nobody listens there.
    Nobody,
    /// Somebody answers, and not with a list of models: why.
    Trouble(String),
}

/// Whom to ask, and how.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct LocalQuestion {
    pub server: LocalServer,
    /// Without `/v1`.
    pub address: String,
    pub key: Option<Secret>,
    /// The window that the server is started with, where a variable says so.
    pub served_window: Option<u64>,
    pub now: Millis,
}

impl Http {
    /// Asks servers for their models, all at once, and waits five seconds at most. The answers do not contain the keys.
    pub async fn local_models(&self, questions: &[LocalQuestion]) -> Vec<LocalAnswer> {
        join_all(questions.iter().map(|question| self.local_answer(question))).await
    }

    async fn local_answer(&self, question: &LocalQuestion) -> LocalAnswer {
        let masked = |text: String| match &question.key {
            Some(key) if !key.expose().is_empty() => text.replace(key.expose(), "…"),
            _ => text,
        };
        match tokio::time::timeout(PATIENCE, self.list(question)).await {
            Err(_) => LocalAnswer::Trouble(format!("no answer in {} s", PATIENCE.as_secs())),
            Ok(Err(trouble)) if trouble.is_lost && trouble.status.is_none() => LocalAnswer::Nobody,
            Ok(Err(trouble)) => LocalAnswer::Trouble(masked(trouble.text)),
            Ok(Ok(listed)) => {
                let LocalQuestion { server, address, now, .. } = question;
                let left_out = left_out(&listed);
                let (address, models) = (address.clone(), listed.models);
                LocalAnswer::Found { found: LocalModels { server: *server, address, date: *now, models }, left_out }
            }
        }
    }

    async fn list(&self, question: &LocalQuestion) -> Result<ListedLocally, AnswerTrouble> {
        let get = |path: &'static str| self.ask(question, path, String::new());
        let other = || AnswerTrouble { text: "it does not answer with models".to_owned(), ..AnswerTrouble::default() };
        match question.server {
            LocalServer::Ollama => {
                let mut listed = ollama_tags(&get("/api/tags").await?).ok_or_else(other)?;
                let names = std::mem::take(&mut listed.models).into_iter();
                let shown = stream::iter(names.map(|model| self.show(question, model))).buffered(AT_ONCE);
                listed.models = shown.filter_map(std::future::ready).collect().await;
                Ok(listed)
            }
            LocalServer::LmStudio => match get("/api/v0/models").await {
                Ok(answer) => lm_studio_models(&answer).ok_or_else(other),
                // Old and future versions have at least what OpenAI has.
                Err(trouble) if trouble.status == Some(404) => {
                    openai_models(&get("/v1/models").await?).ok_or_else(other)
                }
                Err(trouble) => Err(trouble),
            },
            LocalServer::LlamaCpp => {
                let mut listed = openai_models(&get("/v1/models").await?).ok_or_else(other)?;
                if let [model] = &mut listed.models[..]
                    && let Ok(props) = get("/props").await
                {
                    llama_props(model, &props);
                }
                Ok(listed)
            }
            LocalServer::Vllm => openai_models(&get("/v1/models").await?).ok_or_else(other),
        }
    }

    /// What Ollama says of one of its models; the bare name if it says nothing, `None` if the model does not write text.
    async fn show(&self, question: &LocalQuestion, model: LocalModel) -> Option<LocalModel> {
        let body = json!({"model": model.id}).to_string();
        match self.ask(question, "/api/show", body).await {
            Ok(answer) => ollama_show(&model.id, &answer, question.served_window),
            Err(_) => Some(model),
        }
    }

    async fn ask(&self, question: &LocalQuestion, path: &str, body: String) -> Result<Value, AnswerTrouble> {
        let mut headers = vec![("accept".to_owned(), Secret::new("application/json"))];
        if !body.is_empty() {
            headers.push(("content-type".to_owned(), Secret::new("application/json")));
        }
        let bearer = |key: &Secret| ("authorization".to_owned(), Secret::new(format!("Bearer {}", key.expose())));
        headers.extend(question.key.as_ref().map(bearer));
        let outgoing = Outgoing { url: format!("{}{path}", question.address), headers, body };
        let answer = self.fetch(&outgoing, LONGEST_ANSWER).await?;
        serde_json::from_slice(&answer).map_err(|_| AnswerTrouble {
            text: "it answers with something else than JSON".to_owned(),
            ..AnswerTrouble::default()
        })
    }
}

fn left_out(listed: &ListedLocally) -> Vec<String> {
    let mut said = Vec::new();
    let models = |count: usize| counted(count as u64, "model", "models");
    if listed.unnamed > 0 {
        said.push(format!(
            "{} left out: the name is empty, too long, or has characters that cannot be shown",
            models(listed.unnamed)
        ));
    }
    if listed.beyond > 0 {
        said.push(format!("{} left out: only the first {} are listed", models(listed.beyond), listed.models.len()));
    }
    let without: Vec<&str> =
        listed.models.iter().filter(|model| model.refuses_tools).map(|model| model.id.as_str()).collect();
    if !without.is_empty() {
        said.push(format!("asked without tools, which the server refuses for it: {}", without.join(", ")));
    }
    let unknown = listed.models.iter().filter(|model| model.context_window.is_none()).count();
    if unknown > 0 {
        said.push(format!("the window of {} is not known: 128000 tokens are assumed", models(unknown)));
    }
    said
}
