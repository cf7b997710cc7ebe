//! `offshoot context`: the messages that the model would see.

use std::io::Write;

use offshoot_session::context::{Context, Message};
use offshoot_session::entry::Source;
use offshoot_session::entry_name::short_ids;
use offshoot_session::id::{EntryId, ShortIds};
use offshoot_session::json::{Json, Object};
use offshoot_session::llm::Converter;
use offshoot_session::session::{Abridged, Session};
use offshoot_session::text::{counted, one_line};
use offshoot_session::tokens::{ContextEstimate, Estimator};
use offshoot_session::transcript::Item;

use crate::app::App;
use crate::error::Result;
use crate::select::{self, SessionToRead};
use crate::transcript::first_words;
use crate::transcript::screen::{Heading, Length, Screen};
use crate::ui::columns::{Align, Column, Table};
use crate::ui::style::{DIM, PLAIN};

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
/// --tokens prints an estimate for each message (four characters are a token)
/// and for the whole (what the provider of the last answer reported, and
/// estimates for everything after it). With --json or --llm:
///
///   {"tokens", "usageTokens", "trailingTokens", "lastUsageIndex",
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
        Some(given) => Some(select::entry(app, &session, given)?),
        None => session.leaf(),
    };
    let context = session.context_at(leaf)?;
    let is_json = args.json || args.llm;
    let source = Messages { session: &session, context: &context, llm: args.llm, is_json: is_json || args.tokens };
    match (args.tokens, is_json) {
        (false, true) => json(app, &source)?,
        (false, false) => transcript(app, &source)?,
        (true, true) => tokens_json(app, &source)?,
        (true, false) => tokens_table(app, &source)?,
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

fn tokens_table(app: &App, source: &Messages<'_>) -> Result<()> {
    let mut table = Table::new(vec![
        Column::new("TOKENS", Align::Right, PLAIN),
        Column::new("ENTRY", Align::Left, DIM),
        Column::new("ROLE", Align::Left, DIM),
        Column::new("WORDS", Align::Left, PLAIN).last(),
    ]);
    let ids = source.ids()?;
    let mut estimator = Estimator::default();
    source.each(|message| {
        let tokens = estimator.add(message.json());
        let role = message.json().str("role").unwrap_or_default().into_owned();
        let said = first_words(&Item::of_message(message.role, message.json()), 100);
        table.row(vec![tokens.to_string(), id(&message, &ids), one_line(&role, 20), said], PLAIN);
        Ok(())
    })?;
    let mut out = app.ui.paged();
    table.write(&mut out, app.ui.width)?;
    writeln!(out, "{}", total(&estimator.finish()))?;
    Ok(out.finish()?)
}

fn total(estimate: &ContextEstimate) -> String {
    match estimate.last_usage_index {
        Some(at) => format!(
            "{}: {} reported with message {}, {} estimated after it",
            counted(estimate.tokens, "token", "tokens"),
            estimate.usage_tokens,
            at + 1,
            estimate.trailing_tokens
        ),
        None => format!("{}, estimated", counted(estimate.tokens, "token", "tokens")),
    }
}

fn tokens_json(app: &App, source: &Messages<'_>) -> Result<()> {
    let mut out = app.ui.raw();
    let mut estimator = Estimator::default();
    let mut messages = String::new();
    source.each(|message| {
        let tokens = estimator.add(message.json());
        let object = Object::new()
            .str_or_null("entryId", message.entry.as_ref().map(EntryId::as_str))
            .str("role", &message.json().str("role").unwrap_or_default())
            .raw("tokens", tokens);
        messages += if messages.is_empty() { "" } else { "," };
        messages += &object.finish();
        Ok(())
    })?;
    let estimate = estimator.finish();
    let last = estimate.last_usage_index.map_or("null".to_owned(), |at| at.to_string());
    let object = Object::new()
        .raw("tokens", estimate.tokens)
        .raw("usageTokens", estimate.usage_tokens)
        .raw("trailingTokens", estimate.trailing_tokens)
        .raw("lastUsageIndex", last)
        .raw("messages", format!("[{messages}]"));
    writeln!(out, "{}", object.finish())?;
    Ok(out.finish()?)
}
