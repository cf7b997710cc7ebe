//! The command `offshoot api`: its help and its defaults.

use std::io;

use offshoot_agent::forecast::{RequestForecast, RequestPlace};
use offshoot_app::app::App;
use offshoot_app::error::Result;
use offshoot_app::models::ModelTable;
use offshoot_app::next_request;
use offshoot_session::session::Session;
use offshoot_session::tree::NodeIx;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::handles::SessionModels;
use super::{Defaults, serve};

/// Serve the session library to another program
///
/// Reads JSON-RPC 2.0 requests from standard input, one object per line, and
/// answers on standard output in the same way, until the input ends. Most
/// methods have the names of pi's SessionManager. docs/api.md describes all.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment, after_help = EXAMPLES)]
pub(crate) struct Args {}

const EXAMPLES: &str = "\
Examples:
  offshoot api
  echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"list\",\"params\":{\"cwd\":\"/work\"}}' | offshoot api";

pub(crate) fn run(app: &App, _args: &Args) -> Result<()> {
    allow_many_files();
    let mut out = app.ui.raw();
    let (spill, turns) = (app.environment.spill.clone(), app.environment.turns());
    let (durability, lock_wait) = (app.durability, app.lock_wait());
    let defaults = Defaults { spill, turns, durability, lock_wait, now: app.environment.now };
    let models = Models(App { ui: app.ui.quiet(), ..app.clone() });
    serve((&app.store()?, &models, defaults), &app.cwd(), io::stdin().lock(), &mut out)?;
    Ok(out.finish()?)
}

/// The models of this run. Their files' warnings are not for the client.
struct Models(App);

impl SessionModels for Models {
    fn window(&self, session: &Session) -> Option<u64> {
        ModelTable::window_of(&self.0, session)
    }

    fn forecast(&self, session: &Session, target: Option<NodeIx>) -> Result<RequestForecast> {
        // The program that asks has a system prompt and tools of its own.
        next_request::forecast(&self.0, session, RequestPlace { target, more_tokens: 0, overhead: 0 })
    }
}

/// Every open session is an open file: the usual limit is meant for programs that wait with `select`.
fn allow_many_files() {
    let limit = getrlimit(Resource::Nofile);
    // The lower limit stays where this is refused.
    setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit }).unwrap_or(());
}
