//! Methods that help to decide between branches: a comparison of two, and what the next request would cost. They write
//! nothing.

use std::io::Write;

use offshoot_session::entry::Source as _;
use offshoot_session::manager::Params;
use offshoot_workspace::compare::{ComparedBranches, Patches};

use crate::api::handles::ApiServer;
use crate::api::wire::{ApiFailure, MethodResult};

pub(in crate::api) fn compare(server: &mut ApiServer<'_>, params: &Params<'_>, out: &mut dyn Write) -> MethodResult {
    let place = server.place;
    let handle = server.handle(params)?;
    let (a, b) = (handle.find(&params.str("a")?)?, handle.find(&params.str("b")?)?);
    let wanted = Patches::wanted(params.opt_bool("patch")?.unwrap_or_default());
    let compared = ComparedBranches::read(place, &handle.session, (a, b), wanted)?;
    Ok(out.write_all(compared.to_json(handle.session.tree()).as_bytes())?)
}

/// The next request from an entry, or from the leaf.
pub(in crate::api) fn forecast(server: &mut ApiServer<'_>, params: &Params<'_>, out: &mut dyn Write) -> MethodResult {
    let place = server.place;
    let handle = server.handle(params)?;
    let target = params.opt_str("entryId")?.map(|entry| handle.find(&entry)).transpose()?;
    let forecast = place.forecast(&handle.session, target.or(handle.session.leaf()), 0);
    let forecast = forecast.map_err(|failure| ApiFailure::params(failure.on_one_line()))?;
    Ok(out.write_all(forecast.to_json().as_bytes())?)
}
