//! What a text must have for a query to fit, as an expression over trigrams. Says less than the query, never more.

use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Hir, HirKind};

use crate::query::{SearchQuery, Term};
use crate::trigrams::expression_of;
use crate::words::folded;

/// The expression of a query; `None` if any text can fit.
pub(crate) fn required(query: &SearchQuery) -> Option<String> {
    let groups = query.all.iter().filter_map(|any| one_of(any.iter().map(of_term)));
    all_of(groups)
}

fn of_term(term: &Term) -> Option<String> {
    match term {
        // A phrase may have anything between its words.
        Term::Words(words) => all_of(words.words.iter().filter_map(|word| expression_of(word))),
        Term::Part(part) => expression_of(part),
        Term::Pattern(pattern) => {
            // With case, so that literals stay literals: those of the text are folded anyway.
            let parsed = ParserBuilder::new().multi_line(true).build().parse(pattern.as_str()).ok()?;
            of_pattern(&parsed)
        }
    }
}

fn of_pattern(pattern: &Hir) -> Option<String> {
    match pattern.kind() {
        HirKind::Literal(literal) => of_literal(&literal.0),
        HirKind::Capture(capture) => of_pattern(&capture.sub),
        HirKind::Repetition(repetition) if repetition.min > 0 => of_pattern(&repetition.sub),
        HirKind::Concat(parts) => all_of(parts.iter().filter_map(of_pattern)),
        HirKind::Alternation(parts) => one_of(parts.iter().map(of_pattern)),
        HirKind::Repetition(_) | HirKind::Empty | HirKind::Class(_) | HirKind::Look(_) => None,
    }
}

/// Letters other than those of ASCII can be equal without case, but not when they are folded.
fn of_literal(bytes: &[u8]) -> Option<String> {
    let runs = bytes.split(|byte| !byte.is_ascii()).filter(|run| run.len() > 2);
    all_of(runs.filter_map(|run| expression_of(&folded(std::str::from_utf8(run).ok()?))))
}

fn all_of(parts: impl Iterator<Item = String>) -> Option<String> {
    joined(parts.collect(), " AND ")
}

/// `None` if one of them is: then it is enough.
fn one_of(parts: impl Iterator<Item = Option<String>>) -> Option<String> {
    joined(parts.collect::<Option<_>>()?, " OR ")
}

fn joined(mut parts: Vec<String>, word: &str) -> Option<String> {
    match parts.len() {
        0 => None,
        1 => parts.pop(),
        _ => Some(format!("({})", parts.join(word))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expression with letters for hexadecimal digits.
    fn of(typed: &str) -> String {
        let expression = required(&SearchQuery::parse(typed, &|_| None).unwrap()).unwrap_or_default();
        let mut said = String::new();
        for (nth, piece) in expression.split('"').enumerate() {
            if nth % 2 == 0 {
                said.push_str(piece);
            } else {
                let bytes: Vec<u8> = (0..piece.len() / 2)
                    .map(|at| u8::from_str_radix(&piece[2 * at..2 * at + 2], 16).unwrap())
                    .collect();
                said.push_str(&String::from_utf8_lossy(&bytes));
            }
        }
        said
    }

    #[test]
    fn words_parts_and_choices_are_required() {
        assert_eq!(of("~Pool"), "(ool AND poo)");
        assert_eq!(of("pool OR ~é"), "((ool AND poo) OR e *)");
        assert_eq!(of("\"ab cd\" -pool"), "(ab * AND cd *)");
        assert_eq!(of("role:user"), "");
    }

    #[test]
    fn the_literals_of_patterns_are_required() {
        assert_eq!(of(r"/max_\w+ to \d+/"), "((ax_ AND max) AND ( to AND to ))");
        assert_eq!(of(r"/(Foo|bar)+x?/"), "((foo) OR (bar))");
        assert_eq!(of(r"/(foo|.)/"), "");
        assert_eq!(of(r"/(foo)*/"), "");
        assert_eq!(of(r"/naïve/"), "");
        assert_eq!(of(r"/(?i)foo/"), "");
    }
}
