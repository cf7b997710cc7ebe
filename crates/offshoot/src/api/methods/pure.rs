//! Methods that need no open session: they work on entries in the request, or on a file, and keep nothing.

use std::io::{self, Write};

use offshoot_session::entry::{Entry, Source as _};
use offshoot_session::error::Error;
use offshoot_session::header::Header;
use offshoot_session::json::Json;
use offshoot_session::load::load;
use offshoot_session::manager::Params;
use offshoot_session::medium::{FileMedium, read_exact_at};
use offshoot_session::session::{NewSession, Options, Session};
use offshoot_session::tree::NodeIx;

use crate::api::handles::ApiServer;
use crate::api::records::{write_array, write_entry};
use crate::api::wire::{ApiFailure, MethodResult};

pub(in crate::api) fn build_context(
    server: &mut ApiServer<'_>,
    params: &Params<'_>,
    out: &mut dyn Write,
) -> MethodResult {
    if params.opt("session").is_some() {
        if params.opt("entries").is_some() || params.opt("leafId").is_some() {
            return Err(ApiFailure::params("\"entries\" and \"leafId\" are for a context without \"session\""));
        }
        let session = &server.handle(params)?.session;
        return Ok(session.context()?.write_json(session, out)?);
    }
    let session = Session::seeded(params.array("entries")?, &NewSession::default(), Options::default())?;
    let leaf = match (params.opt("leafId"), params.opt_str("leafId")?) {
        (Some(_), None) => None,
        (_, given) => given.and_then(|id| session.tree().find(&id)).or(session.leaf()),
    };
    Ok(session.context_at(leaf)?.write_json(&session, out)?)
}

/// The lines that are JSON, each as written.
pub(in crate::api) fn parse_entries(_: &mut ApiServer<'_>, params: &Params<'_>, out: &mut dyn Write) -> MethodResult {
    let content = params.str("content")?;
    let records = content.split('\n').filter_map(|line| Json::parse(line).ok());
    write_array(out, records, |out, record| Ok(out.write_all(record.text().as_bytes())?))
}

/// The same records in version 3. Without a header they count as version 1.
pub(in crate::api) fn migrate_entries(_: &mut ApiServer<'_>, params: &Params<'_>, out: &mut dyn Write) -> MethodResult {
    const STAND_IN_HEADER: &str = r#"{"type":"session","id":"migrated"}"#;
    let records: Vec<&str> = params.array("entries")?.items().map(Json::text).collect();
    let has_header = records.first().is_some_and(|first| Header::parse(first).is_some());
    let mut lines = if has_header { Vec::new() } else { vec![STAND_IN_HEADER] };
    lines.extend(&records);
    let session = Session::from_text(&(lines.join("\n") + "\n"), Options::default())?;
    let tree = session.tree();
    let mut entries = tree.entries().peekable();
    // One line per record, both in file order: a record is an entry if the next entry has its line.
    let records = records.iter().zip(if has_header { 1.. } else { 2_u64.. });
    write_array(out, records, |out, (record, line)| match entries.next_if(|ix| tree.node(*ix).line() == line) {
        Some(ix) => write_entry(out, &session, Some(ix)),
        None if line == 1 => Ok(out.write_all(session.header_line().as_bytes())?),
        None => Ok(out.write_all(record.as_bytes())?),
    })
}

/// The header and entries of a file as stored; empty if the file is missing or empty.
pub(in crate::api) fn load_entries(
    server: &mut ApiServer<'_>,
    params: &Params<'_>,
    out: &mut dyn Write,
) -> MethodResult {
    let path = &server.path(&params.str("path")?);
    let failed = |action| move |source| Error::Io { action, path: path.clone(), source };
    let medium = match FileMedium::open(path) {
        Ok(medium) => medium,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(out.write_all(b"[]")?),
        Err(error) => return Err(failed("open")(error).into()),
    };
    let loaded = load(&medium)?;
    let Some(header) = &loaded.header else { return Ok(out.write_all(b"[]")?) };
    let tree = &loaded.tree;
    let records = std::iter::once(None).chain(tree.entries().map(Some));
    write_array(out, records, |out, record: Option<NodeIx>| {
        let Some(ix) = record else { return Ok(out.write_all(header.json().text().as_bytes())?) };
        let node = tree.node(ix);
        let length = usize::try_from(node.length()).unwrap_or(usize::MAX);
        let line = read_exact_at(&medium, node.offset(), length).map_err(failed("read"))?;
        let entry = Entry::new(tree, ix, String::from_utf8_lossy(&line).into_owned());
        Ok(out.write_all(entry.to_json(tree).as_bytes())?)
    })
}
