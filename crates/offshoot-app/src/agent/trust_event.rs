//! The extensions of the user that decide whether a project is trusted, before anything of the project counts. They are loaded
//! for this question in a process of its own, and again for the session.

use std::path::Path;
use std::sync::Arc;

use offshoot_extensions::contract::{
    ExtensionKind, ExtensionSource, Host, HostFuture, LoadedExtension, Payload, ProgramMode, Services,
};
use offshoot_session::session::Session;
use offshoot_session::text::clean_lines;
use serde_json::{Map, Value, json};
use tokio::sync::mpsc::UnboundedSender;

use super::Args;
use super::extensions::{AllPackages, found};
use crate::app::App;
use crate::config::trust_file::{TrustFile, real};
use crate::error::{CommandError, Result};
use crate::extensions::{self, TrustListeners, unheard};
use crate::trust::{RunTrust, has_trusted_files};

const EVENT: &str = "project_trust";

/// Who can be asked about a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrustPerson {
    /// At the terminal, before the front end has it.
    AtTheTerminal,
    /// The run has this mode.
    Nobody(ProgramMode),
}

/// The program with the decision of the user's extensions about the session's folder, if one decides. What the command line
/// says comes first, and a stored answer counts only if no extension decides.
pub fn decided_by_extensions(app: &App, args: &Args, session: &Session, person: TrustPerson) -> Result<App> {
    let folder = app.folder_of(session);
    if matches!(app.trust, RunTrust::EveryFolder(_)) || !has_trusted_files(&folder, app.environment.home.as_deref()) {
        return Ok(app.clone());
    }
    let sources = deciders(app, args, session)?;
    if sources.is_empty() {
        return Ok(app.clone());
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| CommandError::io("start the extensions", &error))?;
    let decision = runtime.block_on(ask(app, (session, &folder), sources, person));
    runtime.shutdown_background();
    let Some(Decision { is_trusted, is_kept }) = decision else { return Ok(app.clone()) };
    let file = app.environment.data.as_deref().map(TrustFile::of);
    if let (true, Some(file)) = (is_kept, &file)
        && let Err(error) = file.save(&folder, is_trusted)
    {
        app.ui.warning(&format!("the extension's answer counts only this once: {}", error.with_hints_on_one_line()));
    }
    let stored = file.and_then(|file| file.answer(&folder).ok().flatten());
    Ok(App { trust: RunTrust::Decided { folder: real(&folder), is_trusted, stored }, ..app.clone() })
}

/// The user's extensions of which one may decide. A project's never do, whatever was answered before.
fn deciders(app: &App, args: &Args, session: &Session) -> Result<Vec<ExtensionSource>> {
    let untrusting = App { trust: RunTrust::EveryFolder(false), ui: app.ui.quiet(), ..app.clone() };
    let mut sources = found(&untrusting, args, session, AllPackages::Yes)?.sources;
    sources.retain(|source| source.kind == ExtensionKind::Extension);
    if TrustListeners::read(&app.environment).may_have_one(&sources) { Ok(sources) } else { Ok(Vec::new()) }
}

struct Decision {
    is_trusted: bool,
    is_kept: bool,
}

/// The first answer that is yes or no. Extensions that do not load are reported when the session loads them.
async fn ask(
    app: &App,
    (session, folder): (&Session, &Path),
    sources: Vec<ExtensionSource>,
    person: TrustPerson,
) -> Option<Decision> {
    let (mode, has_ui) = match person {
        TrustPerson::AtTheTerminal => (ProgramMode::Tui, true),
        TrustPerson::Nobody(mode) => (mode, false),
    };
    let layers = App { ui: app.ui.quiet(), ..app.clone() }.layers(session).ok()?;
    let host = extensions::node_host(app, &layers, folder);
    let request = extensions::request(app, (sources.clone(), Map::new()), folder, (mode, has_ui));
    let services: Arc<dyn Services> = Arc::new(TrustServices { app: app.clone(), person });
    let loaded = host.load(request, services).await.unwrap_or_default();
    let source_of = |loaded: LoadedExtension| sources.get(loaded.id).cloned().map(|source| (source, loaded));
    let loaded: Vec<(ExtensionSource, LoadedExtension)> = loaded.into_iter().filter_map(source_of).collect();
    TrustListeners::keep(&app.environment, &loaded);
    let decision = first_decision(app, (&host, folder), &loaded).await;
    host.close().await;
    decision
}

async fn first_decision(
    app: &App,
    (host, folder): (&Arc<dyn Host>, &Path),
    loaded: &[(ExtensionSource, LoadedExtension)],
) -> Option<Decision> {
    let payload = Payload::from(json!({"type": EVENT, "cwd": folder}).to_string());
    for (source, loaded) in loaded {
        for handler in loaded.handlers.iter().filter(|handler| handler.event == EVENT) {
            let answer = host.handle(handler.id, payload.clone()).await;
            let failed = |why: &str| {
                let path = app.environment.short(&source.path.display().to_string());
                app.ui.warning(&format!("the extension {path} failed at {EVENT}: {why}"));
            };
            match answer {
                Ok(answer) if answer.ok["trusted"] == "undecided" => {}
                Ok(answer) if answer.ok.is_object() => {
                    let (is_trusted, is_kept) = (answer.ok["trusted"] == "yes", answer.ok["remember"] == true);
                    return Some(Decision { is_trusted, is_kept });
                }
                Ok(_) => failed("it returned nothing; {trusted: \"undecided\"} leaves the decision to others"),
                Err(failure) => failed(&failure.message),
            }
        }
    }
    None
}

/// The services before there is a session: extensions can only ask and notify the person.
struct TrustServices {
    app: App,
    person: TrustPerson,
}

impl Services for TrustServices {
    fn now(&self, method: &str, _params: &str) -> std::result::Result<String, String> {
        match method {
            "host.registered" | "host.unregistered" => Ok("{}".to_owned()),
            "ui.getTheme" => Ok("null".to_owned()),
            _ => Err(format!("{method} is there after the question of trust")),
        }
    }

    fn later(
        &self,
        method: String,
        params: Value,
        _progress: UnboundedSender<Value>,
    ) -> HostFuture<'static, std::result::Result<Value, String>> {
        let (app, person) = (self.app.clone(), self.person);
        Box::pin(async move {
            let Some(name) = method.strip_prefix("ui.").map(str::to_owned) else {
                return Err(format!("{method} is there after the question of trust"));
            };
            if person != TrustPerson::AtTheTerminal {
                return Ok(unheard(&name));
            }
            let asked = tokio::task::spawn_blocking(move || asked(&app, &name, &params));
            asked.await.map_err(|error| error.to_string())
        })
    }

    fn note(&self, method: &str, params: Value) {
        // As in pi: at the terminal the questions say what there is to say.
        if let (TrustPerson::Nobody(_), "ui.notify") = (self.person, method) {
            let text = params["message"].as_str().unwrap_or_default();
            match params["type"].as_str() {
                Some("error" | "warning") => self.app.ui.warning(text),
                _ => self.app.ui.note(text),
            }
        }
    }

    fn registered(&self, _loaded: LoadedExtension) {}
}

/// The person's answer on a plain terminal. The end of the input, an empty line and an invalid answer decline.
fn asked(app: &App, method: &str, params: &Value) -> Value {
    let text = |name: &str| clean_lines(params[name].as_str().unwrap_or_default()).into_owned();
    let mut lines: Vec<String> = text("title").lines().map(str::to_owned).collect();
    let options: Vec<&str> = params["options"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let question = match method {
        "select" => {
            let option = |(at, option): (usize, &&str)| format!("  {}  {}", at + 1, clean_lines(option));
            lines.push(String::new());
            lines.extend(options.iter().enumerate().map(option));
            lines.push(String::new());
            format!("1 to {}, or Enter for none: ", options.len())
        }
        "confirm" => {
            lines.extend(text("message").lines().map(str::to_owned));
            "y, or Enter for no: ".to_owned()
        }
        "input" => match text("placeholder") {
            placeholder if placeholder.is_empty() => "> ".to_owned(),
            placeholder => format!("({placeholder}) > "),
        },
        _ => return unheard(method),
    };
    let Ok(Some(answer)) = app.ui.ask(&lines, &question) else { return unheard(method) };
    let answer = answer.trim();
    match method {
        "select" => {
            let at = answer.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
            at.and_then(|at| options.get(at)).map_or(Value::Null, |option| json!(option))
        }
        "confirm" => json!(matches!(answer.to_lowercase().as_str(), "y" | "yes")),
        _ => json!(answer),
    }
}
