//! The modules of a crate: which file declares which, in what order, and which file defines the name at the end of a
//! path.
//!
//! Paths are followed through `use` and re-exports. A path that leaves the crate has no target.

use std::collections::HashMap;

use super::paths::{CodePath, paths};
use crate::repo::{Repo, RepoFile};
use crate::tokens::{Kind, Token, find};

/// How many re-exports a path may pass through.
const RE_EXPORTS: usize = 16;

pub(super) struct SourceFile<'a> {
    file: &'a RepoFile,
    /// The module's path in the crate: `[tree, walk]`; the root is `[]`.
    pub(super) place: Vec<String>,
    /// The modules it declares, in order, without test modules.
    pub(super) declared: Vec<String>,
    pub(super) paths: Vec<CodePath>,
}

impl SourceFile<'_> {
    pub(super) fn path(&self) -> &str {
        &self.file.path
    }
}

pub(super) struct Modules<'a> {
    files: HashMap<Vec<String>, SourceFile<'a>>,
}

/// The file that a path leads to, and the name there.
pub(super) struct Target<'a> {
    pub(super) file: &'a SourceFile<'a>,
    pub(super) name: String,
}

impl<'a> Modules<'a> {
    pub(super) fn read(repo: &'a Repo, root: &str) -> Self {
        let source = root.trim_end_matches("lib.rs").trim_end_matches("main.rs");
        let files = repo.rust().filter_map(|file| Some((file, file.path.strip_prefix(source)?)));
        let read = files.filter_map(|(file, inside)| {
            let place = if file.path == root { Vec::new() } else { place(inside)? };
            let tokens = file.shipped();
            Some((place.clone(), SourceFile { file, place, declared: declared(&tokens), paths: paths(&tokens) }))
        });
        Self { files: read.collect() }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &SourceFile<'a>> {
        let mut files: Vec<_> = self.files.values().collect();
        files.sort_by(|a, b| a.file.path.cmp(&b.file.path));
        files.into_iter()
    }

    pub(super) fn at(&self, place: &[String]) -> Option<&SourceFile<'a>> {
        self.files.get(place)
    }

    /// Whether the module and all modules around it are declared outside of tests.
    pub(super) fn is_shipped(&self, file: &SourceFile<'a>) -> bool {
        let declared = |at: usize| self.at(&file.place[..at]).is_some_and(|up| up.declared.contains(&file.place[at]));
        (0..file.place.len()).all(declared)
    }

    pub(super) fn target(&self, from: &SourceFile<'a>, path: &CodePath) -> Option<Target<'_>> {
        self.resolve(&from.place, path.depth, &path.names, RE_EXPORTS)
    }

    fn resolve(&self, from: &[String], depth: usize, names: &[String], left: usize) -> Option<Target<'_>> {
        let ups = names.iter().take_while(|name| *name == "super").count();
        let first = names.first()?.as_str();
        if first == "crate" {
            return self.walk(&[], &names[1..], left);
        }
        if ups > 0 {
            // The first `super`s leave the file's inline modules.
            let place = from.len().checked_sub(ups.checked_sub(depth)?)?;
            return self.walk(&from[..place], &names[ups..], left);
        }
        if first == "self" {
            return self.walk(from, &names[1..], left).filter(|_| depth == 0);
        }
        let is_known = self.files.contains_key(&[from, &names[..1]].concat()) || self.binding(from, first).is_some();
        if is_known { self.walk(from, names, left) } else { None }
    }

    /// Descends from a module, name by name, and follows names that a `use` imported.
    fn walk(&self, place: &[String], names: &[String], left: usize) -> Option<Target<'_>> {
        let file = self.at(place)?;
        let Some((name, rest)) = names.split_first() else {
            return Some(Target { file, name: place.last().cloned().unwrap_or_default() });
        };
        let child = [place, &names[..1]].concat();
        if self.files.contains_key(&child) {
            return self.walk(&child, rest, left);
        }
        match self.binding(place, name) {
            Some(binding) if left > 0 => self.resolve(place, 0, &[binding, rest].concat(), left - 1),
            Some(_) => None,
            None => Some(Target { file, name: name.clone() }),
        }
    }

    /// The path that a `use` of a module binds to a name.
    fn binding(&self, place: &[String], name: &str) -> Option<&[String]> {
        let paths = &self.at(place)?.paths;
        let binds = |path: &&CodePath| path.depth == 0 && path.bound.as_deref() == Some(name);
        paths.iter().find(binds).map(|path| path.names.as_slice())
    }
}

/// `tree/walk.rs` -> `[tree, walk]`, `tree/mod.rs` -> `[tree]`; `None` for a root.
fn place(inside: &str) -> Option<Vec<String>> {
    let module = inside.trim_end_matches(".rs").trim_end_matches("/mod");
    (!matches!(module, "lib" | "main")).then(|| module.split('/').map(str::to_owned).collect())
}

fn declared(tokens: &[Token]) -> Vec<String> {
    let names = find(tokens, &["mod"]).filter(|at| tokens[*at].depth == 0).filter_map(|at| tokens.get(at + 1));
    names.filter(|token| token.kind == Kind::Word).map(|token| token.text.clone()).collect()
}
