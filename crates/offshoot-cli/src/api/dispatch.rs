//! The table of methods, in the order of `docs/api.md`, and `rpc.discover`, which describes it to clients.

use std::io::Write;

use offshoot_session::compose::NewEntry;
use offshoot_session::json::{Object, quote};
use offshoot_session::session::Session;

use super::handles::{ApiServer, OpenSession};
use super::methods::{append, bring, construct, plan, pure, read, tree, weigh};
use super::params::Params;
use super::records;
use super::request::ApiRequest;
use super::wire::{ApiFailure, MethodResult};

use MethodKind::{Append, Change, Free, Read};

enum MethodKind {
    /// Needs no open session, or not in every form.
    Free(fn(&mut ApiServer<'_>, &Params<'_>, &mut dyn Write) -> MethodResult),
    /// Makes an entry, which is appended below the leaf; the result is its id.
    Append(fn(&Session, &Params<'_>) -> Result<NewEntry, ApiFailure>),
    Read(fn(&OpenSession, &Params<'_>, &mut dyn Write) -> MethodResult),
    Change(fn(&mut OpenSession, &Params<'_>, &mut dyn Write) -> MethodResult),
}

/// Name, arguments (in the notation of [`Params::check`]) and function.
type ApiMethod = (&'static str, &'static str, MethodKind);

const METHODS: &[ApiMethod] = &[
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
    // Entries.
    ("appendMessage", "session message", Append(append::message)),
    ("appendThinkingLevelChange", "session thinkingLevel configured?", Append(append::thinking_level)),
    ("appendModelChange", "session provider? modelId? model? role?", Append(append::model)),
    (
        "appendCompaction",
        "session summary firstKeptEntryId tokensBefore details? fromHook? usage? shortSummary? preserveData? fromExtension?",
        Append(append::compaction),
    ),
    ("appendCustomEntry", "session customType data?", Append(append::custom)),
    (
        "appendCustomMessageEntry",
        "session customType content display details? attribution?",
        Append(append::custom_message),
    ),
    ("appendLabelChange", "session targetId label?", Append(append::label)),
    ("appendSessionInfo", "session name", Append(append::session_info)),
    ("appendUsage", "session kind provider model usage note?", Append(append::usage)),
    ("appendContextEdit", "session targetId replacement", Append(append::context_edit)),
    ("appendSessionInit", "session systemPrompt task tools *", Append(append::session_init)),
    ("appendTtsrInjection", "session injectedRules", Append(append::ttsr_injection)),
    ("appendModeChange", "session mode data?", Append(append::mode)),
    ("appendServiceTierChange", "session serviceTier", Append(append::service_tier)),
    ("appendResetBoundary", "session", Append(append::reset_boundary)),
    ("appendEntry", "session entry", Append(append::any)),
    ("appendMessageToBranch", "session message parentId", Change(append::message_to_branch)),
    // The leaf.
    ("branch", "session entryId", Change(tree::branch)),
    (
        "branchWithSummary",
        "session entryId summary details? fromHook? usage? fromExtension?",
        Change(tree::branch_with_summary),
    ),
    ("resetLeaf", "session", Change(tree::reset_leaf)),
    ("switch", "session entryId", Change(tree::switch)),
    ("createBranchedSession", "session leafId name?", Change(tree::create_branched)),
    // Bringing work of other branches and sessions here.
    ("planPick", "session selections from? onto? again? settings? state? labels?", Free(bring::plan_pick)),
    ("pick", "session selections? from? onto? again? settings? state? labels? plan? force?", Free(bring::pick)),
    ("planMerge", "session source from? onto? entries? tokenBudget?", Free(bring::plan_merge)),
    ("merge", "session source? summary? from? onto? entries? tokenBudget? plan? force?", Free(bring::merge)),
    ("planUncompact", "session", Free(bring::plan_uncompact)),
    ("uncompact", "session plan? force?", Free(bring::uncompact)),
    ("undo", "session dryRun?", Change(bring::undo)),
    ("compare", "session a b patch?", Read(weigh::compare)),
    ("forecast", "session entryId?", Free(weigh::forecast)),
    // Recovery.
    ("giveBack", "session", Change(tree::append_spilled)),
    ("recreate", "session", Change(tree::recreate)),
    // Reading an open session.
    ("getLeafId", "session", Read(read::leaf_id)),
    ("getLeafEntry", "session", Read(read::leaf_entry)),
    ("findEntry", "session entry", Read(read::find)),
    ("getEntry", "session id", Read(read::entry)),
    ("getChildren", "session parentId", Read(read::children)),
    ("getBranch", "session fromId?", Read(read::branch)),
    ("getTree", "session", Read(read::tree)),
    ("getEntries", "session", Read(read::entries)),
    ("getEntryCount", "session", Read(read::entry_count)),
    ("getHeader", "session", Read(read::header)),
    ("getLabel", "session id", Read(read::label)),
    ("getSessionName", "session", Read(read::name)),
    ("getSessionFile", "session", Read(read::file)),
    ("getSessionId", "session", Read(read::id)),
    ("getCwd", "session", Read(read::cwd)),
    ("getSessionDir", "session", Read(read::folder)),
    ("isPersisted", "session", Read(read::is_persisted)),
    ("getDiagnostics", "session", Read(read::diagnostics)),
    // Plans of summaries.
    ("prepareCompaction", "session leafId? settings?", Read(plan::compaction)),
    ("prepareBranchSummary", "session targetId oldLeafId? tokenBudget?", Read(plan::branch_summary)),
    // Without an open session.
    ("buildSessionContext", "session? entries? leafId?", Free(pure::build_context)),
    ("parseSessionEntries", "content", Free(pure::parse_entries)),
    ("migrateSessionEntries", "entries", Free(pure::migrate_entries)),
    ("loadEntriesFromFile", "path", Free(pure::load_entries)),
];

pub(super) fn run(server: &mut ApiServer<'_>, request: &ApiRequest<'_>, out: &mut dyn Write) -> MethodResult {
    let found = METHODS.iter().find(|(name, ..)| *name == request.method);
    let (_, notation, run) = found.ok_or_else(|| ApiFailure::no_method(&request.method))?;
    let params = &request.params;
    params.check(notation)?;
    match run {
        Free(method) => method(server, params, out),
        Append(make) => {
            let handle = server.handle(params)?;
            let entry = make(&handle.session, params)?;
            let id = handle.session.append(&entry)?;
            let written = records::write_id(out, Some(&id), &mut handle.session);
            server.close_writer(params);
            written
        }
        Read(method) => method(server.handle(params)?, params, out),
        Change(method) => {
            let changed = method(server.handle(params)?, params, out);
            server.close_writer(params);
            changed
        }
    }
}

fn discover(_: &mut ApiServer<'_>, _: &Params<'_>, out: &mut dyn Write) -> MethodResult {
    let param = |name: &str| {
        let needed = !name.ends_with('?');
        Object::new().str("name", name.trim_end_matches('?')).raw("required", needed).raw("schema", "{}").finish()
    };
    let method = |(name, notation, _): &ApiMethod| {
        let names = notation.split(' ').filter(|name| !name.is_empty() && *name != "*");
        let params: Vec<String> = names.map(param).collect();
        Object::new()
            .str("name", name)
            .str("paramStructure", "by-name")
            .raw("params", format!("[{}]", params.join(",")))
            .raw("result", r#"{"name":"result","schema":{}}"#)
            .finish()
    };
    let methods: Vec<String> = METHODS.iter().map(method).collect();
    let version = quote(env!("CARGO_PKG_VERSION"));
    write!(out, "{{\"openrpc\":\"1.3.2\",\"info\":{{\"title\":\"offshoot api\",\"version\":{version}}},")?;
    Ok(write!(out, "\"methods\":[{}]}}", methods.join(","))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_method_has_one_name() {
        let names: std::collections::BTreeSet<_> = METHODS.iter().map(|(name, ..)| name).collect();
        assert_eq!(names.len(), METHODS.len());
    }
}
