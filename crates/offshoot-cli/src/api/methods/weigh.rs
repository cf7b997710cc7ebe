//! Methods that help to decide between branches: a comparison of two, and what the next request would cost. They write
//! nothing.

use std::io::Write;

use offshoot_agent::branch_files::patches;
use offshoot_session::compare::Comparison;

use crate::api::handles::{ApiServer, OpenSession};
use crate::api::params::Params;
use crate::api::wire::{ApiFailure, MethodResult};
use crate::{next_request, plans};

pub(in crate::api) fn compare(handle: &OpenSession, params: &Params<'_>, out: &mut dyn Write) -> MethodResult {
    let (a, b) = (handle.find(&params.str("a")?)?, handle.find(&params.str("b")?)?);
    let mut compared = Comparison::new(&handle.session, a, b)?;
    while compared.work(&handle.session, plans::BUDGET)? {}
    let patches = match params.opt_bool("patch")? {
        Some(true) => Some(patches(&handle.session, &compared)?),
        _ => None,
    };
    Ok(out.write_all(plans::comparison(&handle.session, &compared, patches.as_deref()).finish().as_bytes())?)
}

/// The next request from an entry, or from the leaf.
pub(in crate::api) fn forecast(server: &mut ApiServer<'_>, params: &Params<'_>, out: &mut dyn Write) -> MethodResult {
    let models = server.models;
    let handle = server.handle(params)?;
    let target = params.opt_str("entryId")?.map(|entry| handle.find(&entry)).transpose()?;
    let forecast = models.forecast(&handle.session, target.or(handle.session.leaf()));
    let forecast = forecast.map_err(|error| ApiFailure::params(error.on_one_line()))?;
    Ok(out.write_all(next_request::json(&forecast).as_bytes())?)
}
