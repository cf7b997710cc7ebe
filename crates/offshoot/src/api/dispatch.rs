//! The table of methods, in the order of `docs/api.md`, and `rpc.discover`, which describes it to clients.

use std::io::Write;

use offshoot_session::entry::Source as _;
use offshoot_session::json::{Object, quote};
use offshoot_session::manager::{self, Method, MethodRow, Params};

use super::handles::{ApiServer, OpenSession};
use super::methods::{bring, construct, plan, pure, search, tree, weigh};
use super::request::ApiRequest;
use super::wire::{ApiFailure, MethodResult};

use MethodKind::{Change, Free, Read};
use MethodSection::{Own, Shared};

enum MethodKind {
    /// Needs no open session, or not in every form.
    Free(fn(&mut ApiServer<'_>, &Params<'_>, &mut dyn Write) -> MethodResult),
    Read(fn(&OpenSession, &Params<'_>, &mut dyn Write) -> MethodResult),
    Change(fn(&mut OpenSession, &Params<'_>, &mut dyn Write) -> MethodResult),
}

/// Name, arguments (in the notation of [`Params::check`]) and function.
type ApiMethod = (&'static str, &'static str, MethodKind);

enum MethodSection {
    Own(&'static [ApiMethod]),
    /// Methods of the session manager, whose arguments come after the session.
    Shared(&'static [MethodRow]),
}

/// The argument that names the session.
const SESSION: &str = "session";

const METHODS: &[MethodSection] = &[
    Own(&[
        ("rpc.discover", "", Free(discover)),
        // Creating, opening, closing and listing sessions.
        ("create", "cwd? sessionDir? id? parentSession? durability?", Free(construct::create)),
        ("open", "path sessionDir? cwd? durability?", Free(construct::open)),
        ("continueRecent", "cwd? sessionDir? durability?", Free(construct::continue_recent)),
        ("inMemory", "cwd? entries? id? parentSession?", Free(construct::in_memory)),
        ("forkFrom", "sourcePath targetCwd sessionDir? id? name? durability?", Free(construct::fork_from)),
        ("newSession", "session id? parentSession?", Free(construct::new_session)),
        ("close", "session", Free(construct::close)),
        ("list", "cwd? sessionDir? withDiagnostics?", Free(construct::list)),
        ("listAll", "sessionDir? withDiagnostics?", Free(construct::list_all)),
        ("findMostRecentSession", "sessionDir? cwd?", Free(construct::find_most_recent)),
        ("search", "query here? number? skip? scan?", Free(search::search)),
    ]),
    // Entries.
    Shared(manager::APPENDS),
    Own(&[("appendMessageToBranch", "session message parentId", Change(tree::message_to_branch))]),
    // The leaf.
    Shared(manager::MOVES),
    Own(&[
        ("switch", "session entryId", Change(tree::switch)),
        ("createBranchedSession", "session leafId name?", Change(tree::create_branched)),
        // Bringing work of other branches and sessions here.
        ("planPick", "session selections from? onto? again? settings? state? labels?", Free(bring::plan_pick)),
        ("pick", "session selections? from? onto? again? settings? state? labels? plan? force?", Free(bring::pick)),
        ("planMerge", "session source from? onto? entries? tokenBudget?", Free(bring::plan_merge)),
        ("merge", "session source? summary? from? onto? entries? tokenBudget? plan? force?", Free(bring::merge)),
        ("planUncompact", "session", Free(bring::plan_uncompact)),
        ("uncompact", "session plan? force?", Free(bring::uncompact)),
        ("undo", "session dryRun?", Free(bring::undo)),
        ("compare", "session a b patch?", Free(weigh::compare)),
        ("forecast", "session entryId?", Free(weigh::forecast)),
        // Recovery.
        ("giveBack", "session", Change(tree::append_spilled)),
        ("recreate", "session", Change(tree::recreate)),
    ]),
    // Reading an open session.
    Shared(manager::READS),
    Own(&[
        // Plans of summaries.
        ("prepareCompaction", "session leafId? settings?", Read(plan::compaction)),
        ("prepareBranchSummary", "session targetId oldLeafId? tokenBudget?", Read(plan::branch_summary)),
        // Without an open session.
        ("buildSessionContext", "session? entries? leafId?", Free(pure::build_context)),
        ("parseSessionEntries", "content", Free(pure::parse_entries)),
        ("migrateSessionEntries", "entries", Free(pure::migrate_entries)),
        ("loadEntriesFromFile", "path", Free(pure::load_entries)),
    ]),
];

pub(super) fn run(server: &mut ApiServer<'_>, request: &ApiRequest<'_>, out: &mut dyn Write) -> MethodResult {
    let name = request.method.as_ref();
    METHODS
        .iter()
        .find_map(|section| match section {
            Own(methods) => methods
                .iter()
                .find(|(own, ..)| *own == name)
                .map(|method| run_own(server, method, &request.params, out)),
            Shared(rows) => {
                rows.iter().find(|row| row.name == name).map(|row| run_shared(server, row, &request.params, out))
            }
        })
        .unwrap_or_else(|| Err(ApiFailure::no_method(name)))
}

fn run_own(
    server: &mut ApiServer<'_>,
    (_, notation, method): &ApiMethod,
    params: &Params<'_>,
    out: &mut dyn Write,
) -> MethodResult {
    params.check(&[*notation])?;
    match method {
        Free(method) => method(server, params, out),
        Read(method) => {
            let handle = server.handle(params)?;
            method(handle, params, out)?;
            Ok(handle.session.tree().whole(())?)
        }
        Change(method) => {
            let changed = method(server.handle(params)?, params, out);
            server.close_writer(params);
            changed
        }
    }
}

fn run_shared(server: &mut ApiServer<'_>, row: &MethodRow, params: &Params<'_>, out: &mut dyn Write) -> MethodResult {
    params.check(&[SESSION, row.params])?;
    let handle = server.handle(params)?;
    let done = match row.method {
        Method::Reads(read) => return handle.read(read, *params, out),
        Method::Appends(make) => handle.append(make, params, out),
        Method::Moves(run) => handle.move_leaf(run, *params, out),
    };
    server.close_writer(params);
    done
}

fn discover(_: &mut ApiServer<'_>, _: &Params<'_>, out: &mut dyn Write) -> MethodResult {
    let param = |name: &str| {
        let needed = !name.ends_with('?');
        Object::new().str("name", name.trim_end_matches('?')).raw("required", needed).raw("schema", "{}").finish()
    };
    let method = |(name, notation): (&str, Vec<&str>)| {
        let names = notation.iter().flat_map(|part| part.split(' ')).filter(|name| !name.is_empty() && *name != "*");
        let params: Vec<String> = names.map(param).collect();
        Object::new()
            .str("name", name)
            .str("paramStructure", "by-name")
            .raw("params", format!("[{}]", params.join(",")))
            .raw("result", r#"{"name":"result","schema":{}}"#)
            .finish()
    };
    let methods: Vec<String> = signatures().into_iter().map(method).collect();
    let version = quote(env!("CARGO_PKG_VERSION"));
    write!(out, "{{\"openrpc\":\"1.3.2\",\"info\":{{\"title\":\"offshoot api\",\"version\":{version}}},")?;
    Ok(write!(out, "\"methods\":[{}]}}", methods.join(","))?)
}

/// Each method's name and the parts of its notation.
fn signatures() -> Vec<(&'static str, Vec<&'static str>)> {
    let of = |section: &MethodSection| -> Vec<_> {
        match section {
            Own(methods) => methods.iter().map(|(name, notation, _)| (*name, vec![*notation])).collect(),
            Shared(rows) => rows.iter().map(|row| (row.name, vec![SESSION, row.params])).collect(),
        }
    };
    METHODS.iter().flat_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_method_has_one_name() {
        let names: std::collections::BTreeSet<_> = signatures().into_iter().map(|(name, _)| name).collect();
        assert_eq!(names.len(), signatures().len());
    }
}
