//! What modules of agents share when they spell entries. Knows no agent.

use std::sync::Mutex;

use offshoot_session::clock::Millis;
use offshoot_session::compose::NewEntry;
use offshoot_session::error::Result;
use offshoot_session::id::EntryId;
use offshoot_session::json::{Json, Object};

/// Files beside a session's own.
pub(crate) trait SideFiles: Send + Sync {
    /// The text of a regular file in a folder of the session; `None` if there is none, or if it is too large.
    fn text(&self, folder: &str, name: &str) -> Option<String>;
}

/// Side files that remember which of them were read.
pub(crate) struct ReadFiles<'a> {
    of: &'a dyn SideFiles,
    read: Mutex<Vec<(String, Option<String>)>>,
}

impl<'a> ReadFiles<'a> {
    pub(crate) fn new(of: &'a dyn SideFiles) -> Self {
        Self { of, read: Mutex::new(Vec::new()) }
    }

    /// The names of those that were asked for since the last call, as `folder/name`, with the texts of those that are there.
    pub(crate) fn take(&self) -> Vec<(String, Option<String>)> {
        self.read.lock().map(|mut read| std::mem::take(&mut *read)).unwrap_or_default()
    }
}

impl SideFiles for ReadFiles<'_> {
    fn text(&self, folder: &str, name: &str) -> Option<String> {
        let text = self.of.text(folder, name);
        if let Ok(mut read) = self.read.lock() {
            read.push((format!("{folder}/{name}"), text.clone()));
        }
        text
    }
}

/// What an entry is made of.
pub(crate) struct Composing<'a> {
    pub(crate) records: &'a [Json<'a>],
    /// The name in its shape.
    pub(crate) name: &'a str,
    /// The entry to which it refers.
    pub(crate) refers: Option<&'a EntryId>,
    pub(crate) time: Millis,
    pub(crate) side: &'a dyn SideFiles,
}

/// A message with its time.
pub(crate) fn message(object: Object, time: Millis) -> Result<NewEntry> {
    let text = object.raw("timestamp", time).finish();
    NewEntry::message(Json::parse(&text).unwrap_or(Json::NULL))
}

/// A text as it is spelled.
pub(crate) fn text_block(text: Json<'_>) -> String {
    Object::new().str("type", "text").json("text", text).finish()
}

/// The same of a text that is not in a record.
pub(crate) fn text_block_of(text: &str) -> String {
    Object::new().str("type", "text").str("text", text).finish()
}

/// Input, output, cached, newly cached and all tokens, with the whole price.
pub(crate) fn usage([input, output, read, write, total]: [u64; 5], cost: f64) -> String {
    let prices = Object::new().raw("input", 0).raw("output", 0).raw("cacheRead", 0).raw("cacheWrite", 0);
    Object::new()
        .raw("input", input)
        .raw("output", output)
        .raw("cacheRead", read)
        .raw("cacheWrite", write)
        .raw("totalTokens", total)
        .raw("cost", prices.raw("total", cost).finish())
        .finish()
}
