//! A warm opening equals a cold one, and an index that does not fit is not used.

use super::*;
use crate::tree::Tree;

const HEADER: &str = r#"{"type":"session","version":3,"id":"s","timestamp":"t","cwd":"/w"}"#;

fn entry(id: &str, parent: &str) -> String {
    let text = "x".repeat(300);
    format!(
        r#"{{"type":"message","id":"{id}","parentId":"{parent}","timestamp":"2026-01-01T00:00:01.000Z","message":{{"role":"user","content":"{text}"}}}}"#
    )
}

/// Over a megabyte, with everything that an index must carry.
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
    load_indexed(&FileMedium::open(path).unwrap(), Some(cache)).unwrap()
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

use crate::tree::NodeIx;

fn is_used(path: &Path, cache: &Path) -> bool {
    let medium = FileMedium::open(path).unwrap();
    read(&medium, &place(cache, path), medium.len().unwrap()).is_some()
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
    // That much was new that the index has been made anew.
    assert_same(&open(&path, &cache), &cold);
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
        ("index damaged", |path, cache| {
            let place = place(cache, path);
            let mut bytes = std::fs::read(&place).unwrap();
            let middle = bytes.len() / 2;
            bytes[middle] ^= 1;
            std::fs::write(place, bytes).unwrap();
        }),
        ("index cut", |path, cache| {
            let place = place(cache, path);
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
