//! An operation on the session that somebody holds, as data: what front ends compare, keep and hand on. Also how a line is read as
//! one, where the session is the open one.

use crate::given::{Arg, ArgForm, ArgKind, ArgValue, Given};
use crate::run::{Row, SESSION_ARG};

/// An operation on the open session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperationOrder {
    /// Its name.
    pub operation: &'static str,
    /// Its arguments; the session is the open one.
    pub given: Given,
}

impl OperationOrder {
    /// An operation with the arguments that were given.
    #[must_use]
    pub fn new(operation: &'static str, given: Given) -> Self {
        Self { operation, given }
    }
}

/// How a front end reads a line as an order.
#[derive(Debug, Clone, Copy, Default)]
pub struct LineForm {
    /// Arguments that it sets by itself; of a flag the value does not matter.
    pub preset: &'static [(&'static str, &'static str)],
    /// An option that takes what follows the arguments with a place.
    pub rest: Option<&'static str>,
}

/// Why a line is no order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OrderMistake {
    /// This argument is missing.
    Missing(&'static str),
    /// There is more than the operation takes.
    TooMuch,
    /// There is no such option.
    Option(String),
}

impl Row {
    /// The arguments that a line gives in their order: not the session, and not those that are set.
    pub fn typed_args(&self, form: LineForm) -> impl Iterator<Item = &'static Arg> {
        let is_set = move |arg: &Arg| form.preset.iter().any(|(name, _)| *name == arg.name);
        let placed = move |arg: &&Arg| arg.form == ArgForm::Positional && arg.name != SESSION_ARG && !is_set(arg);
        let rest = self.args.iter().filter(move |arg| form.rest == Some(arg.name));
        self.args.iter().filter(placed).chain(rest)
    }

    /// Reads what is typed after the operation's name: flags are words with `--`, words with blanks are quoted, and a text at the
    /// end takes the rest as it stands.
    ///
    /// # Errors
    /// It is no order.
    pub fn order(&self, form: LineForm, line: &str) -> Result<OperationOrder, OrderMistake> {
        let mut given = Given::default();
        for (name, value) in form.preset {
            match self.args.iter().any(|arg| arg.name == *name && arg.kind == ArgKind::Flag) {
                true => given.put(name, ArgValue::Flag),
                false => given.put_text(name, *value),
            }
        }
        let mut open: Vec<&'static Arg> = self.typed_args(form).collect();
        open.reverse();
        let mut rest = line.trim();
        while !rest.is_empty() {
            let (word, more) = first(rest);
            if let Some(flag) = word.strip_prefix("--") {
                let is_it = |arg: &&Arg| matches!(arg.form, ArgForm::Flag { .. }) && arg.hyphened == flag;
                let arg = self.args.iter().find(is_it).ok_or_else(|| OrderMistake::Option(word.to_owned()))?;
                given.put(arg.name, ArgValue::Flag);
                rest = more.trim_start();
                continue;
            }
            let arg = *open.last().ok_or(OrderMistake::TooMuch)?;
            if arg.kind == ArgKind::Text && !arg.is_many {
                given.put_text(arg.name, rest);
                open.pop();
                break;
            }
            rest = more.trim_start();
            let word = unquoted(word);
            if word.is_empty() {
                continue;
            }
            if arg.is_many {
                let mut all = match given.take(arg.name) {
                    Some(ArgValue::Many(all)) => all,
                    Some(_) | None => Vec::new(),
                };
                all.push(word);
                given.put(arg.name, ArgValue::Many(all));
            } else {
                given.put_text(arg.name, word);
                open.pop();
            }
        }
        let missing = open.iter().rev().find(|arg| arg.is_missing(&given));
        match missing {
            Some(arg) => Err(OrderMistake::Missing(arg.name)),
            None => Ok(OperationOrder { operation: self.about.name, given }),
        }
    }
}

/// The first word, which ends at a blank or at its closing quote, and the rest.
fn first(both: &str) -> (&str, &str) {
    let quoted = both.strip_prefix('"').and_then(|rest| rest.find('"')).and_then(|end| both.split_at_checked(end + 2));
    quoted.or_else(|| both.split_once(char::is_whitespace)).unwrap_or((both, ""))
}

fn unquoted(word: &str) -> String {
    word.strip_prefix('"').and_then(|word| word.strip_suffix('"')).unwrap_or(word).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operations::find_operation;

    #[test]
    fn a_line_is_read_by_the_arguments_of_the_row() {
        let form = LineForm { preset: &[("entry", "@said")], rest: None };
        let label = |line: &str| find_operation("label").unwrap().order(form, line);
        let given = label("the fix  is in").unwrap().given;
        assert_eq!((given.text("entry"), given.text("text")), (Some("@said"), Some("the fix  is in")));
        assert!(label("--clear").unwrap().given.has("clear"));
        assert!(!label("").unwrap().given.has("text"));
        assert_eq!(label("--claer").unwrap_err(), OrderMistake::Option("--claer".to_owned()));
        let whole = |line: &str| find_operation("label").unwrap().order(LineForm::default(), line);
        let given = whole("\"a label\" new").unwrap().given;
        assert_eq!((given.text("entry"), given.text("text")), (Some("a label"), Some("new")));
        assert_eq!(whole("").unwrap_err(), OrderMistake::Missing("entry"));
        assert_eq!(find_operation("undo").unwrap().order(LineForm::default(), "x").unwrap_err(), OrderMistake::TooMuch);
        let form = LineForm { preset: &[], rest: Some("instructions") };
        let given = find_operation("merge").unwrap().order(form, "a1 mind  the tests").unwrap().given;
        assert_eq!((given.text("source"), given.text("instructions")), (Some("a1"), Some("mind  the tests")));
    }
}
