//! `offshoot mcp add` and `remove`: one entry of a file of offshoot's own. All else in the file stays.

use std::io::Write as _;
use std::path::PathBuf;

use offshoot_app::app::App;
use offshoot_app::config::mcp_files::{EnabledServers, FILE};
use offshoot_app::error::{CommandError, FailureKind, Result};
use offshoot_app::mcp::{McpSelection, find};
use offshoot_app::trust::RunTrust;
use offshoot_mcp::server_config::{ConfigDialect, read_entry};
use offshoot_session::medium::SharedFile;
use serde_json::{Map, Value, json};

use super::{Args, name};

const LIMIT: u64 = 4 << 20;

/// The user's file, or the project's.
fn file(app: &App, args: &Args) -> Result<SharedFile> {
    let path: Option<PathBuf> = if args.local {
        Some(app.environment.cwd.join(".offshoot").join(FILE))
    } else {
        app.environment.data.as_ref().map(|data| data.join(FILE))
    };
    let path = path.ok_or_else(|| CommandError::new(FailureKind::Failed, "the data folder is not known"))?;
    Ok(SharedFile::private(path, LIMIT))
}

pub(super) fn add(app: &App, args: &Args) -> Result<()> {
    let (name, entry) = (name(args)?, entry(args)?);
    read_entry(name, &entry, ConfigDialect::Common).map_err(|why| CommandError::usage(format!("{name}: {why}")))?;
    let file = file(app, args)?;
    change(&file, |servers| {
        if servers.contains_key(name) {
            let error = CommandError::new(FailureKind::Conflict, format!("there is a server {name} already"));
            return Err(error.hint(format!("`offshoot mcp remove {name}` takes it out")));
        }
        servers.insert(name.to_owned(), entry);
        Ok(())
    })?;
    if args.local {
        // Who has written it may run it.
        let trusting = App { trust: RunTrust::EveryFolder(true), ..app.clone() };
        let (found, _) = find(&trusting, &app.environment.cwd, &McpSelection::default());
        let added = found.iter().find(|server| server.configured.config.name == name);
        if let (Some(data), Some(added)) = (&app.environment.data, added) {
            EnabledServers::of(data).enable(&added.configured)?;
        }
    }
    say(app, "added", name, &file)
}

pub(super) fn remove(app: &App, args: &Args) -> Result<()> {
    let (name, file) = (name(args)?, file(app, args)?);
    change(&file, |servers| match servers.shift_remove(name) {
        Some(_) => Ok(()),
        None => {
            let shown = app.environment.short(&file.path.display().to_string());
            let error = CommandError::new(FailureKind::NotFound, format!("{shown} names no server {name}"));
            Err(error.hint("`offshoot mcp` lists the servers and their files; --local means the project's file"))
        }
    })?;
    say(app, "removed", name, &file)
}

fn say(app: &App, what: &str, name: &str, file: &SharedFile) -> Result<()> {
    let mut out = app.ui.text();
    writeln!(out, "{what} {name}: {}", app.environment.short(&file.path.display().to_string()))?;
    Ok(out.finish()?)
}

/// Changes the servers of a file, which may not exist.
fn change(file: &SharedFile, change: impl FnOnce(&mut Map<String, Value>) -> Result<()>) -> Result<()> {
    let failed = |error: std::io::Error| CommandError::io(format!("write {}", file.path.display()), &error);
    let damaged = |why: String| {
        CommandError::new(FailureKind::Damaged, format!("could not read {}", file.path.display())).because(why)
    };
    let locked = file.lock().map_err(failed)?;
    let text = locked.read().map_err(|error| damaged(error.to_string()))?.unwrap_or_else(|| "{}".to_owned());
    let mut value: Value = serde_json::from_str(&text).map_err(|error| damaged(error.to_string()))?;
    let members = value.as_object_mut().ok_or_else(|| damaged("it is not an object".to_owned()))?;
    let servers = members.entry("mcpServers").or_insert_with(|| json!({}));
    change(servers.as_object_mut().ok_or_else(|| damaged("mcpServers is not an object".to_owned()))?)?;
    let text = serde_json::to_string_pretty(&value).map_err(|error| failed(error.into()))?;
    locked.replace(&(text + "\n")).map_err(failed)
}

fn entry(args: &Args) -> Result<Value> {
    let command = args.words.get(1..).unwrap_or_default();
    let mut entry = Map::new();
    match (&args.url, command.split_first()) {
        (Some(_), Some(_)) => return Err(CommandError::usage("a server has a command or --url")),
        (None, None) => {
            return Err(CommandError::usage("the server's command is missing")
                .hint("`offshoot mcp add NAME -- COMMAND ARGS…`, or `--url URL`"));
        }
        (Some(url), None) => {
            entry.insert("url".to_owned(), json!(url));
            let mut headers = pairs(&args.header)?;
            if let Some(variable) = &args.bearer_token_env_var {
                headers.insert("Authorization".to_owned(), json!(format!("Bearer ${{{variable}}}")));
            }
            if !headers.is_empty() {
                entry.insert("headers".to_owned(), Value::Object(headers));
            }
        }
        (None, Some((program, arguments))) => {
            entry.insert("command".to_owned(), json!(program));
            if !arguments.is_empty() {
                entry.insert("args".to_owned(), json!(arguments));
            }
            if !args.env.is_empty() {
                entry.insert("env".to_owned(), Value::Object(pairs(&args.env)?));
            }
            if let Some(cwd) = &args.cwd {
                entry.insert("cwd".to_owned(), json!(cwd));
            }
        }
    }
    Ok(Value::Object(entry))
}

fn pairs(given: &[String]) -> Result<Map<String, Value>> {
    let pair = |text: &String| match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), json!(value))),
        _ => Err(CommandError::usage(format!("{text} is not NAME=VALUE"))),
    };
    given.iter().map(pair).collect()
}
