//! An index that is broken, of another kind or gone costs no hit.

use std::fs;

use offshoot_search::index::CacheHealth;
use offshoot_search::session_documents::LONGEST_LINE;

use crate::corpus::{Corpus, KEY, said, user};

fn corpus() -> Corpus {
    let corpus = Corpus::new();
    corpus.session("s0", &[user("e1", 1, "a needle")]);
    corpus
}

fn finds(corpus: &Corpus) {
    assert_eq!(said(&corpus.indexed("needle")), ["s0:e1 user"]);
}

#[test]
fn what_lies_in_its_place_does_not_matter() {
    for bytes in [&b""[..], b"no database", &[0; 4096], b"SQLite format 3\0 and then nothing"] {
        let corpus = corpus();
        fs::create_dir_all(corpus.index.file().parent().unwrap()).unwrap();
        fs::write(corpus.index.file(), bytes).unwrap();
        finds(&corpus);
        finds(&corpus);
    }
}

#[test]
fn a_cut_index_is_made_anew() {
    let corpus = corpus();
    finds(&corpus);
    let whole = fs::read(corpus.index.file()).unwrap();
    for part in [whole.len() / 2, 5000, 100] {
        for beside in ["-wal", "-shm"] {
            drop(fs::remove_file(format!("{}{beside}", corpus.index.file().display())));
        }
        fs::write(corpus.index.file(), &whole[..part.min(whole.len())]).unwrap();
        finds(&corpus);
    }
}

#[test]
fn a_folder_a_link_and_a_pipe_are_not_opened() {
    let corpus = corpus();
    let file = corpus.index.file();
    fs::create_dir_all(file).unwrap();
    finds(&corpus);
    assert!(matches!(corpus.index.state().health, CacheHealth::Unusable(_)));
    fs::remove_dir(file).unwrap();
    let other = corpus.folder.path().join("precious");
    fs::write(&other, "precious").unwrap();
    std::os::unix::fs::symlink(&other, file).unwrap();
    finds(&corpus);
    assert_eq!(fs::read_to_string(&other).unwrap(), "precious");
    fs::remove_file(file).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(file).status().unwrap().success());
    finds(&corpus);
}

#[test]
fn a_session_that_cannot_be_read_hides_no_other() {
    let corpus = corpus();
    fs::write(corpus.file("bad"), "no session\n").unwrap();
    let found = corpus.indexed("needle");
    assert_eq!((said(&found), found.diagnostics.len()), (vec!["s0:e1 user".to_owned()], 1));
}

#[test]
fn the_state_counts_what_is_there() {
    let corpus = corpus();
    assert_eq!(corpus.index.state().health, CacheHealth::Absent);
    finds(&corpus);
    let state = corpus.index.state();
    assert_eq!((state.health, state.sessions, state.documents), (CacheHealth::Sound, 1, 1));
    corpus.index.remove();
    assert_eq!(corpus.index.state().health, CacheHealth::Absent);
    finds(&corpus);
}

#[test]
fn two_at_once_find_the_same() {
    let corpus = corpus();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| finds(&corpus));
        }
    });
}

#[test]
fn keys_are_neither_found_nor_shown_nor_in_the_index() {
    let corpus = Corpus::new();
    corpus.session("s0", &[user("e1", 1, &format!("the needle is {KEY} here"))]);
    for found in [corpus.indexed("needle"), corpus.scanned("needle")] {
        assert_eq!(found.hits[0].snippet.text, "the needle is … here");
    }
    for typed in [KEY, "secret", "~0123456789", "/sk-\\w+/"] {
        assert_eq!((corpus.indexed(typed).count, corpus.scanned(typed).count), (0, 0), "{typed}");
    }
    let connection = rusqlite::Connection::open(corpus.index.file()).unwrap();
    connection.execute("CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab('main', 'fts', 'row')", []).unwrap();
    let mut words = connection.prepare("SELECT term FROM temp.vocabulary").unwrap();
    let words: Vec<String> = words.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    assert!(words.contains(&"needle".to_owned()) && !words.iter().any(|word| word.contains("secret")), "{words:?}");
}

/// Its texts have another form now, and are found all the same.
#[test]
fn a_key_that_is_known_later_is_not_shown() {
    let mut corpus = Corpus::new();
    corpus.key = "another key";
    corpus.session("s0", &[user("e1", 1, &format!("the needle is {KEY} here"))]);
    assert!(corpus.indexed("needle").hits[0].snippet.text.contains(KEY));
    corpus.key = KEY;
    assert_eq!(corpus.indexed("needle").hits[0].snippet.text, "the needle is … here");
    assert_eq!(corpus.indexed(KEY).count, 0);
}

#[test]
fn sessions_of_another_store_are_not_found() {
    let corpus = corpus();
    finds(&corpus);
    let other = Corpus { index: corpus.index.clone(), ..Corpus::new() };
    other.session("s9", &[user("e9", 1, "another needle")]);
    assert_eq!(said(&other.indexed("needle")), ["s9:e9 user"]);
    let found = corpus.indexed("needle");
    assert_eq!((said(&found), found.sessions), (vec!["s0:e1 user".to_owned()], 1));
}

#[test]
fn an_index_with_damaged_pages_is_made_anew() {
    let corpus = Corpus::new();
    let entries: Vec<_> = (0..400).map(|at| user(&format!("e{at}"), at, &format!("needle number{at}"))).collect();
    corpus.session("s0", &entries);
    assert_eq!(corpus.indexed("needle").count, 400);
    let mut bytes = fs::read(corpus.index.file()).unwrap();
    let length = bytes.len();
    assert!(length > 12 * 4096, "{length}");
    bytes[2 * 4096..].fill(0x5a);
    fs::write(corpus.index.file(), &bytes).unwrap();
    for _ in 0..3 {
        assert_eq!(corpus.indexed("needle").count, 400);
    }
    assert_eq!(corpus.index.state().health, CacheHealth::Sound);
}

#[test]
fn lines_that_are_too_long_are_counted() {
    let corpus = Corpus::new();
    let long = "hay ".repeat(usize::try_from(LONGEST_LINE).unwrap() / 4);
    corpus.session("s0", &[user("e1", 1, &format!("{long}needle")), user("e2", 1, "needle")]);
    for found in [corpus.indexed("needle"), corpus.scanned("needle")] {
        assert_eq!((said(&found), found.left_out), (vec!["s0:e2 user".to_owned()], 1));
    }
}
