//! The selector's requests on real files.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Mutex, PoisonError};

use offshoot_agent::WorkFolders;
use offshoot_app::app::App;
use offshoot_app::config::Environment;
use offshoot_app::trust::RunTrust;
use offshoot_app::ui::{ColorWhen, Ui};
use offshoot_session::session::{Durability, SpillPolicy};
use offshoot_session::store::{Flavour, Root};
use offshoot_tui::markdown::plain_row;
use offshoot_tui::overlay::sessions::search::TextHits;
use offshoot_tui::overlay::sessions::{Answer, Listed, Request, Scope, Speaker};
use offshoot_workspace::SessionProgram;

use super::SessionListWorker;

struct World {
    folder: tempfile::TempDir,
    session_list: SessionListWorker,
    answers: Receiver<Answer>,
}

impl World {
    /// Each session: root, folder, name, and messages in turn.
    fn new(sessions: &[(&str, &str, &str, &[&str])]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for (place, cwd, name, said) in sessions {
            write(&root.join(place), cwd, name, said);
        }
        let environment = Environment {
            cwd: "/w/a".into(),
            data: Some(root.join("data")),
            own: Some(Root::new(root.join("own"), Flavour::Offshoot)),
            others: vec![Root::new(root.join("pi"), Flavour::Pi)],
            cache: Some(root.join("cache")),
            now: Some(1_769_947_200_000),
            ..Environment::default()
        };
        let ui = Ui::new(&environment, ColorWhen::Never, false);
        let (durability, spill_policy) = (Durability::default(), SpillPolicy::default());
        let app = App {
            folders: WorkFolders::new(&environment.cwd),
            ui,
            environment,
            session_dir: None,
            session_dir_by: "",
            file_limits: Default::default(),
            durability,
            spill_policy,
            trust: RunTrust::default(),
            registered: Default::default(),
            plain: plain_row,
            page: crate::page::write,
        };
        let (sender, answers) = channel();
        let sender = Mutex::new(sender);
        let tell = move |answer| drop(sender.lock().unwrap_or_else(PoisonError::into_inner).send(answer));
        Self { session_list: SessionListWorker::start(&app, tell).unwrap(), folder, answers }
    }

    fn file(&self, place: &str, cwd: &str, name: &str) -> PathBuf {
        path(&self.folder.path().canonicalize().unwrap().join(place), cwd, name)
    }

    /// Sends a request and collects answers up to the last one.
    fn ask(&self, request: Request, is_last: impl Fn(&Answer) -> bool) -> Vec<Answer> {
        self.session_list.take(request);
        let mut all = Vec::new();
        loop {
            let answer = self.answers.recv().unwrap();
            let ends = is_last(&answer);
            all.push(answer);
            if ends {
                return all;
            }
        }
    }

    fn list(&self, scope: Scope) -> (Vec<Listed>, Result<usize, String>) {
        let answers = self.ask(Request::List(scope), |answer| matches!(answer, Answer::Done(..)));
        let mut sessions = Vec::new();
        for answer in answers {
            match answer {
                Answer::Listed(_, some) => sessions.extend(some),
                Answer::Done(_, result) => {
                    sessions.sort_by(|a: &Listed, b| a.info.id.cmp(&b.info.id));
                    return (sessions, result);
                }
                _ => {}
            }
        }
        unreachable!()
    }
}

fn path(root: &Path, cwd: &str, name: &str) -> PathBuf {
    root.join(format!("--w-{cwd}--")).join(format!("{name}.jsonl"))
}

fn write(root: &Path, cwd: &str, name: &str, said: &[&str]) {
    let file = path(root, cwd, name);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    let mut text = format!(
        r#"{{"type":"session","version":3,"id":"{name}","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w/{cwd}"}}"#
    );
    text.push('\n');
    for (at, said) in said.iter().enumerate() {
        let (role, parent) = (["user", "assistant"][at % 2], at.checked_sub(1));
        let parent = parent.map_or("null".to_owned(), |parent| format!("\"e{parent}\""));
        text.push_str(&format!(
            r#"{{"type":"message","id":"e{at}","parentId":{parent},"timestamp":"2026-01-01T00:00:00.000Z","message":{{"role":"{role}","content":[{{"type":"text","text":"{said}"}}],"timestamp":{at}}}}}"#
        ));
        text.push('\n');
    }
    File::create_new(file).unwrap().write_all(text.as_bytes()).unwrap();
}

#[test]
fn lists_say_whose_a_session_is_and_what_cannot_be_read() {
    let world =
        World::new(&[("own", "a", "s1", &["one"]), ("own", "b", "s2", &["two"]), ("pi", "a", "s3", &["three"])]);
    let (sessions, done) = world.list(Scope::Folder);
    let told: Vec<_> = sessions.iter().map(|listed| (listed.info.id.as_str(), listed.origin)).collect();
    assert_eq!((told, done), (vec![("s1", SessionProgram::Offshoot), ("s3", SessionProgram::Pi)], Ok(0)));
    let broken = world.file("own", "a", "broken");
    File::create_new(&broken).unwrap().write_all(b"no session").unwrap();
    let link = world.file("pi", "a", "link");
    std::os::unix::fs::symlink(world.file("own", "b", "s2"), &link).unwrap();
    let (sessions, done) = world.list(Scope::All);
    assert_eq!((sessions.len(), done), (3, Ok(1)));
    assert!(sessions.iter().all(|listed| listed.real == listed.real.canonicalize().unwrap()));
}

#[test]
fn previews_tell_first_and_last_words() {
    let world = World::new(&[
        ("own", "a", "s1", &["one", "two", "three", "four", "five"]),
        ("own", "a", "s2", &["one", "two"]),
    ]);
    let preview = |name| {
        let file = world.file("own", "a", name);
        match world.ask(Request::Preview(file.clone()), |_| true).remove(0) {
            Answer::Preview(of, preview) if of == file => preview,
            other => panic!("{other:?}"),
        }
    };
    let long = preview("s1");
    let words = |said: &[offshoot_tui::overlay::sessions::Utterance]| {
        said.iter().map(|said| (said.by, said.text.clone())).collect::<Vec<_>>()
    };
    let person = |text: &str| (Speaker::Person, text.to_owned());
    assert_eq!(words(&long.first), [person("one")]);
    assert_eq!(words(&long.last), [person("three"), (Speaker::Model, "four".to_owned()), person("five")]);
    assert_eq!((preview("s2").first.len(), preview("s2").last.len()), (0, 2), "nothing is told twice");
    assert!(preview("none").trouble.is_some_and(|why| why.contains("none.jsonl")));
}

#[test]
fn searches_look_at_everything_that_was_said() {
    let world = World::new(&[
        ("own", "a", "s1", &["one", r#"there, \"deep\ndown\" it lies"#]),
        ("own", "a", "s2", &["deep thoughts", "sit down"]),
        ("own", "a", "s3", &["d e e p d o w n"]),
    ]);
    let files = ["s1", "s2", "s3", "none"].map(|name| world.file("own", "a", name));
    let found = |search: u64, query: &str| {
        let request = Request::Search { search, query: query.to_owned(), files: files.to_vec() };
        let mut left = files.len();
        let mut all = Vec::new();
        world.session_list.take(request);
        while left > 0 {
            match world.answers.recv().unwrap() {
                Answer::Judged(number, judged) if number == search => {
                    left -= judged.len();
                    all.extend(judged);
                }
                other => panic!("{other:?}"),
            }
        }
        all.sort();
        let told = |(_, hits): (PathBuf, TextHits)| {
            (hits.found.iter().all(|is| *is) && !hits.found.is_empty(), hits.first.map(|first| first.snippet))
        };
        all.into_iter().map(told).collect::<Vec<_>>()
    };
    let snippet = |text: &str| Some(text.to_owned());
    let whole = "there, \"deep down\" it lies";
    // In the order of the files' names: none, s1, s2, s3.
    assert_eq!(found(7, "\"DEEP down\""), [(false, None), (true, snippet(whole)), (false, None), (false, None)]);
    let both = [(false, None), (true, snippet(whole)), (true, snippet("deep thoughts")), (false, None)];
    assert_eq!(found(8, "deep down"), both);
}

#[test]
fn names_and_the_trash() {
    let world = World::new(&[("own", "a", "s1", &["one", "two"])]);
    let file = world.file("own", "a", "s1");
    let answer = |request| world.ask(request, |_| true).remove(0);
    match answer(Request::Rename(file.clone(), "the first".to_owned())) {
        Answer::Renamed(of, result) => assert_eq!((of, result), (file.clone(), Ok("the first".to_owned()))),
        other => panic!("{other:?}"),
    }
    let before = fs::read(&file).unwrap();
    let Answer::Trashed(_, Ok(())) = answer(Request::Trash(file.clone())) else { panic!("not in the trash") };
    assert!(!file.exists());
    let Answer::Trashed(_, Err(_)) = answer(Request::Trash(file.clone())) else { panic!("twice in the trash") };
    let Answer::Restored(_, Ok(())) = answer(Request::Restore(file.clone())) else { panic!("not brought back") };
    assert_eq!(fs::read(&file).unwrap(), before);
    let Answer::Restored(_, Err(why)) = answer(Request::Restore(file)) else { panic!("twice brought back") };
    assert!(why.contains("not in the trash any more"), "{why}");
}

/// oh-my-pi and other agents name a parent by its id.
#[test]
fn parents_that_are_named_by_ids_come_when_all_are_listed() {
    let world = World::new(&[("own", "a", "one", &["first"]), ("own", "a", "two", &["second"])]);
    let (one, two) = (world.file("own", "a", "one"), world.file("own", "a", "two"));
    let text = fs::read_to_string(&two).unwrap().replacen(r#""cwd""#, r#""parentSession":"one","cwd""#, 1);
    File::create(&two).unwrap().write_all(text.as_bytes()).unwrap();
    let answers = world.ask(Request::List(Scope::All), |answer| matches!(answer, Answer::Done(..)));
    let parents: Vec<_> = answers
        .into_iter()
        .filter_map(|answer| match answer {
            Answer::Parents(scope, parents) => Some((scope, parents)),
            _ => None,
        })
        .collect();
    assert_eq!(parents, [(Scope::All, vec![(two, one)])]);
}
