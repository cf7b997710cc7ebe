//! Values in answers: strings, ids, entries, arrays. Knows no methods.

use std::io::Write;

use offshoot_session::entry::Source;
use offshoot_session::error::Diagnostic;
use offshoot_session::id::EntryId;
use offshoot_session::json::{Object, quote};
use offshoot_session::session::Session;
use offshoot_session::tree::NodeIx;

use super::wire::MethodResult;
use offshoot_session::records;

pub(super) fn write_null(out: &mut dyn Write) -> MethodResult {
    Ok(out.write_all(b"null")?)
}

pub(super) fn write_str(out: &mut dyn Write, text: Option<&str>) -> MethodResult {
    match text {
        Some(text) => Ok(out.write_all(quote(text).as_bytes())?),
        None => write_null(out),
    }
}

/// The result of an append, with diagnostics about other writers since the last one.
pub(super) fn write_id(out: &mut dyn Write, id: Option<&EntryId>, session: &mut Session) -> MethodResult {
    let object = Object::new().str_or_null("id", id.map(EntryId::as_str));
    let news: Vec<String> = session.take_news().iter().map(Diagnostic::to_json).collect();
    let object = match news.as_slice() {
        [] => object,
        news => object.raw("diagnostics", format!("[{}]", news.join(","))),
    };
    Ok(out.write_all(object.finish().as_bytes())?)
}

pub(super) fn write_entry(out: &mut dyn Write, source: &dyn Source, ix: Option<NodeIx>) -> MethodResult {
    match ix {
        Some(ix) => Ok(records::write_entry(out, source, ix)?),
        None => write_null(out),
    }
}

pub(super) fn write_array<T>(
    out: &mut dyn Write,
    items: impl IntoIterator<Item = T>,
    mut write: impl FnMut(&mut dyn Write, T) -> MethodResult,
) -> MethodResult {
    out.write_all(b"[")?;
    for (at, item) in items.into_iter().enumerate() {
        if at > 0 {
            out.write_all(b",")?;
        }
        write(out, item)?;
    }
    Ok(out.write_all(b"]")?)
}
