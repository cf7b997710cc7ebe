//! The shape of `models.json`, which is pi's, and of oh-my-pi's `models.yml`. Unknown members are ignored.

use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer, MapAccess, Visitor};

use offshoot_protocol::model::Compat;
use serde_json::Value;

use super::value;
use crate::yaml::yaml_to_json;

#[derive(Debug, Clone, Default, Deserialize)]
pub(super) struct File {
    #[serde(default)]
    pub(super) providers: Ordered<Provider>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Provider {
    pub(super) base_url: Option<String>,
    pub(super) api: Option<String>,
    pub(super) api_key: Option<String>,
    pub(super) auth_header: Option<bool>,
    pub(super) headers: Ordered<String>,
    pub(super) compat: Compat,
    pub(super) models: Vec<Definition>,
    pub(super) model_overrides: Ordered<Details>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Definition {
    pub(super) id: String,
    pub(super) api: Option<String>,
    pub(super) base_url: Option<String>,
    #[serde(flatten)]
    pub(super) details: Details,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Details {
    pub(super) name: Option<String>,
    pub(super) reasoning: Option<bool>,
    pub(super) thinking_level_map: Ordered<Option<String>>,
    pub(super) input: Option<Vec<String>>,
    pub(super) cost: Option<Cost>,
    pub(super) context_window: Option<f64>,
    pub(super) max_tokens: Option<f64>,
    pub(super) sampling_params: Value,
    pub(super) sampling_params_by_thinking_level: Value,
    pub(super) headers: Ordered<String>,
    pub(super) compat: Compat,
    /// oh-my-pi's.
    pub(super) thinking: Option<OmpThinking>,
}

/// What oh-my-pi says of a model's thinking levels.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct OmpThinking {
    #[serde(alias = "levels")]
    pub(super) efforts: Option<Vec<String>>,
    pub(super) min_level: Option<String>,
    pub(super) max_level: Option<String>,
    pub(super) effort_map: Ordered<String>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Cost {
    pub(super) input: Option<f64>,
    pub(super) output: Option<f64>,
    pub(super) cache_read: Option<f64>,
    pub(super) cache_write: Option<f64>,
    pub(super) tiers: Option<Vec<Tier>>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Tier {
    pub(super) input_tokens_above: f64,
    pub(super) input: f64,
    pub(super) output: f64,
    pub(super) cache_read: f64,
    pub(super) cache_write: f64,
}

/// An object as a list, in the order of the file.
#[derive(Debug, Clone)]
pub(super) struct Ordered<T>(pub(super) Vec<(String, T)>);

impl<T> Default for Ordered<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for Ordered<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members<T>(PhantomData<T>);
        impl<'de, T: DeserializeOwned> Visitor<'de> for Members<T> {
            type Value = Ordered<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Ordered<T>, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Ordered(members))
            }
        }
        deserializer.deserialize_map(Members(PhantomData))
    }
}

/// The language of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ModelsDialect {
    Pi,
    /// YAML; a key is the name of a variable that is set, a command, or the key itself.
    Omp,
}

/// A fault of a file, with its line if it is known.
pub(super) struct ModelsFault {
    pub(super) line: Option<usize>,
    pub(super) why: String,
}

impl ModelsDialect {
    pub(super) fn parse(self, text: &str) -> Result<File, ModelsFault> {
        let of_json = |error: serde_json::Error| ModelsFault {
            line: Some(error.line()).filter(|line| *line > 0),
            why: error.to_string(),
        };
        match self {
            Self::Pi => parse(text).map_err(of_json),
            Self::Omp => {
                let json =
                    yaml_to_json(text).map_err(|fault| ModelsFault { line: Some(fault.line), why: fault.why })?;
                let file: Option<File> = serde_json::from_str(&json).map_err(of_json)?;
                let mut file = file.unwrap_or_default();
                file.providers.0.iter_mut().for_each(|(_, provider)| provider.spell_as_pi());
                Ok(file)
            }
        }
    }
}

impl Provider {
    /// A `$` in oh-my-pi's keys and headers is a dollar sign.
    fn spell_as_pi(&mut self) {
        let models = self.models.iter_mut().map(|model| &mut model.details);
        let models = models.chain(self.model_overrides.0.iter_mut().map(|(_, details)| details));
        let headers = models.flat_map(|details| details.headers.0.iter_mut());
        let headers = headers.chain(self.headers.0.iter_mut()).map(|(_, value)| value);
        for value in headers.chain(&mut self.api_key) {
            if value::command(value).is_none() {
                *value = value.replace('$', "$$");
            }
        }
    }
}

pub(super) fn parse(text: &str) -> Result<File, serde_json::Error> {
    serde_json::from_str(&plain(text))
}

/// Blanks out comments (`//` to the end of the line) and trailing commas, as pi does. Lines and columns stay.
fn plain(text: &str) -> String {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut out = String::with_capacity(text.len());
    let mut comma = None;
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '"' => {
                comma = None;
                out.push(c);
                while let Some(c) = rest.next() {
                    out.push(c);
                    match c {
                        '\\' => out.extend(rest.next()),
                        '"' => break,
                        _ => {}
                    }
                }
            }
            '/' if rest.peek() == Some(&'/') => {
                out.push(' ');
                while rest.next_if(|c| *c != '\n').is_some() {
                    out.push(' ');
                }
            }
            ',' => {
                comma = Some(out.len());
                out.push(c);
            }
            ']' | '}' => {
                if let Some(at) = comma.take() {
                    out.replace_range(at..=at, " ");
                }
                out.push(c);
            }
            other => {
                if !other.is_whitespace() {
                    comma = None;
                }
                out.push(other);
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_last_commas_are_no_errors_and_lines_stay() {
        let text = "\u{feff}{ // \"x\"\n \"providers\": {\"a//b\": {\"baseUrl\": \"http://x,]\",}, },\n}";
        let file = parse(text).unwrap();
        assert_eq!(file.providers.0[0].0, "a//b");
        assert_eq!(file.providers.0[0].1.base_url.as_deref(), Some("http://x,]"));
        let error = parse("{ // one\n // two\n \"providers\": {\"a\": {\"models\": [{\"id\": 7}]}}}").unwrap_err();
        assert_eq!(error.line(), 3);
    }
}
