//! What one settings file sets, what in it cannot be used, and which of two files wins. Reads text, not files.

use offshoot_protocol::Peer;
use offshoot_session::json::{Json, JsonKind};

use crate::comments::blanked;
use crate::diagnostic::{ConfigDiagnostic, TextPosition};
use crate::nearest::nearest;
use crate::of_pi::{OF_PI, SILENT, in_pi_words, is_taken_from_pi};
use crate::setting::{InProjects, Scope, Setting};
use crate::table::{SETTINGS, find};
use crate::value::Value;

/// The settings of one file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Layer {
    values: Vec<(&'static str, Value, TextPosition)>,
}

/// The text is not a JSON object.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {what}")]
pub struct UnreadableSettings {
    pub place: TextPosition,
    pub what: String,
}

impl Layer {
    /// Reads a file's text. An empty text sets nothing.
    ///
    /// # Errors
    /// The text is not a JSON object.
    pub fn read(text: &str, scope: Scope) -> Result<(Self, Vec<ConfigDiagnostic>), UnreadableSettings> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let plain = blanked(text);
        let mut reader = LayerReader { text, plain: &plain, scope, layer: Self::default(), diagnostics: Vec::new() };
        if let Some(json) = object(text, &plain)? {
            reader.object("", json);
        }
        Ok((reader.layer, reader.diagnostics))
    }

    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.last(key).map(|(_, value, _)| value)
    }

    #[must_use]
    pub fn position(&self, key: &str) -> Option<TextPosition> {
        self.last(key).map(|(_, _, place)| *place)
    }

    /// The settings of the file, each once.
    #[must_use]
    pub fn keys(&self) -> Vec<&'static str> {
        let keys: std::collections::BTreeSet<_> = self.values.iter().map(|(key, ..)| *key).collect();
        keys.into_iter().collect()
    }

    /// Sets a value that was read from this place.
    pub(crate) fn set(&mut self, key: &'static str, value: Value, place: TextPosition) {
        self.values.push((key, value, place));
    }

    fn last(&self, key: &str) -> Option<&(&'static str, Value, TextPosition)> {
        self.values.iter().rev().find(|(known, ..)| *known == key)
    }
}

/// Where a value comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingOrigin {
    Default,
    File(Scope),
    /// A peer's own settings file.
    Peer(Peer),
}

/// A peer's own settings, which count only where the user's file says nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PeerLayer {
    pub peer: Peer,
    pub scope: Scope,
    pub layer: Layer,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Layers {
    pub global: Layer,
    pub project: Layer,
    /// The peers' own settings, in the order of precedence. Of pi's only what [`is_taken_from_pi`] says.
    pub peers: Vec<PeerLayer>,
}

impl Layers {
    /// The value in effect and its origin. `None`: no file sets it, and offshoot decides.
    #[must_use]
    pub fn value(&self, setting: &Setting) -> (Option<Value>, SettingOrigin) {
        let of =
            |scope| self.layer(scope).get(setting.key).map(|value| (Some(value.clone()), SettingOrigin::File(scope)));
        let of_peer = |PeerLayer { peer, layer, .. }: &PeerLayer| {
            let is_taken = *peer != Peer::Pi || is_taken_from_pi(setting.key);
            let value = layer.get(setting.key).filter(|_| is_taken)?;
            Some((Some(value.clone()), SettingOrigin::Peer(*peer)))
        };
        let peers = || self.peers.iter().find_map(of_peer);
        let users = of(Scope::Global).or_else(peers).unwrap_or_else(|| (setting.default(), SettingOrigin::Default));
        let Some(projects) = of(Scope::Project) else { return users };
        let strictness = |value: &Option<Value>| value.as_ref().map_or(0, |value| setting.strictness(value));
        let is_used = setting.in_projects == InProjects::Set || strictness(&projects.0) > strictness(&users.0);
        if is_used { projects } else { users }
    }

    #[must_use]
    pub fn layer(&self, scope: Scope) -> &Layer {
        match scope {
            Scope::Global => &self.global,
            Scope::Project => &self.project,
        }
    }
}

/// The object in `plain`, the text with its comments blanked; `None` if that is empty.
pub(crate) fn object<'a>(text: &str, plain: &'a str) -> Result<Option<Json<'a>>, UnreadableSettings> {
    if plain.trim().is_empty() {
        return Ok(None);
    }
    match Json::parse(plain) {
        Ok(json) if json.kind() == JsonKind::Object => Ok(Some(json)),
        Ok(json) => {
            let what = "settings are an object, such as {\"theme\": \"dark\"}".to_owned();
            Err(UnreadableSettings { place: position_of(text, plain, json), what })
        }
        Err(error) => {
            let what = format!("expected {} for JSON", error.expected);
            Err(UnreadableSettings { place: TextPosition::at(text, error.at), what })
        }
    }
}

/// The position of a value. Offsets are the same in `text` and `plain`.
fn position_of(text: &str, plain: &str, json: Json<'_>) -> TextPosition {
    TextPosition::at(text, (json.text().as_ptr() as usize).saturating_sub(plain.as_ptr() as usize))
}

struct LayerReader<'a> {
    text: &'a str,
    /// `text` with its comments blanked.
    plain: &'a str,
    scope: Scope,
    layer: Layer,
    diagnostics: Vec<ConfigDiagnostic>,
}

impl LayerReader<'_> {
    fn warn(&mut self, at: Json<'_>, what: String) {
        self.diagnostics.push(ConfigDiagnostic { place: self.position(at), what });
    }

    fn position(&self, at: Json<'_>) -> TextPosition {
        position_of(self.text, self.plain, at)
    }

    /// Reads an object's members; `prefix` is its name and a dot, or empty. Settings are nested at most three deep.
    fn object(&mut self, prefix: &str, json: Json<'_>) {
        for (name, value) in json.members() {
            let key = format!("{prefix}{name}");
            let is_object = SETTINGS
                .iter()
                .any(|setting| setting.key.strip_prefix(&*key).is_some_and(|rest| rest.starts_with('.')));
            if let Some(setting) = find(&key) {
                let in_pi_words = value.as_str().and_then(|word| in_pi_words(&key, &word));
                match in_pi_words.map_or_else(|| setting.kind.read(value), Ok) {
                    _ if !setting.may_stand_in(self.scope) => {
                        self.warn(value, format!("{key} works only in the user's settings, not in a project's"));
                    }
                    Ok(read) if setting.is_too_loose(self.scope, &read) => {
                        self.warn(value, format!("{key}: a project may only make it stricter"));
                    }
                    Ok(read) => {
                        let place = self.position(value);
                        self.layer.set(setting.key, read, place);
                    }
                    Err(why) => self.warn(value, format!("{key} {why}")),
                }
            } else if is_object && value.kind() == JsonKind::Object && !name.contains('.') {
                self.object(&format!("{key}."), value);
            } else if is_object {
                self.warn(value, format!("{key} should be an object"));
            } else if SILENT.contains(&key.as_str()) {
                // Harmless: pi uses it.
            } else if OF_PI.contains(&key.as_str()) {
                self.warn(value, format!("{key} is a pi setting that offshoot does not use"));
            } else {
                let meant = nearest(&key, SETTINGS.iter().map(|setting| setting.key));
                let meant = meant.map_or_else(String::new, |name| format!(": did you mean {name}?"));
                self.warn(value, format!("there is no setting {key:?}{meant}"));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str, scope: Scope) -> String {
        match Layer::read(text, scope) {
            Ok((_, diagnostics)) => diagnostics.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"),
            Err(error) => format!("error: {error}"),
        }
    }

    #[test]
    fn settings_without_effect_are_reported_with_their_position() {
        let text = r#"{
  "them": "dark",
  "compaction": {"enabled": "yes", "reserveTokns": 5},
  "retry": false,
  "retry.enabled": true,
  "steeringMode": "al",
  "autocompleteMaxVisible": 21,
  "defaultTools": ["read", 7],
  "transport": "http://x", "tuiMode": "fullscreen", "terminal": {"clearOnShrink": 1, "trueColor": 1},
  "shellPath": "./evil",
  "compaction": {"modelOverrides": {"p/m": {"keep": 1}}}
}"#;
        insta::assert_snapshot!(said(text, Scope::Project), @r#"
        2:11: there is no setting "them": did you mean theme?
        3:29: compaction.enabled should be true or false, and is "yes"
        3:52: there is no setting "compaction.reserveTokns": did you mean compaction.reserveTokens?
        4:12: retry should be an object
        6:19: steeringMode should be one of one-at-a-time, all, and is "al": did you mean all?
        7:29: autocompleteMaxVisible should be a whole number from 3 to 20, and is 21
        8:19: defaultTools should be a list of texts, and is a list
        9:16: transport is a pi setting that offshoot does not use
        9:99: terminal.trueColor should be true, false or auto, and is 1
        10:16: shellPath works only in the user's settings, not in a project's
        11:36: compaction.modelOverrides has an unknown member "keep": use reserveTokens or keepRecentTokens
        "#);
        let (layer, _) = Layer::read(text, Scope::Project).unwrap();
        assert_eq!(layer.get("shellPath"), None);
        let (layer, _) = Layer::read(text, Scope::Global).unwrap();
        assert_eq!(layer.get("shellPath"), Some(&Value::Text("./evil".to_owned())));
    }

    #[test]
    fn a_text_that_is_not_an_object_is_an_error() {
        insta::assert_snapshot!(said("{\n  \"theme\": dark\n}", Scope::Global), @"error: 2:12: expected a value for JSON");
        insta::assert_snapshot!(said("[]", Scope::Global), @r#"error: 1:1: settings are an object, such as {"theme": "dark"}"#);
        assert_eq!(said("  \n", Scope::Global), "");
        assert_eq!(said("\u{feff}{}", Scope::Global), "");
    }

    #[test]
    fn comments_are_ignored() {
        let text = "// mine\n{\n  /* é */ \"them\": 1, // no\n  \"theme\": \"a//b\"\n}";
        assert_eq!(said(text, Scope::Global), "3:19: there is no setting \"them\": did you mean theme?");
        let (layer, _) = Layer::read(text, Scope::Global).unwrap();
        assert_eq!(layer.get("theme"), Some(&Value::Text("a//b".to_owned())));
        assert_eq!(layer.position("theme"), Some(TextPosition { line: 4, column: 12 }));
        assert_eq!(said("// nothing\n", Scope::Global), "");
    }

    #[test]
    fn the_last_of_two_equal_names_wins() {
        let (layer, _) = Layer::read(r#"{"theme":"a","theme":"b"}"#, Scope::Global).unwrap();
        assert_eq!(layer.get("theme"), Some(&Value::Text("b".to_owned())));
    }

    proptest::proptest! {
        #[test]
        fn no_file_panics(text in "(\\{|\\}|\\[|\\]|:|,|\"|theme|retry|enabled|true|1|\\PC){0,20}") {
            drop(Layer::read(&text, Scope::Project));
        }
    }
}
