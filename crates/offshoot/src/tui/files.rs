//! The files of the session's folder, for completion, without ignored ones.

use offshoot_agent::agent_session::AgentSession;
use offshoot_tui::app::msg::Msg;

use super::job_context::JobContext;

/// The limits of all files, and of one message.
const MOST: usize = 50_000;
const PORTION: usize = 2_000;

pub(super) async fn find(context: &JobContext, agent: &AgentSession) {
    let Ok(cwd) = agent.read(|session| session.cwd().unwrap_or_default().to_owned()).await else { return };
    let context = context.clone();
    tokio::task::spawn_blocking(move || {
        let mut portion = Vec::new();
        for found in ignore::WalkBuilder::new(&cwd).hidden(false).require_git(false).build().flatten().take(MOST) {
            let Ok(path) = found.path().strip_prefix(&cwd) else { continue };
            let is_folder = found.file_type().is_some_and(|kind| kind.is_dir());
            let name = path.to_string_lossy();
            if name.is_empty() || name == ".git" || name.starts_with(".git/") {
                continue;
            }
            portion.push(format!("{name}{}", if is_folder { "/" } else { "" }));
            if portion.len() >= PORTION {
                context.tell(Msg::Files(std::mem::take(&mut portion)));
            }
        }
        context.tell(Msg::Files(portion));
    });
}
