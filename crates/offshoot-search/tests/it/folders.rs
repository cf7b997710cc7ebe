//! Folders whose files the index has all as they are: they are not looked at again until something changes in them.

use std::fs;
use std::path::Path;

use crate::corpus::{Corpus, said, user};

fn two_folders() -> Corpus {
    let corpus = Corpus::new();
    corpus.session("s0", &[user("e0", 3, "needle one")]);
    corpus.session("s1", &[user("e1", 2, "needle two")]);
    let work = corpus.file("s1").parent().unwrap().to_path_buf();
    let other = work.with_file_name("--other--");
    fs::create_dir(&other).unwrap();
    fs::rename(corpus.file("s1"), other.join("s1.jsonl")).unwrap();
    corpus
}

/// The names of the folders that are whole.
fn whole(corpus: &Corpus) -> Vec<String> {
    let database = rusqlite::Connection::open(corpus.index.file()).unwrap();
    let mut query = database.prepare("SELECT path FROM session_folder WHERE digest IS NOT NULL ORDER BY path").unwrap();
    let paths = query.query_map([], |row| row.get::<_, Vec<u8>>(0)).unwrap();
    let name = |path: Vec<u8>| Path::new(str::from_utf8(&path).unwrap()).file_name().unwrap().to_owned();
    paths.map(|path| name(path.unwrap()).into_string().unwrap()).collect()
}

#[test]
fn whatever_changes_in_a_whole_folder_is_found() {
    let corpus = two_folders();
    let found = |typed: &str| said(&corpus.indexed_later(typed));
    assert_eq!(found("needle"), ["s1:e1 user", "s0:e0 user"]);
    assert_eq!(whole(&corpus), ["--other--", "--work--"]);

    let other = corpus.file("s1").parent().unwrap().with_file_name("--other--");
    let away = other.with_file_name("away");
    let away = corpus.folder.path().join(away.file_name().unwrap());
    fs::rename(&other, &away).unwrap();
    assert_eq!(found("needle"), ["s0:e0 user"]);
    assert_eq!(whole(&corpus), ["--work--"]);
    fs::rename(&away, &other).unwrap();
    assert_eq!(found("needle"), ["s1:e1 user", "s0:e0 user"], "its files have the stamps that they had");

    let file = corpus.file("s0");
    let written = fs::metadata(&file).unwrap().modified().unwrap();
    fs::write(&file, fs::read_to_string(&file).unwrap().replace("needle", "thread")).unwrap();
    fs::File::open(&file).unwrap().set_modified(written).unwrap();
    assert_eq!(found("needle"), ["s1:e1 user"], "its length and its time are the same");
    assert_eq!(found("thread"), ["s0:e0 user"]);

    fs::remove_file(&file).unwrap();
    assert_eq!(found("thread"), Vec::<String>::new());
    assert_eq!(whole(&corpus), ["--other--"]);
}

/// The database itself forgets that a folder is whole: whoever takes a session out of it, even half of the program that crashed.
#[test]
fn a_session_that_is_missing_in_the_index_is_read_again() {
    let corpus = two_folders();
    corpus.indexed_later("needle");
    let database = rusqlite::Connection::open(corpus.index.file()).unwrap();
    database.execute("DELETE FROM source WHERE session = 's0'", []).unwrap();
    assert_eq!(whole(&corpus), ["--other--"]);
    assert_eq!(corpus.indexed_later("needle").sessions, 2);
    assert_eq!(whole(&corpus), ["--other--", "--work--"]);
}

/// A file that may change without a trace is looked at each time.
#[test]
fn a_folder_with_a_file_of_this_moment_is_not_whole() {
    let corpus = two_folders();
    corpus.indexed("needle");
    assert_eq!(whole(&corpus), Vec::<String>::new());
}

#[test]
fn a_folder_is_noted_as_whole_when_nobody_else_writes() {
    let corpus = two_folders();
    corpus.indexed_later("needle");
    let other = rusqlite::Connection::open(corpus.index.file()).unwrap();
    other.execute_batch("UPDATE session_folder SET digest = NULL; BEGIN IMMEDIATE").unwrap();
    assert_eq!(corpus.indexed_later("needle").count, 2);
    assert_eq!(whole(&corpus), Vec::<String>::new());
    other.execute_batch("ROLLBACK").unwrap();
    assert_eq!(corpus.indexed_later("needle").count, 2);
    assert_eq!(whole(&corpus), ["--other--", "--work--"]);
}

/// Hits have short ids that tell them from all other sessions, also from those whose files have other names.
#[test]
fn the_ids_of_all_sessions_come_with_the_hits() {
    let corpus = two_folders();
    fs::rename(corpus.file("s0"), corpus.file("renamed")).unwrap();
    let mut ids = corpus.indexed_later("needle").session_ids;
    ids.sort();
    assert_eq!(ids, ["renamed", "s0", "s1"]);
}
