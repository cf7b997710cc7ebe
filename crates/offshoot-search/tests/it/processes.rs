//! Several processes at one index, and one that is killed while it writes.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use offshoot_search::SearchedPlace;

use crate::corpus::{Corpus, NOW, said, user};

/// The folder of the corpus that a child brings the index of up to date.
const FOLDER: &str = "OFFSHOOT_SEARCH_FOLDER";

/// Several batches of the writer: something is kept before all is.
const SESSIONS: usize = 24;

fn corpus() -> Corpus {
    let corpus = Corpus::new();
    let filler = "filler words that fill ".repeat(1500);
    for at in 0..SESSIONS {
        let texts: Vec<_> = (0..4).map(|nth| user(&format!("s{at}e{nth}"), 1, &filler)).collect();
        corpus.session(&format!("s{at}"), &texts);
        corpus.append(&format!("s{at}"), None, &[user(&format!("needle{at}"), 1, &format!("needle of{at}"))]);
    }
    corpus
}

/// Runs [`as_a_child`] in a process of its own.
fn child(corpus: &Corpus, input: Stdio) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["processes::as_a_child", "--exact", "--nocapture"]).env(FOLDER, corpus.folder.path());
    command.stdin(input).stdout(Stdio::piped()).spawn().unwrap()
}

/// What a child does: it says how many sessions are kept, and waits for a line of input each time.
#[test]
fn as_a_child() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    let corpus = Corpus::at(Path::new(&folder));
    let progress = |done: usize, _: usize| {
        println!("kept {done}");
        std::io::stdin().lines().next();
    };
    corpus.place(|place| corpus.index.refresh(SearchedPlace { progress: &progress, ..place }, NOW)).unwrap();
}

fn finds_all(corpus: &Corpus) {
    let (mut indexed, mut scanned) =
        (said(&corpus.indexed("needle limit:99")), said(&corpus.scanned("needle limit:99")));
    indexed.sort();
    scanned.sort();
    assert_eq!(indexed.len(), SESSIONS);
    assert_eq!(indexed, scanned);
    assert_eq!(said(&corpus.indexed("eedl limit:99")).len(), SESSIONS);
}

#[test]
fn what_a_killed_process_kept_is_whole_and_the_rest_is_read_later() {
    let corpus = corpus();
    let mut writer = child(&corpus, Stdio::piped());
    let mut lines = BufReader::new(writer.stdout.take().unwrap()).lines();
    while !lines.next().unwrap().unwrap().contains("kept ") {}
    writer.kill().unwrap();
    writer.wait().unwrap();
    let kept = usize::try_from(corpus.index.state().sessions).unwrap();
    assert!(kept > 0 && kept < SESSIONS, "{kept} were kept");
    let read = corpus.place(|place| corpus.index.refresh(place, NOW + 10_000 * crate::corpus::DAY).unwrap().read);
    assert!(read > 0 && read <= SESSIONS, "{read} were read");
    finds_all(&corpus);
}

#[test]
fn two_processes_at_once_find_everything() {
    let corpus = corpus();
    let mut writers = [child(&corpus, Stdio::null()), child(&corpus, Stdio::null())];
    let found = corpus.indexed("needle limit:99");
    assert_eq!(found.hits.len(), SESSIONS);
    for writer in &mut writers {
        let mut lines = BufReader::new(writer.stdout.take().unwrap()).lines();
        while lines.next().is_some() {}
        assert!(writer.wait().unwrap().success());
    }
    finds_all(&corpus);
}
