//! Opening with an index equals opening without, and an index that does not fit is not used.

use super::*;
use crate::facts::Facts;
use crate::gather;
use crate::load::{Opened, load};
use crate::outline::{Outline, OutlineSetup};
use crate::tree::stored::PageOf;
use crate::tree::{NodeIx, Tree};

const HEADER: &str = r#"{"type":"session","version":3,"id":"s","timestamp":"t","cwd":"/w"}"#;

fn entry(id: &str, parent: &str) -> String {
    let text = "x".repeat(300);
    format!(
        r#"{{"type":"message","id":"{id}","parentId":"{parent}","timestamp":"2026-01-01T00:00:01.000Z","message":{{"role":"user","content":"{text}"}}}}"#
    )
}

/// Over a megabyte, with everything that an index stores.
fn file() -> (tempfile::TempDir, PathBuf, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let mut text = format!("{HEADER}\n{}\n{}\nbroken\n", entry("e0", "gone"), entry("e0", "gone"));
    for at in 1..3000 {
        text.push_str(&entry(&format!("e{at}"), &format!("e{}", at * 2 / 3)));
        text.push('\n');
    }
    text.push_str(r#"{"type":"label","id":"l","parentId":"e1","timestamp":"T","targetId":"e5","label":"mark"}"#);
    text.push('\n');
    text.push_str(r#"{"type":"session_info","id":"n","parentId":"l","timestamp":"T","name":"named"}"#);
    text.push('\n');
    text.push_str("{\"type\":\"message\",\"id\":\"torn\",\"parentId\":\"n\",\"timestamp\":\"t\",\"message\":{\"role\":\"user\"}\n");
    let (path, cache) = (folder.path().join("s.jsonl"), folder.path().join("cache"));
    std::fs::write(&path, text).unwrap();
    (folder, path, cache)
}

fn open(path: &Path, cache: &Path) -> Loaded {
    load_indexed(&FileMedium::open(path).unwrap(), Some(cache), IndexAccess::ReadWrite, &mut |_| ()).unwrap()
}

fn shape(tree: &Tree) -> Vec<(usize, String)> {
    let node = |(depth, ix)| (depth, format!("{:?} {:?}", tree.node(ix), tree.parent_id(ix)));
    tree.walk().map(node).collect()
}

fn assert_same(a: &Loaded, b: &Loaded) {
    assert_eq!(shape(&a.tree), shape(&b.tree));
    assert_eq!(a.diagnostics, b.diagnostics);
    assert_eq!(a.tree.labels(), b.tree.labels());
    assert_eq!(
        (a.end, a.dialect, a.last_session_info, a.header_span),
        (b.end, b.dialect, b.last_session_info, b.header_span)
    );
    assert_eq!((&a.header, &a.slot, a.tree.len()), (&b.header, &b.slot, b.tree.len()));
    let found = |loaded: &Loaded| loaded.tree.find("e0").map(NodeIx::index);
    assert_eq!(found(a), found(b));
}

fn is_used(path: &Path, cache: &Path) -> bool {
    let medium = FileMedium::open(path).unwrap();
    read_at(&medium, &index_path(cache, path), medium.len().unwrap()).is_some()
}

fn read_index(path: &Path, cache: &Path) -> Indexed {
    let medium = FileMedium::open(path).unwrap();
    read_at(&medium, &index_path(cache, path), medium.len().unwrap()).unwrap()
}

fn read_at(medium: &FileMedium, place: &Path, length: u64) -> Option<Indexed> {
    read(medium, File::open(place).ok()?, place, length)
}

#[test]
fn a_warm_opening_equals_a_cold_one() {
    let (_folder, path, cache) = file();
    let cold = open(&path, &cache);
    assert!(is_used(&path, &cache));
    assert_same(&open(&path, &cache), &cold);
    assert_same(&open(&path, &cache), &load(&FileMedium::open(&path).unwrap()).unwrap());
}

#[test]
fn passes_over_all_entries_keep_no_pages_in_memory() {
    let (_folder, path, cache) = file();
    let medium = FileMedium::open(&path).unwrap();
    let cold = open(&path, &cache);
    let loaded = open(&path, &cache);
    let pages = loaded.tree.stored_len().div_ceil(crate::tree::nodes::PAGE);
    let kept = || (0..pages).filter(|page| matches!(loaded.tree.stored_page(*page), PageOf::Here(_))).count();
    // The passes look these two up.
    assert!(loaded.tree.last().is_some() && loaded.tree.find("e5").is_some());
    let before = kept();
    let pass = |loaded: &Loaded| {
        let source = Opened { medium: &medium, loaded };
        let facts = gather::read(&source, Facts::default()).unwrap();
        let leaf = loaded.tree.last();
        let outline = Outline::new(&source, leaf, OutlineSetup::default()).unwrap();
        let places: Vec<_> = (0..outline.places()).map(|place| outline.entry_at(place)).collect();
        (facts, places, outline.len(), leaf.map(|leaf| loaded.tree.path(leaf)))
    };
    let found = pass(&loaded);
    assert_eq!(kept(), before);
    assert_eq!(found, pass(&cold));
    assert!(before < pages);
}

#[test]
fn a_reader_uses_an_index_and_writes_none() {
    let (_folder, path, cache) = file();
    let read = || {
        let medium = FileMedium::open(&path).unwrap();
        load_indexed(&medium, Some(&cache), IndexAccess::ReadOnly, &mut |_| ()).unwrap()
    };
    let cold = read();
    assert!(!cache.exists());
    open(&path, &cache);
    let index = index_path(&cache, &path);
    let before = std::fs::read(&index).unwrap();
    // So much that a writer would make the index anew.
    let mut file = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
    let words = "w".repeat(1 << 20);
    for id in ["z1", "z2"] {
        let line = format!(r#"{{"type":"custom","id":"{id}","parentId":"n","timestamp":"t","data":"{words}"}}"#);
        std::io::Write::write_all(&mut file, format!("{line}\n").as_bytes()).unwrap();
    }
    assert_same(&read(), &load(&FileMedium::open(&path).unwrap()).unwrap());
    assert!(std::fs::read(&index).unwrap() == before);
    assert_eq!(cold.tree.len() + 2, read().tree.len());
    open(&path, &cache);
    assert!(std::fs::read(&index).unwrap() != before);
}

#[test]
fn what_was_appended_is_read_on() {
    let (_folder, path, cache) = file();
    open(&path, &cache);
    let mut text = std::fs::read_to_string(&path).unwrap();
    for at in 0..1000 {
        text.push_str(&entry(&format!("new{at}"), "e7"));
        text.push('\n');
    }
    let inode_keeping = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
    std::io::Write::write_all(
        &mut &inode_keeping,
        &text.as_bytes()[std::fs::metadata(&path).unwrap().len() as usize..],
    )
    .unwrap();
    let cold = load(&FileMedium::open(&path).unwrap()).unwrap();
    assert!(is_used(&path, &cache));
    assert_same(&open(&path, &cache), &cold);
    // So much was new that the index has been rebuilt, partly from the old one.
    assert_same(&open(&path, &cache), &cold);
    let indexed = read_index(&path, &cache).0;
    assert_eq!((indexed.end, indexed.tree.paged_len()), (cold.end, cold.tree.stored_len()));
    let again: Vec<_> = (0..1000).map(|at| indexed.tree.find(&format!("new{at}")).map(NodeIx::index)).collect();
    assert_eq!(again, (0..1000).map(|at| cold.tree.find(&format!("new{at}")).map(NodeIx::index)).collect::<Vec<_>>());
}

#[test]
fn an_index_that_does_not_fit_is_ignored() {
    type Change = fn(&Path, &Path);
    let changes: [(&str, Change); 5] = [
        ("edited in place", |path, _| {
            let text = std::fs::read_to_string(path).unwrap().replacen("\"e1500\"", "\"f1500\"", 1);
            std::fs::write(path, text).unwrap();
            let later = std::time::SystemTime::now() + std::time::Duration::from_secs(5);
            std::fs::File::options().write(true).open(path).unwrap().set_modified(later).unwrap();
        }),
        ("shortened", |path, _| {
            let text = std::fs::read_to_string(path).unwrap();
            std::fs::write(path, &text[..text.len() - 40]).unwrap();
        }),
        ("replaced", |path, _| {
            let copy = path.with_extension("copy");
            std::fs::copy(path, &copy).unwrap();
            std::fs::rename(copy, path).unwrap();
        }),
        ("index's head damaged", |path, cache| {
            let place = index_path(cache, path);
            let mut bytes = std::fs::read(&place).unwrap();
            let in_head = bytes.len() - TRAILER - 100;
            bytes[in_head] ^= 1;
            std::fs::write(place, bytes).unwrap();
        }),
        ("index cut", |path, cache| {
            let place = index_path(cache, path);
            let bytes = std::fs::read(&place).unwrap();
            std::fs::write(place, &bytes[..bytes.len() / 2]).unwrap();
        }),
    ];
    for (name, change) in changes {
        let (_folder, path, cache) = file();
        open(&path, &cache);
        change(&path, &cache);
        assert!(!is_used(&path, &cache), "{name}");
        assert_same(&open(&path, &cache), &load(&FileMedium::open(&path).unwrap()).unwrap());
    }
}

#[test]
fn no_cache_folder_is_no_trouble() {
    let (_folder, path, _) = file();
    let cold = load(&FileMedium::open(&path).unwrap()).unwrap();
    assert_same(&open(&path, Path::new("/proc/no/such/folder")), &cold);
}

/// A damaged page or bucket of ids shows only when it is read; then the file is read instead.
#[test]
fn damage_inside_an_index_costs_time_and_nothing_else() {
    let (_folder, path, cache) = file();
    let cold = open(&path, &cache);
    let place = index_path(&cache, &path);
    let sound = std::fs::read(&place).unwrap();
    let head = sound.len() - TRAILER - head_bytes(&File::open(&place).unwrap()).unwrap().len();
    for at in (0..head).step_by(head / 31) {
        let mut bytes = sound.clone();
        bytes[at] ^= 0x10;
        std::fs::write(&place, bytes).unwrap();
        let (loaded, pages) = read_index(&path, &cache);
        for (ix, id) in cold.tree.entries().filter_map(|ix| Some((ix, cold.tree.node(ix).id()?))) {
            assert_eq!(loaded.tree.find(id.as_str()), cold.tree.find(id.as_str()), "byte {at}, entry {ix:?}");
        }
        assert_same(&loaded, &cold);
        assert!(
            pages.anew.get().is_some_and(std::result::Result::is_ok) && !place.exists(),
            "byte {at} is never looked at"
        );
    }
}

/// The index is damaged, and the session file is gone.
#[test]
fn when_nothing_can_be_read_the_tree_says_so() {
    let (_folder, path, cache) = file();
    open(&path, &cache);
    let place = index_path(&cache, &path);
    let mut bytes = std::fs::read(&place).unwrap();
    bytes[10] ^= 1;
    std::fs::write(&place, bytes).unwrap();
    let (loaded, _) = read_index(&path, &cache);
    std::fs::File::options().write(true).open(&path).unwrap().set_len(0).unwrap();
    assert!(loaded.tree.whole(()).is_ok());
    assert_eq!(
        loaded.tree.entries().next().map(NodeIx::index),
        Some(crate::tree::nodes::PAGE),
        "the first page is unreadable"
    );
    assert!(loaded.tree.whole(()).is_err());
}

/// The index is damaged or truncated while a session is open. As long as the file is there, answers stay right. If it
/// cannot be read either, every reader gets an error, and none gets an entry that could not be read.
#[test]
fn a_page_that_fails_under_an_open_session_is_an_error_or_read_from_the_file() {
    use crate::entry::Source as _;
    use crate::outline::{Outline, OutlineSetup};
    use crate::session::{Options, Session};
    type Damage = fn(&File, u64);
    type Reader = fn(&Session) -> Result<()>;
    let damages: [(&str, Damage); 2] = [
        ("corrupted", |index, length| {
            use std::os::unix::fs::FileExt as _;
            index.write_all_at(&vec![0x55; usize::try_from(length).unwrap()], 0).unwrap();
        }),
        ("cut off", |index, _| index.set_len(0).unwrap()),
    ];
    let readers: [(&str, Reader); 8] = [
        ("find", |session| session.find("e1500").map(drop)),
        ("prefix", |session| session.tree().find_prefix("e2999").map(drop)),
        ("entry", |session| session.entry(NodeIx::stored(1500).unwrap()).map(drop)),
        ("context", |session| session.context_at(session.tree().leaves().nth(7)).map(drop)),
        ("branches", |session| crate::stats::branches(session, session.leaf()).map(drop)),
        ("totals", |session| crate::stats::totals(session).map(drop)),
        ("outline", |session| Outline::new(session, session.leaf(), OutlineSetup::default()).map(drop)),
        ("compare", |session| {
            let ends: Vec<NodeIx> = session.tree().leaves().take(2).collect();
            crate::compare::Comparison::new(session, ends[0], ends[1]).map(drop)
        }),
    ];
    for (damage_name, damage) in damages {
        for (reader_name, read) in readers {
            for is_file_there in [true, false] {
                let (_folder, path, cache) = file();
                open(&path, &cache);
                let options = || Options { index: Some(cache.clone()), ..Options::default() };
                let session = Session::open(&path, options()).unwrap();
                let index = File::options().write(true).open(index_path(&cache, &path)).unwrap();
                damage(&index, index.metadata().unwrap().len());
                if !is_file_there {
                    File::options().write(true).open(&path).unwrap().set_len(0).unwrap();
                }
                let answer = read(&session);
                assert_eq!(answer.is_ok(), is_file_there, "{damage_name}, {reader_name}: {answer:?}");
                if let Err(error) = answer {
                    assert!(matches!(error, Error::Io { .. }), "{damage_name}, {reader_name}: {error:?}");
                    assert!(session.snapshot().is_err(), "and it stays so");
                }
            }
        }
    }
}

fn lines(lines: usize) -> Stretch {
    Stretch { lines, ..Stretch::ALL }
}

fn build_in(medium: &FileMedium, place: &Path, (length, segment): (u64, Stretch), first: Loaded) -> Option<Loaded> {
    build(medium, place, (length, segment), first, &mut |_| ()).unwrap()
}

/// An index built in segments equals one built at once.
#[test]
fn a_file_is_indexed_in_segments() {
    let (_folder, path, cache) = file();
    let medium = FileMedium::open(&path).unwrap();
    let length = medium.len().unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    // The last line is truncated and leaves the tree; segments are of sound files.
    let sound = text.lines().filter(|line| !line.contains("torn")).fold(String::new(), |all, line| all + line + "\n");
    std::fs::write(&path, &sound).unwrap();
    let length = length.min(sound.len() as u64);
    let medium = FileMedium::open(&path).unwrap();
    let place = index_path(&cache, &path);
    let first = || load_some(&medium, length, lines(700), &mut |_| ()).unwrap();
    let mut loaded = first();
    write::anew(&medium, &place, &loaded, None).unwrap();
    let mut rounds = 0;
    while loaded.end.length < length {
        let (mut next, pages) = read_index(&path, &cache);
        let progress = &mut |_| ();
        assert!(next.extend_some(&medium, length, &mut More { stretch: lines(97), ..More::all(progress) }).unwrap());
        write::anew(&medium, &place, &next, Some(&pages)).unwrap();
        (loaded, rounds) = (next, rounds + 1);
    }
    assert!(rounds > write::RUNS, "{rounds}");
    let cold = load_some(&medium, length, Stretch::ALL, &mut |_| ()).unwrap();
    assert_same(&read_index(&path, &cache).0, &cold);
    // The same at once, as a big file is indexed.
    std::fs::remove_file(&place).unwrap();
    assert_same(&build_in(&medium, &place, (length, lines(333)), first()).unwrap(), &cold);
    assert_same(&read_index(&path, &cache).0, &cold);
    std::fs::remove_file(&place).unwrap();
    let bytes = Stretch { bytes: 50_000, ..Stretch::ALL };
    let few = load_some(&medium, length, bytes, &mut |_| ()).unwrap();
    assert!((50_000..51_000).contains(&few.end.length), "{:?}", few.end);
    assert_same(&build_in(&medium, &place, (length, bytes), few).unwrap(), &cold);
    let (loaded, _) = read_index(&path, &cache);
    assert_same(&loaded, &cold);
    assert_eq!(loaded.tree.leaves().collect::<Vec<_>>(), cold.tree.leaves().collect::<Vec<_>>());
    assert!(loaded.tree.find_prefix("e").is_err() && loaded.tree.find_prefix("e2999").is_ok());
}

/// Every opening asks for the ends of branches, however many there are.
#[test]
fn asking_where_branches_end_reads_no_page() {
    use crate::tree::stored::PageOf;
    let (_folder, path, cache) = file();
    let cold = open(&path, &cache);
    let (mut warm, _) = read_index(&path, &cache);
    let ends = |loaded: &Loaded| loaded.tree.ends().collect::<Vec<_>>();
    assert_eq!(ends(&warm), ends(&cold));
    let pages = warm.tree.stored_len().div_ceil(crate::tree::nodes::PAGE);
    let unread = |tree: &Tree| (0..pages).filter(|page| matches!(tree.stored_page(*page), PageOf::Unchanged)).count();
    assert_eq!(unread(&warm.tree), pages);
    // An entry that gets a child is not an end any more.
    let (end, before) = (warm.tree.leaves().nth(5).unwrap(), ends(&warm).len());
    let parent = warm.tree.node(end).id().unwrap().clone();
    let length = std::fs::metadata(&path).unwrap().len();
    let line = entry("later", parent.as_str()) + "\n";
    std::fs::write(&path, std::fs::read_to_string(&path).unwrap() + &line).unwrap();
    let medium = FileMedium::open(&path).unwrap();
    assert!(warm.extend(&medium, length + line.len() as u64).unwrap());
    assert_eq!(ends(&warm).len(), before);
    assert!(warm.tree.leaves().all(|ix| ix != end));
}

/// The thinking level is found however many compactions follow it.
#[test]
fn what_holds_at_an_entry_is_found_without_a_walk() {
    use crate::tree::stored::PageOf;
    let (_folder, path, cache) = file();
    let line = |at: usize, kind: &str| {
        let parent = if at == 0 { "null".to_owned() } else { format!("\"e{}\"", at - 1) };
        let rest = format!(r#""summary":"{}","thinkingLevel":"high""#, "x".repeat(400));
        format!("{{\"type\":\"{kind}\",\"id\":\"e{at}\",\"parentId\":{parent},\"timestamp\":\"t\",{rest}}}\n")
    };
    let kind = |at: usize| if at == 7 { "thinking_level_change" } else { "compaction" };
    let text = (0..3000).fold(format!("{HEADER}\n"), |text, at| text + &line(at, kind(at)));
    std::fs::write(&path, text).unwrap();
    open(&path, &cache);
    let (warm, _) = read_index(&path, &cache);
    let (tree, leaf) = (&warm.tree, warm.tree.find("e2999").unwrap());
    assert_eq!(tree.compaction(leaf), Some(leaf));
    assert_eq!(tree.thinking_level_change(leaf), tree.find("e7"));
    assert_eq!(tree.thinking_level_change(tree.find("e6").unwrap()), None);
    let pages = tree.stored_len().div_ceil(crate::tree::nodes::PAGE);
    let read = (0..pages).filter(|page| matches!(tree.stored_page(*page), PageOf::Here(_))).count();
    assert!(read <= 2, "{read} of {pages} pages");
}

/// Facts are stored and continued; a damaged file of them is not used.
#[test]
fn facts_are_kept_beside_the_index() {
    use crate::entry::Source as _;
    use crate::session::{Options, Session};
    let (_folder, path, cache) = file();
    let answer = |at: usize| {
        format!(
            r#"{{"type":"message","id":"a{at}","parentId":"e1","timestamp":"t","message":{{"role":"assistant","content":[],"usage":{{"totalTokens":{at}}}}}}}"#
        ) + "\n"
    };
    let mut text = std::fs::read_to_string(&path).unwrap();
    (0..600).for_each(|at| text.push_str(&answer(at)));
    text.push_str(concat!(
        r#"{"type":"branch_summary","id":"m","parentId":"a1","timestamp":"t","fromId":"a1","summary":"x","details":{"merged":{"base":"e1","tip":"a0"}}}"#,
        "\n"
    ));
    std::fs::write(&path, &text).unwrap();
    let facts = |cache: Option<&Path>| {
        let options = Options { index: cache.map(Path::to_path_buf), ..Options::default() };
        Session::open(&path, options).unwrap().facts().unwrap().unwrap()
    };
    let kept = index_path(&cache, &path).with_extension("facts");
    let cold = facts(None);
    assert_eq!((cold.reported.len(), cold.silent.len(), kept.exists()), (600, 600, false));
    assert_eq!(cold.merged.len(), 1);
    assert_eq!((facts(Some(&cache)), kept.exists()), (cold.clone(), true));
    assert_eq!(facts(Some(&cache)), cold);
    (600..700).for_each(|at| text.push_str(&answer(at)));
    let appended = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
    let known = std::fs::metadata(&path).unwrap().len() as usize;
    std::io::Write::write_all(&mut &appended, &text.as_bytes()[known..]).unwrap();
    assert_eq!((facts(Some(&cache)), facts(Some(&cache)).reported.len()), (facts(None), 700));
    let mut bytes = std::fs::read(&kept).unwrap();
    let last = bytes.len() - 9;
    bytes[last] ^= 1;
    std::fs::write(&kept, bytes).unwrap();
    assert_eq!(facts(Some(&cache)), facts(None));
}

/// Concurrent openings during appends see a complete index or none.
#[test]
fn many_may_open_and_index_at_once() {
    let (_folder, path, cache) = file();
    let sound = std::fs::read_to_string(&path).unwrap().replacen("\"torn\"", "\"tail\"", 1);
    std::fs::write(&path, sound.replace(r#""message":{"role":"user"}"#, r#""message":{"role":"user"}}"#)).unwrap();
    let known = load(&FileMedium::open(&path).unwrap()).unwrap().tree.len();
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let mut file = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
            for at in 0..2000 {
                std::io::Write::write_all(&mut file, (entry(&format!("new{at}"), "e7") + "\n").as_bytes()).unwrap();
            }
        });
        let readers: Vec<_> = (0..6)
            .map(|_| {
                scope.spawn(|| {
                    let mut seen = 0;
                    while seen < known + 2000 {
                        let loaded = open(&path, &cache);
                        assert!(loaded.tree.len() >= seen && loaded.tree.whole(()).is_ok());
                        assert_eq!(loaded.tree.entries().count(), loaded.tree.len());
                        seen = loaded.tree.len();
                    }
                })
            })
            .collect();
        writer.join().unwrap();
        readers.into_iter().for_each(|reader| reader.join().unwrap());
    });
    assert_same(&open(&path, &cache), &load(&FileMedium::open(&path).unwrap()).unwrap());
}
