//! Methods that append entries.
//!
//! Values are copied into the entry as the caller wrote them, strings included: a Rust string cannot represent half a
//! surrogate pair, for example.

use super::{MethodError, Params};
use crate::compose::{NewCompaction, NewEntry};
use crate::entry::Source as _;
use crate::header::Dialect;
use crate::json::{Json, Object};
use crate::session::Session;

type MadeEntry = Result<NewEntry, MethodError>;

/// Replaces members of the entry with the request's spelling of the same value.
pub(super) fn spelt(entry: NewEntry, params: &Params<'_>, names: &[&str]) -> NewEntry {
    names.iter().fold(entry, |entry, name| match params.given(name) {
        Some(value) if entry.member(name).is_some() => entry.verbatim(name, value),
        _ => entry,
    })
}

fn with(entry: NewEntry, params: &Params<'_>, name: &str) -> NewEntry {
    params.given(name).into_iter().fold(entry, |entry, value| entry.verbatim(name, value))
}

/// An entry of a simple type, with the request's members in this order.
fn plain(word: &str, params: &Params<'_>, names: &[&str]) -> MadeEntry {
    let members = names.iter().filter_map(|name| Some((*name, params.opt(name)?)));
    let object = members.fold(Object::new().str("type", word), |object, (name, value)| object.json(name, value));
    from_text(&object.finish())
}

fn from_text(text: &str) -> MadeEntry {
    let json = Json::parse(text).map_err(|error| MethodError::argument(error.to_string()))?;
    Ok(NewEntry::from_json(json)?)
}

pub(super) fn message(_: &Session, params: &Params<'_>) -> MadeEntry {
    Ok(NewEntry::message(params.raw("message")?)?)
}

/// `configured` is for files in omp's dialect.
pub(super) fn thinking_level(session: &Session, params: &Params<'_>) -> MadeEntry {
    let entry = NewEntry::thinking_level(&params.str("thinkingLevel")?, session.dialect());
    Ok(with(spelt(entry, params, &["thinkingLevel"]), params, "configured"))
}

/// Accepts pi's form (`provider`, `modelId`) or omp's (`model`, `role`); the file gets the form of its dialect, as far
/// as that can express it.
pub(super) fn model(session: &Session, params: &Params<'_>) -> MadeEntry {
    let dialect = session.dialect();
    let Some(model) = params.opt_str("model")? else {
        if params.given("role").is_some() {
            return Err(MethodError::argument("the argument \"role\" goes with \"model\""));
        }
        let entry = NewEntry::model(&params.str("provider")?, &params.str("modelId")?, dialect);
        return Ok(spelt(entry, params, &["provider", "modelId"]));
    };
    if params.given("provider").is_some() || params.given("modelId").is_some() {
        return Err(MethodError::argument("the model is given either by \"provider\" and \"modelId\" or by \"model\""));
    }
    let role = params.opt_str("role")?;
    let is_default = role.as_deref().is_none_or(|role| role == "default");
    match model.split_once('/') {
        Some((provider, id)) if is_default && dialect == Dialect::Pi => Ok(NewEntry::model(provider, id, dialect)),
        _ => Ok(spelt(NewEntry::model_by_role(&model, role.as_deref()), params, &["model", "role"])),
    }
}

pub(super) fn compaction(session: &Session, params: &Params<'_>) -> MadeEntry {
    params.raw("firstKeptEntryId")?;
    let (summary, first_kept) = (params.str("summary")?, params.opt_str("firstKeptEntryId")?);
    let short_summary = params.opt_str("shortSummary")?;
    let new = NewCompaction {
        summary: &summary,
        first_kept: first_kept.as_deref(),
        tokens_before: params.count("tokensBefore")?,
        details: params.opt("details"),
        from_hook: made_by_hook(params)?,
        usage: params.opt("usage"),
        short_summary: short_summary.as_deref(),
        preserve_data: params.opt("preserveData"),
    };
    let entry = NewEntry::compaction(&new, session.dialect());
    Ok(spelt(entry, params, &["summary", "firstKeptEntryId", "tokensBefore", "shortSummary"]))
}

/// `fromHook`, or omp's name for it, `fromExtension`; the file gets its dialect's name.
pub(super) fn made_by_hook(params: &Params<'_>) -> Result<Option<bool>, MethodError> {
    Ok(params.opt_bool("fromHook")?.or(params.opt_bool("fromExtension")?))
}

pub(super) fn custom(_: &Session, params: &Params<'_>) -> MadeEntry {
    let entry = NewEntry::custom(&params.str("customType")?, params.opt("data"));
    Ok(spelt(entry, params, &["customType"]))
}

pub(super) fn custom_message(_: &Session, params: &Params<'_>) -> MadeEntry {
    let (custom_type, content) = (params.str("customType")?, params.raw("content")?);
    let entry = NewEntry::custom_message(&custom_type, content, params.bool("display")?, params.opt("details"))?;
    Ok(with(spelt(entry, params, &["customType"]), params, "attribution"))
}

pub(super) fn label(_: &Session, params: &Params<'_>) -> MadeEntry {
    let entry = NewEntry::label(&params.str("targetId")?, params.opt_str("label")?.as_deref());
    Ok(spelt(entry, params, &["targetId", "label"]))
}

/// A name that needs no trimming keeps its spelling.
pub(super) fn session_info(_: &Session, params: &Params<'_>) -> MadeEntry {
    let name = params.str("name")?;
    let entry = NewEntry::session_info(&name);
    let is_tidy = name.trim() == name && !name.contains(['\r', '\n']);
    Ok(if is_tidy { spelt(entry, params, &["name"]) } else { entry })
}

pub(super) fn usage(_: &Session, params: &Params<'_>) -> MadeEntry {
    let (kind, provider, model) = (params.str("kind")?, params.str("provider")?, params.str("model")?);
    let entry = NewEntry::usage(&kind, &provider, &model, params.raw("usage")?, params.opt_str("note")?.as_deref());
    Ok(spelt(entry, params, &["kind", "provider", "model", "note"]))
}

pub(super) fn context_edit(session: &Session, params: &Params<'_>) -> MadeEntry {
    let target = params.str("targetId")?;
    let role = session.tree().node(session.find(&target)?).role();
    let entry = NewEntry::context_edit(&target, role, params.raw("replacement")?)?;
    Ok(spelt(entry, params, &["targetId"]))
}

/// omp keeps adding members, so any are accepted.
pub(super) fn session_init(_: &Session, params: &Params<'_>) -> MadeEntry {
    if params.opt("type").is_some() {
        return Err(MethodError::argument("there is no argument \"type\""));
    }
    let members = params.members().filter(|(name, _)| name != "session");
    let object = Object::new().str("type", "session_init");
    from_text(&members.fold(object, |object, (name, value)| object.json(&name, value)).finish())
}

pub(super) fn ttsr_injection(_: &Session, params: &Params<'_>) -> MadeEntry {
    Ok(NewEntry::ttsr_injection(params.raw("injectedRules")?)?)
}

pub(super) fn mode(_: &Session, params: &Params<'_>) -> MadeEntry {
    params.str("mode")?;
    plain("mode_change", params, &["mode", "data"])
}

pub(super) fn service_tier(_: &Session, params: &Params<'_>) -> MadeEntry {
    plain("service_tier_change", params, &["serviceTier"])
}

pub(super) fn reset_boundary(_: &Session, params: &Params<'_>) -> MadeEntry {
    plain("reset_boundary", params, &[])
}

pub(super) fn any(_: &Session, params: &Params<'_>) -> MadeEntry {
    Ok(NewEntry::from_json(params.raw("entry")?)?)
}
