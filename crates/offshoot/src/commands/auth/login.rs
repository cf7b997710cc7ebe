//! Asks for a provider and its key, checks the key, and saves it. Used by `offshoot auth login`, by `/login`, and before the first
//! conversation.

use std::io::{self, BufRead as _, Read as _, Write as _};

use offshoot_agent::model::{literal_key, too_open};
use offshoot_agent::provider::KeyCheck;
use offshoot_app::app::App;
use offshoot_app::config::settings::SettingsFiles;
use offshoot_app::error::{CommandError, FailureKind, Result};
use offshoot_app::http::http;
use offshoot_app::models::ModelTable;
use offshoot_app::ui::{is_interactive, terminal};
use offshoot_protocol::Secret;
use offshoot_protocol::model::Model;
use offshoot_session::text::one_line;
use offshoot_settings::nearest::nearest;
use offshoot_settings::{Scope, Settings, Value};
use offshoot_tui::secret_line::read_secret_line;
use offshoot_tui::text::wrap;

use super::auth_file;

/// A longer line cannot be a key.
const LONGEST_KEY: u64 = 16 << 10;

/// `offshoot auth login`.
pub(super) fn run(app: &App, provider: Option<&str>, check: bool) -> Result<()> {
    let table = ModelTable::load(app);
    let provider = match provider {
        Some(provider) => known(&table.models.providers(), provider)?.to_owned(),
        None if is_interactive() => {
            match asked_provider(app, (&offered(&table), &table.models.providers()), "Enter to leave")? {
                Some(provider) => provider,
                None => return left(),
            }
        }
        None => return Err(CommandError::usage("no provider is named").hint("offshoot auth login PROVIDER < FILE")),
    };
    let Some(key) = read_key(&provider)? else { return left() };
    keep(app, &table, &provider, &key, check)
}

/// Whether a person who begins a conversation has no key and has chosen no model.
pub(crate) fn lacks_key(app: &App) -> Result<bool> {
    Ok(!has_chosen(app)? && ModelTable::read(app).0.usable().is_empty())
}

/// Offers to enter a key. An empty line goes on without.
pub(crate) fn first_key(app: &App) -> Result<()> {
    let table = ModelTable::read(app).0;
    let mut out = app.ui.text();
    writeln!(out, "No provider has a key yet. You can enter one now, or later with /login.\n")?;
    out.finish()?;
    loop {
        let Some(provider) =
            asked_provider(app, (&offered(&table), &table.models.providers()), "Enter to go on without")?
        else {
            return Ok(());
        };
        let Some(key) = read_key(&provider)? else { return Ok(()) };
        match keep(app, &table, &provider, &key, true) {
            Ok(()) => return Ok(()),
            // The person can try again.
            Err(error) => app.ui.error(&error),
        }
    }
}

/// Whether the person has a sign-in or a model of choice: an extension that is not loaded yet may serve it.
fn has_chosen(app: &App) -> Result<bool> {
    let settings = Settings::from(&own_settings(app).load()?.0);
    Ok(settings.model.is_some() || settings.provider.is_some() || !auth_file(app)?.providers().is_empty())
}

fn left() -> Result<()> {
    Err(CommandError::new(FailureKind::Stopped, "no key was given: nothing was changed"))
}

fn failed(what: &str) -> impl Fn(io::Error) -> CommandError {
    move |error| CommandError::io(what, &error)
}

/// The provider of this name.
fn known<'a>(all: &[&'a str], name: &str) -> Result<&'a str> {
    if let Some(found) = all.iter().find(|known| known.eq_ignore_ascii_case(name)) {
        return Ok(found);
    }
    let error = CommandError::new(FailureKind::NotFound, format!("there is no provider {}", one_line(name, 80)));
    Err(match nearest(name, all.iter().copied()) {
        Some(near) => error.hint(format!("did you mean {near}?")),
        None => error.hint(format!("there are {}", all.join(", "))),
    })
}

/// Lists the providers and asks for one of them, until there is a name of one; `None` for an empty line and for the end of the input.
pub(super) fn asked_provider(app: &App, (listed, all): (&[&str], &[&str]), way_out: &str) -> Result<Option<String>> {
    let names: Vec<String> = listed.iter().map(|name| one_line(name, 40)).collect();
    let width = app.ui.width.unwrap_or(80).saturating_sub(2).max(20);
    let mut lines = vec!["Providers:".to_owned()];
    lines.extend(wrap(names.join("  ").as_str(), width).iter().map(|row| format!("  {row}")));
    loop {
        let asked = app.ui.ask(&lines, &format!("Provider ({way_out}): ")).map_err(failed("ask for a provider"))?;
        let name = asked.unwrap_or_default().trim().to_owned();
        if name.is_empty() {
            return Ok(None);
        }
        match known(all, &name) {
            Ok(found) => return Ok(Some(found.to_owned())),
            Err(error) => app.ui.error(&error),
        }
        lines.clear();
    }
}

/// The key that a person types, or the first line of the input. `None` if there is none.
fn read_key(provider: &str) -> Result<Option<Secret>> {
    let line = if is_interactive() {
        read_secret_line(&mut *terminal(), &format!("Key of {} (not shown): ", one_line(provider, 40)))
    } else {
        let mut line = String::new();
        io::stdin().lock().take(LONGEST_KEY).read_line(&mut line).map(|_| Some(line))
    };
    let line = line.map_err(failed("read the key"))?;
    let key = line.as_deref().map(str::trim).filter(|key| !key.is_empty());
    if key
        .is_some_and(|key| key.len() as u64 >= LONGEST_KEY || key.chars().any(|c| c.is_control() || c.is_whitespace()))
    {
        return Err(CommandError::new(FailureKind::Usage, "this is not a key: it contains spaces, or is too long"));
    }
    Ok(key.map(Secret::new))
}

fn keep(app: &App, table: &ModelTable, provider: &str, key: &Secret, check: bool) -> Result<()> {
    let shown = one_line(provider, 80);
    let file = auth_file(app)?;
    let path = app.environment.short(&file.path().display().to_string());
    if let Some(mode) = too_open(file.path()) {
        return Err(CommandError::new(
            FailureKind::Failed,
            format!("others may read {path} (mode {mode:03o}): no key is saved there"),
        )
        .hint(format!("chmod 600 {path}")));
    }
    let checked = if check { checked(app, table, provider, key)? } else { None };
    if let Some(KeyCheck::Refused(why)) = &checked {
        return Err(CommandError::new(FailureKind::Failed, format!("{shown} refuses the key, which is not saved"))
            .hint("offshoot auth login --no-check saves a key without asking")
            .because(one_line(why, 400)));
    }
    let failed = |why| CommandError::new(FailureKind::Failed, why);
    file.keep_key(provider, &literal_key(key.expose())).map_err(failed)?;
    let mut out = app.ui.text();
    match checked {
        Some(KeyCheck::Accepted) => writeln!(out, "{shown} accepts the key")?,
        Some(KeyCheck::Unknown(why)) => {
            writeln!(out, "the key was not checked: {}", one_line(&why, 400))?;
        }
        Some(KeyCheck::Refused(_)) | None => {}
    }
    writeln!(out, "the key is saved in {path}")?;
    if let Some(model) = made_default(app, provider)? {
        writeln!(
            out,
            "new conversations use {} (/model changes that)",
            one_line(&format!("{}/{}", model.provider, model.id), 120)
        )?;
    }
    Ok(out.finish()?)
}

/// The person's settings: a project has no say in where a key goes.
fn own_settings(app: &App) -> SettingsFiles {
    app.settings_files(&app.environment.cwd).without_project(Vec::new())
}

/// Asks the provider with the key; `None` if nothing is known of its models.
fn checked(app: &App, table: &ModelTable, provider: &str, key: &Secret) -> Result<Option<KeyCheck>> {
    let Some(model) = table.models.default_of(provider) else { return Ok(None) };
    if let Some(why) = table.models.refusal(model) {
        return Ok(Some(KeyCheck::Unknown(why)));
    }
    let settings = Settings::from(&own_settings(app).load()?.0);
    let keys = table.keys.clone().with(Some(key.clone()));
    let ask = async {
        match keys.access(&table.models, model).await {
            Ok(keyed) => http(app, &settings).check_key(&keyed.model, keyed.key.as_ref(), key).await,
            Err(error) => KeyCheck::Unknown(error.to_string()),
        }
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    Ok(Some(runtime.map_err(failed("ask the provider"))?.block_on(ask)))
}

/// The providers whose models can be asked with a key alone, or with a key and variables.
fn offered(table: &ModelTable) -> Vec<&str> {
    let is_asked =
        |name: &&str| table.models.default_of(name).is_some_and(|model| table.models.refusal(model).is_none());
    table.models.providers().into_iter().filter(is_asked).collect()
}

/// Makes the provider's model the one that new conversations ask, if the one of the settings has no key, or there is none.
fn made_default(app: &App, provider: &str) -> Result<Option<Model>> {
    let table = ModelTable::read(app).0;
    let files = own_settings(app);
    let settings = Settings::from(&files.load()?.0);
    let own = settings.model.as_ref().and_then(|name| table.find(settings.provider.as_deref(), name).ok());
    if own.is_some_and(|own| table.can_ask(&own.model)) {
        return Ok(None);
    }
    let Some(model) = table.models.default_of(provider).filter(|model| table.can_ask(model)) else { return Ok(None) };
    for (key, value) in [("defaultProvider", &model.provider), ("defaultModel", &model.id)] {
        files.store(Scope::Global, key, Some(&Value::Text(value.clone())))?;
    }
    Ok(Some(model.clone()))
}
