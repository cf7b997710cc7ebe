//! The bare work of SQLite beside a search: `bare insert SESSIONS FILE` makes an index of its rows alone and says the times,
//! `bare query FILE EXPRESSION` asks one.

#![expect(clippy::disallowed_methods, clippy::print_stdout, reason = "an example is a whole program")]

use std::path::Path;
use std::time::Instant;

use offshoot_search::SearchedPlace;
use offshoot_search::index::bare::{insert_bare, query_bare};
use offshoot_session::session::{Options, Session};
use offshoot_session::store::{DirStore, Flavour, Root};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["insert", sessions, file] => insert(Path::new(sessions), Path::new(file)),
        ["query", file, expression] => {
            println!("{}", query_bare(Path::new(file), expression)?);
            Ok(())
        }
        _ => Err("bare insert SESSIONS FILE, or bare query FILE EXPRESSION".into()),
    }
}

fn insert(sessions: &Path, file: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let store = DirStore::new(Root::new(sessions, Flavour::Pi), Vec::new());
    let open = |file: &Path| Session::open(file, Options::default());
    let place = SearchedPlace { store: &store, open: &open, mask: &|_| None, progress: &|_, _| {}, is_over: &|| false };
    let start = Instant::now();
    let inserts = insert_bare(place, file, &|| start.elapsed())?;
    let (words, trigrams) = (inserts.words.as_secs_f64(), inserts.trigrams.as_secs_f64());
    println!(
        r#"{{"documents":{},"words":{words:.3},"blocks":{},"trigrams":{trigrams:.3}}}"#,
        inserts.documents, inserts.blocks
    );
    Ok(())
}
