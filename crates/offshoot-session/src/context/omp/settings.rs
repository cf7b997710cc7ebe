//! What omp derives from a path besides messages.

use std::io::{self, Write};

use crate::entry::{Entry, Source, is_truthy};
use crate::error::Result;
use crate::json::{Json, JsonKind, Object, quote};
use crate::kind::{Kind, Role};
use crate::tree::NodeIx;

/// omp's settings; JSON unless noted, `None` if absent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OmpSettings {
    /// The level as configured, such as `"auto"`.
    pub configured_thinking_level: Option<String>,
    /// By family.
    pub service_tier: Option<String>,
    /// Plain text: role and `provider/id`.
    pub models: Vec<(String, String)>,
    /// The rules injected on the path, in order of first use.
    pub injected_rules: Vec<String>,
    /// `"none"` if no mode was entered, `None` if the last change names none.
    pub mode: Option<String>,
    /// The mode's data.
    pub mode_data: Option<String>,
}

impl OmpSettings {
    pub(crate) fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        let optional = |out: &mut dyn Write, name: &str, value: &Option<String>| match value {
            Some(value) => write!(out, ",\"{name}\":{value}"),
            None => Ok(()),
        };
        optional(out, "configuredThinkingLevel", &self.configured_thinking_level)?;
        optional(out, "serviceTier", &self.service_tier)?;
        let models = self.models.iter().fold(Object::new(), |object, (role, model)| object.str(role, model));
        write!(out, ",\"models\":{},\"injectedTtsrRules\":[{}]", models.finish(), self.injected_rules.join(","))?;
        optional(out, "mode", &self.mode)?;
        optional(out, "modeData", &self.mode_data)
    }
}

/// The thinking level (JSON) and the other settings.
pub(super) fn read(source: &dyn Source, path: &[NodeIx]) -> Result<(String, OmpSettings)> {
    let tree = source.tree();
    let last = |kind: Kind| -> Result<Option<Entry>> {
        let found = path.iter().rev().find(|ix| tree.node(**ix).kind() == kind);
        found.map(|ix| source.entry(*ix)).transpose()
    };
    let member = |entry: &Option<Entry>, name: &str| {
        let value = entry.as_ref().and_then(|entry| entry.get(name)).filter(|value| !value.is_null());
        value.map(|value| value.text().to_owned())
    };
    let thinking = last(Kind::ThinkingLevelChange)?;
    let level = member(&thinking, "thinkingLevel");
    let mode = last(Kind::ModeChange)?;
    let mode_member = |name: &str| mode.as_ref().and_then(|mode| mode.get(name)).map(|value| value.text().to_owned());
    let tier = last(Kind::ServiceTierChange)?;
    let settings = OmpSettings {
        configured_thinking_level: member(&thinking, "configured").or_else(|| level.clone()),
        service_tier: tier.as_ref().and_then(|tier| tier.get("serviceTier")).and_then(service_tier),
        models: models(source, path)?,
        injected_rules: injected_rules(source, path)?,
        mode: if mode.is_some() { mode_member("mode") } else { Some("\"none\"".to_owned()) },
        mode_data: mode_member("data"),
    };
    Ok((level.unwrap_or_else(|| "\"off\"".to_owned()), settings))
}

/// Models by role. The default is the one chosen last, else the last assistant's.
fn models(source: &dyn Source, path: &[NodeIx]) -> Result<Vec<(String, String)>> {
    let tree = source.tree();
    let mut models: Vec<(String, String)> = Vec::new();
    let mut last_assistant = None;
    for ix in path {
        let node = tree.node(*ix);
        if node.kind() == Kind::Message && node.role() == Some(Role::Assistant) {
            last_assistant = Some(*ix);
        }
        if node.kind() == Kind::ModelChange {
            let entry = source.entry(*ix)?;
            let Some(model) = entry.get("model").filter(|model| is_truthy(*model)) else { continue };
            let role = entry.str("role").unwrap_or("default".into()).into_owned();
            let model = plain(model);
            match models.iter_mut().find(|(known, _)| *known == role) {
                Some((_, known)) => *known = model,
                None => models.push((role, model)),
            }
        }
    }
    if let Some(ix) = last_assistant.filter(|_| !models.iter().any(|(role, _)| role == "default")) {
        let entry = source.entry(ix)?;
        let member =
            |name: &str| entry.message().and_then(|message| message.get(name)).map_or("undefined".to_owned(), plain);
        models.insert(0, ("default".to_owned(), format!("{}/{}", member("provider"), member("model"))));
    }
    Ok(models)
}

/// A value as JavaScript converts it to text.
fn plain(value: Json<'_>) -> String {
    value.as_str().map_or_else(|| value.text().to_owned(), std::borrow::Cow::into_owned)
}

fn injected_rules(source: &dyn Source, path: &[NodeIx]) -> Result<Vec<String>> {
    let mut rules: Vec<String> = Vec::new();
    for ix in path.iter().filter(|ix| source.tree().node(**ix).kind() == Kind::TtsrInjection) {
        let entry = source.entry(*ix)?;
        for rule in entry.get("injectedRules").map(Json::items).into_iter().flatten() {
            if !rules.iter().any(|known| known == rule.text()) {
                rules.push(rule.text().to_owned());
            }
        }
    }
    Ok(rules)
}

const FAMILIES: [&str; 3] = ["openai", "anthropic", "google"];
const TIERS: [&str; 5] = ["auto", "default", "flex", "scale", "priority"];

/// A service tier as an object by family. Old files have one word.
fn service_tier(value: Json<'_>) -> Option<String> {
    let entries: Vec<(&str, String)> = match value.kind() {
        JsonKind::Object => FAMILIES
            .iter()
            .filter_map(|family| {
                let tier = value.str(family).filter(|tier| TIERS.contains(&tier.as_ref()))?;
                Some((*family, tier.into_owned()))
            })
            .collect(),
        JsonKind::String => {
            let word = value.as_str()?.into_owned();
            match word.as_str() {
                "priority" => FAMILIES.iter().map(|family| (*family, word.clone())).collect(),
                "openai-only" => vec![("openai", "priority".to_owned())],
                "claude-only" => vec![("anthropic", "priority".to_owned())],
                tier if TIERS.contains(&tier) => vec![("openai", word.clone())],
                _ => Vec::new(),
            }
        }
        _ => Vec::new(),
    };
    let object = entries.iter().fold(Object::new(), |object, (family, tier)| object.raw(family, quote(tier)));
    (!entries.is_empty()).then(|| object.finish())
}
