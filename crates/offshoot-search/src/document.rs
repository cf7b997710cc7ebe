//! What of a session is searched: one document for each thing that somebody said, with who said it. Reads items, not files.

use std::borrow::Cow;

use offshoot_session::call_view::CallView;
use offshoot_session::json::{Json, JsonKind};
use offshoot_session::transcript::{Answer, End, Item, ItemPart, Run, ToolCall, ToolResult};

use crate::query::SpokenBy;

/// The longest text that is searched in words, in bytes. Of a longer one its two halves of this length are.
pub const LONGEST_TEXT: usize = 256 << 10;

/// What a document is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the names say it")]
pub enum DocumentKind {
    /// The name of a session.
    Title,
    Label,
    User,
    Assistant,
    Thinking,
    /// The arguments of a call, or the user's command.
    Call,
    Result,
    Summary,
    /// A message of an extension.
    Note,
}

impl DocumentKind {
    /// All kinds; the place of each is its number in an index.
    pub const ALL: [Self; 9] = [
        Self::Title,
        Self::Label,
        Self::User,
        Self::Assistant,
        Self::Thinking,
        Self::Call,
        Self::Result,
        Self::Summary,
        Self::Note,
    ];

    /// Its name in output.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Title => "title",
            Self::Label => "label",
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Thinking => "thinking",
            Self::Call => "call",
            Self::Result => "result",
            Self::Summary => "summary",
            Self::Note => "note",
        }
    }

    /// Whether it names a session or an entry.
    #[must_use]
    pub fn is_name(self) -> bool {
        matches!(self, Self::Title | Self::Label)
    }

    /// Who said it.
    #[must_use]
    pub fn spoken_by(self) -> Option<SpokenBy> {
        match self {
            Self::Title | Self::Label => Some(SpokenBy::Title),
            Self::User => Some(SpokenBy::User),
            Self::Assistant => Some(SpokenBy::Assistant),
            Self::Thinking => Some(SpokenBy::Thinking),
            Self::Call | Self::Result => Some(SpokenBy::Tool),
            Self::Summary => Some(SpokenBy::Summary),
            Self::Note => None,
        }
    }
}

/// One thing that somebody said.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// What it is.
    pub kind: DocumentKind,
    /// Its text.
    pub text: String,
    /// The tool of a call or a result.
    pub tool: Option<String>,
    /// The model that answered.
    pub model: Option<String>,
    /// The files that a call names.
    pub files: Vec<String>,
    /// Whether it failed.
    pub is_error: bool,
    /// Whether a picture belongs to it.
    pub has_picture: bool,
    /// Whether nobody said it: instructions, context files.
    pub is_injected: bool,
}

/// An entry's documents, in the order in which they are read.
#[must_use]
pub fn documents_of(item: &Item) -> Vec<Document> {
    let documents = match item {
        Item::User(parts) => vec![of_parts(DocumentKind::User, parts)],
        Item::Answer(answer) => of_answer(answer),
        Item::Result(result) => vec![of_result(result)],
        Item::Run(run) => of_run(run),
        Item::Summary(summary) => vec![Document::new(DocumentKind::Summary, summary.text.clone())],
        Item::Note { parts, .. } => vec![of_parts(DocumentKind::Note, parts)],
        Item::System { parts, .. } => {
            vec![Document { is_injected: true, ..of_parts(DocumentKind::Note, parts) }]
        }
        Item::Notice(..) => Vec::new(),
    };
    documents.into_iter().filter(|document| !document.text.is_empty() || document.has_picture).collect()
}

impl Document {
    /// A document of a text alone.
    #[must_use]
    pub fn new(kind: DocumentKind, text: impl Into<String>) -> Self {
        Self {
            kind,
            text: text.into(),
            tool: None,
            model: None,
            files: Vec::new(),
            is_error: false,
            has_picture: false,
            is_injected: false,
        }
    }

    /// What of the text has its words in the index: all of it, or its beginning and its end.
    #[must_use]
    pub fn ends(&self) -> Vec<&str> {
        if self.text.len() <= LONGEST_TEXT {
            return vec![&self.text];
        }
        let half = LONGEST_TEXT / 2;
        let head = self.text.floor_char_boundary(half);
        let tail = self.text.ceil_char_boundary(self.text.len() - half);
        vec![self.text.get(..head).unwrap_or_default(), self.text.get(tail..).unwrap_or_default()]
    }
}

fn text_of(parts: &[ItemPart], wanted: impl Fn(&ItemPart) -> Option<&str>) -> String {
    let texts: Vec<&str> = parts.iter().filter_map(wanted).collect();
    texts.join("\n")
}

fn said(part: &ItemPart) -> Option<&str> {
    if let ItemPart::Text(text) = part { Some(text) } else { None }
}

fn thought(part: &ItemPart) -> Option<&str> {
    if let ItemPart::Thinking(text) = part { Some(text) } else { None }
}

fn has_picture(parts: &[ItemPart]) -> bool {
    parts.iter().any(|part| matches!(part, ItemPart::Picture(_)))
}

fn of_parts(kind: DocumentKind, parts: &[ItemPart]) -> Document {
    Document { has_picture: has_picture(parts), ..Document::new(kind, text_of(parts, said)) }
}

fn of_answer(answer: &Answer) -> Vec<Document> {
    let thinking = Document::new(DocumentKind::Thinking, text_of(&answer.parts, thought));
    let mut words = of_parts(DocumentKind::Assistant, &answer.parts);
    if let End::Error(why) = &answer.end {
        words.is_error = true;
        words.text.push_str(if words.text.is_empty() { "" } else { "\n" });
        words.text.push_str(why);
    }
    let mut documents = vec![thinking, words];
    documents.extend(answer.calls().map(of_call));
    for document in &mut documents {
        document.model = Some(answer.model.clone()).filter(|model| !model.is_empty());
    }
    documents
}

fn of_call(call: &ToolCall) -> Document {
    let files = CallView::of_call(call).files().into_iter().map(|file| file.path).collect();
    let text = match Json::parse(&call.arguments) {
        Ok(arguments) => strings_of(arguments),
        Err(_) => call.arguments.clone(),
    };
    Document { tool: Some(call.name.clone()), files, ..Document::new(DocumentKind::Call, text) }
}

/// The texts and numbers among arguments, at any depth, a line each.
fn strings_of(arguments: Json<'_>) -> String {
    let mut text = String::new();
    let mut open = vec![arguments];
    let mut add = |said: Cow<'_, str>| {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&said);
    };
    while let Some(json) = open.pop() {
        match json.kind() {
            JsonKind::String => add(json.as_str().unwrap_or_default()),
            JsonKind::Number => add(Cow::Borrowed(json.text())),
            JsonKind::Object => {
                let values: Vec<Json<'_>> = json.members().map(|(_, value)| value).collect();
                open.extend(values.into_iter().rev());
            }
            JsonKind::Array => {
                let values: Vec<Json<'_>> = json.items().collect();
                open.extend(values.into_iter().rev());
            }
            JsonKind::Null | JsonKind::Bool => {}
        }
    }
    text
}

fn of_result(result: &ToolResult) -> Document {
    Document {
        tool: Some(result.tool.clone()).filter(|tool| !tool.is_empty()),
        is_error: result.is_error,
        ..of_parts(DocumentKind::Result, &result.parts)
    }
}

fn of_run(run: &Run) -> Vec<Document> {
    let tool = Some(run.language.name().to_owned());
    let command = Document { tool: tool.clone(), ..Document::new(DocumentKind::Call, run.command.clone()) };
    let output = Document { tool, is_error: run.is_error, ..Document::new(DocumentKind::Result, run.output.clone()) };
    vec![command, output]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_line(line: &str) -> Vec<(DocumentKind, String)> {
        let item = Item::of_line(line).unwrap();
        documents_of(&item).into_iter().map(|document| (document.kind, document.text)).collect()
    }

    #[test]
    fn an_answer_is_what_was_thought_said_and_called() {
        let line = r#"{"type":"message","id":"a","message":{"role":"assistant","model":"m","content":[
            {"type":"thinking","thinking":"hm"},{"type":"text","text":"yes"},
            {"type":"toolCall","id":"c","name":"edit","arguments":{"path":"a.rs","edits":[{"oldText":"x","newText":"y"}],"n":7}}]}}"#;
        let said = of_line(&line.replace('\n', ""));
        let expected = [
            (DocumentKind::Thinking, "hm".to_owned()),
            (DocumentKind::Assistant, "yes".to_owned()),
            (DocumentKind::Call, "a.rs\nx\ny\n7".to_owned()),
        ];
        assert_eq!(said, expected);
    }

    #[test]
    fn long_texts_have_two_ends() {
        let text = format!("first {} last", "é".repeat(LONGEST_TEXT));
        let document = Document::new(DocumentKind::Result, text);
        let ends = document.ends();
        assert!(ends.len() == 2 && ends[0].starts_with("first") && ends[1].ends_with(" last"));
        assert!(ends.iter().all(|end| end.len() <= LONGEST_TEXT / 2));
    }
}
