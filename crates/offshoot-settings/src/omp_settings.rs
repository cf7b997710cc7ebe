//! The settings of oh-my-pi's own file: the values that they have here, and what becomes of each. Reads JSON text, not files.

use offshoot_protocol::ThinkingLevel;
use offshoot_session::json::{Json, JsonKind};

use crate::diagnostic::TextPosition;
use crate::layer::Layer;
use crate::of_omp::{CALLS, DISABLED, FROM_OMP, LOOKS, Reading, in_own_words, theme_of};
use crate::peer_settings::PeerSettingUse;
use crate::setting::{Scope, Setting};
use crate::table::find;
use crate::value::Value;

/// What oh-my-pi's own file sets here, and what becomes of each setting in it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct OmpConfig {
    pub layer: Layer,
    pub uses: Vec<(String, PeerSettingUse)>,
}

/// Reads the file, which was converted to JSON. Of a project's file only what a project may set counts, and no list of skills.
/// `has_theme` says whether a theme of a name is there: those that oh-my-pi brings are not.
#[must_use]
pub fn omp_settings(json: &str, scope: Scope, has_theme: &dyn Fn(&str) -> bool) -> OmpConfig {
    let Ok(json_value) = Json::parse(json) else { return OmpConfig::default() };
    let mut reader = OmpReader {
        text: json,
        scope,
        has_theme,
        found: OmpConfig::default(),
        lists: Vec::new(),
        themes: [None, None],
    };
    reader.group("", json_value);
    reader.finish()
}

struct OmpReader<'a> {
    text: &'a str,
    scope: Scope,
    has_theme: &'a dyn Fn(&str) -> bool,
    found: OmpConfig,
    /// Lists that several settings add to.
    lists: Vec<(&'static str, Vec<String>)>,
    /// The light one and the dark one.
    themes: [Option<String>; 2],
}

impl OmpReader<'_> {
    /// Reads an object's members; `prefix` is its name and a dot, or empty. A group of which nothing counts is one name.
    fn group(&mut self, prefix: &str, json: Json<'_>) {
        for (name, value) in json.members() {
            let key = format!("{prefix}{name}");
            let has_members = FROM_OMP
                .iter()
                .any(|(theirs, ..)| theirs.strip_prefix(&*key).is_some_and(|rest| rest.starts_with('.')));
            if has_members && value.kind() == JsonKind::Object && !name.contains('.') {
                self.group(&format!("{key}."), value);
                continue;
            }
            let becomes = match FROM_OMP.iter().find(|(theirs, ..)| *theirs == key) {
                Some((_, own, reading)) => self.take(own, *reading, value),
                None => becomes(&key),
            };
            self.found.uses.push((key, becomes));
        }
    }

    fn take(&mut self, own: &'static str, reading: Reading, value: Json<'_>) -> PeerSettingUse {
        let read = match find(own) {
            Some(setting) if !setting.may_stand_in(self.scope) => return PeerSettingUse::IsAboutPeer,
            Some(setting) => self.read(setting, reading, value),
            None => self.without(value).map(|()| None),
        };
        match read {
            Ok(Some((own, Value::Texts(texts))))
                if matches!(own, "skills" | "prompts" | "extensions" | "ttsr.disabledRules") =>
            {
                self.list(own, texts);
            }
            Ok(Some((own, value_read))) => self.found.layer.set(own, value_read, self.place(value)),
            Ok(None) => {}
            Err(why) => return PeerSettingUse::DoesNotFit(why),
        }
        PeerSettingUse::Counts
    }

    /// A value in offshoot's words, with its name here; `None` sets nothing.
    fn read(
        &mut self,
        setting: &'static Setting,
        reading: Reading,
        value: Json<'_>,
    ) -> Result<Option<(&'static str, Value)>, String> {
        let key = setting.key;
        let some = |value: Value| Ok(Some((key, value)));
        let text = || value.as_str().ok_or_else(|| "should be a text".to_owned());
        match reading {
            Reading::Same => setting.kind.read(value).and_then(some),
            Reading::Opposite => value
                .as_bool()
                .map_or_else(|| Err("should be true or false".to_owned()), |flag| some(Value::Flag(!flag))),
            Reading::Seconds => match value.as_f64() {
                Some(seconds) if seconds < 0.0 => Ok(None),
                Some(seconds) => setting.kind.parse(&format!("{:.0}", seconds * 1000.0)).and_then(some),
                None => Err("should be a number of seconds".to_owned()),
            },
            Reading::Words(words) => match in_own_words(words, &text()?) {
                Some(word) => setting.kind.parse(&word).and_then(some),
                None => Ok(None),
            },
            Reading::Model => {
                let name = text()?;
                let first = name.split(',').next().unwrap_or_default().trim();
                let (name, level) = match first.rsplit_once(':') {
                    Some((name, "auto")) => (name, None),
                    Some((name, level)) if ThinkingLevel::parse(level).is_some() => (name, Some(level.to_owned())),
                    _ => (first, None),
                };
                let place = self.place(value);
                let (provider, name) =
                    name.split_once('/').map_or((None, name), |(provider, name)| (Some(provider), name));
                for (key, text) in [("defaultProvider", provider.map(str::to_owned)), ("defaultThinkingLevel", level)] {
                    text.into_iter().for_each(|text| self.found.layer.set(key, Value::Text(text), place));
                }
                setting.kind.parse(name).and_then(some)
            }
            Reading::LightTheme | Reading::DarkTheme => {
                let name = text()?.into_owned();
                if !(self.has_theme)(&name) {
                    return Err(format!("names the theme {name}, which is not here"));
                }
                self.themes[usize::from(reading == Reading::DarkTheme)] = Some(name);
                Ok(None)
            }
            Reading::Without => {
                let names = setting.kind.read(value)?;
                let Value::Texts(names) = names else { return Ok(None) };
                some(Value::Texts(names.iter().map(|name| format!("!{name}")).collect()))
            }
        }
    }

    /// Names of single things that do not count, each with its kind.
    fn without(&mut self, value: Json<'_>) -> Result<(), String> {
        let mut unknown = Vec::new();
        for item in value.items() {
            let id = item.as_str().unwrap_or_default().into_owned();
            let (kind, name) = id.split_once(':').unwrap_or(("", &id));
            match DISABLED.iter().find(|(known, ..)| *known == kind) {
                Some((_, own @ "ttsr.disabledRules", _)) => self.list(own, vec![name.to_owned()]),
                Some((_, own, end)) => self.list(own, vec![format!("!{name}{end}")]),
                None => unknown.push(id),
            }
        }
        if unknown.is_empty() { Ok(()) } else { Err(format!("has no effect for {}", unknown.join(", "))) }
    }

    fn list(&mut self, own: &'static str, texts: Vec<String>) {
        match self.lists.iter_mut().find(|(known, _)| *known == own) {
            Some((_, known)) => known.extend(texts),
            None => self.lists.push((own, texts)),
        }
    }

    fn place(&self, json: Json<'_>) -> TextPosition {
        TextPosition::of(self.text, json.text())
    }

    fn finish(mut self) -> OmpConfig {
        let start = TextPosition { line: 1, column: 1 };
        let [light, dark] = &self.themes;
        let theme = theme_of(light.as_deref(), dark.as_deref());
        theme.into_iter().for_each(|theme| self.found.layer.set("theme", Value::Text(theme), start));
        for (own, texts) in self.lists {
            if self.scope == Scope::Global || own == "extensions" {
                self.found.layer.set(own, Value::Texts(texts), start);
            }
        }
        self.found
    }
}

fn becomes(key: &str) -> PeerSettingUse {
    let group = key.split('.').next().unwrap_or_default();
    match key {
        "shellPath" => PeerSettingUse::NamesProgram,
        _ if CALLS.contains(&key) || CALLS.contains(&group) => PeerSettingUse::GivesTrust,
        _ if LOOKS.contains(&key) || LOOKS.contains(&group) => PeerSettingUse::IsAboutPeer,
        _ => PeerSettingUse::IsMissing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(json: &str, scope: Scope) -> (Vec<String>, String) {
        let found = omp_settings(json, scope, &|name| name == "night");
        let values = found.layer.keys().into_iter().map(|key| format!("{key}={}", found.layer.get(key).unwrap()));
        let uses = found.uses.iter().map(|(key, becomes)| format!("{key} {becomes:?}"));
        (values.collect(), uses.collect::<Vec<_>>().join("\n"))
    }

    #[test]
    fn settings_have_the_names_and_the_words_that_they_have_here() {
        let json = r#"{"modelRoles": {"default": "anthropic/claude:high", "smol": "x"}, "defaultThinkingLevel": "auto",
            "theme": {"dark": "night", "light": "paper"}, "startup": {"quiet": true, "showSplash": false},
            "doubleEscapeAction": "rewind", "branchSummary": {"enabled": true}, "completion": {"notify": "off"},
            "providers": {"cacheRetention": "auto", "streamIdleTimeoutSeconds": 90, "fetch": "jina"},
            "retry": {"maxDelayMs": 5, "modelFallback": true}, "tools": {"approvalMode": "write", "approval": {"bash": "deny"}},
            "skills": {"ignoredSkills": ["old*"], "customDirectories": ["~/s"]}, "autocompleteMaxVisible": 99,
            "disabledExtensions": ["skill:a", "extension-module:b", "prompt:c", "rule:r", "mcp:d"], "extensions": ["~/e.ts"],
            "ttsr": {"interruptMode": "never", "disabledRules": ["s"], "repeatGap": 3}, "shellPath": "/bin/evil", "statusLine": {"preset": "full"}, "compaction": {"methodOrder": []}}"#;
        let (values, uses) = said(json, Scope::Global);
        insta::assert_snapshot!(values.join("\n"), @"
        approval=edits
        branchSummary.skipPrompt=false
        defaultModel=claude
        defaultProvider=anthropic
        defaultThinkingLevel=high
        doubleEscapeAction=tree
        extensions=!b, ~/e.ts
        httpIdleTimeoutMs=90000
        prompts=!c.md
        quietStartup=true
        retry.provider.maxRetryDelayMs=5
        skills=!old*, ~/s, !a
        terminal.notifications=off
        theme=light/night
        ttsr.disabledRules=r, s
        ttsr.interruptMode=never
        ");
        insta::assert_snapshot!(uses, @r#"
        modelRoles.default Counts
        modelRoles.smol IsMissing
        defaultThinkingLevel Counts
        theme.dark Counts
        theme.light DoesNotFit("names the theme paper, which is not here")
        startup.quiet Counts
        startup.showSplash IsAboutPeer
        doubleEscapeAction Counts
        branchSummary.enabled Counts
        completion.notify Counts
        providers.cacheRetention Counts
        providers.streamIdleTimeoutSeconds Counts
        providers.fetch IsMissing
        retry.maxDelayMs Counts
        retry.modelFallback IsMissing
        tools.approvalMode Counts
        tools.approval GivesTrust
        skills.ignoredSkills Counts
        skills.customDirectories Counts
        autocompleteMaxVisible DoesNotFit("should be a whole number from 3 to 20, and is 99")
        disabledExtensions DoesNotFit("has no effect for mcp:d")
        extensions Counts
        ttsr.interruptMode Counts
        ttsr.disabledRules Counts
        ttsr.repeatGap IsMissing
        shellPath NamesProgram
        statusLine IsAboutPeer
        compaction.methodOrder IsMissing
        "#);
        let (values, _) = said(json, Scope::Project);
        assert!(
            !values
                .iter()
                .any(|value| value.starts_with("approval") || value.starts_with("skills") || value.starts_with("http")),
            "{values:?}"
        );
    }

    #[test]
    fn no_text_panics_or_sets_what_does_not_fit() {
        for json in [
            "",
            "null",
            "[1]",
            "{",
            r#"{"theme": 1, "modelRoles": {"default": 7}, "extensions": "x", "retry": {"enabled": "x"}}"#,
        ] {
            assert_eq!(omp_settings(json, Scope::Global, &|_| true).layer, Layer::default(), "{json}");
        }
    }
}
