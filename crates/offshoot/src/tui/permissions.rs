//! `/permissions`: the rules that decide on the model's calls, in the running conversation. Decides nothing itself.

use offshoot_agent::agent_session::AgentSession;
use offshoot_app::agent::{NamedCall, StandingPermissions};
use offshoot_app::app::App;
use offshoot_app::error::{CommandError, Result};
use offshoot_session::session::Session;
use offshoot_tui::app::msg::Msg;

use super::actions::read;
use super::job_context::{JobContext, blocking};
use super::reload;
use crate::commands::permissions::{judged_lines, listed_lines, remove_rule};

/// Shows a page: the rules, or what is said to `why CALL` or `remove RULE`.
pub(super) async fn show(context: &JobContext, agent: &AgentSession, words: Option<String>) -> Result<()> {
    let words = words.unwrap_or_default();
    let (action, rest) = words.trim().split_once(char::is_whitespace).unwrap_or((words.trim(), ""));
    let state = agent.state().await.map_err(|error| CommandError::usage(error.to_string()))?;
    let mode = state.approval.as_str();
    let sandbox = state.limits.sandbox;
    let granted = state.granted;
    let app = App { ui: context.app.ui.quiet(), ..context.app.clone() };
    let folder = read(agent, {
        let app = app.clone();
        move |session: &Session| Ok(app.folder_of(session))
    });
    let mut app = app;
    app.environment.cwd = folder.await?;
    let rest = rest.trim().to_owned();
    let lines = match action {
        "" | "list" => {
            let list = move || {
                let standing = StandingPermissions::read(&app, Some(mode), Some(sandbox))?;
                Ok(listed_lines(&app, &standing, &granted))
            };
            let lines = blocking(list).await?;
            let how = "/permissions remove RULE removes one, /permissions why CALL explains a decision.".to_owned();
            lines.into_iter().chain([String::new(), how]).collect()
        }
        "why" => {
            let judge = move || {
                let mut standing = StandingPermissions::read(&app, Some(mode), Some(sandbox))?;
                standing.permissions.allow.extend(granted);
                let judged = standing.judge(&NamedCall::parse(&rest, &app)?);
                Ok(judged_lines(&judged, mode))
            };
            blocking(judge).await?
        }
        "remove" => {
            let removed = rest.clone();
            blocking(move || remove_rule(&app, &rest)).await?;
            reload::reload(context, agent).await?;
            vec![format!("removed {removed}"), "What you allowed in this run counts until its end.".to_owned()]
        }
        _ => return Err(CommandError::usage("that is /permissions [list | why CALL | remove RULE]")),
    };
    context.tell(Msg::Page("Permissions".to_owned(), lines));
    Ok(())
}
