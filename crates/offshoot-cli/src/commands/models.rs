//! `offshoot models`: lists models, and which of them have a key.

use std::io::Write as _;

use offshoot_agent::model::{KeyOrigin, Keys, Models};
use offshoot_agent::provider::{Model, Price};
use offshoot_app::app::App;
use offshoot_app::error::Result;
use offshoot_app::models::ModelTable;
use offshoot_app::ui::columns::{Align, Column, Table};
use offshoot_app::ui::style::{DIM, ID, MARK, PLAIN};
use offshoot_protocol::ThinkingLevel;
use offshoot_session::json::{Object, quote};
use offshoot_session::text::one_line;

/// List the models with their windows, prices and keys
///
/// The built-in models of Anthropic, OpenAI and Google, and those of models.json
/// in the data folder (OFFSHOOT_HOME). models.json has the form of pi's. With
/// SEARCH, only models whose provider, id or name contains all of its words.
///
/// Keys come from auth.json in the data folder (mode 0600), else from
/// models.json, else from the environment (ANTHROPIC_API_KEY, OPENAI_API_KEY,
/// GEMINI_API_KEY and others). A key itself is never shown.
///
/// --json prints an array:
///
///   [{"provider", "id", "name", "api", "contextWindow", "maxTokens",
///     "thinking": [LEVEL], "images", "cost": {"input", "output", "cacheRead",
///     "cacheWrite"}, "usable", "key"?}]
///
/// Prices are US dollars per million tokens. `key` is where the key comes from.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment, after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Words that the provider, id or name contains
    #[arg(value_name = "SEARCH")]
    search: Vec<String>,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  offshoot models
  offshoot models anthropic opus
  offshoot models --json | jq -r '.[] | select(.usable) | .provider + \"/\" + .id'";

pub(crate) fn run(app: &App, args: &Args) -> Result<()> {
    let (ModelTable { models, keys, .. }, troubles) = ModelTable::read(app);
    let words: Vec<String> =
        args.search.iter().flat_map(|word| word.split_whitespace()).map(str::to_lowercase).collect();
    let wanted = |model: &&Model| {
        let text = format!("{}/{} {}", model.provider, model.id, model.name).to_lowercase();
        words.iter().all(|word| text.contains(word))
    };
    let found: Vec<&Model> = models.all().iter().filter(wanted).collect();
    if args.json {
        json(app, &models, &keys, &found)?;
    } else {
        table(app, &models, &keys, &found)?;
    }
    for trouble in &troubles {
        app.ui.warning(&trouble.to_string());
    }
    if found.is_empty() && !args.json {
        app.ui.note("no model matches");
        app.ui.hint("`offshoot models` lists them all; others go into models.json in the data folder");
    }
    Ok(())
}

fn key(models: &Models, keys: &Keys, model: &Model) -> Option<&'static str> {
    keys.source(models, &model.provider).map(|source| match source {
        KeyOrigin::Explicit => "given",
        KeyOrigin::AuthFile => "auth.json",
        KeyOrigin::ModelsFile => "models.json",
        KeyOrigin::Variable(name) => name,
    })
}

fn table(app: &App, models: &Models, keys: &Keys, found: &[&Model]) -> Result<()> {
    let mut table = Table::new(vec![
        Column::new("PROVIDER", Align::Left, PLAIN),
        Column::new("ID", Align::Left, ID).cut_to(40),
        Column::new("CONTEXT", Align::Right, PLAIN),
        Column::new("OUT", Align::Right, PLAIN).leaves(3),
        Column::new("THINKING", Align::Left, DIM).leaves(2),
        Column::new("IMAGES", Align::Left, DIM).leaves(1),
        Column::new("$ IN/OUT", Align::Right, PLAIN),
        Column::new("KEY", Align::Left, MARK).last(),
    ]);
    for model in found {
        let key = key(models, keys, model);
        let key = key.unwrap_or(if keys.can_ask(models, model) { "not needed" } else { "none" });
        let cells = vec![
            one_line(&model.provider, 40),
            one_line(&model.id, 80),
            count(model.context_window),
            count(model.max_tokens),
            thinking(model),
            if model.images { "yes" } else { "no" }.to_owned(),
            price(model.price),
            key.to_owned(),
        ];
        table.row(cells, if keys.can_ask(models, model) { MARK } else { DIM });
    }
    let mut out = app.ui.paged();
    table.write(&mut out, app.ui.width)?;
    Ok(out.finish()?)
}

fn thinking(model: &Model) -> String {
    let levels = model.levels();
    let on = levels.iter().filter(|level| **level != ThinkingLevel::Off);
    let on: Vec<&str> = on.map(|level| level.as_str()).collect();
    match on[..] {
        [] => "no".to_owned(),
        [one] => one.to_owned(),
        [least, .., most] => format!("{least}-{most}"),
    }
}

/// Shortens a token count: `1M`, `200K`.
fn count(tokens: u64) -> String {
    match tokens {
        0..1000 => tokens.to_string(),
        1000..1_000_000 => format!("{}K", tokens / 1000),
        _ => format!("{}.{}M", tokens / 1_000_000, tokens % 1_000_000 / 100_000).replace(".0M", "M"),
    }
}

fn price(price: Price) -> String {
    if price == Price::default() { "free".to_owned() } else { format!("{}/{}", price.input, price.output) }
}

fn json(app: &App, models: &Models, keys: &Keys, found: &[&Model]) -> Result<()> {
    let mut out = app.ui.raw();
    out.write_all(b"[")?;
    for (at, model) in found.iter().enumerate() {
        let levels: Vec<String> = model.levels().into_iter().map(|level| quote(level.as_str())).collect();
        let Price { input, output, cache_read, cache_write } = model.price;
        let cost = Object::new()
            .raw("input", input)
            .raw("output", output)
            .raw("cacheRead", cache_read)
            .raw("cacheWrite", cache_write)
            .finish();
        let object = Object::new()
            .str("provider", &model.provider)
            .str("id", &model.id)
            .str("name", &model.name)
            .str("api", &model.api)
            .raw("contextWindow", model.context_window)
            .raw("maxTokens", model.max_tokens)
            .raw("thinking", format!("[{}]", levels.join(",")))
            .raw("images", model.images)
            .raw("cost", cost)
            .raw("usable", keys.can_ask(models, model));
        let object = match key(models, keys, model) {
            Some(key) => object.str("key", key),
            None => object,
        };
        let comma = if at > 0 { ",\n" } else { "" };
        write!(out, "{comma}{}", object.finish())?;
    }
    out.write_all(b"]\n")?;
    Ok(out.finish()?)
}
