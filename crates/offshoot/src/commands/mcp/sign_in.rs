//! `offshoot mcp login` and `logout`, and what `probe` shares with them.

use std::io::{BufRead as _, Write as _};
use std::sync::Arc;

use offshoot_app::app::App;
use offshoot_app::error::{CommandError, FailureKind, Result};
use offshoot_app::http::http;
use offshoot_app::mcp::{ServerSecrets, context, find};
use offshoot_app::ui::is_interactive;
use offshoot_mcp::oauth::Tokens;
use offshoot_mcp::server::Server;
use tokio::sync::oneshot;

use super::{Args, in_runtime, name, selection, unknown};

/// A server of the files. One that may not start is not signed in to either.
fn server(app: &App, args: &Args) -> Result<Arc<Server>> {
    let name = name(args)?;
    let (settings, selection) = selection(app, args)?;
    let folder = app.environment.cwd.clone();
    let (found, _) = find(app, &folder, &selection);
    let server = found.iter().find(|server| server.configured.config.name == name);
    let server = server.ok_or_else(|| unknown(name, &found))?;
    if server.held_back.is_some() {
        let error = CommandError::new(FailureKind::Failed, format!("{name} may not start here"));
        return Err(error.hint("`offshoot mcp` says why"));
    }
    let context = context(app, &folder, http(app, &settings), &ServerSecrets::default());
    Ok(Server::new(server.configured.clone(), context, None, tokio::sync::mpsc::unbounded_channel().0))
}

fn failed(why: String) -> CommandError {
    CommandError::new(FailureKind::Failed, why)
}

pub(super) fn login(app: &App, args: &Args) -> Result<()> {
    let server = server(app, args)?;
    in_runtime(async {
        let tokens = signed_in(app, &server).await?;
        let store =
            server.token_store().await.ok_or_else(|| failed("only servers with a url have a sign-in".to_owned()))?;
        store.keep(Some(&tokens)).map_err(failed)
    })??;
    let mut out = app.ui.text();
    writeln!(out, "signed in to {}", server.name())?;
    Ok(out.finish()?)
}

/// Prints the address and waits for the person.
pub(super) async fn signed_in(app: &App, server: &Arc<Server>) -> Result<Tokens> {
    let sign_in = server.sign_in().await.map_err(failed)?;
    app.ui.note(&format!("open this address to sign in:\n{}", sign_in.address));
    let (paste, pasted) = oneshot::channel();
    if is_interactive() {
        app.ui.note("if the browser is on another machine, paste the address here to which it was sent");
        // Ends with the program.
        drop(std::thread::spawn(move || {
            let mut line = String::new();
            if std::io::stdin().lock().read_line(&mut line).is_ok() && !line.trim().is_empty() {
                drop(paste.send(line));
            }
        }));
    } else {
        drop(paste);
    }
    sign_in.finish(pasted).await.map_err(failed)
}

pub(super) fn logout(app: &App, args: &Args) -> Result<()> {
    let server = server(app, args)?;
    let store = in_runtime(server.token_store())?;
    let Some(store) = store.filter(|store| store.tokens().is_some()) else {
        return app.ui.nothing_to_do(&format!("nobody is signed in to {}", server.name()));
    };
    store.keep(None).map_err(failed)?;
    let mut out = app.ui.text();
    writeln!(out, "signed out of {}", server.name())?;
    Ok(out.finish()?)
}
