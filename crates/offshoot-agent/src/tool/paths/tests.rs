//! What a path means, and which other file is found or named where it does not exist.

use super::*;

fn base(cwd: &Path) -> PathBase<'_> {
    PathBase { cwd, home: Some(Path::new("/home/ann")) }
}

fn folder(names: &[&str]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for name in names {
        let path = dir.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, name).unwrap();
    }
    dir
}

#[test]
fn what_people_and_models_write_becomes_a_path() {
    let base = base(Path::new("/work"));
    for (text, path) in [
        ("a/b", "/work/a/b"),
        ("./a/../b", "/work/b"),
        ("../../..", "/"),
        ("/etc//x/.", "/etc/x"),
        ("~", "/home/ann"),
        ("~/x", "/home/ann/x"),
        ("./~/x", "/work/~/x"),
        ("~x", "/work/~x"),
        ("~bob/x", "/work/~bob/x"),
        ("@src/a.rs", "/work/@src/a.rs"),
        ("a\u{a0}b\u{202f}c\u{3000}d", "/work/a\u{a0}b\u{202f}c\u{3000}d"),
        ("file:///tmp/a%20b", "/tmp/a b"),
        ("file://localhost/tmp/x", "/tmp/x"),
        ("file:///tmp/100%", "/tmp/100%"),
        ("file://tmp/x", "/work/file:/tmp/x"),
        ("a%20b", "/work/a%20b"),
        ("\"a b\"", "/work/\"a b\""),
        ("a\\ b", "/work/a\\ b"),
        ("a ", "/work/a "),
        ("a.", "/work/a."),
        ("a\nb", "/work/a\nb"),
        ("", "/work"),
    ] {
        assert_eq!(base.exact(text), Path::new(path), "{text:?}");
    }
}

#[test]
fn an_exact_name_comes_before_one_that_looks_the_same() {
    let names = [
        "a b",
        "a\u{a0}b",
        "a\u{3000}b",
        "caf\u{e9}",
        "cafe\u{301}",
        "@types/i",
        "types/i",
        "it's",
        "it\u{2019}s",
        "t ",
        "~x",
        "%20",
    ];
    let dir = folder(&names);
    for name in names {
        let found = FoundPath { path: dir.path().join(name), is_variant: false };
        assert_eq!(base(dir.path()).existing(name), found, "{name:?}");
    }
}

#[test]
fn a_name_that_does_not_exist_is_found_by_what_people_type() {
    for (there, typed) in [
        ("Shot 10.15.00\u{202f}PM.png", "Shot 10.15.00 PM.png"),
        ("Shot 1.png", "Shot\u{a0}1.png"),
        ("Shot\u{a0}1.png", "Shot 1.png"),
        ("cafe\u{301}.txt", "caf\u{e9}.txt"),
        ("caf\u{e9}.txt", "cafe\u{301}.txt"),
        ("Capture d\u{2019}ecran.png", "Capture d'ecran.png"),
        ("Capture d'ecran.png", "Capture d\u{2019}ecran.png"),
        ("d\u{2019}e\u{301}cran 1\u{202f}PM.png", "d'\u{e9}cran\u{a0}1 PM.png"),
        ("a\u{a0}b/c d", "a b/c\u{3000}d"),
        ("src/a.rs", "@src/a.rs"),
        ("src/a\u{a0}b", "@src/a b"),
    ] {
        let dir = folder(&[there]);
        let found = base(dir.path()).existing(typed);
        assert_eq!((found.path, found.is_variant), (dir.path().join(there), true), "{typed:?}");
        let missing = base(dir.path()).existing("miss ing");
        assert_eq!((missing.path, missing.is_variant), (dir.path().join("miss ing"), false));
    }
}

#[test]
fn two_names_that_look_the_same_are_not_chosen_from_but_named() {
    let dir = folder(&["a\u{a0}b", "a\u{3000}b"]);
    let found = base(dir.path()).existing("a b");
    assert_eq!((found.path, found.is_variant), (dir.path().join("a b"), false));
    let offer = base(dir.path()).offer("a b");
    assert!(offer.contains("a\\u00a0b\" and ") && offer.contains("a\\u3000b\" exist"), "{offer}");
}

#[test]
fn a_mention_is_the_file_after_the_sign_else_the_whole_word() {
    let dir = folder(&["types/i", "@types/i", "@types/only"]);
    for (name, path) in [("types/i", "types/i"), ("@types/i", "@types/i"), ("types/only", "@types/only"), ("no", "no")]
    {
        assert_eq!(base(dir.path()).attached(name).path, dir.path().join(path), "{name}");
    }
}

#[test]
fn names_in_messages_show_what_looks_like_something_else() {
    let path = Path::new("/a\u{a0}b\nc\u{301}\u{202e}\"é日");
    assert_eq!(escaped(path), "\"/a\\u00a0b\\nc\\u0301\\u202e\\\"é日\"");
}
