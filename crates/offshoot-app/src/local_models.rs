//! Looks for model servers on the person's own machine, when that is asked for, and has what answers remembered. Decides nothing about
//! how a server is asked.

use offshoot_agent::model::{LocalServer, Models};
use offshoot_agent::provider::{LocalAnswer, LocalQuestion};
use offshoot_session::clock::{Clock as _, SystemClock};
use offshoot_settings::Settings;
use offshoot_workspace::{LocalOutcome, LocalSearch, SearchedServer};

use crate::app::App;
use crate::config;
use crate::config::local_models_file;
use crate::error::{CommandError, Result};
use crate::http::http;
use crate::models::ModelTable;

/// The window with which Ollama is started.
const SERVED_WINDOW: &str = "OLLAMA_CONTEXT_LENGTH";

/// Looks for the servers of this machine, all at once, or for one of them.
///
/// # Errors
/// The settings cannot be read, or the system gives no means to ask.
pub fn search(app: &App, only: Option<LocalServer>) -> Result<LocalSearch> {
    let settings = Settings::from(&app.settings_files(&app.environment.cwd).without_project(Vec::new()).load()?.0);
    let (ModelTable { models, keys, .. }, variables) = (ModelTable::read(app).0, config::variables());
    let http = http(app, &settings);
    let servers = LocalServer::ALL.into_iter().filter(|server| only.is_none_or(|only| only == *server));
    let ask = async {
        let mut questions = Vec::new();
        for server in servers {
            let served_window = variables(SERVED_WINDOW).and_then(|text| text.trim().parse().ok());
            questions.push(LocalQuestion {
                server,
                address: server.address(&*variables),
                // Without the key the server says itself that it wants one.
                key: keys.key_if_any(&models, server.provider()).await.ok().flatten(),
                served_window: served_window.filter(|_| server == LocalServer::Ollama),
                now: SystemClock.now(),
            });
        }
        let answers = http.local_models(&questions).await;
        questions.into_iter().zip(answers).collect::<Vec<_>>()
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let answered = runtime.map_err(|error| CommandError::io("ask the servers of this machine", &error))?.block_on(ask);
    let servers: Vec<SearchedServer> = answered.into_iter().map(|pair| searched(&models, pair)).collect();
    let found: Vec<_> = servers.iter().filter_map(SearchedServer::found).cloned().collect();
    let remembered = local_models_file::remember(&app.environment, &found).err();
    let trouble = remembered.map(|error| format!("the models that were found could not be remembered: {error}"));
    Ok(LocalSearch { servers, trouble })
}

fn searched(models: &Models, (question, answer): (LocalQuestion, LocalAnswer)) -> SearchedServer {
    let LocalQuestion { server, address, .. } = question;
    let outcome = match answer {
        LocalAnswer::Nobody => LocalOutcome::Nobody,
        LocalAnswer::Trouble(why) => LocalOutcome::Trouble(why),
        LocalAnswer::Found { found, mut left_out } => {
            if !models.clone().add_local(&found) {
                let provider = server.provider();
                left_out.push(format!(
                    "models.json has the provider {provider} at another address, so these models are not used"
                ));
            }
            LocalOutcome::Found { found, left_out }
        }
    };
    SearchedServer { server, address, outcome }
}
