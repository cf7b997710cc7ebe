//! The models between which a key changes: those that patterns name, each with its thinking level. pi's `enabledModels`
//! and `--models`. Knows nothing of keys: it is given the models that can be asked.

use std::sync::Arc;

use globset::GlobBuilder;
use offshoot_protocol::ThinkingLevel;
use offshoot_protocol::model::Model;

use super::find::{FoundModel, matched, split_level};

/// A model of the scope.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct ScopedModel {
    pub model: Arc<Model>,
    /// The level that the pattern names.
    pub level: Option<ThinkingLevel>,
}

/// The models of `usable` that the patterns name, in the order of the patterns, each once; and what is wrong with a pattern.
///
/// A pattern is `provider/id`, an id, or a part of an id or a name; or a glob on `provider/id` or the id, in which `*`
/// does not cross a `/`. Case does not count. `:level` after it names a thinking level. Without a pattern that is not
/// blank, these are all models.
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
        let mut found = of_pattern(usable, pattern);
        if let Some((before, level)) = pattern.rsplit_once(':').filter(|_| found.is_empty()) {
            found = of_pattern(usable, before);
            if !found.is_empty() {
                warnings.push(format!("{pattern}: there is no thinking level {level:?}"));
            }
        }
        if found.is_empty() {
            warnings.push(format!("no model with a key fits {pattern:?}"));
        }
        for new in found {
            let is_known = scope.iter().any(|known| is_same(&known.model, &new.model));
            if !is_known {
                scope.push(new);
            }
        }
    }
    (scope, warnings)
}

fn is_same(one: &Model, other: &Model) -> bool {
    (&one.provider, &one.id) == (&other.provider, &other.id)
}

fn of_pattern(usable: &[Arc<Model>], pattern: &str) -> Vec<ScopedModel> {
    match exact(usable, pattern) {
        Some(model) => vec![model],
        None if is_glob(pattern) => fitting(usable, pattern),
        None => named(usable, pattern),
    }
}

fn is_glob(pattern: &str) -> bool {
    pattern.contains(['*', '?', '['])
}

/// An id may look like a glob.
fn exact(usable: &[Arc<Model>], pattern: &str) -> Option<ScopedModel> {
    let find = |text: &str| {
        usable.iter().find(|model| format!("{}/{}", model.provider, model.id).eq_ignore_ascii_case(text)).cloned()
    };
    let plain = find(pattern).map(|model| ScopedModel { model, level: None });
    plain.or_else(|| {
        let (name, level) = split_level(pattern)?;
        Some(ScopedModel { model: find(name)?, level: Some(level) })
    })
}

fn fitting(usable: &[Arc<Model>], pattern: &str) -> Vec<ScopedModel> {
    let (glob, level) = split_level(pattern).map_or((pattern, None), |(glob, level)| (glob, Some(level)));
    let built = GlobBuilder::new(glob).literal_separator(true).case_insensitive(true).build();
    let Ok(matcher) = built.map(|glob| glob.compile_matcher()) else { return Vec::new() };
    let fits = |model: &&Arc<Model>| {
        matcher.is_match(format!("{}/{}", model.provider, model.id)) || matcher.is_match(&model.id)
    };
    usable.iter().filter(fits).map(|model| ScopedModel { model: Arc::clone(model), level }).collect()
}

fn named(usable: &[Arc<Model>], pattern: &str) -> Vec<ScopedModel> {
    let all: Vec<&Model> = usable.iter().map(AsRef::as_ref).collect();
    let inside = pattern.split_once('/').and_then(|(provider, rest)| {
        let of_provider: Vec<&Model> =
            all.iter().filter(|model| model.provider.eq_ignore_ascii_case(provider)).copied().collect();
        matched(&of_provider, rest)
    });
    let found = inside.or_else(|| matched(&all, pattern));
    let scoped = |FoundModel { model, level, .. }: FoundModel| {
        let model = usable.iter().find(|known| is_same(known, &model)).cloned()?;
        Some(ScopedModel { model, level })
    };
    found.and_then(scoped).into_iter().collect()
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
              "other": {"baseUrl": "http://o", "api": "openai-completions", "models": [{"id": "mock-2", "name": "Quick"}]}}}"#,
        );
        let usable: Vec<Arc<Model>> = models.all().cloned().map(Arc::new).collect();
        let patterns: Vec<String> = patterns.iter().map(|pattern| (*pattern).to_owned()).collect();
        let (scope, warnings) = scope(&usable, &patterns);
        let shown = scope.iter().map(|ScopedModel { model, level }| {
            let level = level.map(|level| format!(":{}", level.as_str())).unwrap_or_default();
            format!("{}/{}{level}", model.provider, model.id)
        });
        shown.chain(warnings).collect::<Vec<_>>().join(" ")
    }

    /// The vectors of pi 0.87.1.
    #[test]
    fn patterns_name_models() {
        let all = "mock/mock-1 mock/mock-2 mock/a/mock-2 mock/star[1m] other/mock-2";
        for (patterns, expected) in [
            (&[][..], all),
            (&["", " "], all),
            (&["mock/*2"], "mock/mock-2"),
            (&["*/mock-2"], "mock/mock-2 mock/a/mock-2 other/mock-2"),
            (&["*-1:low"], "mock/mock-1:low"),
            (&["MOCK/MOCK-?"], "mock/mock-1 mock/mock-2"),
            (&["mock/mock-2", "mock/mock-1", "mock/*"], "mock/mock-2 mock/mock-1 mock/star[1m]"),
            (&["quick:high"], "other/mock-2:high"),
            (&["mock/star[1m]", "mock/mock-1:max"], "mock/star[1m] mock/mock-1:max"),
            (&["nope", "other/2"], "other/mock-2 no model with a key fits \"nope\""),
            (
                &["[", "mock/mock-1:hgih"],
                "mock/mock-1 no model with a key fits \"[\" mock/mock-1:hgih: there is no thinking level \"hgih\"",
            ),
        ] {
            assert_eq!(scoped(patterns), expected, "{patterns:?}");
        }
    }
}
