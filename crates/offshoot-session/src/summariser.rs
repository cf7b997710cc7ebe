//! The seam between what needs a summary and what writes one: a request, an answer, and the summariser without a model.
//!
//! A summary that was cut off, or that is none, is an error of the summariser: it never becomes an entry.

use crate::compose::{NewBranchSummary, NewCompaction};
use crate::entry::Source;
use crate::error::{Error, Result};
use crate::json::{Json, JsonKind, Object, js_number};
use crate::summary::extractive;
use crate::tree::NodeIx;

/// What a model that writes a summary is told to be.
pub const SYSTEM_PROMPT: &str = include_str!("compact/prompts/system.md");

/// What is to be summarised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// The beginning of a conversation.
    History,
    /// What was said since an earlier summary, which is to be brought up to date.
    Update,
    /// The beginning of a turn whose end stays.
    TurnPrefix,
    /// A branch that is left.
    Branch,
}

/// A summary that is wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// What it is for.
    pub purpose: Purpose,
    /// The system prompt.
    pub system: &'static str,
    /// The only message, a user's: the conversation as text, and what to do with it.
    pub prompt: String,
    /// The most tokens that an answer may have; a model's own limit may be lower.
    pub max_tokens: u64,
    /// What is to be summarised, for summarisers that look for themselves.
    pub entries: Vec<NodeIx>,
    /// The summary that is to be brought up to date; the prompt has it, too.
    pub previous: Option<String>,
}

/// A summary.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Answer {
    /// The summary.
    pub text: String,
    /// What it cost: a `usage` object as sessions have it.
    pub usage: Option<String>,
}

/// Writes summaries.
pub trait Summariser {
    /// Writes one.
    ///
    /// # Errors
    /// [`Error::NoSummary`] if there is none, or only a part of one; [`Error::Io`] from the session's file.
    fn summarise(&self, request: &Request) -> Result<Answer>;

    /// Its name in `details.summariser`; a model has none there, since peers know no other summariser.
    fn name(&self) -> Option<&'static str> {
        None
    }
}

/// The name of [`Extractive`].
pub const EXTRACTIVE: &str = "extractive";

/// The summariser without a model: picks what can be found by rule. For work offline, and where a model failed.
#[derive(Clone, Copy)]
pub struct Extractive<'a> {
    source: &'a dyn Source,
}

impl<'a> Extractive<'a> {
    /// One that reads from this session.
    pub fn new(source: &'a dyn Source) -> Self {
        Self { source }
    }
}

impl std::fmt::Debug for Extractive<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Extractive")
    }
}

impl Summariser for Extractive<'_> {
    /// Puts what it picked behind the earlier summary. Of one that has grown beyond the answer's limit the end stays, with
    /// a line that says how much went.
    fn summarise(&self, request: &Request) -> Result<Answer> {
        let picked = extractive(self.source, &request.entries)?;
        let text = match &request.previous {
            Some(previous) => format!("{}\n\n---\n\n{picked}", newest(previous, request.max_tokens)),
            None => picked,
        };
        Ok(Answer { text, usage: None })
    }

    fn name(&self) -> Option<&'static str> {
        Some(EXTRACTIVE)
    }
}

/// The end of a text that is at most so many tokens, four bytes each.
fn newest(text: &str, tokens: u64) -> String {
    let most = usize::try_from(tokens.saturating_mul(4)).unwrap_or(usize::MAX);
    let mut from = text.len().saturating_sub(most);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    match (from, text.get(from..)) {
        (1.., Some(rest)) => format!("({from} bytes of earlier summaries left out)\n\n{rest}"),
        _ => text.to_owned(),
    }
}

/// A summary that is ready to become an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Drafted {
    /// The whole summary.
    pub text: String,
    /// The entry's `details`: one JSON object.
    pub details: String,
    /// The entry's `usage`, of all answers together.
    pub usage: Option<String>,
}

impl Drafted {
    /// The summary as a branch summary for [`crate::session::Session::branch_with_summary`] and
    /// [`crate::session::Session::pop`].
    pub fn branch_summary(&self) -> NewBranchSummary<'_> {
        let (details, usage) = (self.details(), self.usage());
        NewBranchSummary { summary: &self.text, details, from_hook: Some(false), usage }
    }

    /// The summary as a compaction that keeps from an entry.
    pub fn compaction<'a>(&'a self, first_kept: &'a str, tokens_before: u64) -> NewCompaction<'a> {
        let (details, usage) = (self.details(), self.usage());
        let summary = self.text.as_str();
        let first_kept = Some(first_kept);
        NewCompaction {
            summary,
            first_kept,
            tokens_before,
            details,
            from_hook: Some(false),
            usage,
            ..Default::default()
        }
    }

    fn details(&self) -> Option<Json<'_>> {
        Json::parse(&self.details).ok()
    }

    fn usage(&self) -> Option<Json<'_>> {
        self.usage.as_deref().and_then(|usage| Json::parse(usage).ok())
    }
}

/// The answer's text without white space around it.
///
/// # Errors
/// [`Error::NoSummary`] if nothing is left.
pub(crate) fn said(answer: &Answer) -> Result<&str> {
    match answer.text.trim() {
        "" => Err(Error::NoSummary("the summariser answered nothing".to_owned())),
        text => Ok(text),
    }
}

/// Two usage objects as one: numbers are added, also in objects inside.
pub(crate) fn combined(first: Option<&str>, second: Option<&str>) -> Option<String> {
    match (first, second) {
        (Some(a), Some(b)) => match (Json::parse(a), Json::parse(b)) {
            (Ok(a), Ok(b)) => Some(sum(a, b, 2)),
            _ => Some(b.to_owned()),
        },
        (one, None) | (None, one) => one.map(str::to_owned),
    }
}

fn sum(a: Json<'_>, b: Json<'_>, depth: usize) -> String {
    if let (Some(a), Some(b)) = (a.as_f64(), b.as_f64()) {
        return js_number(a + b);
    }
    if depth == 0 || a.kind() != JsonKind::Object || b.kind() != JsonKind::Object {
        return a.text().to_owned();
    }
    let both = a.members().fold(Object::new(), |object, (name, value)| match b.get(&name) {
        Some(other) => object.raw(&name, sum(value, other, depth - 1)),
        None => object.json(&name, value),
    });
    let only_b = b.members().filter(|(name, _)| a.get(name).is_none());
    only_b.fold(both, |object, (name, value)| object.json(&name, value)).finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usages_add_up() {
        let a = r#"{"input":1,"output":2,"cost":{"total":0.5}}"#;
        let b = r#"{"input":10,"reasoning":4,"cost":{"total":0.25,"input":1}}"#;
        let expected = r#"{"input":11,"output":2,"cost":{"total":0.75,"input":1},"reasoning":4}"#;
        assert_eq!(combined(Some(a), Some(b)).as_deref(), Some(expected));
        assert_eq!(combined(None, Some(b)).as_deref(), Some(b));
        assert_eq!(combined(None, None), None);
    }

    #[test]
    fn a_summary_that_outgrew_its_limit_says_what_it_leaves_out() {
        assert_eq!(newest("short", 10), "short");
        assert_eq!(newest("0123456789", 1), "(6 bytes of earlier summaries left out)\n\n6789");
        assert_eq!(newest("0é", 0), "(3 bytes of earlier summaries left out)\n\n");
    }
}
