//! Lists models, and which of them have a key.

use std::io::{self, Write};
use std::sync::Arc;

use offshoot_agent::model::{KeyOrigin, LocalModels, LocalServer, Models};
use offshoot_protocol::model::{Model, Price};
use offshoot_session::json::{Object, quote};
use offshoot_session::session::Session;
use offshoot_session::text::{counted, one_line};

use crate::failure::{Failure, FailureKind, Result};
use crate::given::{SessionName, Text};
use crate::input;
use crate::next_request::{KnownModels, SearchedServer};
use crate::operation::{About, CommandGroup, Finished, FrontEnd, Operation, OperationEffect, Output};
use crate::place::Place;
use crate::words::{NextStep, Note, Role, TableColumn, Words, WordsTable};

input! {
    /// What `models` gets.
    pub struct ModelsInput {
        /// Words that the provider, id or name contains
        search: Vec<Text> = arg,
        /// Only models of this provider
        provider: Option<Text> = option ("NAME"),
        /// Also models that cannot be asked, where neither words nor a provider are given
        all: bool = flag,
        /// Looks for servers on this machine, and lists their models
        local: bool = flag (conflicts ["all"]),
    }
}

/// Lists models.
#[derive(Debug)]
pub struct ListModels;

/// The models that were found, and their keys.
#[derive(Debug)]
pub struct ListedModels {
    models: Vec<ListedModel>,
    /// How many others there are, and of how many providers, where only models that can be asked are listed.
    others: Option<(u64, u64)>,
    is_any_built_in: bool,
    /// What a search for servers on this machine found, a line each.
    searched: Vec<String>,
}

#[derive(Debug)]
struct ListedModel {
    model: Model,
    /// Where its key comes from.
    key: Option<&'static str>,
    /// Why it cannot be asked, whatever keys there are.
    lacks: Option<String>,
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
        says: "Lists the models that have a key or need none. SEARCH, --provider or --all also\n\
               list others; those with a key come first. With SEARCH, only models whose\n\
               provider, id or name contains all of its words.\n\n\
               The models of 42 providers are built in. Those whose wire format offshoot\n\
               does not speak are listed with the reason, and cannot be asked. models.json\n\
               in the data folder (OFFSHOOT_HOME), in pi's form, adds and changes models.\n\n\
               --local asks the servers of this machine for their models: Ollama (OLLAMA_HOST,\n\
               else port 11434), LM Studio (1234), llama.cpp (8080) and vLLM (8000). What it\n\
               finds can be used from then on; only --local asks again.\n\n\
               Keys come from auth.json in the data folder (mode 0600), else from\n\
               models.json, else from the provider's variable (ANTHROPIC_API_KEY,\n\
               OPENAI_API_KEY, GROQ_API_KEY and so on). A key itself is never shown.\n\n\
               --json prints an array:\n\n  \
               [{\"provider\", \"id\", \"name\", \"api\", \"contextWindow\", \"maxTokens\",\n    \
               \"thinking\": [LEVEL], \"images\", \"cost\": {\"input\", \"output\", \"cacheRead\",\n    \
               \"cacheWrite\"}, \"usable\", \"key\"?, \"lacks\"?}]\n\n\
               Prices are US dollars per million tokens. `key` is where the key comes from,\n\
               `lacks` why a model cannot be asked even with a key.",
        examples: "Examples:\n  offshoot models\n  offshoot models gpt-oss-120b\n  \
                   offshoot models --provider anthropic opus\n  \
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
        let KnownModels { mut models, keys, troubles, near_provider } = place.models()?;
        troubles.into_iter().for_each(|trouble| place.tell(Note::Warning(trouble)));
        let search = match input.local {
            true => Some(place.local_models(local_server(input.provider.as_ref())?)?),
            false => None,
        };
        let answered = search.iter().flat_map(|search| &search.servers).filter_map(SearchedServer::found);
        // Those that models.json has elsewhere are not of this machine.
        let found: Vec<_> = answered.filter(|found| Arc::make_mut(&mut models).add_local(found)).collect();
        search.iter().filter_map(|search| search.trouble.clone()).for_each(|why| place.tell(Note::Warning(why)));
        let is_found = |model: &&Model| {
            let has = |found: &LocalModels| {
                found.server.provider() == model.provider && found.models.iter().any(|known| known.id == model.id)
            };
            search.is_none() || found.iter().copied().any(has)
        };
        let words = input.search.iter().flat_map(|Text(words)| words.split_whitespace());
        let words: Vec<String> = words.map(str::to_lowercase).collect();
        let is_wanted = |model: &&Model| {
            let text = format!("{}/{} {}", model.provider, model.id, model.name).to_lowercase();
            words.iter().all(|word| text.contains(word)) && is_found(model)
        };
        let listed = |model: &Model| ListedModel {
            key: keys.source(&models, &model.provider).map(KeyOrigin::as_str),
            lacks: keys.lacks(&models, model),
            is_usable: keys.can_ask(&models, model),
            model: model.clone(),
        };
        let providers = match &input.provider {
            None => models.providers(),
            Some(Text(name)) if search.is_none() => {
                let found = models.provider_named(name);
                vec![found.ok_or_else(|| no_provider(name, near_provider(&models, name)))?]
            }
            Some(Text(name)) => {
                models.providers().into_iter().filter(|known| known.eq_ignore_ascii_case(name)).collect()
            }
        };
        let is_everything = input.all || input.local || !words.is_empty() || input.provider.is_some();
        let is_considered = |provider: &&str| is_everything || keys.may_ask(&models, provider);
        let of_providers = providers.into_iter().filter(is_considered).flat_map(|name| models.of_provider(name));
        let mut found: Vec<ListedModel> = of_providers.filter(is_wanted).map(listed).collect();
        found.retain(|listed| is_everything || listed.is_usable);
        found.sort_by_key(|listed| (!listed.is_usable, listed.lacks.is_some()));
        let others = (!is_everything).then(|| (models.count() - found.len() as u64, models.providers().len() as u64));
        let is_any_built_in = found.iter().any(|listed| Models::name_of(&listed.model.provider).is_some());
        let searched = search.map(|search| search.lines()).unwrap_or_default();
        Ok(ListedModels { models: found, others, is_any_built_in, searched })
    }

    fn output(found: ListedModels, _: Finished<'_, ()>) -> Result<ListedModels> {
        Ok(found)
    }
}

/// The kind of server that `--provider` names.
fn local_server(provider: Option<&Text>) -> Result<Option<LocalServer>> {
    let Some(Text(name)) = provider else { return Ok(None) };
    let known = LocalServer::ALL.map(LocalServer::provider).join(", ");
    let unknown = || {
        Failure::refused(
            FailureKind::NotFound,
            format!("--local looks for {known}, and not for {}", one_line(name, 80)),
        )
    };
    LocalServer::of_provider(name).ok_or_else(unknown).map(Some)
}

fn no_provider(name: &str, near: Option<String>) -> Failure {
    let near = near.map(|near| format!("; did you mean {near}?")).unwrap_or_default();
    Failure::refused(FailureKind::NotFound, format!("there is no provider {}{near}", one_line(name, 80)))
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

fn price(model: &Model) -> String {
    let Price { input, output, .. } = model.price;
    // The catalogue has no price for plans and for prices that nobody published.
    let is_unknown = Models::name_of(&model.provider).is_some() && !model.id.ends_with(":free");
    match model.price == Price::default() {
        true if is_unknown => "–".to_owned(),
        true => "free".to_owned(),
        false => format!("{input}/{output}"),
    }
}

impl ListedModel {
    fn row(&self) -> (Vec<String>, Role) {
        let Self { model, key, lacks, is_usable } = self;
        let key = match (lacks, key) {
            (Some(_), _) => "cannot be asked",
            (None, Some(key)) => key,
            (None, None) if *is_usable => "not needed",
            (None, None) => "none",
        };
        let cells = vec![
            one_line(&model.provider, 40),
            one_line(&model.id, 80),
            count(model.context_window),
            count(model.max_tokens),
            thinking(model),
            if model.images { "yes" } else { "no" }.to_owned(),
            price(model),
            key.to_owned(),
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
            .opt_str("lacks", self.lacks.as_deref())
            .finish()
    }
}

impl ListedModels {
    /// Each provider with models that cannot be asked, and why.
    fn reasons(&self) -> Vec<String> {
        let mut counts: Vec<(&str, &str, u64)> = Vec::new();
        for listed in &self.models {
            let Some(why) = &listed.lacks else { continue };
            let provider = listed.model.provider.as_str();
            match counts.iter_mut().find(|(known, reason, _)| (*known, *reason) == (provider, why.as_str())) {
                Some((_, _, count)) => *count += 1,
                None => counts.push((provider, why, 1)),
            }
        }
        let told = |(provider, why, count): (&str, &str, u64)| {
            format!("{} of {} cannot be asked: {why}", counted(count, "model", "models"), one_line(provider, 40))
        };
        counts.into_iter().map(told).collect()
    }
}

impl Output for ListedModels {
    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        let all: Vec<String> = self.models.iter().map(ListedModel::to_json).collect();
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
            rows: self.models.iter().map(ListedModel::row).collect(),
        });
        words.notes.extend(self.reasons().into_iter().map(Note::Told));
        if self.is_any_built_in {
            let (source, date) = Models::catalogue_source();
            words.notes.push(Note::Told(format!("the built-in models are those of {source}, of {date}")));
        }
        if let Some((count, providers)) = self.others.filter(|(count, _)| *count > 0) {
            let (models, providers) = (counted(count, "model", "models"), counted(providers, "provider", "providers"));
            words.notes.push(Note::Told(format!("{models} without a key are not listed; {providers} are known")));
            words.next.push(NextStep::of_all("models", "lists them all").with("--all"));
        }
        let is_local = !self.searched.is_empty();
        words.notes.extend(self.searched.iter().cloned().map(Note::Told));
        if self.models.is_empty() && !is_local {
            let none = if self.others.is_some() { "no provider has a key" } else { "no model matches" };
            words.notes.push(Note::Told(none.to_owned()));
            let says = "lists those that are known; others go into models.json in the data folder";
            words.next.extend(self.others.is_none().then(|| NextStep::of_all("models", says).with("--all")));
        }
    }
}
