//! Compares two branches: where they part, and what only each of them has.

use std::io::{self, Write};

use offshoot_agent::branch_files::{FilePatch, patches};
use offshoot_session::clock::{Millis, to_iso};
use offshoot_session::compare::{Comparison, Side};
use offshoot_session::entry::Source;
use offshoot_session::error;
use offshoot_session::id::EntryId;
use offshoot_session::json::{Object, quote};
use offshoot_session::session::Session;
use offshoot_session::text::{clean_lines, counted, dollars, in_short, noun, one_line};
use offshoot_session::tree::{NodeIx, Tree};

use crate::entry_words::entry_line;
use crate::failure::Result;
use crate::file_patches::with_recorded;
use crate::given::{EntryName, SessionName};
use crate::input;
use crate::lookup::LatestOf;
use crate::operation::{About, CommandGroup, Finished, Operation, OperationEffect, Output};
use crate::place::Place;
use crate::run::open_session;
use crate::session_to_read::SessionToRead;
use crate::when;
use crate::words::{Line, Role, Words};

input! {
    /// What `compare` gets.
    pub struct CompareInput {
        /// The session
        at: SessionToRead = group,
        /// An id or its unique start, a label, `@`, `@-`, or a time such as 2h
        a: EntryName = arg,
        /// The same
        b: EntryName = arg,
        /// Print what differs in the files
        patch: bool = flag,
    }
}

/// Compares two branches.
#[derive(Debug)]
pub struct Compare;

/// Two branches that were compared.
#[derive(Debug)]
pub struct ComparedBranches {
    compared: Comparison,
    patches: Option<Vec<FilePatch>>,
}

/// Whether the files of two branches are compared too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Patches {
    /// What differs in each.
    Wanted,
    /// They are not.
    LeftOut,
}

impl Patches {
    /// What a switch says.
    #[must_use]
    pub fn wanted(is_wanted: bool) -> Self {
        if is_wanted { Self::Wanted } else { Self::LeftOut }
    }
}

/// What came of `compare`.
#[derive(Debug)]
pub struct CompareOutput {
    json: String,
    /// Where they part; `None` if they share nothing.
    parted: Option<Line>,
    /// The tips of the two sides.
    tips: Vec<Line>,
    whole: ComparedBranches,
    now: Millis,
}

impl ComparedBranches {
    /// Compares the paths to two entries, and if wanted the files that they changed: as this folder recorded them, else as calls show them.
    ///
    /// # Errors
    /// The session cannot be read.
    pub fn read(
        place: &Place,
        session: &(dyn Source + Send + Sync),
        (a, b): (NodeIx, NodeIx),
        wanted: Patches,
    ) -> error::Result<Self> {
        let mut compared = Comparison::new(session, a, b)?;
        compared.finish(session)?;
        let patches = match wanted {
            Patches::Wanted => Some(with_recorded(place, session, (a, b), patches(session, &compared)?)),
            Patches::LeftOut => None,
        };
        Ok(Self { compared, patches })
    }

    /// What differs in the files, if that was wanted.
    #[must_use]
    pub fn into_patches(self) -> Vec<FilePatch> {
        self.patches.unwrap_or_default()
    }

    /// As `compare --json` prints it. Members have pi's names where pi has them.
    #[must_use]
    pub fn to_json(&self, tree: &Tree) -> String {
        let sides = self.compared.sides.iter().map(|side| side_json(tree, side));
        let object =
            Object::new().str_or_null("ancestorId", id(tree, self.compared.ancestor)).raw("sides", list(sides));
        let patch = |file: &FilePatch| {
            Object::new().str("path", &file.path).str_or_null("patch", file.patch.as_deref()).finish()
        };
        let object = match &self.patches {
            Some(patches) => object.raw("patches", list(patches.iter().map(patch))),
            None => object,
        };
        object.finish()
    }
}

fn side_json(tree: &Tree, side: &Side) -> String {
    let object = Object::new()
        .str_or_null("tipId", id(tree, Some(side.tip)))
        .raw("entries", side.entries.len())
        .raw("turns", side.turns)
        .raw("tokens", side.totals.tokens)
        .raw("cost", side.totals.cost)
        .str_or_null("oldest", side.oldest.map(to_iso).as_deref())
        .str_or_null("newest", side.newest.map(to_iso).as_deref())
        .raw("models", list(side.models.iter().map(|model| quote(model))));
    let files = side.file_uses().into_iter().map(|file| {
        Object::new().str("path", &file.path).raw("reads", file.reads).raw("changes", file.changes).finish()
    });
    let object = side.files().details(object).raw("files", list(files));
    object.str_or_null("lastWords", side.last_words.as_deref()).finish()
}

fn id(tree: &Tree, ix: Option<NodeIx>) -> Option<&str> {
    ix.and_then(|ix| tree.node(ix).id()).map(EntryId::as_str)
}

fn list(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(","))
}

impl Operation for Compare {
    type Input = CompareInput;
    type Plan = ComparedBranches;
    type Written = ();
    type Output = CompareOutput;

    const ABOUT: About = About {
        name: "compare",
        aliases: &[],
        title: "Compare two branches: where they part, and what only each of them has",
        says: "A and B are entries; each stands for the path to it. For each side the\n\
               entries, turns, tokens, cost, models and files count that the other side\n\
               lacks.\n\n\
               --patch also prints, for each file that a branch changed, what differs from\n\
               A to B. Contents are those that this folder recorded, also what commands did.\n\
               Of other sessions they are known as far as the calls of `read`, `write` and\n\
               `edit` show them.\n\n\
               --json prints {\"ancestorId\", \"sides\": [{\"tipId\", \"entries\", \"turns\",\n\
               \"tokens\", \"cost\", \"oldest\", \"newest\", \"models\", \"readFiles\",\n\
               \"modifiedFiles\", \"files\": [{\"path\", \"reads\", \"changes\"}], \"lastWords\"}, …]},\n\
               first A, then B.\n\
               `ancestorId` is null if they share nothing. With --patch there is \"patches\":\n\
               [{\"path\", \"patch\"}], where null is not known and \"\" is no difference.",
        examples: "Examples:\n  offshoot compare latest @ 1a2b3c4d\n  offshoot compare latest @ 1a2b3c4d --patch\n  \
                   offshoot compare latest @ 1a2b3c4d --json | jq '.sides[].cost'",
        effect: OperationEffect::Reads,
        past: "compared",
    };
    const GROUP: CommandGroup = CommandGroup::BringBack;

    fn session(input: &CompareInput) -> Option<&SessionName> {
        Some(&input.at.session)
    }

    fn latest_of(input: &CompareInput) -> LatestOf {
        input.at.latest_of()
    }

    fn plan(place: &Place, at: Option<&Session>, input: &CompareInput) -> Result<ComparedBranches> {
        let session = open_session(at)?;
        let tips = (place.entry(session, &input.a.0)?, place.entry(session, &input.b.0)?);
        Ok(ComparedBranches::read(place, session, tips, Patches::wanted(input.patch))?)
    }

    fn output(whole: ComparedBranches, finished: Finished<'_, ()>) -> Result<CompareOutput> {
        let session = open_session(finished.session)?;
        let parted = whole.compared.ancestor.map(|ancestor| entry_line(session, ancestor)).transpose()?;
        let tips = whole.compared.sides.iter().map(|side| entry_line(session, side.tip)).collect::<Result<_>>()?;
        Ok(CompareOutput { json: whole.to_json(session.tree()), parted, tips, whole, now: finished.place.now() })
    }
}

fn figures(side: &Side, now: Millis) -> String {
    let totals = &side.totals;
    let mut figures = vec![
        counted(side.entries.len(), "entry", "entries"),
        counted(side.turns, "turn", "turns"),
        format!("{} {}", in_short(totals.tokens), noun(totals.tokens, "token", "tokens")),
        dollars(totals.cost),
    ];
    figures.extend(side.took().map(|took| format!("over {took}")));
    figures.extend(side.newest.map(|newest| when::ago(newest, now)));
    figures.join(" · ")
}

fn side_lines(side: &Side, now: Millis) -> Vec<String> {
    if side.entries.is_empty() {
        return vec!["nothing of its own".to_owned()];
    }
    let mut lines = vec![figures(side, now)];
    if !side.models.is_empty() {
        lines.push(format!("models: {}", one_line(&side.models.join(", "), 200)));
    }
    let files = side.file_uses();
    let changed = files.iter().filter(|file| file.changes > 0).map(|file| (&file.path, file.changes));
    let read = files.iter().filter(|file| file.reads > 0).map(|file| (&file.path, file.reads));
    for (what, files) in [("changed", changed.collect::<Vec<_>>()), ("read", read.collect())] {
        if !files.is_empty() {
            let count = counted(files.len(), "file", "files");
            let times = |(path, times): &(&String, usize)| {
                if *times > 1 { format!("{path} ×{times}") } else { (*path).clone() }
            };
            let named: Vec<String> = files.iter().map(times).collect();
            lines.push(format!("{what} {count}: {}", one_line(&named.join(", "), 200)));
        }
    }
    lines.extend(side.last_words.as_ref().map(|words| format!("“{}”", one_line(words, 160))));
    lines
}

fn say_patch(words: &mut Words, file: &FilePatch) {
    let path = one_line(&file.path, 400);
    words.line("");
    match file.patch.as_deref() {
        None => words.line(format!("{path}: unknown")),
        Some("") => words.line(format!("{path}: the same in both")),
        Some(patch) => {
            let patch = clean_lines(patch);
            words.line(patch.strip_suffix('\n').unwrap_or(&patch));
        }
    }
}

impl Output for CompareOutput {
    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(self.json.as_bytes())
    }

    fn words(&self, words: &mut Words) {
        words.is_long = true;
        let parted = |at: &Line| {
            Line(std::iter::once((Role::Plain, "common ancestor: ".to_owned())).chain(at.0.clone()).collect())
        };
        words.line(self.parted.as_ref().map_or_else(|| "no common ancestor".into(), parted));
        for ((name, side), tip) in ["A", "B"].iter().zip(&self.whole.compared.sides).zip(&self.tips) {
            words.line("");
            words.line(Line(
                Line::of(Role::Bold, *name).and(Role::Plain, "  ").0.into_iter().chain(tip.0.clone()).collect(),
            ));
            for line in side_lines(side, self.now) {
                words.line(Line::from("   ").and(Role::Dim, line));
            }
        }
        self.whole.patches.iter().flatten().for_each(|file| say_patch(words, file));
    }
}
