//! New entries: a caller's values, checked, and the line written from them.
//!
//! The only file that spells members of entries for writing. The caller gives type and payload, the session id, parent
//! and time. Each dialect has its own spelling and order of members. See *Entries* and *Writing* in `docs/format.md`.

use crate::clock::{Millis, to_iso};
use crate::error::{Invalid, Result};
use crate::header::Dialect;
use crate::id::EntryId;
use crate::json::{Json, JsonKind, Object, quote};
use crate::kind::{HIDDEN, Kind, LEAF_MARKER, OPERATION_MARKER, Operation, Role};

/// An entry that is not appended yet.
#[derive(Debug, Clone)]
pub struct NewEntry {
    kind: Kind,
    /// The word for the type, which may be unknown.
    word: String,
    role: Option<Role>,
    payload: Vec<(String, String)>,
    /// The line of the entry that this one is a copy of, with another id, parent and time.
    copied: Option<String>,
    /// The place, among entries that are appended together, of the one that `targetId` names.
    target: Option<usize>,
}

/// The values of a compaction.
#[derive(Debug, Clone, Copy, Default)]
#[expect(missing_docs, reason = "the names of the others say what they are")]
pub struct NewCompaction<'a> {
    /// Replaces the messages before the kept ones.
    pub summary: &'a str,
    /// The first entry to keep; `None` keeps nothing.
    pub first_kept: Option<&'a str>,
    /// Tokens of the context before the compaction.
    pub tokens_before: u64,
    /// Data of the summariser.
    pub details: Option<Json<'a>>,
    pub from_hook: Option<bool>,
    /// Usage of the summariser (pi 0.87).
    pub usage: Option<Json<'a>>,
    /// One line for lists (omp).
    pub short_summary: Option<&'a str>,
    /// Data of providers and extensions (omp).
    pub preserve_data: Option<Json<'a>>,
}

/// The values of a branch summary.
#[derive(Debug, Clone, Copy, Default)]
#[expect(missing_docs, reason = "the names of the others say what they are")]
pub struct NewBranchSummary<'a> {
    pub summary: &'a str,
    /// Data of the summariser.
    pub details: Option<Json<'a>>,
    pub from_hook: Option<bool>,
    /// Usage of the summariser (pi 0.87).
    pub usage: Option<Json<'a>>,
}

#[expect(missing_docs, reason = "the names of the others say what they return")]
impl NewEntry {
    fn new(kind: Kind) -> Self {
        Self {
            kind,
            word: kind.word().unwrap_or_default().to_owned(),
            role: None,
            payload: Vec::new(),
            copied: None,
            target: None,
        }
    }

    fn with(mut self, name: &str, json: impl Into<String>) -> Self {
        self.payload.push((name.to_owned(), json.into()));
        self
    }

    fn with_opt(self, name: &str, value: Option<Json<'_>>) -> Self {
        match value {
            Some(value) => self.with(name, value.text()),
            None => self,
        }
    }

    /// A message, which is a JSON object with a `role`.
    ///
    /// # Errors
    /// It is not one, or its role belongs to entries of another type.
    pub fn message(message: Json<'_>) -> Result<Self> {
        let role = message_role(message)?;
        Ok(Self { role: Some(role), ..Self::new(Kind::Message).with("message", message.text()) })
    }

    /// The thinking level: `off`, `minimal`, `low`, `medium`, `high`, `xhigh` or `max`. omp also stores the configured
    /// level, which [`NewEntry::verbatim`] sets.
    pub fn thinking_level(level: &str, dialect: Dialect) -> Self {
        let entry = Self::new(Kind::ThinkingLevelChange).with("thinkingLevel", quote(level));
        match dialect {
            Dialect::Pi => entry,
            Dialect::Omp => entry.with("configured", "null"),
        }
    }

    /// The model, in the file's dialect.
    pub fn model(provider: &str, model_id: &str, dialect: Dialect) -> Self {
        match dialect {
            Dialect::Pi => {
                Self::new(Kind::ModelChange).with("provider", quote(provider)).with("modelId", quote(model_id))
            }
            Dialect::Omp => Self::model_by_role(&format!("{provider}/{model_id}"), None),
        }
    }

    /// The model `provider/id` for a role (omp). `None` means `default`.
    pub fn model_by_role(model: &str, role: Option<&str>) -> Self {
        let entry = Self::new(Kind::ModelChange).with("model", quote(model));
        let entry = role.into_iter().fold(entry, |entry, role| entry.with("role", quote(role)));
        entry.with("resolvedModelIsFallback", "false")
    }

    /// A compaction. One that keeps nothing names itself, which every peer understands.
    pub fn compaction(new: &NewCompaction<'_>, dialect: Dialect) -> Self {
        let mut entry = Self::new(Kind::Compaction).with("summary", quote(new.summary));
        if let Some(short) = new.short_summary {
            entry = entry.with("shortSummary", quote(short));
        }
        let kept = new.first_kept.map_or(OWN_ID.to_owned(), quote);
        entry = entry.with("firstKeptEntryId", kept).with("tokensBefore", new.tokens_before.to_string());
        entry = entry.with_opt("details", new.details);
        entry = from_hook(entry, new.from_hook, dialect);
        entry.with_opt("preserveData", new.preserve_data).with_opt("usage", new.usage)
    }

    /// The summary of a branch that was left. `from` is its leaf; `None` is written as `root`.
    pub fn branch_summary(from: Option<&str>, new: &NewBranchSummary<'_>, dialect: Dialect) -> Self {
        let entry = Self::new(Kind::BranchSummary)
            .with("fromId", quote(from.unwrap_or("root")))
            .with("summary", quote(new.summary))
            .with_opt("details", new.details);
        from_hook(entry, new.from_hook, dialect).with_opt("usage", new.usage)
    }

    /// Sets a member of the payload to JSON exactly as given, so that its text is not decoded and encoded again.
    #[must_use]
    pub fn verbatim(mut self, name: &str, value: Json<'_>) -> Self {
        match self.payload.iter_mut().find(|(known, _)| known == name) {
            Some((_, known)) => *known = value.text().to_owned(),
            None => self.payload.push((name.to_owned(), value.text().to_owned())),
        }
        self
    }

    /// State of an extension, not sent to the model.
    pub fn custom(custom_type: &str, data: Option<Json<'_>>) -> Self {
        Self::new(Kind::Custom).with("customType", quote(custom_type)).with_opt("data", data)
    }

    /// The marker that makes a move of the leaf durable. `before` is the previous leaf.
    pub fn leaf_marker(operation: Operation, before: Option<&str>) -> Self {
        Self::custom(LEAF_MARKER, Some(Json::trusted(&operation_data(operation, before).finish())))
    }

    /// The marker before the `lines` entries of an operation. `before` is the previous leaf.
    pub fn operation_marker(operation: Operation, before: Option<&str>, lines: usize) -> Self {
        let data = operation_data(operation, before).raw("lines", lines).finish();
        Self::custom(OPERATION_MARKER, Some(Json::trusted(&data)))
    }

    /// A copy of an entry: its line with another id, parent and time. The line names its origin already.
    pub(crate) fn copy(kind: Kind, role: Option<Role>, line: String) -> Self {
        Self { role, copied: Some(line), ..Self::new(kind) }
    }

    /// Names as `targetId` one of the entries that are appended together with this one, by its place among them.
    #[must_use]
    pub(crate) fn targeting(self, place: usize) -> Self {
        Self { target: Some(place), ..self }
    }

    /// About how many bytes its line takes in a file.
    pub(crate) fn size(&self) -> u64 {
        let id = EntryId::new("00000000");
        self.line(&id, Some(&id), 0).len() as u64 + 1
    }

    /// A message of an extension: a string, or an array of text and image blocks.
    ///
    /// # Errors
    /// The content is neither.
    pub fn custom_message(
        custom_type: &str,
        content: Json<'_>,
        display: bool,
        details: Option<Json<'_>>,
    ) -> Result<Self> {
        check_content(content)?;
        Ok(Self::new(Kind::CustomMessage)
            .with("customType", quote(custom_type))
            .with("content", content.text())
            .with("display", display.to_string())
            .with_opt("details", details))
    }

    /// A label on an entry; `None` or an empty one removes it.
    pub fn label(target: &str, label: Option<&str>) -> Self {
        let entry = Self::new(Kind::Label).with("targetId", quote(target));
        label
            .filter(|label| !label.is_empty())
            .into_iter()
            .fold(entry, |entry, label| entry.with("label", quote(label)))
    }

    /// The session's name. Line breaks become spaces; an empty name removes it.
    pub fn session_info(name: &str) -> Self {
        let name = name.split(['\r', '\n']).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ");
        Self::new(Kind::SessionInfo).with("name", quote(name.trim()))
    }

    /// Usage outside the conversation.
    pub fn usage(kind: &str, provider: &str, model: &str, usage: Json<'_>, note: Option<&str>) -> Self {
        let entry = Self::new(Kind::Usage)
            .with("kind", quote(kind))
            .with("provider", quote(provider))
            .with("model", quote(model))
            .with("usage", usage.text());
        note.into_iter().fold(entry, |entry, note| entry.with("note", quote(note)))
    }

    /// Replaces (`{"content":…}`) or omits (`null`) an entry for the model. The session checks the target.
    ///
    /// # Errors
    /// The replacement is neither, or its content is not a string or an array.
    pub fn context_edit(target: &str, target_role: Option<Role>, replacement: Json<'_>) -> Result<Self> {
        let entry = Self::new(Kind::ContextEdit).with("targetId", quote(target));
        if replacement.is_null() {
            return Ok(entry.with("replacement", "null"));
        }
        let content = replacement.get("content").ok_or(Invalid::Replacement)?;
        check_content(content)?;
        let takes_blocks = matches!(target_role, Some(Role::Assistant | Role::ToolResult));
        if content.kind() != JsonKind::String || !takes_blocks {
            return Ok(entry.with("replacement", replacement.text()));
        }
        let block = Object::new().str("type", "text").json("text", content).finish();
        Ok(entry.with("replacement", Object::new().raw("content", format!("[{block}]")).finish()))
    }

    /// Rules injected while streaming (omp), an array of strings.
    ///
    /// # Errors
    /// The value is not one.
    pub fn ttsr_injection(rules: Json<'_>) -> Result<Self> {
        let is_list = rules.kind() == JsonKind::Array && rules.items().all(|rule| rule.kind() == JsonKind::String);
        if !is_list {
            return Err(Invalid::InjectedRules.into());
        }
        Ok(Self::new(Kind::TtsrInjection).with("injectedRules", rules.text()))
    }

    /// An entry from a JSON object with a `type`; its other members are the payload. `id`, `parentId` and `timestamp`
    /// come from the session, so naming them is an error.
    ///
    /// # Errors
    /// The value is not such an object, or is a message without role.
    pub fn from_json(json: Json<'_>) -> Result<Self> {
        let [word, message] = json.pick(["type", "message"]);
        let word = word.and_then(Json::as_str).filter(|word| json.kind() == JsonKind::Object && !word.is_empty());
        let word = word.ok_or(Invalid::EntryWithoutType)?;
        let kind = Kind::from_word(word.as_bytes());
        if matches!(kind, Kind::Session | Kind::Title) {
            return Err(Invalid::NotAnEntry { word: word.into_owned() }.into());
        }
        let mut entry = if kind == Kind::Message {
            let role = message_role(message.ok_or(Invalid::EntryWithoutMessage)?)?;
            Self { role: Some(role), ..Self::new(kind) }
        } else {
            Self { word: word.into_owned(), ..Self::new(kind) }
        };
        for (name, value) in json.members() {
            match name.as_ref() {
                "type" => {}
                "id" | "parentId" | "timestamp" => {
                    return Err(Invalid::ReservedMember { name: name.into_owned() }.into());
                }
                _ => entry = entry.with(&name, value.text()),
            }
        }
        Ok(entry)
    }

    pub fn kind(&self) -> Kind {
        self.kind
    }

    pub fn role(&self) -> Option<Role> {
        self.role
    }

    pub fn is_leaf_marker(&self) -> bool {
        let is_marker = |value: &str| HIDDEN.iter().any(|hidden| value == quote(hidden));
        self.kind == Kind::Custom && self.member("customType").is_some_and(is_marker)
    }

    pub fn is_copy(&self) -> bool {
        self.copied.is_some()
    }

    /// A member of the payload, as JSON.
    pub fn member(&self, name: &str) -> Option<&str> {
        self.payload.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The line, without line feed.
    pub fn line(&self, id: &EntryId, parent: Option<&EntryId>, at: Millis) -> String {
        self.line_after(&[], id, parent, at)
    }

    /// The line of an entry that is appended together with those that have the `earlier` ids.
    pub(crate) fn line_after(&self, earlier: &[EntryId], id: &EntryId, parent: Option<&EntryId>, at: Millis) -> String {
        let line = match &self.copied {
            Some(source) => copied_line(source, id, parent, at),
            None => self.composed_line(id, parent, at),
        };
        match self.target.and_then(|place| earlier.get(place)) {
            Some(target) => with_member(Json::trusted(&line), "targetId", &quote(target.as_str())),
            None => line,
        }
    }

    fn composed_line(&self, id: &EntryId, parent: Option<&EntryId>, at: Millis) -> String {
        let payload = |object: Object| {
            let own_id = quote(id.as_str());
            self.payload
                .iter()
                .fold(object, |object, (name, value)| object.raw(name, if value == OWN_ID { &own_id } else { value }))
        };
        let envelope = |object: Object| {
            object
                .str("id", id.as_str())
                .str_or_null("parentId", parent.map(EntryId::as_str))
                .str("timestamp", &to_iso(at))
        };
        let object = Object::new().str("type", &self.word);
        if matches!(self.kind, Kind::Custom | Kind::CustomMessage) {
            envelope(payload(object)).finish()
        } else {
            payload(envelope(object)).finish()
        }
    }
}

/// Placeholder for the entry's own id. It is not JSON, so no payload can be equal to it.
const OWN_ID: &str = "(own id)";

fn copied_line(source: &str, id: &EntryId, parent: Option<&EntryId>, at: Millis) -> String {
    let parent = parent.map_or("null".to_owned(), |parent| quote(parent.as_str()));
    let envelope = [("id", quote(id.as_str())), ("parentId", parent), ("timestamp", quote(&to_iso(at)))];
    envelope.iter().fold(source.to_owned(), |line, (name, value)| with_member(Json::trusted(&line), name, value))
}

/// The object with one member replaced, or added at the end.
pub(crate) fn with_member(object: Json<'_>, name: &str, value: &str) -> String {
    match object.get(name) {
        Some(old) => {
            let span = old.span_in(object.text());
            format!("{}{value}{}", &object.text()[..span.start], &object.text()[span.end..])
        }
        None => {
            object.members().fold(Object::new(), |new, (name, value)| new.json(&name, value)).raw(name, value).finish()
        }
    }
}

fn operation_data(operation: Operation, before: Option<&str>) -> Object {
    Object::new().opt_str("op", operation.word()).str_or_null("before", before)
}

fn from_hook(entry: NewEntry, value: Option<bool>, dialect: Dialect) -> NewEntry {
    let name = match dialect {
        Dialect::Pi => "fromHook",
        Dialect::Omp => "fromExtension",
    };
    value.into_iter().fold(entry, |entry, value| entry.with(name, value.to_string()))
}

fn check_content(content: Json<'_>) -> Result<()> {
    match content.kind() {
        JsonKind::String | JsonKind::Array => Ok(()),
        _ => Err(Invalid::Content.into()),
    }
}

/// The role of a message that an entry can have.
fn message_role(message: Json<'_>) -> Result<Role> {
    let role = message.str("role").filter(|_| message.kind() == JsonKind::Object);
    let role = Role::from_word(role.ok_or(Invalid::MessageWithoutRole)?.as_bytes());
    if matches!(role, Role::BranchSummary | Role::CompactionSummary) {
        return Err(Invalid::SummaryAsMessage.into());
    }
    Ok(role)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(entry: &NewEntry) -> String {
        entry.line(&"i".into(), Some(&"p".into()), 0)
    }

    #[test]
    fn members_stand_in_the_peers_order() {
        let envelope = r#""id":"i","parentId":"p","timestamp":"1970-01-01T00:00:00.000Z""#;
        let details = Json::parse(r#"{"a":1.0}"#).unwrap();
        let compaction = NewCompaction {
            summary: "S",
            first_kept: None,
            tokens_before: 7,
            details: Some(details),
            from_hook: Some(true),
            ..Default::default()
        };
        for (entry, expected) in [
            (
                NewEntry::message(Json::parse(r#"{"role":"user","content":"x"}"#).unwrap()).unwrap(),
                format!(r#"{{"type":"message",{envelope},"message":{{"role":"user","content":"x"}}}}"#),
            ),
            (
                NewEntry::model("p", "m", Dialect::Pi),
                format!(r#"{{"type":"model_change",{envelope},"provider":"p","modelId":"m"}}"#),
            ),
            (
                NewEntry::model("p", "m", Dialect::Omp),
                format!(r#"{{"type":"model_change",{envelope},"model":"p/m","resolvedModelIsFallback":false}}"#),
            ),
            (
                NewEntry::custom("t", Some(details)),
                format!(r#"{{"type":"custom","customType":"t","data":{{"a":1.0}},{envelope}}}"#),
            ),
            (
                NewEntry::compaction(&compaction, Dialect::Pi),
                format!(
                    r#"{{"type":"compaction",{envelope},"summary":"S","firstKeptEntryId":"i","tokensBefore":7,"details":{{"a":1.0}},"fromHook":true}}"#
                ),
            ),
            (
                NewEntry::branch_summary(
                    None,
                    &NewBranchSummary { summary: "S", from_hook: Some(false), ..Default::default() },
                    Dialect::Omp,
                ),
                format!(
                    r#"{{"type":"branch_summary",{envelope},"fromId":"root","summary":"S","fromExtension":false}}"#
                ),
            ),
            (NewEntry::label("t", Some("")), format!(r#"{{"type":"label",{envelope},"targetId":"t"}}"#)),
            (NewEntry::session_info(" a\r\n\nb "), format!(r#"{{"type":"session_info",{envelope},"name":"a b"}}"#)),
            (
                NewEntry::from_json(Json::parse(r#"{"x":1e5,"type":"novel"}"#).unwrap()).unwrap(),
                format!(r#"{{"type":"novel",{envelope},"x":1e5}}"#),
            ),
        ] {
            assert_eq!(line(&entry), expected);
        }
    }

    #[test]
    fn a_string_replacement_becomes_a_block_where_the_role_takes_blocks() {
        let replacement = Json::parse(r#"{"content":"E"}"#).unwrap();
        let for_role = |role| line(&NewEntry::context_edit("t", Some(role), replacement).unwrap());
        assert!(for_role(Role::User).ends_with(r#""replacement":{"content":"E"}}"#));
        assert!(for_role(Role::ToolResult).ends_with(r#""replacement":{"content":[{"type":"text","text":"E"}]}}"#));
    }

    #[test]
    fn what_is_no_entry_is_refused() {
        for bad in [
            r#"{}"#,
            "[]",
            r#"{"type":"session","id":"x"}"#,
            r#"{"type":"message"}"#,
            r#"{"type":"message","message":{}}"#,
            r#"{"type":"label","targetId":"x","id":"y"}"#,
            r#"{"type":"message","message":{"role":"compactionSummary"}}"#,
        ] {
            assert!(NewEntry::from_json(Json::parse(bad).unwrap()).is_err(), "{bad}");
        }
    }
}
