//! A planned pick as a value that can be shown before it is written.

use crate::compose::NewEntry;
use crate::context::ContextWeight;
use crate::files::FileLists;
use crate::id::EntryId;
use crate::json::Object;
use crate::kind::{Kind, Operation, Role};
use crate::tree::NodeIx;

/// Why an entry is not copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "`text` says what each is")]
pub enum LeftOut {
    Compaction,
    Setting,
    State,
    Label,
    Name,
    Usage,
    EditTarget,
    NoCall,
    OtherDialect,
    Unknown,
    Damaged,
}

/// Why an entry above the target is copied nevertheless.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Gone {
    Compacted,
    EditedOut,
}

/// One planned copy.
#[derive(Debug, Clone)]
pub struct PlannedCopy {
    /// The entry in the session that gives.
    pub ix: NodeIx,
    /// Its id.
    pub id: EntryId,
    /// Its kind and role.
    pub kind: Kind,
    /// Of a message.
    pub role: Option<Role>,
    /// Whether it came along because a tool call and its result stay together.
    pub is_added: bool,
    /// Whether it is on the path of the target already, but not in its context.
    pub gone: Option<Gone>,
    /// An estimate.
    pub tokens: u64,
}

/// A pick, before it is written.
#[derive(Debug, Clone)]
pub struct PickPlan {
    /// What is copied, in order.
    pub copies: Vec<PlannedCopy>,
    /// What is left out, and why.
    pub left_out: Vec<(EntryId, LeftOut)>,
    /// What the context has already: the selected entry, and the one that is there.
    pub already: Vec<(EntryId, EntryId)>,
    /// `provider/model`, if it is named again after the copies.
    pub restated: Option<String>,
    /// An estimate for the copies.
    pub tokens: u64,
    /// The context at the target, before the pick.
    pub before: ContextWeight,
    /// How much is written.
    pub bytes: u64,
    /// The files that the copied calls read and changed.
    pub files: FileLists,
    /// How many images are written out for pi.
    pub images: usize,
    /// The entry below which the copies go.
    pub onto: Option<NodeIx>,
    /// The marker's followers.
    pub(crate) entries: Vec<NewEntry>,
    pub(crate) operation: Operation,
}

impl LeftOut {
    /// The reason, for people.
    pub fn text(self) -> &'static str {
        match self {
            Self::Compaction => "a compaction: what it stands for comes only if it is selected",
            Self::Setting => "a setting",
            Self::State => "state of an extension",
            Self::Label => "a label",
            Self::Name => "a name or title belongs to its session",
            Self::Usage => "usage counts where it was spent",
            Self::EditTarget => "an edit of an entry that is not picked",
            Self::NoCall => "a result without its call",
            Self::OtherDialect => "an entry that the other program does not know",
            Self::Unknown => "an entry of an unknown type",
            Self::Damaged => "damaged",
        }
    }

    /// A stable word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Compaction => "compaction",
            Self::Setting => "setting",
            Self::State => "state",
            Self::Label => "label",
            Self::Name => "name",
            Self::Usage => "usage",
            Self::EditTarget => "edit-target",
            Self::NoCall => "no-call",
            Self::OtherDialect => "other-dialect",
            Self::Unknown => "unknown",
            Self::Damaged => "damaged",
        }
    }
}

impl Gone {
    /// A stable word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Compacted => "compacted",
            Self::EditedOut => "edited-out",
        }
    }
}

impl PickPlan {
    /// Whether nothing would be written.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The plan as JSON; `id` names entries of the session that receives.
    pub fn to_json(&self, onto: Option<&str>) -> Object {
        let list = |items: Vec<String>| format!("[{}]", items.join(","));
        let copies = self.copies.iter().map(|copy| {
            Object::new()
                .str("entryId", copy.id.as_str())
                .opt_str("type", copy.kind.word())
                .opt_str("role", copy.role.and_then(Role::word))
                .raw("tokens", copy.tokens)
                .raw("added", copy.is_added)
                .str_or_null("gone", copy.gone.map(Gone::word))
                .finish()
        });
        let left = self.left_out.iter().map(|(id, why)| {
            Object::new().str("entryId", id.as_str()).str("reason", why.word()).str("message", why.text()).finish()
        });
        let already = self
            .already
            .iter()
            .map(|(id, here)| Object::new().str("entryId", id.as_str()).str("hereId", here.as_str()).finish());
        let object = Object::new()
            .str_or_null("ontoId", onto)
            .raw("copies", list(copies.collect()))
            .raw("leftOut", list(left.collect()))
            .raw("alreadyHere", list(already.collect()))
            .str_or_null("restatedModel", self.restated.as_deref())
            .raw("tokens", self.tokens)
            .raw("tokensBefore", self.before.total(0))
            .raw("bytes", self.bytes)
            .raw("imagesWrittenOut", self.images);
        self.files.details(object)
    }
}
