//! What makes a rule stop the model's answer: patterns over what it writes, and where they are looked for. As in oh-my-pi 18.2.3,
//! whose name for it is TTSR. Reads no file and stops nothing.

use std::fmt;

use fancy_regex::{Regex, RegexBuilder};
use globset::{GlobBuilder, GlobMatcher};

use super::front_matter::FrontMatter;

/// A pattern that tries more is taken for one that does not fit.
const MOST_STEPS: usize = 200_000;
/// Tools that write files.
pub const WRITING_TOOLS: [&str; 2] = ["edit", "write"];

/// Which part of an answer is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say what they are")]
pub enum StreamPart<'a> {
    Text,
    Thinking,
    /// The arguments of a call.
    Call {
        tool: &'a str,
        paths: &'a [String],
    },
}

/// What a rule that fits does to the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Interruption {
    /// Texts and calls are stopped.
    #[default]
    Always,
    /// Only texts and thinking are.
    ProseOnly,
    /// Only calls are.
    ToolOnly,
    /// Nothing is: the model has the rule with the result of the call, or after the answer.
    Never,
}

impl Interruption {
    /// Whether an answer is stopped at this part.
    #[must_use]
    pub fn stops(self, part: StreamPart<'_>) -> bool {
        let is_call = matches!(part, StreamPart::Call { .. });
        match self {
            Self::Always => true,
            Self::ProseOnly => !is_call,
            Self::ToolOnly => is_call,
            Self::Never => false,
        }
    }

    /// By oh-my-pi's word.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "always" => Some(Self::Always),
            "prose-only" => Some(Self::ProseOnly),
            "tool-only" => Some(Self::ToolOnly),
            "never" => Some(Self::Never),
            _ => None,
        }
    }
}

/// Calls of a tool, or of any, whose paths fit.
#[derive(Clone)]
struct ToolScope {
    tool: Option<String>,
    path: Option<GlobMatcher>,
}

/// When a rule fits an answer.
#[derive(Clone)]
pub struct RuleTrigger {
    conditions: Vec<Regex>,
    text: bool,
    thinking: bool,
    any_tool: bool,
    tools: Vec<ToolScope>,
    globs: Vec<GlobMatcher>,
    /// What happens then.
    pub interruption: Interruption,
}

impl fmt::Debug for RuleTrigger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.conditions.iter().map(Regex::as_str)).finish()
    }
}

impl RuleTrigger {
    /// Of a rule's fields; `None` if no pattern is among them that can be used. `usual` is for a rule that does not say what it
    /// interrupts.
    pub(super) fn of(fields: &FrontMatter, usual: Interruption, odd: &mut dyn FnMut(String)) -> Option<Self> {
        let named = ["condition", "ttsr_trigger", "ttsrTrigger"].map(|name| fields.texts(name));
        let patterns = named.into_iter().find(|texts| !texts.is_empty()).unwrap_or_default();
        let mut scope: Vec<String> = fields.texts("scope").iter().flat_map(|text| split_tokens(text)).collect();
        let (files, patterns): (Vec<_>, Vec<_>) = patterns.into_iter().partition(|text| is_likely_glob(text));
        scope.extend(files.iter().flat_map(|glob| WRITING_TOOLS.map(|tool| format!("tool:{tool}({glob})"))));
        let patterns = if patterns.is_empty() && !files.is_empty() { vec![".*".to_owned()] } else { patterns };
        let conditions: Vec<Regex> = patterns.iter().filter_map(|pattern| compiled(pattern, odd)).collect();
        if conditions.is_empty() {
            return None;
        }
        let globs = fields.texts("globs").iter().filter_map(|glob| matcher(glob, odd)).collect();
        let interruption = fields.text("interruptMode").and_then(Interruption::parse).unwrap_or(usual);
        let everywhere = scope.is_empty();
        let mut trigger = Self {
            conditions,
            text: everywhere,
            thinking: false,
            any_tool: everywhere,
            tools: Vec::new(),
            globs,
            interruption,
        };
        scope.iter().for_each(|token| trigger.add_scope(token, odd));
        let is_reachable = trigger.text || trigger.thinking || trigger.any_tool || !trigger.tools.is_empty();
        is_reachable.then_some(trigger)
    }

    fn add_scope(&mut self, token: &str, odd: &mut dyn FnMut(String)) {
        match token.to_lowercase().as_str() {
            "text" => self.text = true,
            "thinking" => self.thinking = true,
            "tool" | "toolcall" => self.any_tool = true,
            _ => match tool_scope(token, odd) {
                Some(ToolScope { tool: None, path: None }) => self.any_tool = true,
                Some(scope) => self.tools.push(scope),
                None => odd(format!("the scope `{token}` is not used: it names no part of an answer")),
            },
        }
    }

    /// Whether what was written so far fits.
    #[must_use]
    pub fn fits(&self, part: StreamPart<'_>, written: &str) -> bool {
        let is_in_scope = match part {
            StreamPart::Text => self.text,
            StreamPart::Thinking => self.thinking,
            StreamPart::Call { tool, paths } => {
                let fits = |scope: &ToolScope| {
                    scope.tool.as_ref().is_none_or(|name| name.eq_ignore_ascii_case(tool))
                        && scope.path.as_ref().is_none_or(|glob| fits_any(glob, paths))
                };
                self.any_tool || self.tools.iter().any(fits)
            }
        };
        let paths = match part {
            StreamPart::Call { paths, .. } => paths,
            StreamPart::Text | StreamPart::Thinking => &[],
        };
        let is_of_file = self.globs.is_empty() || self.globs.iter().any(|glob| fits_any(glob, paths));
        is_in_scope
            && is_of_file
            && self.conditions.iter().any(|condition| condition.is_match(written).unwrap_or(false))
    }
}

fn fits_any(glob: &GlobMatcher, paths: &[String]) -> bool {
    paths.iter().map(|path| path.replace('\\', "/")).any(|path| {
        let name = path.rsplit('/').next().unwrap_or_default();
        glob.is_match(&path) || glob.is_match(name)
    })
}

/// `tool`, `tool:edit`, `edit`, each with a glob of paths in brackets or without.
fn tool_scope(token: &str, odd: &mut dyn FnMut(String)) -> Option<ToolScope> {
    let (name, path) = match token.split_once('(') {
        Some((name, rest)) => (name, Some(rest.strip_suffix(')').filter(|path| !path.is_empty())?)),
        None => (token, None),
    };
    let is_name =
        |name: &str| !name.is_empty() && name.chars().all(|at| at.is_ascii_alphanumeric() || matches!(at, '_' | '-'));
    let lower = name.to_lowercase();
    let tool = match lower.strip_prefix("tool:") {
        Some(tool) => Some(tool),
        None if lower == "tool" => None,
        None => Some(lower.as_str()),
    };
    if tool.is_some_and(|tool| !is_name(tool)) {
        return None;
    }
    let path = match path {
        Some(path) => Some(matcher(path.trim(), odd)?),
        None => None,
    };
    Some(ToolScope { tool: tool.map(str::to_owned), path })
}

fn matcher(glob: &str, odd: &mut dyn FnMut(String)) -> Option<GlobMatcher> {
    match GlobBuilder::new(glob).literal_separator(true).build() {
        Ok(glob) => Some(glob.compile_matcher()),
        Err(error) => {
            odd(format!("the pattern of files `{glob}` is not used: {}", error.kind()));
            None
        }
    }
}

fn compiled(pattern: &str, odd: &mut dyn FnMut(String)) -> Option<Regex> {
    match RegexBuilder::new(pattern).backtrack_limit(MOST_STEPS).delegate_size_limit(1 << 20).build() {
        Ok(regex) => Some(regex),
        Err(error) => {
            odd(format!("the condition `{pattern}` is not used: {error}"));
            None
        }
    }
}

/// A condition that is a pattern of files, such as `*.rs`.
fn is_likely_glob(text: &str) -> bool {
    let has = |signs: &[char]| text.contains(signs);
    let is_ending =
        || text.strip_prefix("*.").is_some_and(|rest| !rest.is_empty() && !rest.contains(char::is_whitespace));
    !has(&['\\', '^', '$', '+', '|', '(', ')'])
        && has(&['?', '*', '[', ']', '{', '}'])
        && (text.contains('/') || is_ending())
}

/// Parts a text at commas that are not within brackets or quotes; quotes around a part go.
pub(super) fn split_tokens(text: &str) -> Vec<String> {
    let (mut tokens, mut token) = (Vec::new(), String::new());
    let (mut depth, mut quote) = (0_usize, None::<char>);
    for sign in text.chars() {
        match (quote, sign) {
            (Some(open), _) if sign == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(sign),
            (None, '(' | '[' | '{') => depth += 1,
            (None, ')' | ']' | '}') => depth = depth.saturating_sub(1),
            (None, ',') if depth == 0 => {
                tokens.push(std::mem::take(&mut token));
                continue;
            }
            (None, _) => {}
        }
        token.push(sign);
    }
    tokens.push(token);
    let unquoted = |token: String| {
        let token = token.trim();
        let bare = ['"', '\''].iter().find_map(|sign| token.strip_prefix(*sign)?.strip_suffix(*sign));
        bare.unwrap_or(token).trim().to_owned()
    };
    tokens.into_iter().map(unquoted).filter(|token| !token.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::super::front_matter::parse_lines;
    use super::*;

    fn trigger(fields: &str) -> (Option<RuleTrigger>, Vec<String>) {
        let mut odd = Vec::new();
        let trigger =
            RuleTrigger::of(&parse_lines(&format!("---\n{fields}\n---\nx")), Interruption::Always, &mut |why| {
                odd.push(why);
            });
        (trigger, odd)
    }

    #[test]
    fn scopes_and_patterns_are_those_of_omp() {
        let edit = |path: &str| [path.to_owned(), format!("/w/{path}")];
        let (rs, ts) = (edit("src/a.rs"), edit("src/a.ts"));
        let call = |tool, paths| StreamPart::Call { tool, paths };
        for (fields, part, written, fits) in [
            ("condition: foo", StreamPart::Text, "a foo", true),
            ("condition: foo", StreamPart::Thinking, "a foo", false),
            ("condition: foo", call("bash", &[][..]), "foo", true),
            ("condition: foo\nscope: text", call("bash", &[]), "foo", false),
            ("condition: foo\nscope: text, thinking", StreamPart::Thinking, "foo", true),
            ("condition: foo\nscope: \"tool:edit(*.rs)\"", call("edit", &rs), "foo", true),
            ("condition: foo\nscope: \"tool:edit(*.rs)\"", call("edit", &ts), "foo", false),
            ("condition: foo\nscope: \"tool:edit(*.rs)\"", call("write", &rs), "foo", false),
            ("condition: \"*.rs\"", call("write", &rs), "anything", true),
            ("condition: \"*.rs\"", StreamPart::Text, "a.rs", false),
            ("condition: foo\nglobs: [\"**/*.ts\"]", call("edit", &ts), "foo", true),
            ("condition: foo\nglobs: [\"**/*.ts\"]", StreamPart::Text, "foo", false),
            ("condition: \"(?i)FOO\"", StreamPart::Text, "Foo", true),
            ("condition: \"foo(?!bar)\"", StreamPart::Text, "foobar", false),
            ("ttsr_trigger: [zzz, foo]", StreamPart::Text, "foo", true),
            ("condition: foo\nscope: \"bash\"", call("bash", &[]), "foo", true),
        ] {
            assert_eq!(trigger(fields).0.unwrap().fits(part, written), fits, "{fields} {part:?}");
        }
    }

    #[test]
    fn what_cannot_be_used_is_reported() {
        assert!(trigger("condition: \"(\"").1[0].starts_with("the condition `(` is not used"));
        assert!(trigger("condition: foo\nscope: \"a b\"").1[0].contains("names no part"));
        assert!(trigger("description: x").0.is_none());
    }

    /// A pattern that tries for ever is stopped.
    #[test]
    fn a_hostile_pattern_ends() {
        let slow = trigger("condition: \"(?=(a+)+$)(a+)+\\\\1b\"").0.unwrap();
        assert!(!slow.fits(StreamPart::Text, &"a".repeat(5_000)));
    }
}
