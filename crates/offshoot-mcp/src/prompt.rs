//! Prompts of servers, which a person calls as commands: their names, the arguments in a typed line, and a result as the text of one
//! prompt. Asks no server.

use std::collections::BTreeMap;

use offshoot_session::text::{clean_lines, one_line};
use serde_json::{Map, Value};

/// More of a server's prompts are not offered.
const MOST_PROMPTS: usize = 200;
const MOST_ARGUMENTS: usize = 20;
const LONGEST_NAME: usize = 200;
const LONGEST_DESCRIPTION: usize = 500;
/// A longer prompt is refused.
const LONGEST_TEXT: usize = 256 << 10;

/// A prompt of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PromptDefinition {
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) arguments: Vec<PromptArgument>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PromptArgument {
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) is_required: bool,
}

impl PromptDefinition {
    /// Those of a list. A prompt whose name is no word of a command is left out.
    pub(crate) fn all(listed: &[Value]) -> Vec<Self> {
        let is_name = |name: &str| {
            !name.is_empty()
                && name.len() <= LONGEST_NAME
                && !name.contains(|at: char| at.is_whitespace() || at.is_control())
        };
        let argument = |value: &Value| {
            Some(PromptArgument {
                name: value["name"].as_str().filter(|name| is_name(name))?.to_owned(),
                description: described(value),
                is_required: value["required"] == true,
            })
        };
        let prompt = |value: &Value| {
            let arguments = value["arguments"].as_array().into_iter().flatten();
            Some(Self {
                name: value["name"].as_str().filter(|name| is_name(name))?.to_owned(),
                description: described(value),
                arguments: arguments.filter_map(argument).take(MOST_ARGUMENTS).collect(),
            })
        };
        listed.iter().filter_map(prompt).take(MOST_PROMPTS).collect()
    }

    /// How the arguments are written, as a hint.
    pub(crate) fn usage(&self) -> String {
        let argument = |argument: &PromptArgument| match argument.is_required {
            true => one_line(&argument.name, LONGEST_NAME),
            false => format!("[{}]", one_line(&argument.name, LONGEST_NAME)),
        };
        self.arguments.iter().map(argument).collect::<Vec<_>>().join(" ")
    }

    /// The arguments of a typed line: `key=value` for each, or the values in the order of the arguments, of which the last one gets
    /// the rest of the line. Quotes hold words together.
    pub(crate) fn read(&self, typed: &str) -> BTreeMap<String, String> {
        let words = words(typed);
        let known = |word: &str| {
            let (name, value) = word.split_once('=')?;
            self.arguments.iter().any(|argument| argument.name == name).then(|| (name.to_owned(), value.to_owned()))
        };
        let named: Vec<(String, String)> = words.iter().filter_map(|word| known(word)).collect();
        if named.len() == words.len() {
            return named.into_iter().collect();
        }
        let last = self.arguments.len().saturating_sub(1);
        let value = |(at, argument): (usize, &PromptArgument)| {
            let value = if at == last { words.get(at..)?.join(" ") } else { words.get(at)?.clone() };
            (!value.is_empty()).then(|| (argument.name.clone(), value))
        };
        self.arguments.iter().enumerate().filter_map(value).collect()
    }

    /// Required arguments without a value.
    pub(crate) fn missing<'a>(&'a self, given: &BTreeMap<String, String>) -> Vec<&'a PromptArgument> {
        let is_missing = |argument: &&PromptArgument| argument.is_required && !given.contains_key(&argument.name);
        self.arguments.iter().filter(is_missing).collect()
    }
}

fn described(value: &Value) -> String {
    let text = value["description"].as_str().or_else(|| value["title"].as_str()).unwrap_or_default();
    one_line(text.trim(), LONGEST_DESCRIPTION)
}

fn words(typed: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for letter in typed.chars() {
        match (quote, letter) {
            (Some(open), _) if letter == open => quote = None,
            (None, '"' | '\'') if word.as_ref().is_none_or(|word| word.ends_with('=')) => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (None, _) if letter.is_whitespace() => words.extend(word.take()),
            (_, _) => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    words
}

/// The messages of a prompt as one text: those of the assistant are quoted, and what is not a text is named.
///
/// # Errors
/// There is no text, or too much, as a clause.
pub(crate) fn prompt_text(result: &Value) -> Result<String, String> {
    let messages = result["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let texts: Vec<String> = messages.iter().filter_map(message_text).collect();
    let text = texts.join("\n\n");
    match text.len() {
        0 => Err("its prompt has no text".to_owned()),
        long if long > LONGEST_TEXT => Err(format!("its prompt has more than {} KiB", LONGEST_TEXT >> 10)),
        // A text of a server calls no command.
        _ if text.starts_with(['/', '!']) => Ok(format!("\n{text}")),
        _ => Ok(text),
    }
}

fn message_text(message: &Value) -> Option<String> {
    let content = &message["content"];
    let text = match content["type"].as_str()? {
        "text" => content["text"].as_str()?.to_owned(),
        "resource" => {
            let resource = &content["resource"];
            let uri = one_line(resource["uri"].as_str().unwrap_or_default(), LONGEST_NAME);
            match resource["text"].as_str() {
                Some(text) => format!("[Resource: {uri}]\n{text}"),
                None => format!("[Resource: {uri}]"),
            }
        }
        "resource_link" => format!("[Resource: {}]", one_line(content["uri"].as_str()?, LONGEST_NAME)),
        other => format!("[{} left out]", one_line(other, 40)),
    };
    let text = clean_lines(&text).into_owned();
    Some(match message["role"].as_str() {
        Some("assistant") => text.lines().map(|line| format!("> {line}")).collect::<Vec<_>>().join("\n"),
        _ => text,
    })
}

/// The arguments as a server takes them.
pub(crate) fn arguments(given: BTreeMap<String, String>) -> Value {
    Value::Object(given.into_iter().map(|(name, value)| (name, Value::String(value))).collect::<Map<_, _>>())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn prompt() -> PromptDefinition {
        let listed = [
            json!({"name": "greet", "description": " says\nhello ", "arguments": [
                {"name": "who", "required": true}, {"name": "style"}, {"name": "a b"}]}),
            json!({"name": "two words"}),
            json!({"name": ""}),
        ];
        let mut all = PromptDefinition::all(&listed);
        assert_eq!(all.len(), 1);
        all.remove(0)
    }

    #[test]
    fn arguments_are_named_or_come_in_their_order() {
        let prompt = prompt();
        assert_eq!((prompt.usage().as_str(), prompt.description.as_str()), ("who [style]", "says hello"));
        for (typed, expected) in [
            ("", json!({})),
            ("Ann", json!({"who": "Ann"})),
            ("Ann very warm", json!({"who": "Ann", "style": "very warm"})),
            ("'Ann B' x", json!({"who": "Ann B", "style": "x"})),
            ("style=\"very warm\" who=Ann", json!({"who": "Ann", "style": "very warm"})),
            ("who=Ann x", json!({"who": "who=Ann", "style": "x"})),
            ("x=1", json!({"who": "x=1"})),
            ("don't", json!({"who": "don't"})),
        ] {
            assert_eq!(arguments(prompt.read(typed)), expected, "{typed}");
        }
        let missing = |typed: &str| prompt.missing(&prompt.read(typed)).len();
        assert_eq!((missing(""), missing("style=x"), missing("Ann")), (1, 1, 0));
    }

    #[test]
    fn messages_become_one_text_that_calls_nothing() {
        let message = |role: &str, content: Value| json!({"role": role, "content": content});
        let text = |text: &str| json!({"type": "text", "text": text});
        let result = |messages: Vec<Value>| prompt_text(&json!({"messages": messages}));
        let resource = json!({"type": "resource", "resource": {"uri": "file:///a", "text": "in it"}});
        assert_eq!(
            result(vec![
                message("user", text("One\u{1b}[2J.")),
                message("assistant", text("Two.\nThree.")),
                message("user", resource),
                message("user", json!({"type": "image", "data": "x"})),
            ]),
            Ok("One\u{241b}[2J.\n\n> Two.\n> Three.\n\n[Resource: file:///a]\nin it\n\n[image left out]".to_owned())
        );
        assert_eq!(result(vec![message("user", text("/skill:x"))]), Ok("\n/skill:x".to_owned()));
        assert!(result(Vec::new()).is_err());
        assert!(result(vec![message("user", text(&"x".repeat(300 << 10)))]).is_err());
    }
}
