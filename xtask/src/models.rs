//! `cargo xtask models` brings the built-in models up to date: it reads the facts of an installed pi-ai, or a file of them,
//! and writes the two files of `crates/offshoot-agent/src/model/catalogue`. It knows the shape of `models.json`, not what a
//! member means.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, ExitCode};

use anyhow::{Context as _, Result, bail};
use serde_json::{Map, Value};
use xtask::{env, out};

const TARGET: &str = "crates/offshoot-agent/src/model/catalogue";
const ATTRIBUTION: &str =
    "Model facts from pi (https://github.com/earendil-works/pi), Copyright (c) 2025 Mario Zechner, MIT License";

/// Members of a model that are kept, in the order in which they are written.
const KEPT: [&str; 12] = [
    "id",
    "name",
    "api",
    "baseUrl",
    "reasoning",
    "input",
    "contextWindow",
    "maxTokens",
    "cost",
    "thinkingLevelMap",
    "compat",
    "headers",
];

/// What `models.json` takes a member for that is absent.
const USUAL: [(&str, &str); 4] =
    [("reasoning", "false"), ("input", r#"["text"]"#), ("contextWindow", "128000"), ("maxTokens", "16384")];

/// Providers whose headers pose as another vendor's program: they are not kept.
const DISGUISED: [&str; 1] = ["github-copilot"];

/// Variables that a provider looks up and that are not its key.
const NOT_KEYS: [&str; 16] = [
    "ANTHROPIC_OAUTH_TOKEN",
    "ANTHROPIC_FEDERATION_RULE_ID",
    "ANTHROPIC_ORGANIZATION_ID",
    "ANTHROPIC_IDENTITY_TOKEN_FILE",
    "AWS_PROFILE",
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "GOOGLE_CLOUD_PROJECT",
    "GCLOUD_PROJECT",
    "GOOGLE_CLOUD_LOCATION",
    "CLOUDFLARE_ACCOUNT_ID",
    "CLOUDFLARE_GATEWAY_ID",
];

/// Providers that come first. The others are in the order of their names.
const FIRST: [&str; 3] = ["anthropic", "openai", "google"];

/// `models FILE-OR-FOLDER`.
pub(crate) fn run(args: &[String]) -> Result<ExitCode> {
    let [source] = args else { bail!("usage: cargo xtask models FILE-OR-FOLDER (of the npm package pi-ai)") };
    let facts: Value = serde_json::from_str(&read(Path::new(source))?).context("the facts are not JSON")?;
    let Catalogue { index, rows, providers, models } = Catalogue::of(&facts)?;
    let folder = env::root().join(TARGET);
    for (name, text) in [("index.tsv", index), ("models.jsonl", rows)] {
        let path = folder.join(name);
        let written = File::create(&path).and_then(|mut file| file.write_all(text.as_bytes()));
        written.with_context(|| format!("cannot write {}", path.display()))?;
    }
    out::say(&format!("{providers} providers, {models} models are in {TARGET}"));
    Ok(ExitCode::SUCCESS)
}

/// A folder is the package, which Node.js reads.
fn read(source: &Path) -> Result<String> {
    if !source.is_dir() {
        return std::fs::read_to_string(source).with_context(|| format!("cannot read {}", source.display()));
    }
    let script = env::root().join("conformance/models.mjs");
    let output = Command::new("node").arg(script).arg(source).output().context("cannot run node")?;
    if !output.status.success() {
        bail!("the package was not read: {}", String::from_utf8_lossy(&output.stderr));
    }
    String::from_utf8(output.stdout).context("the facts are not UTF-8")
}

struct Catalogue {
    index: String,
    rows: String,
    providers: usize,
    models: usize,
}

impl Catalogue {
    fn of(facts: &Value) -> Result<Self> {
        let source = facts["source"].as_str().context("the facts have no `source`")?;
        let date = facts["generatedAt"].as_str().and_then(|when| when.get(..10)).context("the facts have no date")?;
        let mut index = format!(
            "# {ATTRIBUTION}\n# {source}\t{date}\n# provider, name, variables with its key, bytes of its part of models.jsonl, ids\n"
        );
        let mut of_provider: BTreeMap<&str, Vec<&Map<String, Value>>> = BTreeMap::new();
        for model in facts["models"].as_array().context("the facts have no `models`")? {
            let id = model["provider"].as_str().context("a model has no `provider`")?;
            of_provider.entry(id).or_default().push(model.as_object().context("a model is not an object")?);
        }
        let mut known: Vec<&Value> = facts["providers"].as_array().context("no `providers`")?.iter().collect();
        let place = |provider: &Value| {
            let id = provider["id"].as_str().unwrap_or_default().to_owned();
            (FIRST.iter().position(|first| *first == id).unwrap_or(FIRST.len()), id)
        };
        known.sort_by_key(|provider| place(provider));
        let mut catalogue = Self { index: String::new(), rows: String::new(), providers: 0, models: 0 };
        for provider in known {
            let id = provider["id"].as_str().context("a provider has no `id`")?;
            let Some(models) = of_provider.get(id) else { continue };
            let rows = rows(id, models)?;
            let ids: Vec<&str> = models.iter().filter_map(|model| model.get("id")?.as_str()).collect();
            if ids.iter().any(|id| id.contains(char::is_whitespace)) {
                bail!("an id of {id} has a blank, which the index cannot hold");
            }
            let variables = provider["env"].as_array().into_iter().flatten().filter_map(Value::as_str);
            let variables: Vec<&str> = variables.filter(|name| !NOT_KEYS.contains(name)).collect();
            let name = provider["name"].as_str().unwrap_or(id);
            writeln!(index, "{id}\t{name}\t{}\t{}\t{}", variables.join(" "), rows.len(), ids.join(" "))?;
            catalogue.rows.push_str(&rows);
            catalogue.providers += 1;
            catalogue.models += models.len();
        }
        catalogue.index = index;
        Ok(catalogue)
    }
}

/// The provider's line with the members that all its models share, then a line for each model with the rest.
fn rows(provider: &str, models: &[&Map<String, Value>]) -> Result<String> {
    let mut shared = Map::new();
    for member in ["baseUrl", "api"] {
        if let Some(value) = most_frequent(models, member) {
            shared.insert(member.to_owned(), value);
        }
    }
    for member in ["headers", "compat"] {
        let shared_members = shared_members(models, member);
        let is_kept = member != "headers" || !DISGUISED.contains(&provider);
        if is_kept && !shared_members.is_empty() {
            shared.insert(member.to_owned(), Value::Object(shared_members));
        }
    }
    let mut rows = format!("{}\n", serde_json::to_string(&shared)?);
    for model in models {
        rows.push_str(&serde_json::to_string(&row(provider, model, &shared))?);
        rows.push('\n');
    }
    Ok(rows)
}

fn row(provider: &str, model: &Map<String, Value>, shared: &Map<String, Value>) -> Map<String, Value> {
    let mut row = Map::new();
    for member in KEPT {
        let Some(value) = model.get(member) else { continue };
        let is_usual = USUAL.iter().any(|(name, usual)| {
            *name == member && serde_json::from_str(usual).is_ok_and(|usual: Value| usual == *value)
        }) || (member == "name" && model.get("id") == Some(value));
        if is_usual || shared.get(member) == Some(value) || (member == "headers" && DISGUISED.contains(&provider)) {
            continue;
        }
        let value = match (member, value) {
            ("cost", Value::Object(cost)) => Value::Object(without_zeros(cost)),
            ("headers" | "compat", Value::Object(own)) => {
                let is_shared =
                    |name: &str, value: &Value| shared.get(member).and_then(|all| all.get(name)) == Some(value);
                Value::Object(own.clone().into_iter().filter(|(name, value)| !is_shared(name, value)).collect())
            }
            _ => value.clone(),
        };
        if value.as_object().is_none_or(|object| !object.is_empty()) {
            row.insert(member.to_owned(), value);
        }
    }
    row
}

fn without_zeros(cost: &Map<String, Value>) -> Map<String, Value> {
    cost.clone().into_iter().filter(|(_, value)| value.as_f64() != Some(0.0)).collect()
}

fn most_frequent(models: &[&Map<String, Value>], member: &str) -> Option<Value> {
    let mut counts: Vec<(&Value, usize)> = Vec::new();
    for value in models.iter().filter_map(|model| model.get(member)) {
        match counts.iter_mut().find(|(known, _)| *known == value) {
            Some((_, count)) => *count += 1,
            None => counts.push((value, 1)),
        }
    }
    counts.into_iter().max_by_key(|(_, count)| *count).map(|(value, _)| value.clone())
}

/// The members of `compat` or `headers` that every model has with one value.
fn shared_members(models: &[&Map<String, Value>], member: &str) -> Map<String, Value> {
    let first = models.first().and_then(|model| model.get(member)?.as_object());
    let is_shared = |name: &str, value: &Value| {
        models.iter().all(|model| model.get(member).and_then(|own| own.get(name)) == Some(value))
    };
    let shared = first.into_iter().flatten().filter(|(name, value)| is_shared(name, value));
    shared.map(|(name, value)| (name.clone(), value.clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_all_models_share_is_written_once_and_what_is_usual_is_not() {
        let facts = serde_json::json!({
            "source": "pi-ai 1", "generatedAt": "2026-11-20T10:00:00Z",
            "providers": [{"id": "z", "name": "Zed", "env": ["Z_KEY", "CLOUDFLARE_ACCOUNT_ID"]}, {"id": "openai", "name": "OpenAI", "env": []}],
            "models": [
                {"provider": "z", "id": "a", "name": "a", "api": "w", "baseUrl": "https://z", "reasoning": false, "input": ["text"],
                    "contextWindow": 128_000, "maxTokens": 16_384, "cost": {"input": 0, "output": 1}, "compat": {"x": 1, "y": 2}, "promptCache": {}},
                {"provider": "z", "id": "b", "name": "B", "api": "w", "baseUrl": "https://z", "compat": {"x": 1, "y": 3}},
                {"provider": "openai", "id": "g", "name": "G", "api": "r", "baseUrl": "https://o"},
            ],
        });
        let Catalogue { index, rows, .. } = Catalogue::of(&facts).unwrap();
        let rows_of_z = "{\"baseUrl\":\"https://z\",\"api\":\"w\",\"compat\":{\"x\":1}}\n\
                         {\"id\":\"a\",\"cost\":{\"output\":1},\"compat\":{\"y\":2}}\n\
                         {\"id\":\"b\",\"name\":\"B\",\"compat\":{\"y\":3}}\n";
        let rows_of_openai = "{\"baseUrl\":\"https://o\",\"api\":\"r\"}\n{\"id\":\"g\",\"name\":\"G\"}\n";
        assert_eq!(rows, format!("{rows_of_openai}{rows_of_z}"));
        let index: Vec<&str> = index.lines().skip(1).collect();
        assert_eq!(index[0], "# pi-ai 1\t2026-11-20");
        assert_eq!(index[2], format!("openai\tOpenAI\t\t{}\tg", rows_of_openai.len()));
        assert_eq!(index[3], format!("z\tZed\tZ_KEY\t{}\ta b", rows_of_z.len()));
    }
}
