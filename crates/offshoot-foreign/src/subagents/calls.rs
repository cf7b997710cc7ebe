//! The calls that made subagents: where they are, and what they have given. Only records that name such a call are parsed.

use std::collections::HashMap;
use std::path::Path;

use memchr::memmem;
use offshoot_session::entry::Source as _;
use offshoot_session::json::{Json, JsonKind};
use offshoot_session::kind::Role;
use offshoot_session::session::Session;
use offshoot_session::tree::NodeIx;

use crate::agent::Agent;
use crate::record::for_each_record;
use crate::sources::medium_of;
use crate::subagent_status::SubagentStatus;

/// What is known of a call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct SpawningCall {
    /// The first byte of its record.
    pub(super) at: Option<u64>,
    /// The entry with it.
    pub(super) entry: Option<String>,
    /// What its result says of the subagent.
    pub(super) outcome: Option<SubagentStatus>,
}

/// The calls with some ids.
pub(super) type SpawningCalls = HashMap<String, SpawningCall>;

/// Looks for calls in a transcript of Claude Code, whose bytes are searched for their ids.
pub(super) fn calls_in_transcript(path: &Path, wanted: &[String], session: Option<&Session>) -> SpawningCalls {
    let mut calls: SpawningCalls = wanted.iter().map(|id| (id.clone(), SpawningCall::default())).collect();
    let Ok(medium) = medium_of(Agent::Claude, path) else { return calls };
    let start = format!("\"{}", common_start(wanted));
    let finder = memmem::Finder::new(start.as_bytes());
    // What cannot be read to its end has what was found so far.
    let _read: std::io::Result<()> = for_each_record(&medium, |raw| {
        let names_one = finder.find_iter(raw.bytes).any(|at| {
            let rest = raw.bytes.get(at + 1..).unwrap_or_default();
            let id = memchr::memchr(b'"', rest).and_then(|end| rest.get(..end)).unwrap_or_default();
            std::str::from_utf8(id).is_ok_and(|id| calls.contains_key(id))
        });
        if names_one && let Ok(record) = Json::parse(&raw.text()) {
            take(record, raw.span.at, &mut calls);
        }
        Ok(())
    });
    if let Some(session) = session {
        name_entries(session, &mut calls);
    }
    calls
}

/// What all of these texts begin with.
fn common_start(texts: &[String]) -> &str {
    let Some((first, others)) = texts.split_first() else { return "" };
    let mut end = first.len();
    for other in others {
        end = first.bytes().zip(other.bytes()).take(end).take_while(|(one, two)| one == two).count();
    }
    (0..=end).rev().find_map(|end| first.get(..end)).unwrap_or_default()
}

/// The calls and results of a record.
fn take(record: Json<'_>, at: u64, calls: &mut SpawningCalls) {
    let content = record.get("message").and_then(|message| message.get("content")).unwrap_or(Json::NULL);
    let is_known = |name: &str| record.get("toolUseResult").and_then(|result| result.str(name));
    for block in content.items().filter(|block| block.kind() == JsonKind::Object) {
        let id = |name: &str| block.str(name).unwrap_or_default().into_owned();
        match block.str("type").unwrap_or_default().as_ref() {
            "tool_use" => {
                if let Some(call) = calls.get_mut(&id("id")) {
                    call.at.get_or_insert(at);
                }
            }
            "tool_result" => {
                let Some(call) = calls.get_mut(&id("tool_use_id")) else { continue };
                let has_failed = block.get("is_error").and_then(Json::as_bool) == Some(true);
                call.outcome = match is_known("status").as_deref() {
                    _ if has_failed => Some(SubagentStatus::Failed),
                    // It goes on beside the conversation.
                    Some("async_launched" | "remote_launched" | "running") => None,
                    _ => Some(SubagentStatus::Completed),
                };
            }
            _ => {}
        }
    }
}

/// The entry of a call is the last answer that begins at or before its record.
fn name_entries(session: &Session, calls: &mut SpawningCalls) {
    let mut places: Vec<(u64, Option<NodeIx>)> =
        calls.values().filter_map(|call| call.at).map(|at| (at, None)).collect();
    places.sort_unstable_by_key(|(at, _)| *at);
    places.dedup_by_key(|(at, _)| *at);
    let tree = session.tree();
    for ix in tree.entries().filter(|ix| tree.node(*ix).role() == Some(Role::Assistant)) {
        let begins = tree.node(ix).offset();
        let first = places.partition_point(|(at, _)| *at < begins);
        if let Some((_, place)) = places.get_mut(first)
            && place.is_none_or(|known| tree.node(known).offset() < begins)
        {
            *place = Some(ix);
        }
    }
    let mut last: Option<NodeIx> = None;
    for (_, place) in &mut places {
        last = place.or(last);
        *place = last;
    }
    for call in calls.values_mut() {
        let place = call.at.and_then(|at| places.binary_search_by_key(&at, |(at, _)| *at).ok());
        let ix = place.and_then(|place| places.get(place)?.1);
        call.entry = ix.and_then(|ix| tree.node(ix).id()).map(|id| id.as_str().to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_have_a_common_start() {
        let texts = |all: &[&str]| all.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        assert_eq!(common_start(&texts(&["toolu_01", "toolu_02"])), "toolu_0");
        assert_eq!(common_start(&texts(&["é1", "è1"])), "");
        assert_eq!(common_start(&texts(&["only"])), "only");
        assert_eq!(common_start(&[]), "");
    }
}
