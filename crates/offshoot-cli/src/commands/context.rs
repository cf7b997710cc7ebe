//! `offshoot context`: the messages that the model would see.

use std::io::Write;

use offshoot_app::agent::overhead;
use offshoot_app::app::App;
use offshoot_app::error::Result;
use offshoot_app::lookup;
use offshoot_app::ui::columns::{Align, Column, Table};
use offshoot_app::ui::style::{DIM, PLAIN};
use offshoot_session::context::{Context, ContextWeight, Message};
use offshoot_session::entry::Source;
use offshoot_session::entry_name::short_ids;
use offshoot_session::id::{EntryId, ShortIds};
use offshoot_session::json::{Json, Object};
use offshoot_session::kind::Role;
use offshoot_session::llm::Converter;
use offshoot_session::session::{Abridged, Session};
use offshoot_session::text::{counted, grouped, one_line};
use offshoot_session::tokens::estimate;
use offshoot_session::transcript::Item;
use offshoot_session::tree::NodeIx;

use crate::select::SessionToRead;
use crate::transcript::first_words;
use crate::transcript::screen::{Heading, Length, Screen};

/// Show what the model would see
///
/// The messages from the first entry to the current one or to --at. A
/// compaction or a branch summary stands in place of the entries that it
/// summarises. No message is shortened.
///
/// --json prints pi's `SessionContext`:
///
///   {"messages": [...], "thinkingLevel", "model": {"provider", "modelId"}}
///
/// `model` may be null. For an oh-my-pi session the form is oh-my-pi's. --llm
/// prints pi's form with messages as a model takes them: summaries, notes and
/// commands as user messages, and every tool call with its result.
///
/// --tokens prints an estimate for each message (four characters are a token),
/// their sum, an estimate of the system prompt and the tools (as `offshoot`
/// would send them from the session's folder, without extensions), and the size
/// of the next request: what the provider reported with the last answer, and
/// estimates for everything after it. A report from before a compaction or an
/// edit of the context does not count; then the estimates are added up. With
/// --json or --llm:
///
///   {"tokens", "messageTokens", "overheadTokens", "usageTokens",
///    "trailingTokens", "lastUsageIndex",
///    "messages": [{"entryId", "role", "tokens"}]}
///
/// `lastUsageIndex` is the message whose answer reported its tokens, or null.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment, after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    session: SessionToRead,

    /// Show the context at this entry instead of the current one
    #[arg(long, value_name = "ENTRY")]
    at: Option<String>,

    /// Print JSON
    #[arg(long)]
    json: bool,

    /// Print JSON, with messages as a model takes them
    #[arg(long, conflicts_with = "json")]
    llm: bool,

    /// Show the number of tokens of each message
    #[arg(long)]
    tokens: bool,
}

const EXAMPLES: &str = "\
Examples:
  offshoot context latest
  offshoot context latest --at 1a2b3c4d --tokens
  offshoot context latest --llm | jq '.messages[].role'";

pub(crate) fn run(app: &App, args: &Args) -> Result<()> {
    let session = args.session.open(app)?;
    let leaf = match &args.at {
        Some(given) => Some(lookup::entry(app, &session, given)?),
        None => session.leaf(),
    };
    let context = session.context_at(leaf)?;
    let is_json = args.json || args.llm;
    let source = Messages { session: &session, context: &context, llm: args.llm, is_json: is_json || args.tokens };
    match (args.tokens, is_json) {
        (false, true) => json(app, &source)?,
        (false, false) => transcript(app, &source)?,
        (true, true) => tokens_json(app, &source, &Weighed::of(app, &source, leaf)?)?,
        (true, false) => tokens_table(app, &source, &Weighed::of(app, &source, leaf)?)?,
    }
    if !is_json {
        app.report_all(&context.diagnostics, args.session.name(&session));
        app.report(&session, args.session.name(&session));
    }
    Ok(())
}

/// The messages of a context, as stored or as a model takes them, one at a time.
struct Messages<'a> {
    session: &'a Session,
    context: &'a Context,
    llm: bool,
    is_json: bool,
}

impl<'a> Messages<'a> {
    fn ids(&self) -> Result<ShortIds<'a>> {
        Ok(short_ids(self.session.tree(), self.context.entries())?)
    }

    fn each(&self, mut take: impl FnMut(Message) -> Result<()>) -> Result<()> {
        let mut converter = self.llm.then(Converter::default);
        let shown = Abridged::new(self.session);
        // A program gets every byte.
        let source: &dyn Source = if self.is_json { self.session } else { &shown };
        for message in self.context.messages(source) {
            let message = message?;
            match &mut converter {
                Some(converter) => converter.push(message).into_iter().try_for_each(&mut take)?,
                None => take(message)?,
            }
        }
        let rest = converter.map(|converter| converter.finish().0).unwrap_or_default();
        rest.into_iter().try_for_each(take)
    }
}

fn json(app: &App, source: &Messages<'_>) -> Result<()> {
    let mut out = app.ui.raw();
    if source.llm {
        write_as_sent(source.session, source.context, &mut out)?;
    } else {
        source.context.write_json(source.session, &mut out)?;
        out.write_all(b"\n")?;
    }
    Ok(out.finish()?)
}

/// Writes a context with messages as a model takes them, as one line of JSON.
pub(super) fn write_as_sent(session: &Session, context: &Context, out: &mut dyn Write) -> Result<()> {
    out.write_all(b"{\"messages\":[")?;
    let mut separator = "";
    Messages { session, context, llm: true, is_json: true }.each(|message| {
        write!(out, "{separator}{}", message.json)?;
        separator = ",";
        Ok(())
    })?;
    let level = context.thinking_level.as_deref().unwrap_or("null");
    Ok(writeln!(out, "],\"thinkingLevel\":{level},\"model\":{}}}", model(context))?)
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

fn transcript(app: &App, source: &Messages<'_>) -> Result<()> {
    let ids = source.ids()?;
    let mut out = app.ui.paged();
    let mut screen = Screen::new(&mut out, Length::Whole);
    let mut messages = 0;
    source.each(|message| {
        messages += 1;
        let heading = Heading { id: id(&message, &ids), ..Heading::default() };
        Ok(screen.item(&Item::of_message(message.role, message.json()), &heading)?)
    })?;
    let model = model(source.context);
    let member = |name: &str| Json::parse(&model).ok().and_then(|model| model.str(name)).unwrap_or("?".into());
    let model = match model.as_str() {
        "null" => "no model".to_owned(),
        _ => format!("{}/{}", member("provider"), member("modelId")),
    };
    let level = source.context.thinking_level.as_deref().unwrap_or("off").trim_matches('"');
    let line = format!("{}, {model}, thinking {level}", counted(messages, "message", "messages"));
    screen.close(&one_line(&line, 200))?;
    Ok(out.finish()?)
}

fn id(message: &Message, ids: &ShortIds<'_>) -> String {
    message.entry.as_ref().map(|id| one_line(ids.get(id.as_str()), 40)).unwrap_or_default()
}

/// What the listed messages and the whole weigh.
struct Weighed {
    weight: ContextWeight,
    /// `None` if the settings cannot be read.
    overhead: Option<u64>,
    /// The place of the answer with the report among the listed messages.
    reporter: Option<usize>,
}

impl Weighed {
    fn of(app: &App, source: &Messages<'_>, leaf: Option<NodeIx>) -> Result<Self> {
        let weight = source.context.weigh(source.session, leaf)?;
        let overhead = overhead(app, source.session).map_err(|error| app.ui.warning(&error.on_one_line())).ok();
        let Some(report) = weight.report else { return Ok(Self { weight, overhead, reporter: None }) };
        let stored = source.context.messages(source.session).nth(report.index).transpose()?;
        let (mut at, mut reporter) = (0, None);
        source.each(|message| {
            let is_it = stored.as_ref().is_some_and(|stored| stored.entry == message.entry);
            if is_it && message.role == Role::Assistant {
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

    fn json(&self) -> Object {
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
    }
}

fn tokens_table(app: &App, source: &Messages<'_>, weighed: &Weighed) -> Result<()> {
    let mut table = Table::new(vec![
        Column::new("TOKENS", Align::Right, PLAIN),
        Column::new("ENTRY", Align::Left, DIM),
        Column::new("ROLE", Align::Left, DIM),
        Column::new("WORDS", Align::Left, PLAIN).last(),
    ]);
    let ids = source.ids()?;
    source.each(|message| {
        let role = message.json().str("role").unwrap_or_default().into_owned();
        let said = first_words(&Item::of_message(message.role, message.json()), 100);
        let tokens = grouped(estimate(message.json()));
        table.row(vec![tokens, id(&message, &ids), one_line(&role, 20), said], PLAIN);
        Ok(())
    })?;
    let mut out = app.ui.paged();
    table.write(&mut out, app.ui.width)?;
    writeln!(out, "{}", weighed.words())?;
    Ok(out.finish()?)
}

fn tokens_json(app: &App, source: &Messages<'_>, weighed: &Weighed) -> Result<()> {
    let mut out = app.ui.raw();
    let mut messages = String::new();
    source.each(|message| {
        let object = Object::new()
            .str_or_null("entryId", message.entry.as_ref().map(EntryId::as_str))
            .str("role", &message.json().str("role").unwrap_or_default())
            .raw("tokens", estimate(message.json()));
        messages += if messages.is_empty() { "" } else { "," };
        messages += &object.finish();
        Ok(())
    })?;
    writeln!(out, "{}", weighed.json().raw("messages", format!("[{messages}]")).finish())?;
    Ok(out.finish()?)
}
