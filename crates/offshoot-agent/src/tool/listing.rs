//! What searches share: the folder that they begin with, a thread of their own, and rows as their result, cut to what may be
//! shown, with a note on what is missing.

use std::path::Path;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::truncate::{self, Limits, MAX_BYTES, NO_LINE_LIMIT};
use super::walk::Stop;
use super::{Running, ToolContext, ToolOutcome, args, paths};

/// Arguments of a search.
pub(crate) trait Query: DeserializeOwned + Send + 'static {
    /// Where to search; without it, in the working folder.
    fn path(&self) -> Option<&str>;
}

/// Runs a search on another thread; it ends when nobody waits for it any more.
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
            let root = paths::resolve(query.path().unwrap_or("."), &place);
            work(&root, &query, stop)
        })
        .await
    })
}

/// Rows, and what was left out of them.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    pub(crate) rows: Vec<String>,
    /// Why there may be more: what to say, and its place in the details.
    pub(crate) notes: Vec<(String, &'static str, Value)>,
}

impl Listing {
    /// The outcome; `none` is said when there is no row.
    pub(crate) fn outcome(self, none: &str) -> ToolOutcome {
        if self.rows.is_empty() {
            return ToolOutcome::text(none);
        }
        let limits = Limits { lines: NO_LINE_LIMIT, bytes: MAX_BYTES };
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
