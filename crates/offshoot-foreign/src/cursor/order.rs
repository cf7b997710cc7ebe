//! Whether the store of a chat and its transcript have the messages in one order. The store gives the content; what its newest root names may
//! be damaged, and the transcript was written as the chat went on. Messages that only one of them has, or has twice, are not compared.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};

use offshoot_session::error::{Code, Diagnostic};
use offshoot_session::id::EntryId;
use offshoot_session::json::Json;
use offshoot_session::medium::Medium as _;

use super::{asked, is_context, texts};
use crate::below::below;
use crate::foreign_medium::ForeignMedium;
use crate::key::Key;
use crate::record::for_each_record;

/// A longer transcript is not compared.
const LONGEST: u64 = 64 << 20;
/// More projects are not looked at.
const MOST_PROJECTS: usize = 10_000;

/// Compares the records of a chat with its transcript, if there is one. Says where the first message is that has another place there.
pub(crate) fn compare((store, id): (&Path, &str), records: &ForeignMedium) -> Option<Diagnostic> {
    let transcript = transcript_of(store, id)?;
    let other =
        ForeignMedium::open(&transcript).ok().filter(|other| other.len().is_ok_and(|length| length <= LONGEST))?;
    let (mut here, mut there) = (Said::default(), Said::default());
    here.read(records).ok()?;
    there.read(&other).ok()?;
    let mut common: Vec<(&SaidAt, &SaidAt)> =
        here.once().filter_map(|(key, at)| Some((at, there.once.get(key)?.as_ref()?))).collect();
    common.sort_by_key(|(here, _)| here.number);
    let moved = common.windows(2).find_map(|pair| match pair {
        [(_, above), (moved, there)] if there.number < above.number => Some(moved),
        _ => None,
    })?;
    Some(Diagnostic {
        code: Code::OtherOrder,
        line: Some(moved.number),
        offset: moved.offset,
        entry: moved.id.as_deref().map(EntryId::new),
        message: format!("the chat's transcript {} has this message before the one above it", transcript.display()),
    })
}

/// The transcript of a chat whose store this is.
fn transcript_of(store: &Path, id: &str) -> Option<PathBuf> {
    let root = store.ancestors().find(|folder| folder.file_name().is_some_and(|name| name == "chats"))?.parent()?;
    let projects = below(&root.join("projects"), std::fs::FileType::is_dir).into_iter().take(MOST_PROJECTS);
    let in_project = |project: PathBuf| project.join("agent-transcripts").join(id).join(format!("{id}.jsonl"));
    projects.map(in_project).find(|transcript| std::fs::symlink_metadata(transcript).is_ok_and(|meta| meta.is_file()))
}

/// Where a message is.
struct SaidAt {
    number: u64,
    offset: u64,
    id: Option<String>,
}

/// What was said, by a hash of it; `None` of what was said twice.
#[derive(Default)]
struct Said {
    once: HashMap<Key, Option<SaidAt>>,
}

impl Said {
    fn read(&mut self, records: &ForeignMedium) -> io::Result<()> {
        for_each_record(records, |raw| {
            let text = raw.text();
            if let Ok(record) = Json::parse(&text)
                && let Some(said) = said_in(record)
            {
                let id = record.str("id").map(std::borrow::Cow::into_owned);
                let at = SaidAt { number: u64::from(raw.span.number), offset: raw.span.at, id };
                self.once.entry(Key::of(&said)).and_modify(|known| *known = None).or_insert(Some(at));
            }
            Ok(())
        })
    }

    fn once(&self) -> impl Iterator<Item = (&Key, &SaidAt)> {
        self.once.iter().filter_map(|(key, at)| Some((key, at.as_ref()?)))
    }
}

/// Who says what in a record of a store or a line of a transcript.
fn said_in(record: Json<'_>) -> Option<String> {
    if record.str("table").is_some_and(|table| table != "blob") {
        return None;
    }
    let role = record.get("data").unwrap_or(record).str("role").filter(|role| role == "user" || role == "assistant")?;
    let said = texts(record);
    let said = said.iter().filter(|text| !is_context(text)).map(|text| asked(text).trim().to_owned());
    let said: Vec<String> = said.filter(|text| !text.is_empty()).collect();
    (!said.is_empty()).then(|| format!("{role}\n{}", said.join("\n")))
}
