//! Shared parts of the search tools: the start folder, a thread, and rows cut to the limits, with notes about
//! omissions.

use std::path::Path;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::truncate::{self, MAX_BYTES, NO_LINE_LIMIT, TextLimits};
use super::walk::Stop;
use super::{Running, ToolContext, ToolOutcome, args};

pub(crate) trait Query: DeserializeOwned + Send + 'static {
    /// `None`: the working folder.
    fn path(&self) -> Option<&str>;
}

/// Runs a search on another thread; it stops when the future is dropped.
pub(crate) fn search<Q: Query>(
    tool: &'static str,
    arguments: Value,
    place: Arc<ToolContext>,
    work: impl FnOnce(&Path, &Q, Stop) -> Result<ToolOutcome, ToolOutcome> + Send + 'static,
) -> Running {
    let stop = Stop::default();
    let guard = stop.guard();
    Box::pin(async move {
        let _guard = guard;
        super::blocking(move || {
            let query: Q = args::parse(tool, arguments)?;
            let found = place.paths().existing(query.path().unwrap_or("."));
            match work(&found.path, &query, stop) {
                Ok(outcome) => Ok(outcome.of_found(&found)),
                Err(failed) if found.is_variant => Err(failed),
                Err(failed) => Err(failed.with_end(&place.paths().offer(query.path().unwrap_or(".")))),
            }
        })
        .await
    })
}

#[derive(Debug, Default)]
pub(crate) struct Listing {
    pub(crate) rows: Vec<String>,
    /// Why rows may be missing: a text, and its member of the details.
    pub(crate) notes: Vec<(String, &'static str, Value)>,
}

impl Listing {
    pub(crate) fn outcome(self, none: &str) -> ToolOutcome {
        if self.rows.is_empty() {
            return ToolOutcome::text(none);
        }
        let limits = TextLimits { lines: NO_LINE_LIMIT, bytes: MAX_BYTES };
        let truncation = truncate::head(&self.rows.join("\n"), limits);
        let mut text = truncation.content.clone();
        let mut notes = self.notes;
        if truncation.truncated {
            notes.push((format!("cut at {}", truncate::size(MAX_BYTES)), "truncation", json!(truncation)));
        }
        let said: Vec<&str> = notes.iter().map(|(text, ..)| text.as_str()).collect();
        if !said.is_empty() {
            text.push_str(&format!("\n\n[{}]", said.join("; ")));
        }
        let details: Map<String, Value> = notes.into_iter().map(|(_, key, value)| (key.to_owned(), value)).collect();
        ToolOutcome {
            details: Some(details).filter(|details| !details.is_empty()).map(Value::Object),
            ..ToolOutcome::text(text)
        }
    }
}
