//! What was said in the sessions of this user, by the operation `search`. It writes to no session.

use std::io::Write;

use offshoot_session::manager::Params;
use offshoot_workspace::search::Search;
use offshoot_workspace::{ArgValue, Given, Output as _, run_as};

use crate::api::handles::ApiServer;
use crate::api::wire::MethodResult;

/// Hits, as the command prints them with `--json`; none is no failure.
pub(in crate::api) fn search(server: &mut ApiServer<'_>, params: &Params<'_>, out: &mut dyn Write) -> MethodResult {
    let mut given = Given::default();
    given.put("query", ArgValue::Many(vec![params.str("query")?.into_owned()]));
    for flag in ["here", "scan"] {
        if params.opt_bool(flag)? == Some(true) {
            given.put(flag, ArgValue::Flag);
        }
    }
    for number in ["number", "skip"] {
        if params.given(number).is_some() {
            given.put_text(number, params.count(number)?.to_string());
        }
    }
    let found = run_as::<Search>(given, server.place)?;
    let mut json = Vec::new();
    found.json(&mut json)?;
    // An answer is one line. Strings have no line ends of their own.
    json.retain(|byte| *byte != b'\n');
    Ok(out.write_all(&json)?)
}
