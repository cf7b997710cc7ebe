//! What fills a model's window: the parts of the next request, the room that is left, and what a compaction would free. Counts
//! nothing itself: tokens are estimated in one place, and the cut is the one of `compact`.

use std::path::Path;

use offshoot_agent::prompt_weight::{PromptWeight, WeighedPart};
use offshoot_session::compact::{self, CompactionPlan};
use offshoot_session::context::{Context, ContextWeight};
use offshoot_session::json::Object;
use offshoot_session::kind::Role as Speaker;
use offshoot_session::session::Session;
use offshoot_session::text::{counted, grouped, one_line};
use offshoot_session::tokens::{MessagePart, estimate_parts};
use offshoot_session::tree::NodeIx;

use crate::failure::Result;
use crate::operations::compact::why_nothing;
use crate::place::{Place, short_path};
use crate::words::{Line, Role};

/// The longest name of a part.
const NAME: usize = 200;

/// What fills the window of the next request.
#[derive(Debug)]
pub(super) struct WindowUse {
    model: Option<AskedWindow>,
    weight: ContextWeight,
    prompt: PromptWeight,
    /// Without parts that there are none of.
    messages: Vec<(MessagePart, u64)>,
    compaction: CompactionNow,
}

/// The model that is asked.
#[derive(Debug)]
struct AskedWindow {
    name: String,
    /// 0 if it is not known.
    tokens: u64,
    max_output: u64,
    /// Larger contexts are compacted before they are sent.
    compact_above: Option<u64>,
}

/// What a compaction would do now.
#[derive(Debug)]
enum CompactionNow {
    Cut { frees: u64, summarises: usize, keeps: usize, tokens_kept: u64 },
    Nothing(&'static str),
}

impl WindowUse {
    pub(super) fn of(place: &Place, session: &Session, context: &Context, leaf: Option<NodeIx>) -> Result<Self> {
        let mut parts = place.request_parts(session)?;
        let settings = place.compaction_settings(session)?;
        let planned = compact::plan(session, leaf, session.dialect(), &settings)?;
        let compaction = match (why_nothing(&planned), planned.plan()) {
            (None, Some(plan)) => CompactionNow::of(&plan),
            (why, _) => CompactionNow::Nothing(why.unwrap_or_default()),
        };
        let model = parts.model.map(|model| AskedWindow {
            name: format!("{}/{}", model.provider, model.id),
            tokens: model.context_window,
            max_output: model.max_tokens,
            compact_above: settings.compact_above(model.context_window).filter(|_| model.context_window > 0),
        });
        let name = |file: &mut WeighedPart| file.name = shown_path(place.home(), session, &file.name);
        parts.prompt.context_files.iter_mut().for_each(name);
        Ok(Self {
            model,
            weight: context.weigh(session, leaf)?,
            prompt: parts.prompt,
            messages: messages(session, context)?,
            compaction,
        })
    }

    fn total(&self) -> u64 {
        self.weight.total(self.prompt.total())
    }

    fn window(&self) -> Option<u64> {
        self.model.as_ref().map(|model| model.tokens).filter(|tokens| *tokens > 0)
    }

    /// Figures come before names, so that one form fits all screens.
    pub(super) fn lines(&self) -> Vec<Line> {
        let mut lines = vec![self.title(), Line::default()];
        let total = self.total();
        let report = self.weight.report;
        lines.push(self.figure(total, if report.is_some() { "in use, as reported" } else { "in use" }, Role::Bold));
        if let Some(trailing) = report.map(|report| report.trailing).filter(|tokens| *tokens > 0) {
            lines.push(self.figure(trailing, "of it estimated", Role::Dim));
        }
        if let (Some(window), Some(model)) = (self.window(), &self.model) {
            let free = window.saturating_sub(total);
            lines.push(self.figure(free, "left", Role::Plain));
            if model.max_output > 0 {
                lines.push(self.figure(model.max_output.min(free), "largest answer", Role::Dim));
            }
            if let Some(above) = model.compact_above {
                lines.push(self.figure(above, "compacted above this", Role::Dim));
            }
        }
        lines.extend([Line::default(), Line::of(Role::Dim, "Estimates: four characters a token")]);
        lines.push(self.figure(self.prompt.system, "system prompt", Role::Plain));
        self.group(&mut lines, &self.prompt.context_files, ("context file", "context files"));
        self.group(&mut lines, &self.prompt.skills, ("skill", "skills"));
        self.group(&mut lines, &self.prompt.tools, ("tool", "tools"));
        lines.extend(self.messages.iter().map(|(part, tokens)| self.figure(*tokens, name(*part), Role::Plain)));
        lines.extend([Line::default(), self.compaction.line()]);
        lines
    }

    fn title(&self) -> Line {
        let Some(model) = &self.model else { return Line::from("the model is not known") };
        let name = Line::of(Role::Bold, one_line(&model.name, NAME));
        match self.window() {
            Some(window) => name.and(Role::Plain, format!(", window of {} tokens", grouped(window))),
            None => name.and(Role::Plain, ", whose window is not known"),
        }
    }

    fn figure(&self, tokens: u64, name: &str, role: Role) -> Line {
        Line::from(format!("{:>9} {:>4}  ", grouped(tokens), self.share(tokens))).and(role, name)
    }

    /// In whole percent of the window; nothing if that is not known.
    fn share(&self, tokens: u64) -> String {
        self.window().map_or_else(String::new, |window| format!("{:.0}%", tokens as f64 * 100.0 / window as f64))
    }

    fn group(&self, lines: &mut Vec<Line>, parts: &[WeighedPart], (one, many): (&str, &str)) {
        if parts.is_empty() {
            return;
        }
        let sum = parts.iter().map(|part| part.tokens).fold(0, u64::saturating_add);
        lines.push(self.figure(sum, &counted(parts.len() as u64, one, many), Role::Plain));
        let part = |part: &WeighedPart| {
            let name = one_line(&part.name, NAME);
            Line::of(Role::Dim, format!("{:>9}         {name}", grouped(part.tokens)))
        };
        lines.extend(parts.iter().map(part));
    }

    pub(super) fn json(&self) -> String {
        let number = |number: Option<u64>| number.map_or_else(|| "null".to_owned(), |number| number.to_string());
        let (model, total, report) = (self.model.as_ref(), self.total(), self.weight.report);
        let estimated = self.weight.messages.saturating_add(self.prompt.total());
        let sent = MessagePart::ALL.iter().filter_map(|part| Some((*part, member(*part)?)));
        let messages = sent.fold(Object::new(), |object, (part, member)| {
            let tokens = self.messages.iter().find(|(of, _)| *of == part).map_or(0, |(_, tokens)| *tokens);
            object.raw(member, tokens)
        });
        let estimates = Object::new()
            .raw("tokens", estimated)
            .raw("systemPrompt", self.prompt.system)
            .raw("contextFiles", parts_json(&self.prompt.context_files))
            .raw("skills", parts_json(&self.prompt.skills))
            .raw("tools", parts_json(&self.prompt.tools))
            .raw("messages", messages.finish());
        Object::new()
            .str_or_null("model", model.map(|model| model.name.as_str()))
            .raw("window", number(self.window()))
            .raw("maxOutput", number(model.map(|model| model.max_output).filter(|most| *most > 0)))
            .raw("tokens", total)
            .raw("usageTokens", report.map_or(0, |report| report.tokens))
            .raw("trailingTokens", report.map_or(estimated, |report| report.trailing))
            .raw("free", number(self.window().map(|window| window.saturating_sub(total))))
            .raw("compactAbove", number(model.and_then(|model| model.compact_above)))
            .raw("estimates", estimates.finish())
            .raw("compaction", self.compaction.json())
            .finish()
    }
}

impl CompactionNow {
    fn of(plan: &CompactionPlan) -> Self {
        let tokens_kept = plan.tokens_kept();
        Self::Cut {
            frees: plan.before.messages.saturating_sub(tokens_kept),
            summarises: plan.dropped().count(),
            keeps: plan.kept.len(),
            tokens_kept,
        }
    }

    fn line(&self) -> Line {
        match self {
            Self::Cut { frees, summarises, keeps, tokens_kept } => {
                let (frees, kept) = (grouped(*frees), grouped(*tokens_kept));
                let messages = counted(*summarises as u64, "message", "messages");
                Line::from(format!(
                    "Compacting would free about {frees} tokens, less the summary of {messages}, and keep {keeps} ({kept} tokens)."
                ))
            }
            Self::Nothing(why) => Line::from(format!("Compacting would free nothing: {why}.")),
        }
    }

    fn json(&self) -> String {
        match self {
            Self::Cut { frees, summarises, keeps, tokens_kept } => Object::new()
                .raw("frees", frees)
                .raw("summarises", summarises)
                .raw("keeps", keeps)
                .raw("tokensKept", tokens_kept)
                .finish(),
            Self::Nothing(_) => "null".to_owned(),
        }
    }
}

/// The tokens of each kind of part that the messages have. Stored system prompts are not sent.
fn messages(session: &Session, context: &Context) -> Result<Vec<(MessagePart, u64)>> {
    let mut sums = MessagePart::ALL.map(|part| (part, 0_u64));
    for message in context.messages(session) {
        let message = message?;
        if message.role == Speaker::System {
            continue;
        }
        estimate_parts(message.json(), &mut |part, tokens| {
            sums.iter_mut().filter(|(of, _)| *of == part).for_each(|(_, sum)| *sum = sum.saturating_add(tokens));
        });
    }
    Ok(sums.into_iter().filter(|(_, tokens)| *tokens > 0).collect())
}

/// Relative to the session's folder, if it is below that.
fn shown_path(home: Option<&Path>, session: &Session, path: &str) -> String {
    let within = session.cwd().and_then(|cwd| path.strip_prefix(cwd)?.strip_prefix('/'));
    within.map_or_else(|| short_path(home, path), str::to_owned)
}

fn parts_json(parts: &[WeighedPart]) -> String {
    let part = |part: &WeighedPart| Object::new().str("name", &part.name).raw("tokens", part.tokens).finish();
    format!("[{}]", parts.iter().map(part).collect::<Vec<_>>().join(","))
}

/// In words.
fn name(part: MessagePart) -> &'static str {
    match part {
        MessagePart::Prompt => "your prompts",
        MessagePart::Answer => "answers",
        MessagePart::Thinking => "thinking",
        MessagePart::Call => "tool calls",
        MessagePart::Result => "tool results",
        MessagePart::Picture => "pictures",
        MessagePart::Command => "your commands",
        MessagePart::Summary => "summaries",
        MessagePart::Note => "notes of extensions",
        MessagePart::System => "stored system prompts",
    }
}

/// As a member; `None` of what is never sent.
fn member(part: MessagePart) -> Option<&'static str> {
    Some(match part {
        MessagePart::Prompt => "prompts",
        MessagePart::Answer => "answers",
        MessagePart::Thinking => "thinking",
        MessagePart::Call => "calls",
        MessagePart::Result => "results",
        MessagePart::Picture => "pictures",
        MessagePart::Command => "commands",
        MessagePart::Summary => "summaries",
        MessagePart::Note => "notes",
        MessagePart::System => return None,
    })
}
