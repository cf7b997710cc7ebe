//! Commands that change something: the model, the session, its tree.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use offshoot_app::agent::shown_path;
use offshoot_app::error::{CommandError, FailureKind};
use offshoot_app::export::export;
use offshoot_app::models::{level_of, next_of};
use offshoot_protocol::request::{Approve, Fork, Forked};
use offshoot_protocol::{AgentError, FilesAlong, ThinkingLevel};
use offshoot_settings::Settings;

use crate::records::{CancelledData, ForkedData, LevelData, ModelData, ModelInUseData, PathData};
use crate::responder::{Answered, RpcData, RpcFailure};
use crate::rows::{Shape, operate};
use crate::server::{RpcServer, not_found};
use offshoot_workspace::{ArgValue, Given};

pub(crate) async fn set_model(server: &RpcServer, provider: String, id: String) -> Answered {
    let usable = server.models().await?.usable();
    let found = usable.into_iter().find(|model| model.provider == provider && model.id == id);
    let model = found.ok_or_else(|| not_found(format!("there is no model {provider}/{id} with a key")))?;
    server.agent.set_model(Arc::clone(&model)).await?;
    RpcData::of(&ModelData::new(&model))
}

pub(crate) async fn cycle_model(server: &RpcServer) -> Answered {
    let args = Arc::clone(&server.args);
    let settings = server.read(move |app, session| Ok(Settings::from(&app.layers(session)?))).await?;
    let patterns = args.scope(&settings);
    let models = server.models().await?;
    let (scope, is_scoped) = (models.scope(&patterns).0, models.has_scope(&patterns));
    let now = server.agent.state().await?.model;
    let Some(next) = next_of(&scope, &now, true) else { return Ok(RpcData::Json("null".to_owned())) };
    server.agent.set_model(Arc::clone(&next.model)).await?;
    if let Some(level) = level_of(next, &settings) {
        server.agent.set_thinking_level(level).await?;
    }
    let level = server.agent.state().await?.thinking;
    RpcData::of(&ModelInUseData::new(&next.model, level, is_scoped))
}

pub(crate) async fn set_thinking(server: &RpcServer, level: &str) -> Answered {
    let known = ThinkingLevel::ALL.map(ThinkingLevel::as_str).join(", ");
    let level = ThinkingLevel::parse(level)
        .ok_or_else(|| RpcFailure(format!("there is no thinking level {level:?}: {known}")))?;
    server.agent.set_thinking_level(level).await?;
    Ok(RpcData::Nothing)
}

pub(crate) async fn cycle_thinking(server: &RpcServer) -> Answered {
    let state = server.agent.state().await?;
    let levels = state.model.levels();
    let at = levels.iter().position(|level| *level == state.thinking).unwrap_or(0);
    let next = levels.get((at + 1) % levels.len().max(1)).filter(|_| levels.len() > 1);
    let Some(next) = next else { return Ok(RpcData::Json("null".to_owned())) };
    let level = server.agent.set_thinking_level(*next).await?;
    RpcData::of(&LevelData { level: level.as_str() })
}

pub(crate) async fn export_html(server: &RpcServer, output: Option<String>) -> Answered {
    let (file, cwd) = server
        .read(|app, session| {
            let nowhere = "the session is in no file yet: there is nothing to export";
            let file = session.file().filter(|file| file.exists()).map(PathBuf::from);
            let file = file.ok_or_else(|| CommandError::new(FailureKind::Failed, nowhere))?;
            Ok((file, app.folder_of(session)))
        })
        .await?;
    let output = cwd.join(output.unwrap_or_else(|| page_of(&file)));
    let path = output.display().to_string();
    server.blocking(move |app| export(app, &file, output, None)).await?;
    RpcData::of(&PathData { path })
}

fn page_of(file: &Path) -> String {
    let stem = file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    format!("offshoot-session-{stem}.html")
}

/// A path, or what commands take as SESSION.
pub(crate) async fn switch_session(server: &RpcServer, given: String, folder: Option<String>) -> Answered {
    let folder = folder.map(|folder| server.app.environment.path(folder));
    let file = server.blocking(move |app| app.file(&given)).await?;
    let switched = match folder {
        Some(folder) => server.agent.switch_session_in(file, folder).await,
        None => server.agent.switch_session(file).await,
    };
    match switched {
        Err(AgentError::Folder(refusal)) => {
            let choices: Vec<String> = refusal.choices().into_iter().map(shown_path).collect();
            Err(RpcFailure(format!("{refusal}: `sessionFolder` names the one to work in, {}", choices.join(" or "))))
        }
        switched => moved_on(switched),
    }
}

/// Another session is open, or an extension did not allow it.
pub(crate) fn moved_on(result: std::result::Result<Forked, AgentError>) -> Answered {
    match result {
        Ok(_) => RpcData::of(&CancelledData { cancelled: false }),
        Err(AgentError::Cancelled) => RpcData::of(&CancelledData { cancelled: true }),
        Err(error) => Err(error.into()),
    }
}

pub(crate) async fn fork(server: &RpcServer, entry: String, files: FilesAlong) -> Answered {
    match server.agent.ask(Fork { entry, files }).await {
        Ok(forked) => {
            let files = forked.files.map(|came| serde_json::from_str(&came.json)).transpose()?;
            RpcData::of(&ForkedData { text: forked.text, cancelled: false, files })
        }
        Err(AgentError::Cancelled) => RpcData::of(&ForkedData { text: None, cancelled: true, files: None }),
        Err(error) => Err(error.into()),
    }
}

pub(crate) async fn set_name(server: &RpcServer, name: &str) -> Answered {
    let name = name.trim();
    if name.is_empty() {
        return Err("a session's name is not empty".into());
    }
    let mut given = Given::default();
    given.put_text("text", name);
    operate(server, "name", given, Shape::Known).await
}

pub(crate) async fn set_label(server: &RpcServer, entry: String, label: Option<String>) -> Answered {
    let mut given = Given::default();
    given.put_text("entry", entry);
    match label {
        Some(label) => given.put_text("text", label),
        // Without a label it is removed.
        None => given.put("clear", ArgValue::Flag),
    }
    operate(server, "label", given, Shape::Known).await
}

pub(crate) async fn approve(server: &RpcServer, answer: Approve) -> Answered {
    server.agent.ask(answer).await?;
    Ok(RpcData::Nothing)
}
