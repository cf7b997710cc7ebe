//! Lists models, and which of them have a key.

use std::io::{self, Write};

use offshoot_agent::model::KeyOrigin;
use offshoot_protocol::model::{Model, Price};
use offshoot_session::json::{Object, quote};
use offshoot_session::session::Session;
use offshoot_session::text::one_line;

use crate::failure::Result;
use crate::given::{SessionName, Text};
use crate::input;
use crate::next_request::KnownModels;
use crate::operation::{About, CommandGroup, Finished, FrontEnd, Operation, OperationEffect, Output};
use crate::place::Place;
use crate::words::{NextStep, Note, Role, TableColumn, Words, WordsTable};

input! {
    /// What `models` gets.
    pub struct ModelsInput {
        /// Words that the provider, id or name contains
        search: Vec<Text> = arg,
    }
}

/// Lists models.
#[derive(Debug)]
pub struct ListModels;

/// The models that were found, and their keys.
#[derive(Debug)]
pub struct ListedModels(Vec<ListedModel>);

#[derive(Debug)]
struct ListedModel {
    model: Model,
    /// Where its key comes from.
    key: Option<&'static str>,
    is_usable: bool,
}

impl Operation for ListModels {
    type Input = ModelsInput;
    type Plan = ListedModels;
    type Written = ();
    type Output = ListedModels;

    const ABOUT: About = About {
        name: "models",
        aliases: &[],
        title: "List the models with their windows, prices and keys",
        says: "The built-in models of Anthropic, OpenAI and Google, and those of models.json\n\
               in the data folder (OFFSHOOT_HOME). models.json has the form of pi's. With\n\
               SEARCH, only models whose provider, id or name contains all of its words.\n\n\
               Keys come from auth.json in the data folder (mode 0600), else from\n\
               models.json, else from the environment (ANTHROPIC_API_KEY, OPENAI_API_KEY,\n\
               GEMINI_API_KEY and others). A key itself is never shown.\n\n\
               --json prints an array:\n\n  \
               [{\"provider\", \"id\", \"name\", \"api\", \"contextWindow\", \"maxTokens\",\n    \
               \"thinking\": [LEVEL], \"images\", \"cost\": {\"input\", \"output\", \"cacheRead\",\n    \
               \"cacheWrite\"}, \"usable\", \"key\"?}]\n\n\
               Prices are US dollars per million tokens. `key` is where the key comes from.",
        examples: "Examples:\n  offshoot models\n  offshoot models anthropic opus\n  \
                   offshoot models --json | jq -r '.[] | select(.usable) | .provider + \"/\" + .id'",
        past: "listed",
        effect: OperationEffect::Reads,
    };
    const GROUP: CommandGroup = CommandGroup::Agent;
    const NOT_ON: &'static [FrontEnd] = &[FrontEnd::Slash];

    fn session(_: &ModelsInput) -> Option<&SessionName> {
        None
    }

    fn plan(place: &Place, _: Option<&Session>, input: &ModelsInput) -> Result<ListedModels> {
        let KnownModels { models, keys, troubles } = place.models()?;
        troubles.into_iter().for_each(|trouble| place.tell(Note::Warning(trouble)));
        let words = input.search.iter().flat_map(|Text(words)| words.split_whitespace());
        let words: Vec<String> = words.map(str::to_lowercase).collect();
        let is_wanted = |model: &&Model| {
            let text = format!("{}/{} {}", model.provider, model.id, model.name).to_lowercase();
            words.iter().all(|word| text.contains(word))
        };
        let listed = |model: &Model| ListedModel {
            key: keys.source(&models, &model.provider).map(origin),
            is_usable: keys.can_ask(&models, model),
            model: model.clone(),
        };
        Ok(ListedModels(models.all().iter().filter(is_wanted).map(listed).collect()))
    }

    fn output(found: ListedModels, _: Finished<'_, ()>) -> Result<ListedModels> {
        Ok(found)
    }
}

fn origin(origin: KeyOrigin) -> &'static str {
    match origin {
        KeyOrigin::Explicit => "given",
        KeyOrigin::AuthFile => "auth.json",
        KeyOrigin::ModelsFile => "models.json",
        KeyOrigin::Variable(name) => name,
    }
}

fn thinking(model: &Model) -> String {
    let levels = model.levels();
    let on: Vec<&str> = levels.iter().map(|level| level.as_str()).filter(|level| *level != "off").collect();
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

impl ListedModel {
    fn row(&self) -> (Vec<String>, Role) {
        let Self { model, key, is_usable } = self;
        let cells = vec![
            one_line(&model.provider, 40),
            one_line(&model.id, 80),
            count(model.context_window),
            count(model.max_tokens),
            thinking(model),
            if model.images { "yes" } else { "no" }.to_owned(),
            price(model.price),
            key.unwrap_or(if *is_usable { "not needed" } else { "none" }).to_owned(),
        ];
        (cells, if *is_usable { Role::Mark } else { Role::Dim })
    }

    fn to_json(&self) -> String {
        let model = &self.model;
        let levels: Vec<String> = model.levels().into_iter().map(|level| quote(level.as_str())).collect();
        let Price { input, output, cache_read, cache_write } = model.price;
        let cost = Object::new().raw("input", input).raw("output", output);
        let cost = cost.raw("cacheRead", cache_read).raw("cacheWrite", cache_write);
        Object::new()
            .str("provider", &model.provider)
            .str("id", &model.id)
            .str("name", &model.name)
            .str("api", &model.api)
            .raw("contextWindow", model.context_window)
            .raw("maxTokens", model.max_tokens)
            .raw("thinking", format!("[{}]", levels.join(",")))
            .raw("images", model.images)
            .raw("cost", cost.finish())
            .raw("usable", self.is_usable)
            .opt_str("key", self.key)
            .finish()
    }
}

impl Output for ListedModels {
    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        let all: Vec<String> = self.0.iter().map(ListedModel::to_json).collect();
        write!(out, "[{}]", all.join(",\n"))
    }

    fn words(&self, words: &mut Words) {
        words.is_long = true;
        words.table(WordsTable {
            columns: vec![
                TableColumn::left("PROVIDER", Role::Plain),
                TableColumn::left("ID", Role::Id).cut_to(40),
                TableColumn::right("CONTEXT", Role::Plain).leaves(5),
                TableColumn::right("OUT", Role::Plain).leaves(3),
                TableColumn::left("THINKING", Role::Dim).leaves(2),
                TableColumn::left("IMAGES", Role::Dim).leaves(1),
                TableColumn::right("$ IN/OUT", Role::Plain).leaves(4),
                TableColumn::left("KEY", Role::Mark),
            ],
            rows: self.0.iter().map(ListedModel::row).collect(),
        });
        if self.0.is_empty() {
            words.notes.push(Note::Told("no model matches".to_owned()));
            let says = "lists them all; others go into models.json in the data folder";
            words.next.push(NextStep::of_all("models", says));
        }
    }
}
