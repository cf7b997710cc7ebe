//! The last message of a kind by which offshoot told the model something. Knows no kind.

use offshoot_session::context::Context;
use offshoot_session::entry::Source as _;
use offshoot_session::json::Json;
use offshoot_session::kind::Kind;
use offshoot_session::session::Session;

/// What `read` makes of the details of the last message of these kinds that the model sees.
pub(crate) fn last_told<T>(
    session: &Session,
    context: &Context,
    kinds: &[&str],
    read: impl Fn(&Json<'_>) -> Option<T>,
) -> Option<T> {
    let messages: Vec<_> =
        context.entries().filter(|ix| session.tree().node(*ix).kind() == Kind::CustomMessage).collect();
    messages.into_iter().rev().find_map(|ix| {
        let line = session.raw_line(ix).ok()?;
        let entry = Json::parse(std::str::from_utf8(&line).ok()?.trim_end()).ok()?;
        let kind = entry.str("customType")?;
        kinds.iter().any(|known| kind == *known).then(|| read(&entry.get("details")?))?
    })
}
