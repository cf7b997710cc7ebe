//! In the library a new kind of entry, or a new role of messages, forces a decision: no `match` over them has an arm that
//! takes the rest. Most need no `match` over all kinds, but one of the questions that `kind.rs` answers for each.

use super::finding::Finding;
use crate::repo::Repo;
use crate::tokens::{Kind, Token};

const LIBRARY: &str = "crates/offshoot-session/src/";
/// Enums that are matched alone or with others.
const ANYWHERE: &[&str] = &["Kind", "KindSpeech", "KindClass"];
/// An enum that is matched alone. Beside a kind most roles say nothing.
const ALONE: &str = "Role";

pub(crate) fn check(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in repo.under(LIBRARY).filter(|file| file.is_rust()) {
        let tokens = file.shipped();
        for at in (0..tokens.len()).filter(|at| is(&tokens[*at], "match")) {
            let arms = patterns(&tokens[at + 1..]);
            let Some(name) = arms.iter().find_map(|arm| matched(arm)) else { continue };
            for arm in arms.iter().filter(|arm| takes_the_rest(arm)) {
                let what = format!("an arm takes the rest of `{name}`: list them, or ask `kind.rs`");
                findings.push(Finding::at(&file.path, arm[0].line, what));
            }
        }
    }
    findings
}

fn is(token: &Token, text: &str) -> bool {
    token.kind != Kind::Literal && token.text == text
}

/// The patterns of a match, with their guards. `tokens` begin behind the word.
fn patterns(tokens: &[Token]) -> Vec<&[Token]> {
    let Some(open) = at_depth_0(tokens, |token, _| is(token, "{")) else { return Vec::new() };
    let mut rest = inside(&tokens[open..]);
    let mut patterns = Vec::new();
    while let Some(end) = at_depth_0(rest, |token, next| is(token, "=") && next.is_some_and(|next| is(next, ">"))) {
        patterns.push(&rest[..end]);
        rest = &rest[end + 2..];
        let body = match rest.first() {
            Some(token) if is(token, "{") => inside(rest).len() + 2,
            _ => at_depth_0(rest, |token, _| is(token, ",")).unwrap_or(rest.len()),
        };
        let behind_comma = body + usize::from(rest.get(body).is_some_and(|token| is(token, ",")));
        rest = &rest[behind_comma..];
    }
    patterns
}

/// The first token outside brackets of which this is true.
fn at_depth_0(tokens: &[Token], is_it: impl Fn(&Token, Option<&Token>) -> bool) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate() {
        if depth == 0 && is_it(token, tokens.get(at + 1)) {
            return Some(at);
        }
        depth = next_depth(depth, token);
    }
    None
}

fn next_depth(depth: usize, token: &Token) -> usize {
    match token.text.as_str() {
        _ if token.kind != Kind::Sign => depth,
        "(" | "[" | "{" => depth + 1,
        ")" | "]" | "}" => depth.saturating_sub(1),
        _ => depth,
    }
}

/// What the first bracket encloses.
fn inside(tokens: &[Token]) -> &[Token] {
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate() {
        depth = next_depth(depth, token);
        if depth == 0 {
            return &tokens[1..at];
        }
    }
    tokens.get(1..).unwrap_or_default()
}

/// The enum that a pattern names.
fn matched(arm: &[Token]) -> Option<String> {
    let arm = &arm[..arm.iter().position(|token| is(token, "if")).unwrap_or(arm.len())];
    let names = |at: usize, name: &str| is(&arm[at], name) && arm.get(at + 1).is_some_and(|next| is(next, "::"));
    let kind = ANYWHERE.iter().find(|name| (0..arm.len()).any(|at| names(at, name)));
    kind.copied().or_else(|| (!arm.is_empty() && names(0, ALONE)).then_some(ALONE)).map(str::to_owned)
}

/// `_`, a name, or a tuple of those, without a guard.
fn takes_the_rest(arm: &[Token]) -> bool {
    let binds =
        |token: &Token| token.kind == Kind::Word && token.text.starts_with(|c: char| c == '_' || c.is_lowercase());
    let is_part = |token: &Token| binds(token) || ["(", ")", ",", "_"].iter().any(|sign| is(token, sign));
    !arm.is_empty() && arm.iter().all(is_part) && !arm.iter().any(|token| is(token, "if"))
}

#[cfg(test)]
mod tests {
    use super::super::finding::lines;
    use super::*;

    fn found(code: &str) -> usize {
        let text = format!("fn f() {{ {code} }}\n");
        lines(&check(&Repo::of(&[(&format!("{LIBRARY}a.rs"), &text)]))).len()
    }

    #[test]
    fn an_arm_for_the_rest_of_the_kinds_is_found() {
        assert_eq!(found("match kind { Kind::Label => 1, _ => 2 }"), 1);
        assert_eq!(found("match kind { Kind::Label => { 1 } other => g(other) }"), 1);
        assert_eq!(found("match (kind, role) { (Kind::Message, Some(Role::User)) => 1, (_, _) => 2 }"), 1);
        assert_eq!(found("match x { Some(KindClass::State) => 1, _ => 2 }"), 1);
        assert_eq!(found("match role { Role::User => 1, _ => 2 }"), 1);
        assert_eq!(found("if let Some(a) = match kind { Kind::Label => f(|_| 1), _ => None } { b }"), 1);
    }

    #[test]
    fn other_matches_are_none_of_its_business() {
        assert_eq!(
            found("match kind { Kind::Label => 1, Kind::Usage if x => 2, Kind::Usage | Kind::Message => 3 }"),
            0
        );
        assert_eq!(found("match kind { Kind::Label => match x { 1 => 2, _ => 3 }, Kind::Usage => 3 }"), 0);
        assert_eq!(found("match role { Some(Role::User) => 1, _ => 2 }"), 0);
        assert_eq!(found("match json { JsonKind::Null => 1, _ => 2 } matches!(kind, Kind::Label)"), 0);
        assert_eq!(found("match kind { Kind::Label => 1, _ if x => 2, Kind::Usage => 3 }"), 0);
    }
}
