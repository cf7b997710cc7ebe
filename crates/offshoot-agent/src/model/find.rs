//! Which model somebody means: by provider and id, by a part of a name, with a thinking level behind a colon.

use super::table::Models;
use crate::provider::{Model, ThinkingLevel};

/// A model that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundModel {
    /// The model.
    pub model: Model,
    /// The level that was named with it.
    pub level: Option<ThinkingLevel>,
    /// What the user should know: the id is not in the table.
    pub warning: Option<String>,
}

/// Why no model was found.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnknownModel {
    /// Nobody has this name.
    #[error("there is no provider {0}")]
    Provider(String),
    /// Nothing fits.
    #[error("there is no model {0}")]
    Model(String),
    /// Several providers have it.
    #[error("model {name} is ambiguous: {candidates}; give the provider")]
    Ambiguous {
        /// What was asked for.
        name: String,
        /// `provider/id`, each.
        candidates: String,
    },
}

impl Models {
    /// The model that `name` means, as pi finds it.
    ///
    /// `name` is an id, `provider/id`, or a part of an id or a name; behind it may stand `:level`. Exact ids come before
    /// parts; among parts, ids without a date come before dated ones, and later ones before earlier ones. `provider`
    /// narrows the search, and with it an id that is not in the table is taken as it is. `usable` says which providers
    /// have a key: it decides between providers that have the same id.
    pub fn find(
        &self,
        provider: Option<&str>,
        name: &str,
        usable: &dyn Fn(&str) -> bool,
    ) -> Result<FoundModel, UnknownModel> {
        let name = name.trim();
        let Some(provider) = provider else { return self.find_anywhere(name, usable) };
        let known = self.provider(provider).ok_or_else(|| UnknownModel::Provider(provider.to_owned()))?;
        let prefix = name.get(..known.len()).filter(|prefix| prefix.eq_ignore_ascii_case(known));
        let rest = prefix.and_then(|_| name.get(known.len()..)).and_then(|rest| rest.strip_prefix('/'));
        let pattern = rest.unwrap_or(name);
        self.within(known, pattern)
            .or_else(|| self.taken_as_it_is(known, pattern))
            .ok_or_else(|| UnknownModel::Model(format!("{known}/{pattern}")))
    }

    fn find_anywhere(&self, name: &str, usable: &dyn Fn(&str) -> bool) -> Result<FoundModel, UnknownModel> {
        let inferred = name.split_once('/').and_then(|(provider, rest)| Some((self.provider(provider)?, rest)));
        if let Some((provider, pattern)) = inferred {
            let found = self.within(provider, pattern);
            // An id may itself begin with a provider's name: then a provider with a key counts.
            let raw: Vec<&Model> = self.exact(name).into_iter().filter(|model| usable(&model.provider)).collect();
            if let ([raw], false) = (&raw[..], usable(provider)) {
                return Ok(plain(raw));
            }
            let found = found.or_else(|| self.exact(name).first().map(|model| plain(model)));
            let found = found.or_else(|| matched(&self.list(), name));
            return found
                .or_else(|| self.taken_as_it_is(provider, pattern))
                .ok_or_else(|| UnknownModel::Model(name.to_owned()));
        }
        let exact = self.exact(name);
        let keyed: Vec<&&Model> = exact.iter().filter(|model| usable(&model.provider)).collect();
        match (&exact[..], &keyed[..]) {
            ([], _) => matched(&self.list(), name).ok_or_else(|| UnknownModel::Model(name.to_owned())),
            ([one], _) => Ok(plain(one)),
            (_, [one]) => Ok(plain(one)),
            (several, _) => {
                let candidates: Vec<String> =
                    several.iter().map(|model| format!("{}/{}", model.provider, model.id)).collect();
                Err(UnknownModel::Ambiguous { name: name.to_owned(), candidates: candidates.join(", ") })
            }
        }
    }

    fn list(&self) -> Vec<&Model> {
        self.all().iter().collect()
    }

    /// A provider by its name, in whatever case.
    fn provider(&self, name: &str) -> Option<&str> {
        self.providers().into_iter().find(|known| known.eq_ignore_ascii_case(name))
    }

    /// Models with exactly this id, in whatever case.
    fn exact(&self, id: &str) -> Vec<&Model> {
        self.all().iter().filter(|model| model.id.eq_ignore_ascii_case(id)).collect()
    }

    fn within(&self, provider: &str, pattern: &str) -> Option<FoundModel> {
        let models: Vec<&Model> = self.all().iter().filter(|model| model.provider == provider).collect();
        matched(&models, pattern)
    }

    /// An id that the table lacks, on the model of the provider that it begins with.
    fn taken_as_it_is(&self, provider: &str, pattern: &str) -> Option<FoundModel> {
        let (id, level) = match split_level(pattern) {
            Some((id, level)) => (id, Some(level)),
            None => (pattern, None),
        };
        let like = self.default_of(provider).filter(|_| !id.is_empty())?;
        let reasoning = like.reasoning || level.is_some_and(|level| level != ThinkingLevel::Off);
        let model = Model { id: id.to_owned(), name: id.to_owned(), reasoning, ..like.clone() };
        let warning = format!("{provider} has no model {id} in the table; the id is taken as it is");
        Some(FoundModel { model, level, warning: Some(warning) })
    }
}

fn plain(model: &Model) -> FoundModel {
    FoundModel { model: model.clone(), level: None, warning: None }
}

/// The best of the models for a pattern, with or without a level behind it.
fn matched(models: &[&Model], pattern: &str) -> Option<FoundModel> {
    let mut pattern = pattern;
    let mut level = None;
    loop {
        if let Some(model) = best(models, pattern) {
            return Some(FoundModel { model: model.clone(), level, warning: None });
        }
        let (before, named) = split_level(pattern)?;
        // The outermost level counts.
        level = level.or(Some(named));
        pattern = before;
    }
}

fn split_level(pattern: &str) -> Option<(&str, ThinkingLevel)> {
    let (before, name) = pattern.rsplit_once(':')?;
    Some((before, ThinkingLevel::parse(name)?))
}

fn best<'a>(models: &[&'a Model], pattern: &str) -> Option<&'a Model> {
    let wanted = pattern.to_lowercase();
    if wanted.is_empty() {
        return None;
    }
    let exact: Vec<&&Model> = models.iter().filter(|model| model.id.to_lowercase() == wanted).collect();
    if let [one] = exact[..] {
        return Some(one);
    }
    let holds =
        |model: &&&Model| model.id.to_lowercase().contains(&wanted) || model.name.to_lowercase().contains(&wanted);
    models.iter().filter(holds).max_by(|a, b| (!is_dated(&a.id), &a.id).cmp(&(!is_dated(&b.id), &b.id))).copied()
}

/// Whether an id ends in a date, `-20250929`.
fn is_dated(id: &str) -> bool {
    let end = id.rsplit_once('-').map_or("", |(_, end)| end);
    end.len() == 8 && end.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn models() -> Models {
        let mut models = Models::builtin();
        models.read(
            Path::new("x"),
            r#"{"providers": {
              "router": {"baseUrl": "http://r", "api": "openai-completions",
                "models": [{"id": "openai/gpt-5.5"}, {"id": "claude-opus-5"}, {"id": "deep:free"}]}}}"#,
        );
        models
    }

    fn found(provider: Option<&str>, name: &str) -> String {
        let usable = |provider: &str| provider == "anthropic" || provider == "router";
        match models().find(provider, name, &usable) {
            Ok(found) => {
                let level = found.level.map(|level| format!(" {}", level.as_str())).unwrap_or_default();
                let mark = if found.warning.is_some() { " ?" } else { "" };
                format!("{}/{}{level}{mark}", found.model.provider, found.model.id)
            }
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn names_mean_what_they_mean_in_pi() {
        for (provider, name, expected) in [
            (None, "claude-haiku-4-5", "anthropic/claude-haiku-4-5"),
            (None, "Anthropic/Claude-Haiku-4-5", "anthropic/claude-haiku-4-5"),
            (None, "haiku", "anthropic/claude-haiku-4-5"),
            (None, "haiku:high", "anthropic/claude-haiku-4-5 high"),
            (None, "sonnet", "anthropic/claude-sonnet-5"),
            (None, "sonnet-4-5-2025", "anthropic/claude-sonnet-4-5-20250929"),
            (None, "anthropic/opus:max", "anthropic/claude-opus-5-5 max"),
            (Some("anthropic"), "anthropic/opus-4-8", "anthropic/claude-opus-4-8"),
            (Some("OPENAI"), "gpt-5.5:off", "openai/gpt-5.5 off"),
            (Some("openai"), "gpt-99:low", "openai/gpt-99 low ?"),
            (Some("nobody"), "x", "there is no provider nobody"),
            (None, "openai/gpt-5.5", "router/openai/gpt-5.5"),
            (None, "openai/gpt-5.4", "openai/gpt-5.4"),
            (None, "deep:free", "router/deep:free"),
            (None, "haiku:hgih", "there is no model haiku:hgih"),
            (None, "nothing-like-it", "there is no model nothing-like-it"),
            (
                None,
                "claude-opus-5",
                "model claude-opus-5 is ambiguous: anthropic/claude-opus-5, router/claude-opus-5; give the provider",
            ),
        ] {
            assert_eq!(found(provider, name), expected, "{provider:?} {name}");
        }
    }
}
