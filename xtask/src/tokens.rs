//! Rust source as a flat list of tokens, each with its line and whether only tests see it.
//!
//! Checks see tokens, so comments and string contents never raise a false alarm.

use std::str::FromStr as _;

use anyhow::{Result, anyhow};
use proc_macro2::{Delimiter, Group, Punct, Spacing, TokenStream, TokenTree};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Word,
    Literal,
    /// One character, `::`, or one bracket.
    Sign,
}

#[derive(Debug, Clone)]
pub(crate) struct Token {
    /// As written; `::` is one token.
    pub(crate) text: String,
    pub(crate) kind: Kind,
    pub(crate) line: usize,
    pub(crate) test: bool,
    /// How many inline `mod x { }` blocks enclose the token.
    pub(crate) depth: usize,
}

/// Plain comments are dropped; doc comments are `doc` attributes.
pub(crate) fn tokens(text: &str) -> Result<Vec<Token>> {
    let stream = TokenStream::from_str(text).map_err(|error| anyhow!("does not read as Rust: {error}"))?;
    let mut out = Vec::new();
    flatten(stream, TokenContext { test: false, depth: 0 }, &mut out);
    Ok(out)
}

pub(crate) fn find<'a>(tokens: &'a [Token], pattern: &'a [&str]) -> impl Iterator<Item = usize> + 'a {
    tokens.windows(pattern.len()).enumerate().filter_map(move |(at, window)| {
        let same = window.iter().zip(pattern).all(|(token, word)| token.kind != Kind::Literal && token.text == *word);
        same.then_some(at)
    })
}

#[derive(Clone, Copy)]
struct TokenContext {
    test: bool,
    depth: usize,
}

fn flatten(stream: TokenStream, place: TokenContext, out: &mut Vec<Token>) {
    let trees: Vec<TokenTree> = stream.into_iter().collect();
    let whole_is_test = place.test || trees.windows(3).any(|w| is_inner_attribute(w) && is_test_attribute(&w[2]));
    let mut test_item = false;
    for (at, tree) in trees.iter().enumerate() {
        let after_mod = at >= 2 && is_word(&trees[at - 2], "mod");
        if is_sign(tree, '#') && trees.get(at + 1).is_some_and(is_test_attribute) {
            test_item = true;
        }
        let here = TokenContext { test: whole_is_test || test_item, depth: place.depth };
        match tree {
            TokenTree::Group(group) => {
                let inside = TokenContext { depth: here.depth + usize::from(after_mod), ..here };
                flatten_group(group, inside, here, out);
                if group.delimiter() == Delimiter::Brace {
                    test_item = false;
                }
            }
            TokenTree::Punct(sign) => {
                let joins = at > 0 && is_joint_colon(&trees[at - 1]);
                push_sign(sign, here, joins, out);
                if sign.as_char() == ';' {
                    test_item = false;
                }
            }
            TokenTree::Ident(word) => out.push(token(word.to_string(), Kind::Word, word.span().start().line, here)),
            TokenTree::Literal(value) => {
                out.push(token(value.to_string(), Kind::Literal, value.span().start().line, here));
            }
        }
    }
}

fn flatten_group(group: &Group, inside: TokenContext, here: TokenContext, out: &mut Vec<Token>) {
    let (open, close) = match group.delimiter() {
        Delimiter::Parenthesis => ("(", ")"),
        Delimiter::Brace => ("{", "}"),
        Delimiter::Bracket => ("[", "]"),
        Delimiter::None => ("", ""),
    };
    out.push(token(open.to_owned(), Kind::Sign, group.span_open().start().line, here));
    flatten(group.stream(), inside, out);
    out.push(token(close.to_owned(), Kind::Sign, group.span_close().start().line, here));
}

/// Pushes a sign; the second colon of `::` joins the first.
fn push_sign(sign: &Punct, here: TokenContext, joins: bool, out: &mut Vec<Token>) {
    match out.last_mut() {
        Some(last) if joins && sign.as_char() == ':' && last.text == ":" => last.text.push(':'),
        _ => out.push(token(sign.to_string(), Kind::Sign, sign.span().start().line, here)),
    }
}

fn is_joint_colon(tree: &TokenTree) -> bool {
    matches!(tree, TokenTree::Punct(p) if p.as_char() == ':' && p.spacing() == Spacing::Joint)
}

fn token(text: String, kind: Kind, line: usize, place: TokenContext) -> Token {
    Token { text, kind, line, test: place.test, depth: place.depth }
}

fn is_sign(tree: &TokenTree, sign: char) -> bool {
    matches!(tree, TokenTree::Punct(p) if p.as_char() == sign)
}

fn is_word(tree: &TokenTree, word: &str) -> bool {
    matches!(tree, TokenTree::Ident(i) if i == word)
}

fn is_inner_attribute(window: &[TokenTree]) -> bool {
    is_sign(&window[0], '#') && is_sign(&window[1], '!')
}

/// `[test]`, `[cfg(test)]`, `[cfg(any(test, ...))]`, but not `[cfg(not(test))]` or `[cfg_attr(test, ...)]`.
fn is_test_attribute(tree: &TokenTree) -> bool {
    let TokenTree::Group(group) = tree else { return false };
    if group.delimiter() != Delimiter::Bracket {
        return false;
    }
    let inner: Vec<TokenTree> = group.stream().into_iter().collect();
    match inner.as_slice() {
        [one] => is_word(one, "test"),
        [cfg, TokenTree::Group(condition)] if is_word(cfg, "cfg") => {
            let words = words_of(condition);
            words.iter().any(|word| word == "test") && !words.iter().any(|word| word == "not")
        }
        _ => false,
    }
}

fn words_of(group: &Group) -> Vec<String> {
    let mut words = Vec::new();
    for tree in group.stream() {
        match tree {
            TokenTree::Ident(word) => words.push(word.to_string()),
            TokenTree::Group(inner) => words.extend(words_of(&inner)),
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(text: &str) -> Vec<(String, bool)> {
        tokens(text).unwrap().into_iter().map(|t| (t.text, t.test)).collect()
    }

    #[test]
    fn comments_and_strings_hold_no_tokens() {
        let tokens = tokens("// a::b\nfn f() { g(\"a::b\"); /* a::b */ a::c }").unwrap();
        assert_eq!(find(&tokens, &["a", "::", "b"]).count(), 0);
        let hits: Vec<usize> = find(&tokens, &["a", "::", "c"]).map(|at| tokens[at].line).collect();
        assert_eq!(hits, [2]);
    }

    #[test]
    fn test_items_are_marked_to_their_end_and_no_further() {
        let list = seen("#[cfg(test)]\n#[allow(x)]\nmod tests { a } b");
        assert!(list.contains(&("a".into(), true)));
        assert!(list.contains(&("b".into(), false)));
        let list = seen("#[cfg(test)] use x::y; b");
        assert!(list.contains(&("y".into(), true)) && list.contains(&("b".into(), false)));
    }

    #[test]
    fn not_test_is_not_a_test() {
        assert!(seen("#[cfg(not(test))] mod x { a }").contains(&("a".into(), false)));
        assert!(seen("#[cfg_attr(test, allow(x))] fn a() {}").contains(&("a".into(), false)));
        assert!(seen("#![cfg(test)] fn a() {}").contains(&("a".into(), true)));
    }

    #[test]
    fn inline_modules_add_depth() {
        let tokens = tokens("mod a { mod b { c } } d").unwrap();
        let depth = |name: &str| tokens.iter().find(|t| t.text == name).unwrap().depth;
        assert_eq!((depth("a"), depth("b"), depth("c"), depth("d")), (0, 1, 2, 0));
    }
}
