//! The models between which a key changes: those that patterns name, each with its thinking level. pi's `enabledModels`
//! and `--models`. Knows nothing of keys: it is given the models that can be asked.

use std::sync::Arc;

use globset::GlobBuilder;
use offshoot_protocol::ThinkingLevel;
use offshoot_protocol::model::Model;

use super::find::{best_part, split_level};

/// A model of the scope.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct ScopedModel {
    pub model: Arc<Model>,
    /// The level that the pattern names.
    pub level: Option<ThinkingLevel>,
}

/// What a pattern names.
#[derive(Default)]
struct Named {
    /// Several for a glob, and for an id that several providers have.
    models: Vec<Arc<Model>>,
    level: Option<ThinkingLevel>,
    /// What was written as a level, and is none.
    no_level: Option<String>,
    is_ambiguous: bool,
}

/// The models of `usable` that the patterns name, in the order of the patterns, each once; and what is wrong with a pattern.
///
/// A pattern is `provider/id`, an id, or a part of an id or a name; or a glob on `provider/id` or the id, in which `*`
/// does not cross a `/`. Case does not count. An id that several providers have means all of them. `:level` after it names a
/// thinking level. Without a pattern that is not blank, these are all models.
#[must_use]
pub fn scope(usable: &[Arc<Model>], patterns: &[String]) -> (Vec<ScopedModel>, Vec<String>) {
    let patterns: Vec<&str> = patterns.iter().map(|pattern| pattern.trim()).filter(|text| !text.is_empty()).collect();
    if patterns.is_empty() {
        return (
            usable.iter().map(|model| ScopedModel { model: Arc::clone(model), level: None }).collect(),
            Vec::new(),
        );
    }
    let (mut scope, mut warnings): (Vec<ScopedModel>, Vec<String>) = Default::default();
    for pattern in patterns {
        let named = of_pattern(usable, pattern);
        if named.models.is_empty() {
            warnings.push(format!("no model with a key fits {pattern:?}"));
            continue;
        }
        warnings.extend(named.no_level.map(|level| format!("{pattern}: there is no thinking level {level:?}")));
        if named.is_ambiguous {
            let mut providers: Vec<&str> = named.models.iter().map(|model| model.provider.as_str()).collect();
            providers.sort_unstable();
            providers.dedup();
            let providers = providers.join(", ");
            warnings.push(format!("{pattern}: several providers have it ({providers}); provider/id names one"));
        }
        for model in named.models {
            let is_known = scope.iter().any(|known| is_same(&known.model, &model));
            if !is_known {
                scope.push(ScopedModel { model, level: named.level });
            }
        }
    }
    (scope, warnings)
}

fn is_same(one: &Model, other: &Model) -> bool {
    (&one.provider, &one.id) == (&other.provider, &other.id)
}

fn of_pattern(usable: &[Arc<Model>], pattern: &str) -> Named {
    if pattern.contains(['*', '?', '[']) { of_glob(usable, pattern) } else { of_name(usable, pattern) }
}

fn of_glob(usable: &[Arc<Model>], pattern: &str) -> Named {
    let (glob, level) = split_level(pattern).map_or((pattern, None), |(glob, level)| (glob, Some(level)));
    // An id may look like a glob.
    let exact = exact(usable, glob, false);
    if !exact.is_empty() {
        return Named { is_ambiguous: exact.len() > 1, models: exact, level, no_level: None };
    }
    let built = GlobBuilder::new(glob).literal_separator(true).case_insensitive(true).build();
    let Ok(matcher) = built.map(|glob| glob.compile_matcher()) else { return Named::default() };
    let fits = |model: &&Arc<Model>| {
        matcher.is_match(format!("{}/{}", model.provider, model.id)) || matcher.is_match(&model.id)
    };
    Named { models: usable.iter().filter(fits).cloned().collect(), level, ..Named::default() }
}

/// Reads a name that levels may follow; the last level counts. A part that is not a level is left out, and then no level counts.
fn of_name(usable: &[Arc<Model>], pattern: &str) -> Named {
    let (mut text, mut level, mut no_level) = (pattern, None, None);
    loop {
        let models = if text.is_empty() { Vec::new() } else { referred(usable, text) };
        if !models.is_empty() {
            let level = level.filter(|_| no_level.is_none());
            return Named { is_ambiguous: models.len() > 1, models, level, no_level };
        }
        let Some((before, suffix)) = text.rsplit_once(':') else { return Named::default() };
        match ThinkingLevel::parse(suffix) {
            Some(named) => level = level.or(Some(named)),
            None => no_level = no_level.or(Some(suffix.to_owned())),
        }
        text = before;
    }
}

/// The model of a name; several if models of several providers have the same id.
fn referred(usable: &[Arc<Model>], text: &str) -> Vec<Arc<Model>> {
    let exact = exact(usable, text, true);
    if !exact.is_empty() {
        return exact;
    }
    let Some(best) = best_part(usable.iter().map(AsRef::as_ref), text) else { return Vec::new() };
    let same = usable.iter().filter(|model| model.id == best.id);
    let holds = |model: &&Arc<Model>| best_part(std::iter::once(model.as_ref()), text).is_some();
    one_or_several(same.filter(holds).cloned().collect())
}

/// The model with this id at the provider that the text names, or in which it is the best; else those that have the text as their id.
fn exact(usable: &[Arc<Model>], text: &str, is_part_enough: bool) -> Vec<Arc<Model>> {
    let has_id = |model: &&Arc<Model>, id: &str| model.id.eq_ignore_ascii_case(id);
    let whole: Vec<Arc<Model>> = usable.iter().filter(|model| has_id(model, text)).cloned().collect();
    let named = split_provider(usable, text).and_then(|(provider, id)| {
        let of_provider: Vec<Arc<Model>> = usable.iter().filter(|model| model.provider == provider).cloned().collect();
        let own = of_provider.iter().find(|model| has_id(model, id)).cloned();
        own.or_else(|| whole.iter().find(|model| model.provider == provider).cloned()).or_else(|| {
            let best = best_part(of_provider.iter().map(AsRef::as_ref), id).filter(|_| is_part_enough)?;
            of_provider.iter().find(|model| is_same(model, best)).cloned()
        })
    });
    named.map_or_else(|| one_or_several(whole), |named| vec![named])
}

/// Models of one provider are one: the first.
fn one_or_several(mut models: Vec<Arc<Model>>) -> Vec<Arc<Model>> {
    let is_one = models.first().is_some_and(|first| models.iter().all(|model| model.provider == first.provider));
    models.truncate(if is_one { 1 } else { usize::MAX });
    models
}

/// The provider before a `/`, and what is after it. A provider's name may have a `/` itself: the longest one counts.
fn split_provider<'a>(usable: &'a [Arc<Model>], text: &'a str) -> Option<(&'a str, &'a str)> {
    let split = |provider: &'a str| {
        let (before, after) = text.split_at_checked(provider.len())?;
        let rest = after.strip_prefix('/')?.trim();
        (!rest.is_empty() && !provider.is_empty() && before.eq_ignore_ascii_case(provider)).then_some((provider, rest))
    };
    usable.iter().filter_map(|model| split(&model.provider)).max_by_key(|(provider, _)| provider.len())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::model::Models;

    fn scoped(patterns: &[&str]) -> String {
        let mut models = Models::default();
        models.read(
            Path::new("x"),
            r#"{"providers": {
              "mock": {"baseUrl": "http://m", "api": "openai-completions", "models": [{"id": "mock-1"}, {"id": "mock-2"}, {"id": "a/mock-2"}, {"id": "star[1m]"}]},
              "other": {"baseUrl": "http://o", "api": "openai-completions", "models": [{"id": "mock-2", "name": "Quick"},
                {"id": "claude-9-20250101"}, {"id": "claude-9"}, {"id": "claude-9-latest"}, {"id": "mock/mock-1"}]},
              "third": {"baseUrl": "http://t", "api": "openai-completions", "models": [{"id": "free:low"}]}}}"#,
        );
        let usable: Vec<Arc<Model>> = models.all().cloned().map(Arc::new).collect();
        let patterns: Vec<String> = patterns.iter().map(|pattern| (*pattern).to_owned()).collect();
        let (scope, warnings) = scope(&usable, &patterns);
        let shown = scope.iter().map(|ScopedModel { model, level }| {
            let level = level.map(|level| format!(":{}", level.as_str())).unwrap_or_default();
            format!("{}/{}{level}", model.provider, model.id)
        });
        shown.chain(warnings.into_iter().map(|warning| format!("<{warning}>"))).collect::<Vec<_>>().join(" ")
    }

    /// What pi 1.6.0 answers to the same patterns over the same models.
    #[test]
    fn patterns_name_models_as_in_pi() {
        let of_mock = "mock/mock-1 mock/mock-2 mock/star[1m] other/mock/mock-1";
        let all = "mock/mock-1 mock/mock-2 mock/a/mock-2 mock/star[1m] other/mock-2 other/claude-9-20250101 other/claude-9 \
                   other/claude-9-latest other/mock/mock-1 third/free:low";
        for (patterns, expected) in [
            (&[][..], all),
            (&["", " "], all),
            (&["mock/*2"], "mock/mock-2"),
            (&["*/mock-2"], "mock/mock-2 mock/a/mock-2 other/mock-2"),
            (&["*-1:low"], "mock/mock-1:low"),
            (&["MOCK/MOCK-?"], "mock/mock-1 mock/mock-2 other/mock/mock-1"),
            (&["mock/mock-2", "mock/mock-1", "mock/*"], "mock/mock-2 mock/mock-1 mock/star[1m] other/mock/mock-1"),
            (&["quick:high"], "other/mock-2:high"),
            (&["mock/star[1m]", "mock/mock-1:max"], "mock/star[1m] mock/mock-1:max"),
            (&["star[1m]:high"], "mock/star[1m]:high"),
            (&["nope", "other/2"], "other/mock-2 <no model with a key fits \"nope\">"),
            (
                &["[", "mock/mock-1:hgih"],
                "mock/mock-1 <no model with a key fits \"[\"> <mock/mock-1:hgih: there is no thinking level \"hgih\">",
            ),
            (
                &["MOCK-2:low"],
                "mock/mock-2:low other/mock-2:low <MOCK-2:low: several providers have it (mock, other); provider/id names one>",
            ),
            (
                &["mock-2", "other/mock-2:high"],
                "mock/mock-2 other/mock-2 <mock-2: several providers have it (mock, other); provider/id names one>",
            ),
            (&["claude"], "other/claude-9-latest"),
            (&["other/claude"], "other/claude-9-latest"),
            (&["claude-9-2025"], "other/claude-9-20250101"),
            (&["claude-9"], "other/claude-9"),
            (&["mock/mock-1:low:high"], "mock/mock-1:high"),
            (&["mock/mock-1:hgih:low"], "mock/mock-1 <mock/mock-1:hgih:low: there is no thinking level \"hgih\">"),
            (&["mock/mock-1:LOW"], "mock/mock-1 <mock/mock-1:LOW: there is no thinking level \"LOW\">"),
            (&["mock-1:"], "mock/mock-1 <mock-1:: there is no thinking level \"\">"),
            (&["free:low"], "third/free:low"),
            (&["free:low:high"], "third/free:low:high"),
            (&["free"], "third/free:low"),
            (&[":low"], "third/free:low"),
            (
                &["mock/*:off", "mock/mock-1:high"],
                "mock/mock-1:off mock/mock-2:off mock/star[1m]:off other/mock/mock-1:off",
            ),
            (
                &["mock/mock-1:high", "mock/*:off"],
                "mock/mock-1:high mock/mock-2:off mock/star[1m]:off other/mock/mock-1:off",
            ),
            (&["**"], all),
            (
                &["*"],
                "mock/mock-1 mock/mock-2 mock/star[1m] other/mock-2 other/claude-9-20250101 other/claude-9 \
                 other/claude-9-latest third/free:low",
            ),
            (&["**/mock-2"], "mock/mock-2 mock/a/mock-2 other/mock-2"),
            (&["mock/**"], "mock/mock-1 mock/mock-2 mock/a/mock-2 mock/star[1m] other/mock/mock-1"),
            (&["{mock,third}/*"], &format!("{of_mock} third/free:low")),
            (&["mock-[12]"], "mock/mock-1 mock/mock-2 other/mock-2"),
            (&["mock-[!1]"], "mock/mock-2 other/mock-2"),
            (&["mock-[^1]"], "mock/mock-2 other/mock-2"),
            (&["*:hgih"], "<no model with a key fits \"*:hgih\">"),
            (&["mock*:"], "<no model with a key fits \"mock*:\">"),
            (&["mock/"], "other/mock/mock-1"),
            (&["/mock-1"], "other/mock/mock-1"),
            (&["mock/mock"], "mock/mock-2"),
            (&["mock"], "other/mock/mock-1"),
            (&["third/mock-1"], "<no model with a key fits \"third/mock-1\">"),
            (&["Mock/A/Mock-2"], "mock/a/mock-2"),
            (&["a/mock-2"], "mock/a/mock-2"),
            (&[" mock-1 "], "mock/mock-1"),
            (&["mock/nope"], "<no model with a key fits \"mock/nope\">"),
            (&["other/mock/mock-1"], "other/mock/mock-1"),
            (&["?ock/mock-1"], "mock/mock-1 other/mock/mock-1"),
            (&["a*/mock-2"], "mock/a/mock-2"),
        ] {
            assert_eq!(scoped(patterns), expected, "{patterns:?}");
        }
    }
}
