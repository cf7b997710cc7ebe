//! Totals over a page's entries: messages, calls, models, tokens, cost.

use offshoot_session::clock::Millis;
use offshoot_session::entry::{Entry, Source};
use offshoot_session::json::Json;
use offshoot_session::kind::{Kind, Role};
use offshoot_session::text::one_line;
use offshoot_session::tokens::Usage;
use offshoot_session::transcript::calls;

#[derive(Debug, Clone, Default)]
pub(crate) struct Totals {
    pub(crate) entries: u64,
    pub(crate) user: u64,
    pub(crate) assistant: u64,
    pub(crate) results: u64,
    pub(crate) other: u64,
    pub(crate) calls: u64,
    pub(crate) compactions: u64,
    pub(crate) summaries: u64,
    pub(crate) input: u64,
    pub(crate) output: u64,
    pub(crate) cache_read: u64,
    pub(crate) cache_write: u64,
    pub(crate) cost: f64,
    /// Models that answered, as `provider/model`, in order of first use.
    pub(crate) models: Vec<String>,
    pub(crate) last: Option<Millis>,
}

impl Totals {
    /// `known` is the usage of the entry, if it has been read.
    pub(crate) fn add(&mut self, source: &dyn Source, entry: &Entry, known: Option<Usage>) {
        let node = source.tree().node(entry.ix);
        if node.is_leaf_marker() {
            return;
        }
        self.entries += 1;
        self.last = self.last.max(node.time());
        self.compactions += u64::from(entry.kind == Kind::Compaction);
        self.summaries += u64::from(entry.kind == Kind::BranchSummary);
        if entry.kind == Kind::Message {
            match entry.role {
                Some(Role::User) => self.user += 1,
                Some(Role::Assistant) => self.answer(entry),
                Some(Role::ToolResult) => self.results += 1,
                _ => self.other += 1,
            }
        }
        let read = || {
            let usage = if entry.message().is_some() { entry.of_message("usage") } else { entry.get("usage") };
            usage.filter(|usage| !usage.is_null()).map(Usage::read)
        };
        if let Some(usage) = known.or_else(read) {
            self.input = self.input.saturating_add(usage.input);
            self.output = self.output.saturating_add(usage.output);
            self.cache_read = self.cache_read.saturating_add(usage.cache_read);
            self.cache_write = self.cache_write.saturating_add(usage.cache_write);
            self.cost += usage.cost;
        }
    }

    fn answer(&mut self, entry: &Entry) {
        self.assistant += 1;
        self.calls += calls(entry).count() as u64;
        let member = |name: &str| entry.of_message(name).and_then(Json::as_str);
        let Some(model) = member("model") else { return };
        let provider = member("provider").map(|provider| format!("{provider}/")).unwrap_or_default();
        let model = one_line(&format!("{provider}{model}"), 80);
        if !self.models.contains(&model) {
            self.models.push(model);
        }
    }

    /// Adds the totals of later entries.
    pub(crate) fn merge(&mut self, later: Self) {
        let counts = [
            (&mut self.entries, later.entries),
            (&mut self.user, later.user),
            (&mut self.assistant, later.assistant),
            (&mut self.results, later.results),
            (&mut self.other, later.other),
            (&mut self.calls, later.calls),
            (&mut self.compactions, later.compactions),
            (&mut self.summaries, later.summaries),
            (&mut self.input, later.input),
            (&mut self.output, later.output),
            (&mut self.cache_read, later.cache_read),
            (&mut self.cache_write, later.cache_write),
        ];
        for (sum, more) in counts {
            *sum = sum.saturating_add(more);
        }
        self.cost += later.cost;
        self.last = self.last.max(later.last);
        for model in later.models {
            if !self.models.contains(&model) {
                self.models.push(model);
            }
        }
    }
}
