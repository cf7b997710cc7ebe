//! The command `offshoot api`: its help and its defaults.

use std::fs::File;
use std::io;
use std::os::fd::AsFd as _;
use std::sync::Arc;

use offshoot_agent::forecast::{RequestForecast, RequestPlace};
use offshoot_app::app::App;
use offshoot_app::error::Result;
use offshoot_app::models::ModelTable;
use offshoot_app::next_request;
use offshoot_session::session::Session;
use offshoot_session::tree::NodeIx;
use offshoot_workspace::{self as workspace, KnownModels, NextRequest};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::{ApiInput, Defaults, serve};

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
    let app = &App { ui: app.ui.quiet(), ..app.clone() };
    let place = app.place().with_next_request(Arc::new(Models(app.clone())));
    serve(
        (&app.store()?, &place, defaults),
        &app.cwd(),
        ApiInput::new(File::from(io::stdin().as_fd().try_clone_to_owned()?)),
        &mut out,
    )?;
    Ok(out.finish()?)
}

/// The models of this run. Their files' warnings are not for the client. The program that asks has a system prompt and tools
/// of its own.
struct Models(App);

impl NextRequest for Models {
    fn forecast(
        &self,
        session: &Session,
        target: Option<NodeIx>,
        more_tokens: u64,
    ) -> workspace::Result<RequestForecast> {
        Ok(next_request::forecast(&self.0, session, RequestPlace { target, more_tokens, overhead: 0 })?)
    }

    fn window(&self, session: &Session) -> workspace::Result<Option<(u64, u64)>> {
        Ok(ModelTable::window_of(&self.0, session).map(|window| (window, 0)))
    }

    fn overhead(&self, _: &Session) -> workspace::Result<u64> {
        Ok(0)
    }

    /// A search leaves out their keys.
    fn models(&self) -> workspace::Result<KnownModels> {
        Ok(ModelTable::known(&self.0))
    }
}

/// Every open session is an open file: the usual limit is meant for programs that wait with `select`.
fn allow_many_files() {
    let limit = getrlimit(Resource::Nofile);
    // The lower limit stays where this is refused.
    setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit }).unwrap_or(());
}
