//! Messages as records of a rollout of Codex. Knows no file.

use offshoot_session::clock::{Millis, to_iso};
use offshoot_session::error::Result;
use offshoot_session::json::{Json, JsonKind, Object, quote};
use offshoot_session::kind::Role;

use super::ids::{CallIds, RisingTime, tool_name};
use super::said::{BackWriter, Said, SaidBlock, SaidSummary};
use super::{BackReport, BackWish, TakeLine};

/// The newest version whose rollouts are known.
const CODEX_VERSION: &str = "0.171.0";
/// The provider and the model where the settings name none. Codex asks the model of its settings, whatever a rollout says.
const USUAL_PROVIDER: &str = "openai";
const USUAL_MODEL: &str = "gpt-5.6-sol";

/// Records of a rollout, one after another.
pub(super) struct CodexWriter<'a, 't> {
    wish: &'a BackWish<'a>,
    take: TakeLine<'t>,
    time: RisingTime,
    calls: CallIds,
    turns: u64,
    is_in_turn: bool,
}

impl<'a, 't> CodexWriter<'a, 't> {
    /// Writes the header.
    pub(super) fn new(wish: &'a BackWish<'a>, take: TakeLine<'t>) -> Result<Self> {
        let header = Object::new()
            .str("id", wish.id)
            .str("session_id", wish.id)
            .str("timestamp", &to_iso(wish.now))
            .str("cwd", wish.cwd)
            .str("originator", "codex-tui")
            .str("cli_version", CODEX_VERSION)
            .str("source", "cli")
            .str("model_provider", wish.provider.unwrap_or(USUAL_PROVIDER))
            .str("history_mode", "legacy");
        take(&record(wish.now, "session_meta", &header.finish()))?;
        let (time, calls) = (RisingTime::default(), CallIds::default());
        Ok(Self { wish, take, time, calls, turns: 0, is_in_turn: false })
    }

    fn put(&mut self, time: Millis, kind: &str, payload: &str) -> Result<()> {
        let time = self.time.next(time);
        (self.take)(&record(time, kind, payload))
    }

    fn item(&mut self, time: Millis, item: &str) -> Result<()> {
        self.put(time, "response_item", item)
    }

    fn event(&mut self, time: Millis, event: Object) -> Result<()> {
        self.put(time, "event_msg", &event.finish())
    }

    fn end_turn(&mut self, time: Millis) -> Result<()> {
        if !std::mem::take(&mut self.is_in_turn) {
            return Ok(());
        }
        let turn = format!("turn-{}", self.turns);
        let ended = Object::new().str("type", "task_complete").str("turn_id", &turn).raw("last_agent_message", "null");
        self.event(time, ended)
    }

    fn begin_turn(&mut self, time: Millis) -> Result<()> {
        self.end_turn(time)?;
        self.turns += 1;
        self.is_in_turn = true;
        let turn = format!("turn-{}", self.turns);
        self.event(
            time,
            Object::new().str("type", "task_started").str("turn_id", &turn).raw("model_context_window", "null"),
        )?;
        let settings = Object::new()
            .str("turn_id", &turn)
            .str("cwd", self.wish.cwd)
            .str("approval_policy", "on-request")
            .raw("sandbox_policy", Object::new().str("type", "read-only").finish())
            .str("model", self.wish.model.unwrap_or(USUAL_MODEL))
            .str("summary", "auto");
        self.put(time, "turn_context", &settings.finish())
    }

    /// A message of the user with the event that says that it was typed.
    fn user(&mut self, said: &Said) -> Result<()> {
        if said.is_typed {
            self.begin_turn(said.time)?;
        }
        self.item(said.time, &user_item(said))?;
        if !said.is_typed {
            return Ok(());
        }
        let texts: Vec<String> = said.blocks().into_iter().filter_map(text_of).collect();
        let event = Object::new().str("type", "user_message").str("message", &texts.join("\n"));
        self.event(said.time, event.raw("images", "[]").raw("local_images", "[]").raw("text_elements", "[]"))
    }

    fn answer(&mut self, said: &Said, report: &mut BackReport) -> Result<()> {
        for item in answer_items(said, &mut self.calls, report) {
            self.item(said.time, &item.json)?;
            if let Some(text) = item.said {
                self.event(said.time, Object::new().str("type", "agent_message").str("message", &text))?;
            }
        }
        let usage = said.json().get("usage").unwrap_or(Json::NULL);
        let count = |name: &str| usage.get(name).and_then(Json::as_f64).map_or(0, |count| count.max(0.0) as u64);
        let (read, write, output) = (count("cacheRead"), count("cacheWrite"), count("output"));
        let input = count("input").saturating_add(read).saturating_add(write);
        if input.saturating_add(output) == 0 {
            return Ok(());
        }
        let tokens = Object::new()
            .raw("input_tokens", input)
            .raw("cached_input_tokens", read)
            .raw("output_tokens", output)
            .raw("reasoning_output_tokens", 0)
            .raw("total_tokens", input.saturating_add(output))
            .finish();
        let info = Object::new().raw("total_token_usage", &tokens).raw("last_token_usage", &tokens);
        let info = info.raw("model_context_window", "null").finish();
        self.event(said.time, Object::new().str("type", "token_count").raw("info", info).raw("rate_limits", "null"))
    }
}

impl BackWriter for CodexWriter<'_, '_> {
    fn message(&mut self, said: &Said, report: &mut BackReport) -> Result<()> {
        match said.role {
            Role::Assistant => self.answer(said, report),
            Role::ToolResult => {
                let item = result_item(said, &self.calls, report);
                self.item(said.time, &item)
            }
            _ => self.user(said),
        }
    }

    /// The history that replaces what was said before.
    fn compaction(&mut self, summary: &SaidSummary) -> Result<()> {
        // What they lack was counted where they were said.
        let report = &mut BackReport::default();
        self.end_turn(summary.time)?;
        let mut history = vec![message_item("user", &[text_part("input_text", &summary.text)])];
        for said in &summary.kept {
            match said.role {
                Role::Assistant => {
                    history.extend(answer_items(said, &mut self.calls, report).into_iter().map(|item| item.json));
                }
                Role::ToolResult => history.push(result_item(said, &self.calls, report)),
                _ => history.push(user_item(said)),
            }
        }
        let payload = Object::new().str("message", &summary.text);
        let payload = payload.raw("replacement_history", format!("[{}]", history.join(","))).finish();
        self.put(summary.time, "compacted", &payload)
    }

    fn end(&mut self, name: Option<&str>) -> Result<()> {
        self.end_turn(0)?;
        let Some(name) = name else { return Ok(()) };
        let object = Object::new().str("type", "thread_name_updated").str("thread_id", self.wish.id);
        self.event(0, object.str("thread_name", name))
    }
}

fn record(time: Millis, kind: &str, payload: &str) -> String {
    Object::new().str("timestamp", &to_iso(time)).str("type", kind).raw("payload", payload).finish()
}

fn text_part(kind: &str, text: &str) -> String {
    Object::new().str("type", kind).str("text", text).finish()
}

fn message_item(role: &str, parts: &[String]) -> String {
    let object = Object::new().str("type", "message").str("role", role);
    object.raw("content", format!("[{}]", parts.join(","))).finish()
}

fn text_of(block: SaidBlock<'_>) -> Option<String> {
    match block {
        SaidBlock::Text(text) => Some(text),
        SaidBlock::Image { .. } | SaidBlock::Thinking(_) | SaidBlock::Call(_) => None,
    }
}

/// Texts and pictures of the user's side.
fn input_parts(said: &Said) -> Vec<String> {
    let part = |block: SaidBlock<'_>| match block {
        SaidBlock::Text(text) => Some(text_part("input_text", &text)),
        SaidBlock::Image { data, mime } => {
            let url = format!("data:{mime};base64,{}", data.as_str()?);
            Some(Object::new().str("type", "input_image").str("image_url", &url).finish())
        }
        SaidBlock::Thinking(_) | SaidBlock::Call(_) => None,
    };
    said.blocks().into_iter().filter_map(part).collect()
}

fn user_item(said: &Said) -> String {
    message_item("user", &input_parts(said))
}

/// An item of an answer, and the text that an event repeats.
struct AnswerItem {
    json: String,
    said: Option<String>,
}

fn answer_items(said: &Said, calls: &mut CallIds, report: &mut BackReport) -> Vec<AnswerItem> {
    calls.begin();
    let silent = |json: String| AnswerItem { json, said: None };
    let mut items = Vec::new();
    for block in said.blocks() {
        match block {
            SaidBlock::Text(text) if text.is_empty() => {}
            SaidBlock::Text(text) => {
                let json = message_item("assistant", &[text_part("output_text", &text)]);
                items.push(AnswerItem { json, said: Some(text) });
            }
            SaidBlock::Image { .. } => report.lose("picture-of-an-answer"),
            SaidBlock::Thinking(block) => match native_reasoning(said.json(), block) {
                Some(item) => items.push(silent(item)),
                None => report.lose("thinking"),
            },
            SaidBlock::Call(call) => {
                let id = calls.call(&call.str("id").unwrap_or_default());
                let arguments = call.get("arguments").filter(|arguments| arguments.kind() == JsonKind::Object);
                let object = Object::new().str("type", "function_call");
                let object = object.str("name", &tool_name(&call.str("name").unwrap_or_default()));
                let object = object.raw("arguments", quote(arguments.map_or("{}", Json::text)));
                items.push(silent(object.str("call_id", &id).finish()));
            }
        }
    }
    items
}

/// The item of which thinking was made, if the provider takes it back: it has encrypted content from there.
fn native_reasoning(answer: Json<'_>, block: Json<'_>) -> Option<String> {
    let is_openai = answer.str("api").is_some_and(|api| api == "openai-responses" || api == "openai-codex-responses");
    let text = block.str("thinkingSignature").filter(|_| is_openai)?;
    let item = Json::parse(&text).ok()?;
    let is_item = item.str("type").is_some_and(|kind| kind == "reasoning");
    let is_sealed = item.str("encrypted_content").is_some_and(|content| !content.is_empty());
    (is_item && is_sealed).then(|| item.text().replace(['\n', '\r'], " "))
}

fn result_item(said: &Said, calls: &CallIds, report: &mut BackReport) -> String {
    let id = said.json().str("toolCallId").unwrap_or_default();
    let Some(call) = calls.result(&id) else {
        report.lose("orphan-result");
        return user_item(said);
    };
    let blocks = said.blocks();
    let is_plain = blocks.iter().all(|block| matches!(block, SaidBlock::Text(_)));
    let output = if is_plain {
        quote(&blocks.into_iter().filter_map(text_of).collect::<Vec<_>>().join("\n"))
    } else {
        format!("[{}]", input_parts(said).join(","))
    };
    Object::new().str("type", "function_call_output").str("call_id", call).raw("output", output).finish()
}
