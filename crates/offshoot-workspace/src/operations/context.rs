//! Shows the messages that the model would see, or what fills its window.

mod window;

use std::io::{self, Write};

use offshoot_session::context::{Context, ContextWeight, Message};
use offshoot_session::entry::Source;
use offshoot_session::entry_name::short_ids;
use offshoot_session::id::{EntryId, ShortIds};
use offshoot_session::json::{Json, Object};
use offshoot_session::kind::Role as Speaker;
use offshoot_session::llm::Converter;
use offshoot_session::session::Session;
use offshoot_session::text::{counted, grouped, one_line};
use offshoot_session::tokens::estimate;
use offshoot_session::transcript::Item;
use offshoot_session::tree::NodeIx;

use crate::failure::Result;
use crate::given::{EntryName, SessionName};
use crate::input;
use crate::lookup::LatestOf;
use crate::operation::{About, Finished, Operation, OperationEffect, Output, ScreenSize};
use crate::place::Place;
use crate::run::open_session;
use crate::session_to_read::{SessionToRead, ShownSession};
use crate::transcript::first_words;
use crate::transcript::screen::{Heading, Length, ScreenItem, TranscriptScreen};
use crate::words::{Line, Note, Role, Say, TableColumn, Words, WordsTable};

use window::WindowUse;

input! {
    /// What `context` gets.
    pub struct ContextInput {
        /// The session
        of: SessionToRead = group,
        /// Show the context at this entry instead of the current one
        at: Option<EntryName> = option ("ENTRY"),
        /// Print JSON, with messages as a model takes them
        llm: bool = flag (json conflicts ["json"]),
        /// Show the number of tokens of each message
        tokens: bool = flag,
        /// Show what fills the model's window, part by part, and what `compact` would free
        window: bool = flag (conflicts ["tokens", "llm"]),
    }
}

/// Shows what the model would see.
#[derive(Debug)]
pub struct ShowContext;

/// A context and its place.
#[derive(Debug)]
pub struct ContextPlan {
    context: Context,
    leaf: Option<NodeIx>,
    input: ContextInput,
}

/// What came of `context`.
#[derive(Debug)]
pub struct ContextOutput {
    shown: ShownSession,
    context: Context,
    llm: bool,
    /// What it weighs, if that is asked for.
    weighed: Option<WeighedContext>,
    /// What fills the window, if that is asked for.
    window: Option<WindowUse>,
}

impl Operation for ShowContext {
    type Input = ContextInput;
    type Plan = ContextPlan;
    type Written = ();
    type Output = ContextOutput;

    const ABOUT: About = About {
        name: "context",
        aliases: &[],
        title: "Show what the model will see",
        says: "The messages from the first entry to the current one or to --at. A\n\
               compaction or a branch summary stands in place of the entries that it\n\
               summarises. No message is shortened.\n\n\
               --json prints pi's `SessionContext`:\n\n  \
               {\"messages\": [...], \"thinkingLevel\", \"model\": {\"provider\", \"modelId\"}}\n\n\
               `model` may be null. For an oh-my-pi session the form is oh-my-pi's. --llm\n\
               prints pi's form with messages as a model takes them: summaries, notes and\n\
               commands as user messages, and every tool call with its result.\n\n\
               --tokens prints an estimate for each message (four characters are a token),\n\
               their sum, an estimate of the system prompt and the tools (as `offshoot`\n\
               would send them from the session's folder, without extensions), and the size\n\
               of the next request: what the provider reported with the last answer, and\n\
               estimates for everything after it. A report from before a compaction or an\n\
               edit of the context does not count; then the estimates are added up. With\n\
               --json or --llm:\n\n  \
               {\"tokens\", \"messageTokens\", \"overheadTokens\", \"usageTokens\",\n   \
               \"trailingTokens\", \"lastUsageIndex\",\n   \
               \"messages\": [{\"entryId\", \"role\", \"tokens\"}]}\n\n\
               `lastUsageIndex` is the message whose answer reported its tokens, or null.\n\n\
               --window prints what the next request has of the model's window: the system\n\
               prompt, each context file, skill and tool, the messages by kind, the room\n\
               left, and what `compact` would summarise now. Every part is an estimate; the\n\
               sum is what the provider reported, if it did. With --json:\n\n  \
               {\"model\", \"window\", \"maxOutput\", \"tokens\", \"usageTokens\", \"trailingTokens\",\n   \
               \"free\", \"compactAbove\", \"estimates\": {\"tokens\", \"systemPrompt\",\n   \
               \"contextFiles\": [{\"name\", \"tokens\"}], \"skills\", \"tools\", \"messages\":\n   \
               {\"prompts\", \"answers\", \"thinking\", \"calls\", \"results\", \"pictures\",\n   \
               \"commands\", \"summaries\", \"notes\"}}, \"compaction\": {\"frees\", \"summarises\",\n   \
               \"keeps\", \"tokensKept\"}}\n\n\
               `compaction` is null if nothing would be compacted; what is not known is null.",
        examples: "Examples:\n  offshoot context latest\n  offshoot context latest --at 1a2b3c4d --tokens\n  \
                   offshoot context latest --llm | jq '.messages[].role'",
        past: "shown",
        effect: OperationEffect::Reads,
    };
    fn session(input: &ContextInput) -> Option<&SessionName> {
        Some(&input.of.session)
    }

    fn latest_of(input: &ContextInput) -> LatestOf {
        input.of.latest_of()
    }

    fn plan(place: &Place, at: Option<&Session>, input: &ContextInput) -> Result<ContextPlan> {
        let session = open_session(at)?;
        let leaf = place.entry_or_leaf(session, input.at.as_ref())?;
        Ok(ContextPlan { context: session.context_at(leaf)?, leaf, input: input.clone() })
    }

    fn output(plan: ContextPlan, finished: Finished<'_, ()>) -> Result<ContextOutput> {
        let session = open_session(finished.session)?;
        let ContextPlan { context, leaf, input } = plan;
        let messages = Messages { source: session, context: &context, llm: input.llm };
        let weighed = input.tokens.then(|| WeighedContext::of(finished.place, session, &messages, leaf)).transpose()?;
        let window = input.window.then(|| WindowUse::of(finished.place, session, &context, leaf)).transpose()?;
        Ok(ContextOutput { shown: ShownSession::of(session, &input.of)?, context, llm: input.llm, weighed, window })
    }
}

/// The messages of a context, as stored or as a model takes them, one at a time.
struct Messages<'a> {
    source: &'a dyn Source,
    context: &'a Context,
    llm: bool,
}

impl<'a> Messages<'a> {
    fn ids(&self) -> Result<ShortIds<'a>> {
        Ok(short_ids(self.source.tree(), self.context.entries())?)
    }

    fn each(&self, mut take: impl FnMut(Message) -> io::Result<()>) -> io::Result<()> {
        let mut converter = self.llm.then(Converter::default);
        for message in self.context.messages(self.source) {
            let message = message.map_err(io::Error::other)?;
            match &mut converter {
                Some(converter) => converter.push(message).into_iter().try_for_each(&mut take)?,
                None => take(message)?,
            }
        }
        let rest = converter.map(|converter| converter.finish().0).unwrap_or_default();
        rest.into_iter().try_for_each(take)
    }
}

/// Writes a context with messages as a model takes them, as one line of JSON.
///
/// # Errors
/// The session cannot be read, or `out` takes no more.
pub fn write_as_sent(source: &dyn Source, context: &Context, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(b"{\"messages\":[")?;
    let mut separator = "";
    Messages { source, context, llm: true }.each(|message| {
        write!(out, "{separator}{}", message.json)?;
        separator = ",";
        Ok(())
    })?;
    let level = context.thinking_level.as_deref().unwrap_or("null");
    write!(out, "],\"thinkingLevel\":{level},\"model\":{}}}", model(context))
}

/// The model in pi's form, also if oh-my-pi names it by role.
fn model(context: &Context) -> String {
    let by_role = context.omp.iter().flat_map(|omp| &omp.models).find(|(role, _)| role == "default");
    match (&context.model, by_role.and_then(|(_, model)| model.split_once('/'))) {
        (Some(model), _) => model.clone(),
        (None, Some((provider, id))) => Object::new().str("provider", provider).str("modelId", id).finish(),
        (None, None) => "null".to_owned(),
    }
}

fn id(message: &Message, ids: &ShortIds<'_>) -> String {
    message.entry.as_ref().map(|id| one_line(ids.get(id.as_str()), 40)).unwrap_or_default()
}

/// What the listed messages and the whole weigh.
#[derive(Debug)]
struct WeighedContext {
    weight: ContextWeight,
    /// `None` if the settings cannot be read.
    overhead: Option<u64>,
    /// The place of the answer with the report among the listed messages.
    reporter: Option<usize>,
}

impl WeighedContext {
    fn of(place: &Place, session: &Session, messages: &Messages<'_>, leaf: Option<NodeIx>) -> Result<Self> {
        let weight = messages.context.weigh(session, leaf)?;
        let unread = |failure: &crate::failure::Failure| place.tell(Note::Warning(failure.on_one_line()));
        let overhead = place.overhead(session).inspect_err(unread).ok();
        let Some(report) = weight.report else { return Ok(Self { weight, overhead, reporter: None }) };
        let stored = messages.context.messages(session).nth(report.index).transpose()?;
        let (mut at, mut reporter) = (0, None);
        messages.each(|message| {
            let is_it = stored.as_ref().is_some_and(|stored| stored.entry == message.entry);
            if is_it && message.role == Speaker::Assistant {
                reporter = Some(at);
            }
            at += 1;
            Ok(())
        })?;
        Ok(Self { weight, overhead, reporter })
    }

    fn total(&self) -> u64 {
        self.weight.total(self.overhead.unwrap_or(0))
    }

    fn words(&self) -> String {
        let parts = [
            Some(format!("{} messages", grouped(self.weight.messages))),
            self.overhead.map(|overhead| format!("{} system prompt and tools", grouped(overhead))),
        ];
        let parts = parts.into_iter().flatten().collect::<Vec<_>>().join(", ");
        let total = counted(self.total(), "token", "tokens");
        match (self.weight.report, self.reporter) {
            (Some(report), Some(at)) => format!(
                "{total}: {} reported with message {}, {} estimated after it\nestimates: {parts}",
                grouped(report.tokens),
                at + 1,
                grouped(report.trailing)
            ),
            _ => format!("{total}, estimated: {parts}"),
        }
    }

    fn json(&self) -> String {
        let null = || "null".to_owned();
        let report = self.weight.report;
        let trailing = report.map_or(self.weight.messages, |report| report.trailing);
        Object::new()
            .raw("tokens", self.total())
            .raw("messageTokens", self.weight.messages)
            .raw("overheadTokens", self.overhead.map_or_else(null, |overhead| overhead.to_string()))
            .raw("usageTokens", report.map_or(0, |report| report.tokens))
            .raw("trailingTokens", trailing)
            .raw("lastUsageIndex", self.reporter.map_or_else(null, |at| at.to_string()))
            .finish()
    }
}

impl ContextOutput {
    /// A program gets every byte.
    fn whole(&self) -> Messages<'_> {
        Messages { source: &self.shown.session, context: &self.context, llm: self.llm }
    }

    fn write_tokens(&self, weighed: &WeighedContext, out: &mut dyn Write) -> io::Result<()> {
        let figures = weighed.json();
        write!(out, "{},\"messages\":[", figures.strip_suffix('}').unwrap_or(&figures))?;
        let mut separator = "";
        self.whole().each(|message| {
            let object = Object::new()
                .str_or_null("entryId", message.entry.as_ref().map(EntryId::as_str))
                .str("role", &message.json().str("role").unwrap_or_default())
                .raw("tokens", estimate(message.json()));
            write!(out, "{separator}{}", object.finish())?;
            separator = ",";
            Ok(())
        })?;
        out.write_all(b"]}")
    }

    fn say_tokens(&self, weighed: &WeighedContext, say: &mut Say<'_>) -> Result<()> {
        let messages = self.whole();
        let ids = messages.ids()?;
        let mut rows = Vec::new();
        messages.each(|message| {
            let role = message.json().str("role").unwrap_or_default().into_owned();
            let said = first_words(&Item::of_message(message.role, message.json()), 100);
            let tokens = grouped(estimate(message.json()));
            rows.push((vec![tokens, id(&message, &ids), one_line(&role, 20), said], Role::Plain));
            Ok(())
        })?;
        let columns = vec![
            TableColumn::right("TOKENS", Role::Plain),
            TableColumn::left("ENTRY", Role::Dim),
            TableColumn::left("ROLE", Role::Dim).leaves(1),
            TableColumn::left("WORDS", Role::Plain),
        ];
        say(&WordsTable { columns, rows }.into())?;
        Ok(say(&Line::from(weighed.words()).into())?)
    }

    /// How many messages, of which model.
    fn totals(&self, messages: usize) -> String {
        let model = model(&self.context);
        let member = |name: &str| Json::parse(&model).ok().and_then(|model| model.str(name)).unwrap_or("?".into());
        let model = match model.as_str() {
            "null" => "no model".to_owned(),
            _ => format!("{}/{}", member("provider"), member("modelId")),
        };
        let level = self.context.thinking_level.as_deref().unwrap_or("off").trim_matches('"');
        one_line(&format!("{}, {model}, thinking {level}", counted(messages, "message", "messages")), 200)
    }
}

impl Output for ContextOutput {
    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        match (&self.window, &self.weighed) {
            (Some(window), _) => out.write_all(window.json().as_bytes()),
            (None, Some(weighed)) => self.write_tokens(weighed, out),
            (None, None) if self.llm => write_as_sent(&self.shown.session, &self.context, out),
            (None, None) => self.context.write_json(&self.shown.session, out),
        }
    }

    fn words(&self, words: &mut Words) {
        words.is_long = true;
        words.is_streamed = self.window.is_none();
        self.window.iter().flat_map(WindowUse::lines).for_each(|line| words.line(line));
        words.notes.extend([self.shown.odd_beside(&self.context.diagnostics), self.shown.odd()]);
    }

    fn stream(&self, _: ScreenSize, say: &mut Say<'_>) -> Result<()> {
        if let Some(weighed) = &self.weighed {
            return self.say_tokens(weighed, say);
        }
        let abridged = self.shown.abridged();
        let messages = Messages { source: &abridged, ..self.whole() };
        let ids = messages.ids()?;
        let mut screen = TranscriptScreen::new(say);
        let mut count = 0;
        messages.each(|message| {
            count += 1;
            let heading = Heading { id: id(&message, &ids), ..Heading::default() };
            screen.item(&ScreenItem::of(&Item::of_message(message.role, message.json()), Length::Whole), &heading)
        })?;
        Ok(screen.close(&self.totals(count))?)
    }
}
