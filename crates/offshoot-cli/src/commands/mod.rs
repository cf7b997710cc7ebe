//! The commands: their list, and which function runs each.

mod context;
mod list;
mod tree;

use clap::Subcommand;

use crate::app::App;
use crate::error::Result;

/// Every command of the program.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    List(list::Args),
    Tree(tree::Args),
    Context(context::Args),
}

impl Command {
    /// Runs it.
    pub(crate) fn run(&self, app: &App) -> Result<()> {
        match self {
            Self::List(args) => list::run(app, args),
            Self::Tree(args) => tree::run(app, args),
            Self::Context(args) => context::run(app, args),
        }
    }
}
