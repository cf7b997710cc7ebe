//! Records that are not in the chain: titles, tags, and where the session is open. Unknown ones say nothing here.

use offshoot_session::id::EntryId;
use offshoot_session::json::JsonKind;

use super::compose::{ClaudeForm, title};
use super::draft::ClaudeDraft;
use super::line::{ClaudeLine, ClaudeRecord};
use super::{ClaudeMapper, Planned, coming};
use crate::growth::{Coming, EntryAt, Parent};
use crate::key::{Key, hex_hash};
use crate::record::RecordSpan;

/// The titles so far. One that a person gave counts, and else one that was made.
#[derive(Debug, Default)]
pub(super) struct Titles {
    is_given: bool,
    is_made: bool,
    shown: Option<String>,
}

impl Titles {
    /// Whether this is another title than the one before.
    fn show(&mut self, title: &str) -> bool {
        let is_other = self.shown.as_deref() != Some(title);
        self.shown = Some(title.to_owned());
        is_other
    }
}

/// What a record says that stands between the lines of an answer: it follows the answer.
#[derive(Debug)]
pub(super) struct LateState {
    draft: ClaudeDraft,
    said: StateSaid,
}

#[derive(Debug)]
enum StateSaid {
    Title,
    Label(String),
    /// A title if this record is one of this file.
    TitleOf(Key, String),
}

impl ClaudeMapper {
    /// A record that is not in the chain.
    pub(super) fn state(&mut self, span: RecordSpan, line: &ClaudeLine<'_>, out: &mut Vec<Planned>) {
        let said = match line.kind.as_ref() {
            "custom-title" | "ai-title" | "summary" => self.title(line),
            "last-prompt" => {
                self.leaf = line.json.str("leafUuid").map(|id| Key::of(&id));
                None
            }
            "tag" => line.json.str("tag").filter(|tag| !tag.is_empty()).map(|tag| StateSaid::Label(tag.into_owned())),
            "pr-link" => {
                let number = line.json.get("prNumber").filter(|number| number.kind() == JsonKind::Number);
                number.map(|number| StateSaid::Label(format!("PR #{}", number.text())))
            }
            _ => None,
        };
        if let Some(said) = said {
            let draft = self.state_draft(span, line);
            if matches!(said, StateSaid::TitleOf(..)) {
                self.late.retain(|late| !matches!(late.said, StateSaid::TitleOf(..)));
            }
            self.late.push(LateState { draft, said });
            if self.open.is_none() {
                self.settle_late(out);
            }
        }
    }

    /// Places what waited for an answer or for a record.
    pub(super) fn settle_late(&mut self, out: &mut Vec<Planned>) {
        for late in std::mem::take(&mut self.late) {
            match &late.said {
                StateSaid::Title => self.behind_last(coming(&late.draft, ClaudeForm::Title), out),
                StateSaid::Label(label) => {
                    if let Some(target) = self.last_said {
                        self.label(&late.draft, target, label, out);
                    }
                }
                StateSaid::TitleOf(..) if self.titles.is_given || self.titles.is_made => {}
                StateSaid::TitleOf(leaf, title) if self.growth.find(*leaf).is_some() => {
                    if self.titles.show(title) {
                        self.behind_last(coming(&late.draft, ClaudeForm::Title), out);
                    }
                }
                StateSaid::TitleOf(..) => self.late.push(late),
            }
        }
    }

    /// Whether a record gives the session another title.
    fn title(&mut self, line: &ClaudeLine<'_>) -> Option<StateSaid> {
        let title = title(line.json).filter(|title| !title.trim().is_empty())?.into_owned();
        match line.kind.as_ref() {
            "custom-title" => self.titles.is_given = true,
            "ai-title" if self.titles.is_given => return None,
            "ai-title" => self.titles.is_made = true,
            // It is often that of another session of the folder.
            _ => return Some(StateSaid::TitleOf(Key::of(&line.json.str("leafUuid")?), title)),
        }
        self.titles.show(&title).then_some(StateSaid::Title)
    }

    /// An entry that follows the last one, whatever comes next.
    fn behind_last(&mut self, next: Coming<ClaudeForm>, out: &mut Vec<Planned>) {
        let parent = self.growth.last();
        let at = self.growth.plan(next, parent.map_or(Parent::Root, Parent::Of), out);
        if let Some(parent) = parent {
            self.growth.continue_at(parent, at);
        }
    }

    pub(super) fn label(&mut self, draft: &ClaudeDraft, target: EntryAt, label: &str, out: &mut Vec<Planned>) {
        let mut next = coming(draft, ClaudeForm::Label);
        if draft.record != ClaudeRecord::State {
            next.id = EntryId::new(format!("{}.l", next.id));
        }
        // An entry has one label.
        let label = match self.labelled.take() {
            Some((known, before)) if known == target => format!("{before}, {label}"),
            _ => label.to_owned(),
        };
        next.name = self.names.number(&label);
        next.refers = self.growth.id(target);
        self.labelled = Some((target, label));
        self.behind_last(next, out);
    }

    /// A state record, whose id is its hash.
    fn state_draft(&mut self, span: RecordSpan, line: &ClaudeLine<'_>) -> ClaudeDraft {
        let session = self.head.native_id.clone();
        let hash = hex_hash(&[b"claude", session.as_bytes(), line.json.text().as_bytes()], 16);
        let count = self.repeated.entry(Key::of(&hash)).and_modify(|count| *count += 1).or_insert(0);
        let uuid = if *count == 0 { hash } else { format!("{hash}-{count}") };
        ClaudeDraft::of(line, span, 0).with_id(&uuid)
    }
}
