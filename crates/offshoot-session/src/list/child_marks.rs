//! What a session file says of itself as a child's: what started it, and how its work has ended. Gathered entry by entry, so that reading
//! can stop anywhere and go on.

use memchr::memmem;

use crate::child::{CHILD_START, ChildEnd, ChildStart};
use crate::envelope::LineBytes;
use crate::json::Json;
use crate::kind::Kind;

/// What lists show of a session as a child.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[expect(missing_docs, reason = "the names of the others say what they are")]
pub struct ChildMarks {
    /// Empty if nothing says it.
    pub agent: String,
    /// Empty if nothing says it.
    pub task: String,
    /// The entry of the parent with the call; omp does not say.
    pub parent_entry: Option<String>,
    pub tool_call_id: Option<String>,
    /// How its work has ended; `None` where nothing says so, or something was said after it.
    pub status: Option<String>,
}

impl ChildMarks {
    /// Whether a line of this kind may say something. `offshoot.child` is the beginning of both types.
    pub(super) fn may_be_in(kind: Kind, line: LineBytes<'_>) -> bool {
        let mentions = |part: &[u8]| memmem::find(part, CHILD_START.as_bytes()).is_some();
        kind == Kind::SessionInit || (kind == Kind::Custom && (mentions(line.head) || line.tail.is_some_and(mentions)))
    }

    /// Takes what a line says.
    pub(super) fn take(known: &mut Option<Box<Self>>, kind: Kind, line: &str) {
        if kind == Kind::SessionInit {
            if known.is_none() {
                *known = omp_init(line).map(Box::new);
            }
        } else if let Some(start) = ChildStart::of_line(line) {
            // What it starts with counts.
            if known.as_ref().is_none_or(|known| known.tool_call_id.is_none()) {
                *known = Some(Box::new(Self::of_start(start)));
            }
        } else if let (Some(known), Some(end)) = (known, ChildEnd::of_line(line)) {
            known.status = Some(end.status);
        }
    }

    fn of_start(start: ChildStart) -> Self {
        Self {
            agent: start.agent,
            task: start.task,
            parent_entry: start.parent_entry,
            tool_call_id: Some(start.tool_call_id),
            status: None,
        }
    }

    /// For a cache.
    #[must_use]
    pub fn to_json(&self) -> String {
        crate::json::Object::new()
            .str("agent", &self.agent)
            .str("task", &self.task)
            .opt_str("parentEntry", self.parent_entry.as_deref())
            .opt_str("toolCallId", self.tool_call_id.as_deref())
            .opt_str("status", self.status.as_deref())
            .finish()
    }

    /// Reads [`ChildMarks::to_json`].
    #[must_use]
    pub fn of_json(text: &str) -> Option<Self> {
        let json = Json::parse(text).ok()?;
        let text = |name: &str| json.str(name).map(std::borrow::Cow::into_owned);
        Some(Self {
            agent: text("agent")?,
            task: text("task")?,
            parent_entry: text("parentEntry"),
            tool_call_id: text("toolCallId"),
            status: text("status"),
        })
    }
}

/// The agent and the task of omp's entry.
fn omp_init(line: &str) -> Option<ChildMarks> {
    let json = Json::parse(line).ok()?;
    let text = |name: &str| json.str(name).map(std::borrow::Cow::into_owned).unwrap_or_default();
    Some(ChildMarks { agent: text("agent"), task: text("task"), ..ChildMarks::default() })
}
