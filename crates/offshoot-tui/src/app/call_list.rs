//! The calls of one answer that are asked about, in one list, and what is decided about each. Does not know the screen.

use offshoot_protocol::ForeseenQuestion;
use offshoot_session::call_view::CallView;
use offshoot_session::text::{spell_lines, spell_name};
use serde_json::Value;

/// A call that is asked about, as it is shown: with nothing hidden.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AskedCall {
    pub id: String,
    pub tool: String,
    /// The command, the path or the arguments.
    pub what: String,
    /// The other arguments, by name.
    pub beside: Vec<(String, String)>,
    /// The change of a file, as numbered lines.
    pub diff: Option<String>,
    pub reason: String,
}

impl AskedCall {
    #[must_use]
    pub fn new((id, name): (&str, &str), args: &Value, (reason, diff): (&str, Option<&str>)) -> Self {
        let args = args.to_string();
        let call = CallView::of_text(name, &args);
        let is_in_diff = |name: &String| diff.is_some() && call.is_changed_by(name);
        Self {
            id: id.to_owned(),
            tool: call.tool(),
            what: call.subject(&str::to_owned),
            beside: call.beside_subject().into_iter().filter(|(name, _)| !is_in_diff(name)).collect(),
            diff: diff.map(|diff| spell_lines(diff).into_owned()),
            reason: spell_name(reason).into_owned(),
        }
    }

    /// Whether it is the same call. A call before it may have changed the same file: then the same lines change, below others and with other numbers.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        let changed = |call: &Self| {
            let diff = call.diff.as_ref()?;
            Some(diff.lines().filter_map(changed_line).map(|(sign, text)| format!("{sign}{text}")).collect::<Vec<_>>())
        };
        changed(self) == changed(other) && Self { diff: None, ..self.clone() } == Self { diff: None, ..other.clone() }
    }

    /// Whether it is a command for a shell.
    #[must_use]
    pub fn is_command(&self) -> bool {
        self.tool.eq_ignore_ascii_case("bash")
    }
}

/// A line of a diff that is added or removed: its sign, and its text without the number.
fn changed_line(line: &str) -> Option<(char, &str)> {
    let sign = line.chars().next().filter(|sign| matches!(sign, '+' | '-'))?;
    let rest = line.get(1..)?;
    let text = rest.trim_start_matches(' ').trim_start_matches(|digit: char| digit.is_ascii_digit());
    Some((sign, text.strip_prefix(' ').unwrap_or(rest)))
}

/// What is decided about a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CallMark {
    /// It is asked about by itself when its turn comes.
    #[default]
    ByItself,
    Allow,
    Refuse,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedCall {
    pub call: AskedCall,
    pub mark: CallMark,
    /// Whether all of it was on the screen: only then it can be allowed here.
    pub was_seen: bool,
}

impl ListedCall {
    fn new(call: AskedCall) -> Self {
        Self { call, mark: CallMark::default(), was_seen: false }
    }

    /// Goes to the next of the marks that it can have.
    pub fn turn(&mut self) {
        self.mark = match self.mark {
            CallMark::ByItself if self.was_seen => CallMark::Allow,
            CallMark::ByItself | CallMark::Allow => CallMark::Refuse,
            CallMark::Refuse => CallMark::ByItself,
        };
    }

    /// Allows it if all of it was on the screen. Answers whether it is allowed.
    pub fn allow(&mut self) -> bool {
        if self.was_seen {
            self.mark = CallMark::Allow;
        }
        self.was_seen
    }
}

/// The call that is asked about, and those after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallList {
    pub calls: Vec<ListedCall>,
    pub selected: usize,
    /// Whether the selected call is shown alone, and how many of its rows are above the first one that is shown.
    pub opened: Option<usize>,
}

impl CallList {
    /// `None` if there is only one call.
    #[must_use]
    pub fn new(first: &AskedCall, following: &[ForeseenQuestion]) -> Option<Self> {
        let shown = |call: &ForeseenQuestion| {
            let name = (&*call.tool_call_id, &*call.tool_name);
            AskedCall::new(name, &call.args, (&call.reason, call.diff.as_deref()))
        };
        let calls = std::iter::once(first.clone()).chain(following.iter().map(shown)).map(ListedCall::new);
        (!following.is_empty()).then(|| Self { calls: calls.collect(), selected: 0, opened: None })
    }

    /// Selects a call so many places further.
    pub fn go(&mut self, by: isize) {
        self.selected = self.selected.saturating_add_signed(by).min(self.calls.len().saturating_sub(1));
    }

    pub fn selected_mut(&mut self) -> Option<&mut ListedCall> {
        self.calls.get_mut(self.selected)
    }
}
