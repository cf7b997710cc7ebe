//! Kinds of settings, and reading a value from JSON or from typed text.

use std::fmt;

use offshoot_protocol::ThinkingLevel;
use offshoot_session::json::{Json, JsonKind, quote};
use offshoot_session::text::one_line;

use crate::nearest::nearest;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingKind {
    Flag,
    /// True, false or `auto`.
    Switch,
    Choice(&'static [&'static str]),
    /// One of a few names, or false.
    ChoiceOrNo(&'static [&'static str]),
    Number {
        least: u64,
        greatest: u64,
    },
    Text,
    Texts,
    PerModel,
    /// Thinking levels of single models.
    LevelPerModel,
    /// A list of texts and objects.
    Packages,
}

/// Compaction settings of one model; `None` leaves the value for all models.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ModelTokens {
    pub reserve: Option<u64>,
    pub keep_recent: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    Flag(bool),
    Number(u64),
    Text(String),
    Texts(Vec<String>),
    PerModel(Vec<(String, ModelTokens)>),
    Levels(Vec<(String, ThinkingLevel)>),
    /// Each as JSON.
    Packages(Vec<String>),
}

/// A switch with this value is decided by offshoot.
pub(crate) const AUTO: &str = "auto";

pub(crate) const NO: &str = "false";

/// The greatest integer that JavaScript represents exactly.
pub(crate) const SAFE: u64 = 9_007_199_254_740_991;

impl SettingKind {
    /// Reads a value from JSON.
    ///
    /// # Errors
    /// A phrase that says what the value should be.
    pub fn read(self, json: Json<'_>) -> Result<Value, String> {
        let wanted = self.wanted();
        let wrong = || format!("should be {wanted}, and is {}", shown(json));
        match self {
            Self::Flag => json.as_bool().map(Value::Flag).ok_or_else(wrong),
            Self::Switch => match (json.as_bool(), json.as_str().as_deref()) {
                (Some(flag), _) => Ok(Value::Flag(flag)),
                (None, Some(AUTO)) => Ok(Value::Text(AUTO.to_owned())),
                (None, _) => Err(wrong()),
            },
            Self::Text => json.as_str().map(|text| Value::Text(text.into_owned())).ok_or_else(wrong),
            Self::ChoiceOrNo(_) if json.as_bool() == Some(false) => Ok(Value::Flag(false)),
            Self::Choice(_) | Self::ChoiceOrNo(_) => json.as_str().ok_or_else(wrong).and_then(|text| self.parse(&text)),
            Self::Number { least, greatest } => {
                let number =
                    json.as_f64().filter(|number| number.fract() == 0.0 && *number >= 0.0).map(|number| number as u64);
                number.filter(|number| (least..=greatest).contains(number)).map(Value::Number).ok_or_else(wrong)
            }
            Self::Texts if json.kind() == JsonKind::Array => {
                let texts: Option<Vec<String>> =
                    json.items().map(|item| item.as_str().map(std::borrow::Cow::into_owned)).collect();
                texts.map(Value::Texts).ok_or_else(wrong)
            }
            Self::Texts => Err(wrong()),
            Self::PerModel if json.kind() == JsonKind::Object => {
                let models = json.members().map(|(name, of)| Ok((name.into_owned(), tokens(of)?)));
                models.collect::<Result<_, String>>().map(Value::PerModel)
            }
            Self::PerModel => Err(wrong()),
            Self::LevelPerModel if json.kind() == JsonKind::Object => {
                let level = |of: Json<'_>| of.as_str().and_then(|name| ThinkingLevel::parse(&name));
                let models = json.members().map(|(name, of)| match level(of) {
                    Some(level) => Ok((name.into_owned(), level)),
                    None => Err(format!("has {} for {name}: use {}", shown(of), level_names())),
                });
                models.collect::<Result<_, String>>().map(Value::Levels)
            }
            Self::LevelPerModel => Err(wrong()),
            Self::Packages if json.kind() == JsonKind::Array => {
                let is_entry = |item: &Json<'_>| matches!(item.kind(), JsonKind::String | JsonKind::Object);
                let items: Vec<Json<'_>> = json.items().collect();
                let entries =
                    items.iter().all(is_entry).then(|| items.iter().map(|item| item.text().to_owned()).collect());
                entries.map(Value::Packages).ok_or_else(wrong)
            }
            Self::Packages => Err(wrong()),
        }
    }

    /// Reads a typed value.
    ///
    /// # Errors
    /// A phrase that says what should have been typed.
    pub fn parse(self, text: &str) -> Result<Value, String> {
        let text = text.trim();
        let wrong = || format!("should be {}, and is {text:?}", self.wanted());
        match self {
            Self::Flag => text.parse().map(Value::Flag).map_err(|_| wrong()),
            Self::Switch if text == AUTO => Ok(Value::Text(AUTO.to_owned())),
            Self::Switch => text.parse().map(Value::Flag).map_err(|_| wrong()),
            Self::ChoiceOrNo(_) if text == NO => Ok(Value::Flag(false)),
            Self::Choice(names) | Self::ChoiceOrNo(names) => match names.iter().find(|name| **name == text) {
                Some(name) => Ok(Value::Text((*name).to_owned())),
                None => {
                    let meant = nearest(text, names.iter().copied());
                    Err(wrong() + &meant.map_or_else(String::new, |name| format!(": did you mean {name}?")))
                }
            },
            Self::Number { least, greatest } => {
                let number = text.parse().ok().filter(|number| (least..=greatest).contains(number));
                number.map(Value::Number).ok_or_else(wrong)
            }
            Self::Text if text.is_empty() => Err("should not be empty".to_owned()),
            Self::Text => Ok(Value::Text(text.to_owned())),
            Self::Texts => {
                let texts = text.split(',').map(str::trim).filter(|text| !text.is_empty());
                Ok(Value::Texts(texts.map(str::to_owned).collect()))
            }
            Self::PerModel | Self::LevelPerModel => Err("is written in the file".to_owned()),
            Self::Packages => Err("is changed by `offshoot install`, `remove` and `config`".to_owned()),
        }
    }

    /// The allowed values, as a phrase.
    #[must_use]
    pub fn wanted(self) -> String {
        match self {
            Self::Flag => "true or false".to_owned(),
            Self::Switch => "true, false or auto".to_owned(),
            Self::Choice(names) => format!("one of {}", names.join(", ")),
            Self::ChoiceOrNo(names) => format!("one of {}, or {NO}", names.join(", ")),
            Self::Number { least, greatest: SAFE.. } => format!("a whole number from {least}"),
            Self::Number { least, greatest } => format!("a whole number from {least} to {greatest}"),
            Self::Text => "a text".to_owned(),
            Self::Texts => "a list of texts".to_owned(),
            Self::PerModel => "an object from provider/id to {reserveTokens, keepRecentTokens}".to_owned(),
            Self::Packages => "a list of sources, or of objects with a source".to_owned(),
            Self::LevelPerModel => "an object from provider/id to a thinking level".to_owned(),
        }
    }
}

fn level_names() -> String {
    ThinkingLevel::ALL.map(ThinkingLevel::as_str).join(", ")
}

fn tokens(json: Json<'_>) -> Result<ModelTokens, String> {
    let mut tokens = ModelTokens::default();
    if json.kind() != JsonKind::Object {
        return Err(format!("should have an object for each model, and has {}", shown(json)));
    }
    for (name, value) in json.members() {
        let number = SettingKind::Number { least: 0, greatest: SAFE }.read(value);
        let number = number.map_err(|why| format!("has a {name} that {why}"))?;
        let Value::Number(number) = number else { continue };
        match &*name {
            "reserveTokens" => tokens.reserve = Some(number),
            "keepRecentTokens" => tokens.keep_recent = Some(number),
            other => return Err(format!("has an unknown member {other:?}: use reserveTokens or keepRecentTokens")),
        }
    }
    Ok(tokens)
}

/// A wrong value, short enough for one line.
fn shown(json: Json<'_>) -> String {
    match json.kind() {
        JsonKind::Object => "an object".to_owned(),
        JsonKind::Array => "a list".to_owned(),
        _ => one_line(json.text(), 40),
    }
}

impl Value {
    #[must_use]
    pub fn json(&self) -> String {
        match self {
            Self::Flag(flag) => flag.to_string(),
            Self::Number(number) => number.to_string(),
            Self::Text(text) => quote(text),
            Self::Texts(texts) => format!("[{}]", texts.iter().map(|text| quote(text)).collect::<Vec<_>>().join(", ")),
            Self::PerModel(models) => {
                let models = models.iter().map(|(name, tokens)| format!("{}: {{{}}}", quote(name), tokens.members()));
                format!("{{{}}}", models.collect::<Vec<_>>().join(", "))
            }
            Self::Packages(entries) => format!("[{}]", entries.join(", ")),
            Self::Levels(models) => {
                let models = models.iter().map(|(name, level)| format!("{}: {}", quote(name), quote(level.as_str())));
                format!("{{{}}}", models.collect::<Vec<_>>().join(", "))
            }
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(flag) => write!(f, "{flag}"),
            Self::Number(number) => write!(f, "{number}"),
            Self::Text(text) => f.write_str(text),
            Self::Texts(texts) if texts.is_empty() => f.write_str("none"),
            Self::Texts(texts) => f.write_str(&texts.join(", ")),
            Self::Packages(entries) => {
                let source = |entry: &String| {
                    let json = Json::parse(entry).ok()?;
                    json.as_str().or_else(|| json.str("source")).map(std::borrow::Cow::into_owned)
                };
                f.write_str(&entries.iter().filter_map(source).collect::<Vec<_>>().join(", "))
            }
            Self::Levels(models) => {
                let shown = models.iter().map(|(name, level)| format!("{name} {}", level.as_str()));
                f.write_str(&shown.collect::<Vec<_>>().join(", "))
            }
            Self::PerModel(models) => {
                f.write_str(&models.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", "))
            }
        }
    }
}

impl ModelTokens {
    fn members(self) -> String {
        let named = [("reserveTokens", self.reserve), ("keepRecentTokens", self.keep_recent)];
        let said = named.iter().filter_map(|(name, tokens)| Some(format!("{}: {}", quote(name), (*tokens)?)));
        said.collect::<Vec<_>>().join(", ")
    }
}
