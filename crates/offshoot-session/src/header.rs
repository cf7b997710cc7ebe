//! The header record and omp's title slot. Neither is an entry or part of the tree. See *Header* in `docs/format.md`.

use std::borrow::Cow;

use crate::clock::{Millis, to_iso};
use crate::json::{Json, JsonKind, Object};

/// The version that offshoot writes.
pub const CURRENT_VERSION: u32 = 3;

/// The peer whose spelling a file uses where the peers differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Dialect {
    /// pi: `provider` + `modelId`, `fromHook`.
    #[default]
    Pi,
    /// oh-my-pi: `model` = `provider/id` + `role`, `fromExtension`.
    Omp,
}

/// The header of a session, with its line as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    line: String,
    version: u32,
    id: String,
    timestamp: Option<String>,
    cwd: Option<String>,
    parent_session: Option<String>,
    title: Option<String>,
}

#[derive(Debug, Clone, Default)]
#[expect(missing_docs, reason = "the names of the other fields say what they are")]
pub struct NewHeader<'a> {
    pub id: &'a str,
    pub at: Millis,
    pub cwd: &'a str,
    /// The path of the session from which this one was made, as pi writes it.
    pub parent_session: Option<&'a str>,
    /// The title, in omp's dialect.
    pub title: Option<&'a str>,
}

#[expect(missing_docs, reason = "the names of the other functions say what they return")]
impl Header {
    /// Reads a header line, a JSON object of type `session` with a string id; `None` if it is something else. A missing
    /// `version` means 1; a string counts as its number.
    pub fn parse(line: &str) -> Option<Self> {
        let json = Json::parse(line).ok()?;
        if json.str("type")? != "session" {
            return None;
        }
        let owned = |name: &str| json.str(name).map(Cow::into_owned);
        Some(Self {
            line: line.to_owned(),
            version: version(json.get("version")),
            id: owned("id")?,
            timestamp: owned("timestamp"),
            cwd: owned("cwd"),
            parent_session: owned("parentSession"),
            title: owned("title"),
        })
    }

    pub fn new(new: &NewHeader<'_>) -> Self {
        let timestamp = to_iso(new.at);
        let line = Object::new()
            .str("type", "session")
            .raw("version", CURRENT_VERSION)
            .str("id", new.id)
            .str("timestamp", &timestamp)
            .str("cwd", new.cwd)
            .opt_str("title", new.title)
            .opt_str("parentSession", new.parent_session)
            .finish();
        Self {
            line,
            version: CURRENT_VERSION,
            id: new.id.to_owned(),
            timestamp: Some(timestamp),
            cwd: Some(new.cwd.to_owned()),
            parent_session: new.parent_session.map(str::to_owned),
            title: new.title.map(str::to_owned),
        }
    }

    /// The line, without line feed.
    pub fn line(&self) -> &str {
        &self.line
    }

    pub fn json(&self) -> Json<'_> {
        Json::trusted(&self.line)
    }

    pub fn version(&self) -> u32 {
        self.version
    }

    pub fn id(&self) -> &str {
        &self.id
    }

    /// The creation time as text.
    pub fn timestamp(&self) -> Option<&str> {
        self.timestamp.as_deref()
    }

    /// The working directory; very old files lack it.
    pub fn cwd(&self) -> Option<&str> {
        self.cwd.as_deref()
    }

    /// The session from which this one was made: a path, or in omp sometimes a session id. Opaque.
    pub fn parent_session(&self) -> Option<&str> {
        self.parent_session.as_deref()
    }

    /// omp's title in the header. A title slot overrides it.
    pub fn title(&self) -> Option<&str> {
        self.title.as_deref()
    }

    /// Whether the header has a member that only omp writes.
    pub(crate) fn is_omp(&self) -> bool {
        const OMP_MEMBERS: [&str; 5] =
            ["title", "titleSource", "additionalDirectories", "previousSessionFiles", "providerPromptCacheKey"];
        self.json().members().any(|(name, _)| OMP_MEMBERS.contains(&name.as_ref()))
    }
}

fn version(value: Option<Json<'_>>) -> u32 {
    let Some(value) = value else { return 1 };
    let number = match value.kind() {
        JsonKind::Null => return 1,
        JsonKind::Number => value.as_f64(),
        JsonKind::String => value.as_str().and_then(|text| text.trim().parse().ok()),
        _ => None,
    };
    // JavaScript does not find a value that is not a number older than 3 either.
    number.map_or(CURRENT_VERSION, |number: f64| number.clamp(0.0, f64::from(u32::MAX)) as u32)
}

/// omp's title slot: a line before the header that is padded so that it can be overwritten in place. Its title
/// overrides the header's (*Container* in `docs/format.md`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TitleSlot {
    /// Empty means none.
    pub title: String,
    /// `auto` or `user`.
    pub source: Option<String>,
    line: String,
}

impl TitleSlot {
    /// The slot's length with line feed, in bytes.
    pub const LENGTH: usize = 256;

    /// Reads a slot; `None` if the line is not exactly one.
    pub fn parse(line: &str) -> Option<Self> {
        let json = Json::parse(line).ok()?;
        let is_slot = json.str("type")? == "title"
            && json.get("v")?.as_f64()? == 1.0
            && json.str("updatedAt").is_some()
            && json.str("pad").is_some();
        let source = json.get("source").map(|source| source.as_str().map(Cow::into_owned));
        match source {
            None => {}
            Some(Some(ref word)) if word == "auto" || word == "user" => {}
            Some(_) => return None,
        }
        let title = json.str("title")?.into_owned();
        is_slot.then(|| Self { title, source: source.flatten(), line: line.to_owned() })
    }

    /// Makes a slot of [`TitleSlot::LENGTH`] bytes with line feed. A long title is cut at a character.
    pub fn new(title: &str, source: Option<&str>, updated_at: Millis) -> Self {
        let write = |title: &str, pad: usize| {
            Object::new()
                .str("type", "title")
                .raw("v", 1)
                .str("title", title)
                .opt_str("source", source)
                .str("updatedAt", &to_iso(updated_at))
                .str("pad", &" ".repeat(pad))
                .finish()
        };
        let room = Self::LENGTH - 1;
        let fits = |end: &usize| write(&title[..*end], 0).len() <= room;
        let ends = title.char_indices().map(|(at, c)| at + c.len_utf8());
        let end = ends.take_while(fits).last().unwrap_or(0);
        let title = &title[..end];
        let line = write(title, room.saturating_sub(write(title, 0).len()));
        Self { title: title.to_owned(), source: source.map(str::to_owned), line }
    }

    /// The line, without line feed.
    pub fn line(&self) -> &str {
        &self.line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_as_javascript_compares_them() {
        let with = |version: &str| {
            let line = format!(r#"{{"type":"session","id":"s"{version}}}"#);
            Header::parse(&line).unwrap().version()
        };
        assert_eq!(with(""), 1);
        assert_eq!(with(r#","version":null"#), 1);
        assert_eq!(with(r#","version":2"#), 2);
        assert_eq!(with(r#","version":"2""#), 2);
        assert_eq!(with(r#","version":99"#), 99);
        assert_eq!(with(r#","version":"new""#), 3);
    }

    #[test]
    fn a_header_needs_type_and_string_id() {
        for bad in
            ["{}", r#"{"type":"session"}"#, r#"{"type":"session","id":7}"#, r#"{"type":"message","id":"x"}"#, "null"]
        {
            assert_eq!(Header::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_new_header_reads_back() {
        let new = Header::new(&NewHeader { id: "s", at: 0, cwd: "/w", parent_session: Some("/p"), title: None });
        assert_eq!(
            new.line(),
            r#"{"type":"session","version":3,"id":"s","timestamp":"1970-01-01T00:00:00.000Z","cwd":"/w","parentSession":"/p"}"#
        );
        assert_eq!(Header::parse(new.line()), Some(new));
    }

    #[test]
    fn slots_are_always_256_bytes() {
        for title in ["", "short", &"é".repeat(200), &"\"".repeat(300), &"x".repeat(1000)] {
            let slot = TitleSlot::new(title, Some("user"), 0);
            assert_eq!(slot.line().len() + 1, TitleSlot::LENGTH, "{title}");
            assert!(title.starts_with(&slot.title));
            assert_eq!(TitleSlot::parse(slot.line()), Some(slot));
        }
        assert_eq!(
            TitleSlot::parse(r#"{"type":"title","v":1,"title":"x","source":"robot","updatedAt":"t","pad":""}"#),
            None
        );
    }
}
