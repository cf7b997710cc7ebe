//! What placing a record of Claude Code's needs, made on any thread: the draft of a link of the chain, and what it says of the session where
//! that is new. Keeps no text.

use std::borrow::Cow;

use offshoot_session::clock::Millis;
use offshoot_session::json::Json;

use super::draft::ClaudeDraft;
use super::line::ClaudeLine;
use crate::digested::RecordDigester;
use crate::key::print_of;
use crate::record::RecordSpan;

/// A record without its text.
#[derive(Debug)]
pub(crate) struct ClaudeDigest {
    /// Of a link of the chain; of other records nothing is shown.
    pub(super) draft: Option<ClaudeDraft>,
    pub(super) time: Option<Millis>,
    pub(super) head: Option<Box<HeadSaid<'static>>>,
}

/// What a record says of its session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct HeadSaid<'a> {
    pub(super) cwd: Option<Cow<'a, str>>,
    pub(super) version: Option<Cow<'a, str>>,
    pub(super) forked_from: Option<Cow<'a, str>>,
}

impl<'a> HeadSaid<'a> {
    /// That of a record with an id: others may be of another session.
    pub(super) fn of(line: &ClaudeLine<'a>) -> Option<Self> {
        line.uuid.as_ref()?;
        Some(Self {
            cwd: line.cwd.and_then(Json::as_str).filter(|cwd| !cwd.is_empty()),
            version: line.version.and_then(Json::as_str),
            forked_from: line.forked_from.and_then(|from| from.str("sessionId")),
        })
    }

    fn into_owned(self) -> HeadSaid<'static> {
        let owned = |text: Option<Cow<'_, str>>| text.map(|text| Cow::Owned(text.into_owned()));
        HeadSaid { cwd: owned(self.cwd), version: owned(self.version), forked_from: owned(self.forked_from) }
    }
}

/// Makes digests, and remembers what the records before said of the session.
#[derive(Debug, Default)]
pub(crate) struct ClaudeDigester {
    said: Option<HeadSaid<'static>>,
}

impl RecordDigester for ClaudeDigester {
    type Digest = ClaudeDigest;

    fn digest(&mut self, span: RecordSpan, text: &str) -> Option<ClaudeDigest> {
        let line = ClaudeLine::parse(text).ok()??;
        if !line.is_chain() && line.is_shown_state() {
            return None;
        }
        let draft = line.is_chain().then(|| ClaudeDraft::of(&line, span, print_of(line.json.text())));
        let said = HeadSaid::of(&line).filter(|said| Some(said) != self.said.as_ref());
        let head = said.map(|said| Box::new(said.into_owned()));
        if let Some(head) = &head {
            self.said = Some(HeadSaid::clone(head));
        }
        Some(ClaudeDigest { draft, time: line.time, head })
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;
    use std::path::Path;

    use offshoot_session::entry::Source as _;
    use offshoot_session::session::Options;

    use crate::claude::ClaudeMapper;
    use crate::digested::Division;
    use crate::foreign_medium::ForeignMedium;
    use crate::foreign_session::{ForeignSession, OpenedBeside, open_divided};
    use crate::side_folder::SideFolder;

    fn spelled(file: &Path, division: Division) -> String {
        let medium = ForeignMedium::open(file).unwrap();
        let side = Box::new(SideFolder(file.with_extension("")));
        let mapper = ClaudeMapper::new("s", false);
        let ForeignSession { session, head } = open_divided(
            (medium, division),
            mapper,
            side,
            OpenedBeside { told: None, parent: &|_| None },
            Options::default,
        )
        .unwrap();
        let mut text = format!("{head:?}\n{:?}\n", session.diagnostics());
        for ix in session.tree().entries() {
            writeln!(text, "{:?} {}", session.tree().node(ix).line(), session.entry(ix).unwrap().line()).unwrap();
        }
        text
    }

    #[test]
    fn several_threads_read_what_one_reads() {
        let fixtures =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/claude-code/projects/-home-u-work-demo");
        let mut all = Vec::new();
        for file in crate::below::below(&fixtures, std::fs::FileType::is_file) {
            all.push(std::fs::read(file).unwrap());
        }
        // In all of them together the same ids have several versions, and one session follows another.
        all.push(all.concat());
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("s.jsonl");
        for bytes in all {
            std::fs::write(&file, &bytes).unwrap();
            let division = |shortest, stretch| Division { shortest, stretch, longest: 3000 };
            let one = spelled(&file, division(u64::MAX, 1));
            for stretch in [7, 500, 4096, 1 << 20] {
                assert_eq!(spelled(&file, division(0, stretch)), one, "{stretch}");
            }
        }
    }
}
