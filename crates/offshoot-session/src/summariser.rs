//! The interface to whoever writes summaries, and the summariser without a model. A summary that is cut off or missing
//! is an error and never becomes an entry.

use crate::compose::{NewBranchSummary, NewCompaction};
use crate::entry::Source;
use crate::error::{Error, Result};
use crate::json::{Json, JsonKind, Object, js_number};
use crate::summary::extractive;
use crate::tree::NodeIx;

/// The system prompt of a model that writes a summary.
pub const SYSTEM_PROMPT: &str = include_str!("compact/prompts/system.md");

/// What to summarise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// The start of a conversation.
    History,
    /// What was said since an earlier summary, which is to be updated.
    Update,
    /// The start of a turn whose end is kept.
    TurnPrefix,
    /// A branch that is left.
    Branch,
}

/// A request for a summary.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names of the others say what they are")]
pub struct SummariserRequest {
    pub purpose: Purpose,
    pub system: &'static str,
    /// The only message, from the user: the conversation as text, and the task.
    pub prompt: String,
    /// The most tokens of the answer; a model's own limit may be lower.
    pub max_tokens: u64,
    /// The entries to summarise, for summarisers that read them.
    pub entries: Vec<NodeIx>,
    /// The summary to update, which the prompt includes.
    pub previous: Option<String>,
}

/// A summary.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[expect(missing_docs, reason = "the name says it")]
pub struct SummariserAnswer {
    pub text: String,
    /// A `usage` object as in sessions.
    pub usage: Option<String>,
}

/// Writes summaries.
pub trait Summariser {
    ///
    /// # Errors
    /// [`Error::NoSummary`] if there is none, or only a part; [`Error::Io`] from the session's file.
    fn summarise(&self, request: &SummariserRequest) -> Result<SummariserAnswer>;

    /// The name in `details.summariser`. A model has none, because the peers write none.
    fn name(&self) -> Option<&'static str> {
        None
    }
}

/// The name of [`Extractive`].
pub const EXTRACTIVE: &str = "extractive";

/// The summariser without a model, which picks text by rules: for work offline, and after a model failed.
#[derive(Clone, Copy)]
pub struct Extractive<'a> {
    source: &'a dyn Source,
}

#[expect(missing_docs, reason = "the type says it")]
impl<'a> Extractive<'a> {
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
    /// Appends the picked text to the earlier summary. If that exceeds the answer's limit, only its end is kept, with a
    /// note.
    fn summarise(&self, request: &SummariserRequest) -> Result<SummariserAnswer> {
        let picked = extractive(self.source, &request.entries)?;
        let text = match &request.previous {
            Some(previous) => format!("{}\n\n---\n\n{picked}", newest(previous, request.max_tokens)),
            None => picked,
        };
        Ok(SummariserAnswer { text, usage: None })
    }

    fn name(&self) -> Option<&'static str> {
        Some(EXTRACTIVE)
    }
}

/// The last `tokens` tokens of a text, at four bytes each.
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

/// A summary that can become an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the name says it")]
pub struct Drafted {
    pub text: String,
    /// The entry's `details`, a JSON object.
    pub details: String,
    /// The entry's `usage`, summed over all answers.
    pub usage: Option<String>,
}

impl Drafted {
    /// The values for [`crate::session::Session::branch_with_summary`] and [`crate::session::Session::pop`].
    pub fn branch_summary(&self) -> NewBranchSummary<'_> {
        let (details, usage) = (self.details(), self.usage());
        NewBranchSummary { summary: &self.text, details, from_hook: Some(false), usage }
    }

    /// The values of a compaction that keeps from an entry.
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

/// The answer's trimmed text.
///
/// # Errors
/// [`Error::NoSummary`] if it is empty.
pub(crate) fn answered_text(answer: &SummariserAnswer) -> Result<&str> {
    match answer.text.trim() {
        "" => Err(Error::NoSummary("the summariser answered nothing".to_owned())),
        text => Ok(text),
    }
}

/// Adds two usage objects; numbers are added, also in objects inside.
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
