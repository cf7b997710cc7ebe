//! `offshoot auth`: the keys of providers in the user's own `auth.json`. Shows no key.

mod login;

use std::io::Write as _;

use clap::ValueEnum;
use offshoot_agent::model::KeyOrigin;
use offshoot_app::app::App;
use offshoot_app::config::auth_file::AuthFile;
use offshoot_app::error::{CommandError, FailureKind, Result};
use offshoot_app::models::ModelTable;
use offshoot_app::ui::is_interactive;
use offshoot_session::text::one_line;
use serde_json::json;

pub(crate) use login::{first_key, lacks_key};

/// Save, list and remove the keys of providers
///
/// Without an ACTION the command lists the providers that have a key, and where
/// it comes from. `login PROVIDER` asks for a key without showing it, asks the
/// provider for its models with it, which costs nothing, and saves it in
/// auth.json in the data folder (OFFSHOOT_HOME; mode 0600). A key that the
/// provider refuses is not saved. Without a terminal the key is the first line of
/// the standard input. `logout PROVIDER` removes what auth.json has of the
/// provider; variables and models.json stay as they are.
///
/// A key of auth.json comes before one of models.json and before a variable.
/// offshoot never writes in pi's folder.
///
/// --json of the list prints an array: [{"provider", "key", "lacks"?}]; `key` is
/// auth.json, models.json, sign-in or the name of a variable, `lacks` why the
/// provider's models cannot be asked even so.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment, after_help = EXAMPLES)]
pub(crate) struct Args {
    /// status (default), login or logout
    #[arg(value_enum, default_value_t, hide_default_value = true, hide_possible_values = true)]
    action: Action,

    /// The provider, such as anthropic or openrouter
    provider: Option<String>,

    /// Save the key without asking the provider
    #[arg(long)]
    no_check: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
enum Action {
    #[default]
    Status,
    Login,
    Logout,
}

const EXAMPLES: &str = "\
Examples:
  offshoot auth
  offshoot auth login anthropic
  offshoot auth login openai --no-check < key.txt
  offshoot auth logout openai";

pub(crate) fn run(app: &App, args: &Args) -> Result<()> {
    match args.action {
        Action::Status => status(app, args),
        _ if args.json => Err(CommandError::usage("--json goes with the list").hint("offshoot auth --json prints it")),
        Action::Login => login::run(app, args.provider.as_deref(), !args.no_check),
        Action::Logout => logout(app, args.provider.as_deref()),
    }
}

/// The user's own file.
fn auth_file(app: &App) -> Result<AuthFile> {
    let data = app.environment.data.as_deref();
    data.map(AuthFile::of).ok_or_else(|| {
        CommandError::new(FailureKind::Failed, "the data folder is not known").hint("set OFFSHOOT_HOME or HOME")
    })
}

fn logout(app: &App, provider: Option<&str>) -> Result<()> {
    let file = auth_file(app)?;
    let provider = match provider {
        Some(provider) => provider.to_owned(),
        None => {
            let all = file.providers();
            let all: Vec<&str> = all.iter().map(String::as_str).collect();
            let chosen = match all.is_empty() || !is_interactive() {
                true => None,
                false => login::asked_provider(app, (&all, &all), "Enter to leave")?,
            };
            chosen.ok_or_else(|| {
                CommandError::usage("no provider is named").hint("offshoot auth lists those with a key")
            })?
        }
    };
    let provider = provider.as_str();
    let shown = one_line(provider, 80);
    let failed = |why| CommandError::new(FailureKind::Failed, why);
    if !file.forget(provider).map_err(failed)? {
        return Err(CommandError::new(FailureKind::NotFound, format!("auth.json has nothing of {shown}"))
            .hint("offshoot auth lists the providers with a key, and where it comes from"));
    }
    let mut out = app.ui.text();
    writeln!(out, "removed what {} had of {shown}", app.environment.short(&file.path().display().to_string()))?;
    let table = ModelTable::load(app);
    if let Some(other) = table.keys.source(&table.models, provider) {
        writeln!(out, "it still has a key: {}", other.as_str())?;
    }
    Ok(out.finish()?)
}

fn status(app: &App, args: &Args) -> Result<()> {
    if args.provider.is_some() || args.no_check {
        return Err(CommandError::usage("the list takes no provider").hint("offshoot auth login PROVIDER saves a key"));
    }
    let table = ModelTable::load(app);
    let file = auth_file(app)?;
    let named = |provider: &&str| {
        let is_signed_in = file.credentials(provider).is_some();
        let origin = table.keys.source(&table.models, provider).map(KeyOrigin::as_str);
        origin.or(is_signed_in.then_some("sign-in"))
    };
    let known = table.models.providers();
    let lacks =
        |provider: &str| table.models.default_of(provider).and_then(|model| table.keys.lacks(&table.models, model));
    let found: Vec<(&str, &str, Option<String>)> =
        known.iter().filter_map(|provider| Some((*provider, named(provider)?, lacks(provider)))).collect();
    if args.json {
        let object = |(provider, key, lacks): &(&str, &str, Option<String>)| match lacks {
            Some(lacks) => json!({"provider": provider, "key": key, "lacks": lacks}),
            None => json!({"provider": provider, "key": key}),
        };
        let all: Vec<_> = found.iter().map(object).collect();
        let mut out = app.ui.raw();
        writeln!(out, "{}", json!(all))?;
        return Ok(out.finish()?);
    }
    let mut out = app.ui.text();
    let width = found.iter().map(|(provider, ..)| provider.chars().count()).max().unwrap_or(0);
    for (provider, key, lacks) in &found {
        let lacks = lacks.as_ref().map(|why| format!(" (cannot be asked: {why})")).unwrap_or_default();
        writeln!(out, "{:width$}  {key}{lacks}", one_line(provider, 80))?;
    }
    if found.is_empty() {
        writeln!(out, "no provider has a key")?;
    }
    out.finish()?;
    app.ui.hint("`offshoot auth login PROVIDER` saves a key");
    Ok(())
}
