//! The commands: their list, and which function runs each.

mod api;
mod append;
mod branches;
mod check;
mod compact;
mod completions;
mod context;
mod doctor;
mod entry;
mod fork;
pub(crate) mod import;
mod label;
mod list;
mod man;
mod migrate;
mod models;
mod name;
mod repair;
mod show;
pub(crate) mod export;
mod switch;
mod pop;
mod tail;
mod trash;
mod tree;

use clap::Subcommand;

use crate::app::App;
use crate::error::Result;

/// Every command of the program, in the order of the help.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    List(list::Args),
    Show(show::Args),
    Tree(tree::Args),
    Branches(branches::Args),
    Context(context::Args),
    Entry(entry::Args),
    Tail(tail::Args),
    Switch(switch::Args),
    Pop(pop::Args),
    Compact(compact::Args),
    Label(label::Args),
    Name(name::Args),
    Trash(trash::Args),
    Fork(fork::Args),
    Export(export::Args),
    Import(import::Args),
    Append(append::Args),
    Check(check::Args),
    Repair(repair::Args),
    Doctor(doctor::Args),
    Migrate(migrate::Args),
    Models(models::Args),
    Api(api::Args),
    Completions(completions::Args),
    Man(man::Args),
}

impl Command {
    /// Runs it.
    pub(crate) fn run(&self, app: &App) -> Result<()> {
        match self {
            Self::List(args) => list::run(app, args),
            Self::Show(args) => show::run(app, args),
            Self::Tree(args) => tree::run(app, args),
            Self::Branches(args) => branches::run(app, args),
            Self::Context(args) => context::run(app, args),
            Self::Entry(args) => entry::run(app, args),
            Self::Tail(args) => tail::run(app, args),
            Self::Switch(args) => switch::run(app, args),
            Self::Pop(args) => pop::run(app, args),
            Self::Compact(args) => compact::run(app, args),
            Self::Label(args) => label::run(app, args),
            Self::Name(args) => name::run(app, args),
            Self::Trash(args) => trash::run(app, args),
            Self::Fork(args) => fork::run(app, args),
            Self::Export(args) => export::run(app, args),
            Self::Import(args) => import::run(app, args),
            Self::Append(args) => append::run(app, args),
            Self::Check(args) => check::run(app, args),
            Self::Repair(args) => repair::run(app, args),
            Self::Doctor(args) => doctor::run(app, args),
            Self::Migrate(args) => migrate::run(app, args),
            Self::Models(args) => models::run(app, args),
            Self::Api(args) => api::run(app, args),
            Self::Completions(args) => completions::run(app, args),
            Self::Man(args) => man::run(app, args),
        }
    }
}
