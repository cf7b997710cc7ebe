//! The messages and settings that the model sees at an entry.
//!
//! A context is a plan: entries are chosen by envelope and bodies are read one by one, so it costs its path, not its
//! file. Two forms, as the peers build them. Knows no files and no providers. See *Context* in `docs/format.md`.

mod checkpoint;
mod retained;
mod render;
mod weight;
mod pi;
mod in_order;
mod omp;

use std::io::{self, Write};

use crate::entry::Source;
use crate::error::{Code, Diagnostic, Result};
use crate::header::Dialect;
use crate::id::EntryId;
use crate::json::Json;
use crate::kind::Role;
use crate::system::Replay;
use crate::tree::NodeIx;

pub use omp::OmpSettings;
pub(crate) use pi::{EditedEntry, EntryEdits};
pub(crate) use render::text_block;
pub(crate) use retained::Retained;
use weight::TailTally;
pub use weight::{ContextReport, ContextScale, ContextWeight};

/// One message of a context.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names of the others say what they are")]
pub struct Message {
    pub entry: Option<EntryId>,
    pub role: Role,
    /// One JSON value on one line.
    pub json: String,
}

#[expect(missing_docs, reason = "the name says it")]
impl Message {
    pub fn json(&self) -> Json<'_> {
        Json::trusted(&self.json)
    }
}

#[derive(Debug, Clone)]
enum RenderStep {
    /// The entry's message.
    Entry(NodeIx),
    /// The entry's message exactly as stored.
    Verbatim(NodeIx),
    /// The entry's message with another content (JSON).
    Edited(NodeIx, String),
    /// The entry's message without its content.
    WithoutContent(NodeIx),
    /// The compaction's system message, if any, and its summary.
    Compaction(NodeIx),
    Ready(Message),
}

impl RenderStep {
    fn entry(&self) -> Option<NodeIx> {
        match self {
            Self::Entry(ix)
            | Self::Verbatim(ix)
            | Self::Edited(ix, _)
            | Self::WithoutContent(ix)
            | Self::Compaction(ix) => Some(*ix),
            Self::Ready(_) => None,
        }
    }
}

/// The context at one entry; see [`build`].
#[derive(Debug, Clone, Default)]
#[expect(missing_docs, reason = "the name says it")]
pub struct Context {
    steps: Vec<RenderStep>,
    /// omp: the entries of the path that count, also those that the model does not see.
    counted: Vec<NodeIx>,
    /// JSON; `None` if the last change of the thinking level names none.
    pub thinking_level: Option<String>,
    /// pi: `{"provider":…,"modelId":…}`; `None` if nothing on the path names a model.
    pub model: Option<String>,
    /// omp: everything else that it derives from the path.
    pub omp: Option<OmpSettings>,
    pub diagnostics: Vec<Diagnostic>,
}

/// Plans the context at `leaf`; empty without a leaf.
///
/// # Errors
/// The medium cannot be read.
pub fn build(source: &dyn Source, leaf: Option<NodeIx>, form: Dialect) -> Result<Context> {
    let context = match form {
        Dialect::Pi => pi::build(source, leaf),
        Dialect::Omp => omp::build(source, leaf),
    };
    source.tree().whole(context?)
}

/// Weighs the context at `leaf`. Reads all of its messages.
///
/// # Errors
/// The medium cannot be read.
pub fn weigh(source: &dyn Source, leaf: Option<NodeIx>, form: Dialect) -> Result<ContextWeight> {
    build(source, leaf, form)?.weigh(source, leaf)
}

/// [`ContextWeight::total`] of the context at `leaf`. Reads from the end, only as far as the last usable report.
///
/// # Errors
/// The medium cannot be read.
pub fn total_tokens(source: &dyn Source, leaf: Option<NodeIx>, form: Dialect, overhead: u64) -> Result<u64> {
    let tree = source.tree();
    let mut tally = TailTally::new(tree, leaf);
    let measured = match (form, leaf) {
        (Dialect::Pi, Some(leaf)) => pi::measured(source, leaf, &mut tally)?,
        (Dialect::Pi, None) | (Dialect::Omp, _) => None,
    };
    if let Some(tokens) = measured {
        return tree.whole(tokens);
    }
    tally.trailing = 0;
    let context = build(source, leaf, form)?;
    for message in context.messages_from_end(source) {
        if let Some(tokens) = tally.add(tree, &message?) {
            return tree.whole(tokens);
        }
    }
    tree.whole(tally.trailing.saturating_add(overhead))
}

impl Context {
    /// Reads the messages one by one.
    pub fn messages<'a>(&'a self, source: &'a dyn Source) -> impl Iterator<Item = Result<Message>> + 'a {
        self.steps.iter().flat_map(move |step| match render::step(source, step) {
            Ok(messages) => messages.into_iter().map(Ok).collect::<Vec<_>>(),
            Err(error) => vec![Err(error)],
        })
    }

    /// The same from the last one on.
    pub(crate) fn messages_from_end<'a>(
        &'a self,
        source: &'a dyn Source,
    ) -> impl Iterator<Item = Result<Message>> + 'a {
        self.steps.iter().rev().flat_map(move |step| match render::step(source, step) {
            Ok(messages) => messages.into_iter().rev().map(Ok).collect::<Vec<_>>(),
            Err(error) => vec![Err(error)],
        })
    }

    /// The entries that the messages come from, as far as one message comes from one entry.
    pub fn entries(&self) -> impl Iterator<Item = NodeIx> + '_ {
        self.steps.iter().filter_map(RenderStep::entry)
    }

    /// Every entry that the context is made of.
    pub(crate) fn shown(&self) -> Vec<NodeIx> {
        self.steps.iter().filter_map(RenderStep::entry).chain(self.counted.iter().copied()).collect()
    }

    /// Weighs this context, which is the one at `leaf`.
    ///
    /// # Errors
    /// The medium cannot be read.
    pub fn weigh(&self, source: &dyn Source, leaf: Option<NodeIx>) -> Result<ContextWeight> {
        let tree = source.tree();
        let mut scale = ContextScale::new(tree, leaf);
        for message in self.messages(source) {
            scale.add(tree, &message?);
        }
        tree.whole(scale.finish())
    }

    /// All system messages as one (JSON) with the time `at`; `None` if there are none. Reads these messages alone.
    ///
    /// # Errors
    /// The medium cannot be read.
    pub fn system_message(&self, source: &dyn Source, at: i64) -> Result<Option<String>> {
        let mut replay = Replay::default();
        for step in &self.steps {
            let may_be = match step {
                RenderStep::Entry(ix) => source.tree().node(*ix).role() == Some(Role::System),
                RenderStep::Compaction(_) => true,
                _ => false,
            };
            if may_be {
                let messages = render::step(source, step)?;
                messages
                    .iter()
                    .filter(|message| message.role == Role::System)
                    .for_each(|message| replay.take(message.json()));
            }
        }
        Ok(replay.finish(at))
    }

    /// Writes pi's or omp's `SessionContext` as one JSON object.
    ///
    /// # Errors
    /// The medium cannot be read, or `out` cannot be written.
    pub fn write_json(&self, source: &dyn Source, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(b"{\"messages\":")?;
        self.write_messages(source, out)?;
        if let Some(level) = &self.thinking_level {
            write!(out, ",\"thinkingLevel\":{level}")?;
        }
        match &self.omp {
            Some(settings) => settings.write_json(out)?,
            None => write!(out, ",\"model\":{}", self.model.as_deref().unwrap_or("null"))?,
        }
        out.write_all(b"}")
    }

    /// Writes the messages as one JSON array.
    ///
    /// # Errors
    /// As [`Context::write_json`].
    pub fn write_messages(&self, source: &dyn Source, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(b"[")?;
        let mut is_first = true;
        in_order::for_each(source, &self.steps, |messages| {
            if !messages.is_empty() && !std::mem::take(&mut is_first) {
                out.write_all(b",")?;
            }
            out.write_all(messages.as_bytes())
        })?;
        out.write_all(b"]")
    }
}

fn damaged(source: &dyn Source, ix: NodeIx) -> Diagnostic {
    let node = source.tree().node(ix);
    Diagnostic {
        code: Code::DamagedEntry,
        line: Some(node.line()),
        offset: node.offset(),
        entry: node.id().cloned(),
        message: "the entry's body is damaged; it keeps its place and is not sent to the model".to_owned(),
    }
}
