//! Finds a model by provider and id, or by part of a name, with an optional thinking level after a colon.

use offshoot_protocol::ThinkingLevel;
use offshoot_protocol::model::Model;

use super::catalogue;
use super::table::Models;

#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct FoundModel {
    pub model: Model,
    /// The level in the search text.
    pub level: Option<ThinkingLevel>,
    /// For the user: the id is not in the table.
    pub warning: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the names say what they are")]
pub enum UnknownModel {
    #[error("there is no provider {0}")]
    Provider(String),
    #[error("there is no model {0}")]
    Model(String),
    /// Several providers have it.
    #[error("model {name} is ambiguous: {candidates}; give the provider")]
    Ambiguous {
        name: String,
        /// Each as `provider/id`.
        candidates: String,
    },
}

impl Models {
    /// Finds the model of a name like pi.
    ///
    /// `name` is an id, `provider/id`, or part of an id or a name, optionally followed by `:level`. Exact ids take
    /// precedence over parts; among parts, ids without a date over dated ones, and later ones over earlier ones.
    /// `provider` limits the search, and allows an id that is not in the table. `usable` tells which providers have a
    /// key: it decides between providers with the same id, and their models take precedence among parts. Of several with a
    /// key, the model's maker is meant.
    pub fn find(
        &self,
        provider: Option<&str>,
        name: &str,
        usable: &dyn Fn(&str) -> bool,
    ) -> Result<FoundModel, UnknownModel> {
        let name = name.trim();
        let Some(provider) = provider else { return self.find_anywhere(name, usable) };
        let known = self.provider_named(provider).ok_or_else(|| UnknownModel::Provider(provider.to_owned()))?;
        let prefix = name.get(..known.len()).filter(|prefix| prefix.eq_ignore_ascii_case(known));
        let rest = prefix.and_then(|_| name.get(known.len()..)).and_then(|rest| rest.strip_prefix('/'));
        let pattern = rest.unwrap_or(name);
        self.within(known, pattern)
            .or_else(|| self.unlisted_model(known, pattern))
            .ok_or_else(|| UnknownModel::Model(format!("{known}/{pattern}")))
    }

    fn find_anywhere(&self, name: &str, usable: &dyn Fn(&str) -> bool) -> Result<FoundModel, UnknownModel> {
        let inferred = name.split_once('/').and_then(|(provider, rest)| Some((self.provider_named(provider)?, rest)));
        let exact = self.exact(name);
        if let Some((provider, pattern)) = inferred {
            // An id may itself begin with a provider's name: then a provider with a key wins.
            let raw: Vec<&&Model> = exact.iter().filter(|model| usable(&model.provider)).collect();
            if let ([raw], false) = (&raw[..], usable(provider)) {
                return Ok(without_level(raw));
            }
            let found = self.within(provider, pattern);
            let found = found.or_else(|| exact.first().map(|model| without_level(model)));
            let found = match found {
                None => self.like(name, usable)?,
                found => found,
            };
            return found
                .or_else(|| self.unlisted_model(provider, pattern))
                .ok_or_else(|| UnknownModel::Model(name.to_owned()));
        }
        match one_of(&exact, name, usable)? {
            Some(model) => Ok(without_level(model)),
            None => self.like(name, usable)?.ok_or_else(|| UnknownModel::Model(name.to_owned())),
        }
    }

    /// The best match among the models with a key, else among those of makers, else among all. Only then the whole catalogue
    /// is parsed.
    fn like(&self, pattern: &str, usable: &dyn Fn(&str) -> bool) -> Result<Option<FoundModel>, UnknownModel> {
        let tiers: [&dyn Fn(&str) -> bool; 3] = [usable, &catalogue::is_maker, &|_| true];
        for tier in tiers {
            let providers = self.providers().into_iter().filter(|provider| tier(provider));
            let models: Vec<&Model> = providers.flat_map(|provider| self.of_provider(provider)).collect();
            let Some(found) = matched(&models, pattern) else { continue };
            let same: Vec<&Model> = models.into_iter().filter(|model| model.id == found.model.id).collect();
            let one = one_of(&same, pattern, &|_| true)?;
            return Ok(one.map(|model| FoundModel { model: model.clone(), ..found }));
        }
        Ok(None)
    }

    /// Case-insensitive.
    fn exact(&self, id: &str) -> Vec<&Model> {
        let models = self.providers_with(id).flat_map(|provider| self.of_provider(provider));
        models.filter(|model| model.id.eq_ignore_ascii_case(id)).collect()
    }

    fn within(&self, provider: &str, pattern: &str) -> Option<FoundModel> {
        matched(&self.of_provider(provider).iter().collect::<Vec<_>>(), pattern)
    }

    /// An id that is not in the table, with the other fields of the provider's default model.
    fn unlisted_model(&self, provider: &str, pattern: &str) -> Option<FoundModel> {
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

/// Of several models with one id, that of a provider with a key: its maker's, or the only one. Without any key, its maker's.
fn one_of<'a>(
    models: &[&'a Model],
    name: &str,
    usable: &dyn Fn(&str) -> bool,
) -> Result<Option<&'a Model>, UnknownModel> {
    let keyed: Vec<&Model> = models.iter().filter(|model| usable(&model.provider)).copied().collect();
    let considered = if keyed.is_empty() { models } else { &keyed };
    let is_made = |model: &&&Model| catalogue::is_maker(&model.provider);
    match (considered, considered.iter().find(is_made)) {
        ([], _) => Ok(None),
        ([one], _) | (_, Some(one)) => Ok(Some(one)),
        (several, None) => {
            let candidates: Vec<String> =
                several.iter().map(|model| format!("{}/{}", model.provider, model.id)).collect();
            Err(UnknownModel::Ambiguous { name: name.to_owned(), candidates: candidates.join(", ") })
        }
    }
}

fn without_level(model: &Model) -> FoundModel {
    FoundModel { model: model.clone(), level: None, warning: None }
}

/// The best match for a pattern, with or without a level after it.
pub(super) fn matched(models: &[&Model], pattern: &str) -> Option<FoundModel> {
    let mut pattern = pattern;
    let mut level = None;
    loop {
        if let Some(model) = best(models, pattern) {
            return Some(FoundModel { model: model.clone(), level, warning: None });
        }
        let (before, named) = split_level(pattern)?;
        // The last level in the text counts.
        level = level.or(Some(named));
        pattern = before;
    }
}

pub(super) fn split_level(pattern: &str) -> Option<(&str, ThinkingLevel)> {
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
    best_part(models.iter().copied(), pattern)
}

/// The best of the models whose id or name contains the text: those without a date come before dated ones, and later ones before
/// earlier ones.
pub(super) fn best_part<'a>(models: impl Iterator<Item = &'a Model>, text: &str) -> Option<&'a Model> {
    let wanted = text.to_lowercase();
    let holds =
        |model: &&Model| model.id.to_lowercase().contains(&wanted) || model.name.to_lowercase().contains(&wanted);
    models.filter(holds).max_by_key(|model| (!is_dated(&model.id), collated(&model.id)))
}

/// The order in which pi compares ids, that of a dictionary: some marks, digits, letters whatever their case, and of what is the same
/// then the one with lower case first.
fn collated(id: &str) -> (Vec<u32>, Vec<bool>) {
    const MARKS: &str = "_-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$";
    let weight = |letter: char| match MARKS.find(letter) {
        Some(at) => u32::try_from(at).unwrap_or_default(),
        None => 1000 + u32::from(letter.to_ascii_lowercase()),
    };
    (id.chars().map(weight).collect(), id.chars().map(|letter| letter.is_ascii_uppercase()).collect())
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
                "models": [{"id": "openai/gpt-5.5"}, {"id": "claude-opus-5"}, {"id": "deep:free"}, {"id": "twin"}]},
              "other": {"baseUrl": "http://o", "api": "openai-completions", "models": [{"id": "twin"}]}}}"#,
        );
        models
    }

    fn found(provider: Option<&str>, name: &str) -> String {
        let usable = |provider: &str| ["anthropic", "router", "other"].contains(&provider);
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
            (None, "haiku", "anthropic/claude-haiku-5-5"),
            (None, "haiku:high", "anthropic/claude-haiku-5-5 high"),
            (None, "sonnet", "anthropic/claude-sonnet-5-5"),
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
            (None, "claude-opus-5", "anthropic/claude-opus-5"),
            (None, "gpt-5.5-pro", "openai/gpt-5.5-pro"),
            (None, "glm-5.3", "zai/glm-5.3"),
            (None, "twin", "model twin is ambiguous: router/twin, other/twin; give the provider"),
            (None, "twi", "model twi is ambiguous: router/twin, other/twin; give the provider"),
        ] {
            assert_eq!(found(provider, name), expected, "{provider:?} {name}");
        }
    }
}
