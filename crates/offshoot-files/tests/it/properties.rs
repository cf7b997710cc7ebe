//! Random edits by tools, commands and strangers, and random walks, held against a reference that copies whole folders.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use proptest::prelude::*;

use super::bench::{Bench, Copy, Kept, copy_of};

/// Paths that tools and commands change. Some are folders of others.
const PATHS: [&str; 8] = ["a", "b", "d", "d/x", "d/e/y", "f/z", "f", "ü ä"];
/// Paths that only strangers change.
const STRANGERS: [&str; 3] = ["s", "f2/s", "d-s"];

#[derive(Debug, Clone)]
enum Change {
    Write(usize, u8),
    Remove(usize),
    Rename(usize, usize),
    Mode(usize, bool),
    Link(usize, usize),
}

#[derive(Debug, Clone)]
enum Move {
    Edit(usize, u8),
    Bash(Vec<Change>),
    Stranger(usize, u8),
    Go(prop::sample::Index),
}

fn change() -> impl Strategy<Value = Change> {
    let at = 0..PATHS.len();
    prop_oneof![
        4 => (at.clone(), any::<u8>()).prop_map(|(at, seed)| Change::Write(at, seed)),
        2 => at.clone().prop_map(Change::Remove),
        2 => (at.clone(), at.clone()).prop_map(|(from, to)| Change::Rename(from, to)),
        1 => (at.clone(), any::<bool>()).prop_map(|(at, on)| Change::Mode(at, on)),
        1 => (at.clone(), at).prop_map(|(at, to)| Change::Link(at, to)),
    ]
}

fn step() -> impl Strategy<Value = Move> {
    prop_oneof![
        3 => (0..PATHS.len(), any::<u8>()).prop_map(|(at, seed)| Move::Edit(at, seed)),
        4 => prop::collection::vec(change(), 0..5).prop_map(Move::Bash),
        2 => (0..STRANGERS.len(), any::<u8>()).prop_map(|(at, seed)| Move::Stranger(at, seed)),
        4 => any::<prop::sample::Index>().prop_map(Move::Go),
    ]
}

fn text(seed: u8) -> String {
    (0..seed % 7).map(|line| format!("{}\n", (seed / 7).wrapping_mul(line + 1))).collect()
}

fn clear(path: &Path) {
    match path.symlink_metadata() {
        Ok(meta) if meta.is_dir() => fs::remove_dir_all(path).unwrap(),
        Ok(_) => fs::remove_file(path).unwrap(),
        Err(_) => {}
    }
}

/// Makes room for a file: what is in its way goes, as far as it is ours.
fn make_room(root: &Path, path: &str) {
    for (at, _) in path.match_indices('/') {
        let above = root.join(&path[..at]);
        if above.symlink_metadata().is_ok_and(|meta| !meta.is_dir()) {
            clear(&above);
        }
    }
    clear(&root.join(path));
    fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
}

fn apply(root: &Path, change: &Change) {
    match change {
        Change::Write(at, seed) => {
            make_room(root, PATHS[*at]);
            fs::write(root.join(PATHS[*at]), text(*seed)).unwrap();
        }
        Change::Remove(at) => clear(&root.join(PATHS[*at])),
        Change::Rename(from, to) => {
            let is_file = root.join(PATHS[*from]).symlink_metadata().is_ok_and(|meta| !meta.is_dir());
            if from != to && is_file && !PATHS[*to].starts_with(PATHS[*from]) && !PATHS[*from].starts_with(PATHS[*to]) {
                make_room(root, PATHS[*to]);
                fs::rename(root.join(PATHS[*from]), root.join(PATHS[*to])).unwrap();
            }
        }
        Change::Mode(at, on) => {
            let path = root.join(PATHS[*at]);
            if path.symlink_metadata().is_ok_and(|meta| meta.is_file()) {
                fs::set_permissions(path, fs::Permissions::from_mode(if *on { 0o755 } else { 0o640 })).unwrap();
            }
        }
        Change::Link(at, to) => {
            make_room(root, PATHS[*at]);
            symlink(PATHS[*to], root.join(PATHS[*at])).unwrap();
        }
    }
}

fn of(copy: &Copy, strangers: bool) -> Copy {
    let is_strangers = |path: &Path| STRANGERS.iter().any(|stranger| path == Path::new(stranger));
    copy.iter()
        .filter(|(path, _)| is_strangers(path) == strangers)
        .map(|(path, kept)| (path.clone(), kept.clone()))
        .collect()
}

fn cases() -> ProptestConfig {
    let cases = ProptestConfig::default();
    // By command more: PROPTEST_CASES=10000.
    if cases.cases == 256 { ProptestConfig { cases: 500, ..cases } } else { cases }
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn at_every_node_the_files_are_as_they_were_and_no_strangers_byte_changes(
        start in prop::collection::vec((0..PATHS.len(), any::<u8>()), 0..4),
        moves in prop::collection::vec(step(), 1..14),
    ) {
        let mut bench = Bench::new();
        let root = bench.root();
        start.iter().for_each(|(at, seed)| apply(&root, &Change::Write(*at, *seed)));
        let mut copies = vec![copy_of(&root)];
        for one in &moves {
            match one {
                Move::Edit(at, seed) => {
                    let path = root.join(PATHS[*at]);
                    let blocked = PATHS[*at].match_indices('/').any(|(end, _)| !root.join(&PATHS[*at][..end]).is_dir());
                    let is_file = path.symlink_metadata().is_ok_and(|meta| meta.is_file());
                    if is_file || (!blocked && path.symlink_metadata().is_err()) {
                        bench.edit(PATHS[*at], &text(*seed));
                        copies.push(copy_of(&root));
                    }
                }
                Move::Bash(changes) => {
                    bench.bash(|root| changes.iter().for_each(|change| apply(root, change)));
                    copies.push(copy_of(&root));
                }
                Move::Stranger(at, seed) => bench.write(STRANGERS[*at], &text(*seed)),
                Move::Go(index) => {
                    let to = index.index(copies.len());
                    let before = copy_of(&root);
                    let report = bench.restore(to);
                    let after = copy_of(&root);
                    prop_assert!(report.conflicts.is_empty() && report.left.is_empty(), "{report:?}");
                    prop_assert_eq!(of(&after, false), of(&copies[to], false));
                    prop_assert_eq!(of(&after, true), of(&before, true));
                }
            }
            prop_assert_eq!(copies.len(), bench.nodes.len());
        }
    }

    #[test]
    fn no_word_that_a_stranger_wrote_into_our_files_is_lost_on_the_way_back(
        moves in prop::collection::vec((0..3usize, any::<u8>(), any::<bool>()), 2..12),
        to in any::<prop::sample::Index>(),
    ) {
        let mut bench = Bench::new();
        let root = bench.root();
        let files = ["a", "b", "c"];
        for (number, (at, seed, is_strangers)) in moves.iter().enumerate() {
            let old = fs::read_to_string(root.join(files[*at])).unwrap_or_default();
            let mut lines: Vec<String> = old.lines().map(str::to_owned).collect();
            let place = usize::from(*seed) % (lines.len() + 1);
            let word = format!("{}{number}", if *is_strangers { "stranger" } else { "ours" });
            lines.insert(place, word);
            let text = lines.join("\n") + "\n";
            match is_strangers {
                true => fs::write(root.join(files[*at]), text).unwrap(),
                false if seed % 2 == 0 => drop(bench.edit(files[*at], &text)),
                false => drop(bench.bash(|root| fs::write(root.join(files[*at]), &text).unwrap())),
            }
        }
        let words = |copy: &Copy| -> BTreeSet<String> {
            let texts = copy.values().filter_map(|kept| match kept {
                Kept::File(bytes, _) => Some(String::from_utf8(bytes.clone()).unwrap()),
                Kept::Link(_) => None,
            });
            texts.flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>()).filter(|word| word.starts_with("stranger")).collect()
        };
        let before = words(&copy_of(&root));
        let to = to.index(bench.nodes.len());
        bench.restore(to);
        let after = words(&copy_of(&root));
        prop_assert!(before.is_subset(&after), "{before:?} {after:?}");
    }
}
