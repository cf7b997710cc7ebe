//! Paths in Rust source as written: `use` trees taken apart, and every `a::b` in code. `modules` resolves them.

use crate::tokens::{Kind, Token};

#[derive(Debug)]
pub(super) struct CodePath {
    /// In order, without the `self` that ends a branch of a `use`.
    pub(super) names: Vec<String>,
    /// The name that a `use` gives it in the file.
    pub(super) bound: Option<String>,
    pub(super) line: usize,
    pub(super) depth: usize,
}

/// All paths of two or more names, and everything a `use` imports.
pub(super) fn paths(tokens: &[Token]) -> Vec<CodePath> {
    let mut reader = Reader { tokens, at: 0, found: Vec::new() };
    while let Some(token) = tokens.get(reader.at) {
        let (line, depth) = (token.line, token.depth);
        if reader.take("use") {
            reader.use_tree(&[]);
        } else if reader.starts_path() {
            let names = reader.names();
            reader.found.push(CodePath { names, bound: None, line, depth });
        } else {
            reader.at += 1;
        }
    }
    reader.found
}

struct Reader<'a> {
    tokens: &'a [Token],
    at: usize,
    found: Vec<CodePath>,
}

impl Reader<'_> {
    fn is(&self, at: usize, text: &str) -> bool {
        self.tokens.get(at).is_some_and(|token| token.kind != Kind::Literal && token.text == text)
    }

    fn take(&mut self, text: &str) -> bool {
        let is_next = self.is(self.at, text);
        self.at += usize::from(is_next);
        is_next
    }

    fn word(&mut self) -> Option<String> {
        let token = self.tokens.get(self.at).filter(|token| token.kind == Kind::Word)?;
        self.at += 1;
        Some(token.text.clone())
    }

    fn starts_path(&self) -> bool {
        let continues = self.at > 0 && (self.is(self.at - 1, "::") || self.is(self.at - 1, "."));
        self.tokens[self.at].kind == Kind::Word && !continues && self.is(self.at + 1, "::")
    }

    fn names(&mut self) -> Vec<String> {
        let mut names = Vec::new();
        while let Some(name) = self.word() {
            names.push(name);
            if !self.take("::") {
                break;
            }
        }
        names
    }

    /// One branch of a `use`; `before` are the names that lead to it.
    fn use_tree(&mut self, before: &[String]) {
        let Some(&Token { line, depth, .. }) = self.tokens.get(self.at) else { return };
        let mut names = [before, &self.names()].concat();
        if self.take("{") {
            let mut here = 0;
            while !self.take("}") && here != self.at {
                here = self.at;
                self.use_tree(&names);
                self.take(",");
            }
            return;
        }
        if names.last().is_some_and(|name| name == "self") && names.len() > 1 {
            names.pop();
        }
        let is_glob = self.take("*");
        let bound = if self.take("as") { self.word() } else { names.last().filter(|_| !is_glob).cloned() };
        self.found.push(CodePath { names, bound, line, depth });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokens::tokens;

    fn read(text: &str) -> Vec<String> {
        let shown = |path: CodePath| match path.bound {
            Some(bound) => format!("{} = {}", bound, path.names.join("::")),
            None => path.names.join("::"),
        };
        paths(&tokens(text).unwrap()).into_iter().map(shown).collect()
    }

    #[test]
    fn a_use_tree_is_taken_apart() {
        assert_eq!(
            read("pub use crate::{a::{self, B as C}, d::*};\nuse e;"),
            ["a = crate::a", "C = crate::a::B", "crate::d", "e = e"]
        );
    }

    #[test]
    fn paths_in_code_are_found_whole() {
        assert_eq!(
            read("fn f(a: &super::b::C) -> Vec::<crate::d::E> { x.g::<h::I>(); j!(k::l); <M as n::O>::p() }"),
            ["super::b::C", "Vec", "crate::d::E", "h::I", "k::l", "n::O"]
        );
    }
}
