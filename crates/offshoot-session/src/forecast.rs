//! What the next request from an entry would contain, and how much of it the provider probably still caches.
//!
//! Known is what the session says: which requests a model had, when, and what it reported of them. Knows no prices and no
//! providers: how a provider caches is given.

use std::collections::HashSet;

use crate::clock::Millis;
use crate::context;
use crate::entry::Source;
use crate::error::Result;
use crate::header::Dialect;
use crate::kind::{Kind, Role};
use crate::tokens::{self, Usage};
use crate::tree::{NodeIx, Tree};

/// How a provider caches requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CacheRule {
    /// How long a request is cached after its last use, in milliseconds.
    pub lifetime_ms: Millis,
    /// Which part of a request can be found again.
    pub reach: CacheReach,
}

/// The part of a cached request that a later one can use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CacheReach {
    /// As far as both are the same.
    CommonStart,
    /// Whole requests only: the longest one with which the later one begins.
    WholeRequests,
}

/// The model that would be asked, in the names of the session's answers.
#[derive(Debug, Clone, Copy)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct AskedModel<'a> {
    pub provider: &'a str,
    pub id: &'a str,
}

/// What the next request would contain, in tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Forecast {
    /// The whole request.
    pub context_tokens: u64,
    /// The estimates of its messages.
    pub message_tokens: u64,
    /// Its system prompt and its tools; a report has them already.
    pub overhead_tokens: u64,
    /// What is probably cached; `None` if the model never reported a cache in this session's last hours.
    pub cached_tokens: Option<u64>,
    /// How long it stays cached, in milliseconds, unless a request uses it; `None` if nothing is cached.
    pub cache_expires_in_ms: Option<Millis>,
}

impl Forecast {
    /// What must be sent and read anew.
    pub fn fresh_tokens(&self) -> u64 {
        self.context_tokens.saturating_sub(self.cached_tokens.unwrap_or(0))
    }
}

/// When, how and whom the next request would ask.
#[derive(Debug, Clone, Copy)]
pub struct ForecastRequest<'a> {
    /// Who would be asked.
    pub model: AskedModel<'a>,
    /// How that model's provider caches.
    pub rule: CacheRule,
    /// The time of the request.
    pub now: Millis,
    /// The dialect in which the context is built.
    pub form: Dialect,
    /// The tokens of its system prompt and its tools.
    pub overhead: u64,
}

/// Forecasts the next request from `target` (`None`: an empty context). Reads the path to `target` as far up as its
/// branches leave it, and the entries that are younger than the cache's lifetime.
///
/// # Errors
/// The medium cannot be read.
pub fn forecast(source: &dyn Source, target: Option<NodeIx>, next: &ForecastRequest<'_>) -> Result<Forecast> {
    let tree = source.tree();
    let weight = context::weigh(source, target, next.form)?;
    let mut found = Forecast {
        context_tokens: weight.total(next.overhead),
        message_tokens: weight.messages,
        overhead_tokens: next.overhead,
        ..Forecast::default()
    };
    let Some(target) = target else { return Ok(found) };
    let mut path = PathDown::new(tree, target);
    let mut passed = HashSet::new();
    let age = |ix: NodeIx| tree.node(ix).time().map(|time| next.now.saturating_sub(time));
    let young = tree.entries().rev().take_while(|ix| age(*ix).is_none_or(|age| age <= next.rule.lifetime_ms));
    for ix in young.filter(|ix| tree.node(*ix).role() == Some(Role::Assistant)) {
        let Some(usage) = report(source, ix, next.model)? else { continue };
        if usage.cache_read + usage.cache_write > 0 {
            found.cached_tokens = found.cached_tokens.or(Some(0));
        }
        let Some(shared) = path.shared_with(ix, &mut passed) else { continue };
        let tokens = match (shared == ix, next.rule.reach) {
            (true, _) => usage.prompt(),
            (false, CacheReach::CommonStart) => context::total_tokens(source, Some(shared), next.form, next.overhead)?,
            (false, CacheReach::WholeRequests) => request_above(source, shared, next.model)?,
        };
        let tokens = tokens.min(found.context_tokens);
        if found.cached_tokens.is_some_and(|known| known < tokens) {
            found.cached_tokens = Some(tokens);
            found.cache_expires_in_ms = age(ix).map(|age| next.rule.lifetime_ms.saturating_sub(age.max(0)));
        }
    }
    tree.whole(found)
}

/// What the model reported with its answer; `None` for answers of others, failed ones, and copies of answers.
fn report(source: &dyn Source, ix: NodeIx, model: AskedModel<'_>) -> Result<Option<Usage>> {
    let entry = source.entry(ix)?;
    let Some(message) = entry.message() else { return Ok(None) };
    let is = |member: &str, wanted: &str| message.str(member).is_some_and(|found| found == wanted);
    let is_asked = is("provider", model.provider) && is("model", model.id);
    let usage = if is_asked { tokens::reported_usage(message) } else { None };
    Ok(usage.filter(|usage| usage.prompt() > 0))
}

/// The tokens of the last request at or above an entry.
fn request_above(source: &dyn Source, shared: NodeIx, model: AskedModel<'_>) -> Result<u64> {
    let tree = source.tree();
    let answers = tree.ancestors(shared).filter(|ix| tree.node(*ix).role() == Some(Role::Assistant));
    for ix in answers.take_while(|ix| tree.compaction(*ix) == tree.compaction(shared)) {
        if let Some(usage) = report(source, ix, model)? {
            return Ok(usage.prompt());
        }
    }
    Ok(0)
}

/// The path to an entry, walked up as far as asked.
struct PathDown<'a> {
    tree: &'a Tree,
    target: NodeIx,
    /// The entries walked so far, and the next one.
    walked: HashSet<NodeIx>,
    next: Option<NodeIx>,
    /// The lowest entry of the walked path that changes an earlier message.
    edit: Option<NodeIx>,
}

impl<'a> PathDown<'a> {
    fn new(tree: &'a Tree, target: NodeIx) -> Self {
        Self { tree, target, walked: HashSet::new(), next: Some(target), edit: None }
    }

    fn contains(&mut self, ix: NodeIx) -> bool {
        while let Some(at) = self.next.filter(|at| *at >= ix) {
            self.walked.insert(at);
            if self.tree.node(at).kind() == Kind::ContextEdit {
                self.edit = self.edit.or(Some(at));
            }
            self.next = self.tree.parent(at);
        }
        self.walked.contains(&ix)
    }

    /// The last entry that the path shares with the one to an answer, if the context up to there is the same for both.
    /// `None` too where a younger answer shares as much: its way up was `passed` already.
    fn shared_with(&mut self, answer: NodeIx, passed: &mut HashSet<NodeIx>) -> Option<NodeIx> {
        let mut is_edited = false;
        for ix in self.tree.ancestors(answer) {
            if self.contains(ix) {
                let edited_below = is_edited || self.edit.is_some_and(|edit| edit > ix);
                let summary = self.tree.compaction(self.target);
                let is_same = [answer, ix].iter().all(|at| self.tree.compaction(*at) == summary);
                return (is_same && !edited_below).then_some(ix);
            }
            if !passed.insert(ix) {
                return None;
            }
            is_edited |= self.tree.node(ix).kind() == Kind::ContextEdit;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compose::{NewCompaction, NewEntry};
    use crate::id::EntryId;
    use crate::json::Json;
    use crate::session::{NewSession, Options, Session};
    use crate::testing::TickingClock;

    /// The clock of the sessions starts here and advances by a second with each entry.
    const START: Millis = 1_767_225_600_000;
    const MINUTE: Millis = 60_000;
    const RULE: CacheRule = CacheRule { lifetime_ms: 5 * MINUTE, reach: CacheReach::CommonStart };

    fn session() -> Session {
        let options = Options { clock: Box::new(TickingClock::starting_at(START)), ..Options::default() };
        Session::in_memory(&NewSession::default(), options).unwrap()
    }

    fn say(session: &mut Session, message: &str) -> EntryId {
        session.append(&NewEntry::message(Json::parse(message).unwrap()).unwrap()).unwrap()
    }

    /// A question of 10 tokens.
    fn ask(session: &mut Session) -> EntryId {
        say(session, &format!(r#"{{"role":"user","content":"{}"}}"#, "x".repeat(40)))
    }

    /// An answer of 100 tokens to a request of so many, of which so many were cached.
    fn answer(session: &mut Session, model: &str, (fresh, cached): (u64, u64)) -> EntryId {
        let usage = format!(r#"{{"input":0,"output":100,"cacheRead":{cached},"cacheWrite":{fresh}}}"#);
        say(
            session,
            &format!(
                r#"{{"role":"assistant","provider":"p","model":"{model}","content":[{{"type":"text","text":"{}"}}],"stopReason":"stop","usage":{usage}}}"#,
                "y".repeat(400)
            ),
        )
    }

    fn at(
        session: &Session,
        target: &EntryId,
        minutes: Millis,
        reach: CacheReach,
    ) -> (u64, Option<u64>, Option<Millis>) {
        let target = session.tree().find(target.as_str());
        let model = AskedModel { provider: "p", id: "m1" };
        let rule = CacheRule { reach, ..RULE };
        let next = ForecastRequest { model, rule, now: START + minutes * MINUTE, form: Dialect::Pi, overhead: 0 };
        let found = forecast(session, target, &next).unwrap();
        assert_eq!(found.fresh_tokens(), found.context_tokens - found.cached_tokens.unwrap_or(0));
        (found.context_tokens, found.cached_tokens, found.cache_expires_in_ms.map(|left| left / MINUTE))
    }

    #[test]
    fn the_last_request_is_cached_until_it_is_too_old() {
        let mut session = session();
        ask(&mut session);
        answer(&mut session, "m1", (1000, 0));
        let leaf = ask(&mut session);
        assert_eq!(at(&session, &leaf, 1, CacheReach::CommonStart), (1110, Some(1000), Some(4)));
        assert_eq!(at(&session, &leaf, 6, CacheReach::CommonStart), (1110, None, None));
    }

    #[test]
    fn a_sibling_shares_what_is_above_the_fork() {
        let mut session = session();
        ask(&mut session);
        let first = answer(&mut session, "m1", (1000, 0));
        ask(&mut session);
        answer(&mut session, "m1", (110, 1000));
        ask(&mut session);
        answer(&mut session, "m1", (110, 1110));
        assert_eq!(at(&session, &first, 1, CacheReach::CommonStart), (1100, Some(1100), Some(4)));
        assert_eq!(at(&session, &first, 1, CacheReach::WholeRequests), (1100, Some(1000), Some(4)));
        session.branch(first.as_str()).unwrap();
        let sibling = ask(&mut session);
        assert_eq!(at(&session, &sibling, 1, CacheReach::CommonStart), (1110, Some(1100), Some(4)));
    }

    #[test]
    fn other_models_copies_and_failures_cache_nothing() {
        let mut session = session();
        ask(&mut session);
        let leaf = answer(&mut session, "m2", (1000, 0));
        assert_eq!(at(&session, &leaf, 1, CacheReach::CommonStart), (1100, None, None));
        let leaf = answer(&mut session, "m1", (0, 0));
        assert_eq!(at(&session, &leaf, 1, CacheReach::CommonStart).1, None);
    }

    /// The model counts its tokens, but never reported a cache.
    #[test]
    fn what_is_never_reported_is_not_guessed() {
        let mut session = session();
        ask(&mut session);
        let leaf = say(
            &mut session,
            r#"{"role":"assistant","provider":"p","model":"m1","content":[],"stopReason":"stop","usage":{"input":1000,"output":5}}"#,
        );
        assert_eq!(at(&session, &leaf, 1, CacheReach::CommonStart), (1005, None, None));
    }

    #[test]
    fn a_compaction_begins_anew() {
        let mut session = session();
        let question = ask(&mut session);
        answer(&mut session, "m1", (1000, 0));
        let kept = ask(&mut session);
        let new = NewCompaction { summary: "S", first_kept: Some(kept.as_str()), ..NewCompaction::default() };
        let compaction = NewEntry::compaction(&new, Dialect::Pi);
        let leaf = session.append(&compaction).unwrap();
        assert_eq!(at(&session, &leaf, 1, CacheReach::CommonStart).1, Some(0));
        assert_eq!(at(&session, &question, 1, CacheReach::CommonStart).1, Some(10));
    }

    #[test]
    fn a_changed_message_is_not_cached() {
        let mut session = session();
        let question = ask(&mut session);
        answer(&mut session, "m1", (1000, 0));
        let null = Json::parse("null").unwrap();
        let edit = NewEntry::context_edit(question.as_str(), Some(Role::User), null).unwrap();
        let leaf = session.append(&edit).unwrap();
        assert_eq!(at(&session, &leaf, 1, CacheReach::CommonStart).1, Some(0));
    }
}
