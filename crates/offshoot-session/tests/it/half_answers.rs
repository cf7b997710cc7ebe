//! Half answers of programs that were killed: kept while the program lives, recorded once by the next one that writes.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use offshoot_session::compose::NewEntry;
use offshoot_session::entry::Source as _;
use offshoot_session::error::{Code, Diagnostic};
use offshoot_session::json::Json;
use offshoot_session::session::{Options, Session};
use offshoot_session::testing::fixed_options;

use super::common::{say, text};

struct Kept {
    _folder: tempfile::TempDir,
    path: PathBuf,
    turns: PathBuf,
}

impl Kept {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (path, turns) = (folder.path().join("s.jsonl"), folder.path().join("turns"));
        fs::write(&path, text(&["a - U", "b a A"])).unwrap();
        Self { _folder: folder, path, turns }
    }

    fn open(&self) -> Session {
        let options = Options { ids: Options::default().ids, turns: Some(self.turns.clone()), ..fixed_options() };
        Session::open(&self.path, options).unwrap()
    }

    fn halves(&self) -> Vec<PathBuf> {
        let files = fs::read_dir(&self.turns).into_iter().flatten().map(|file| file.unwrap().path());
        files.filter(|path| path.to_string_lossy().contains(".half~")).collect()
    }

    /// A program prompts, receives half of an answer and is killed. Returns the id of its prompt.
    fn killed(&self, half: &str) -> String {
        let mut one = self.open();
        let prompt = ask(&mut one);
        one.keep_half_answer(&stopped(half)).unwrap();
        // A session that is dropped without the end of its turn leaves its file, as a killed process does.
        drop(one);
        assert_eq!(self.halves().len(), 1);
        prompt
    }

    fn text(&self) -> String {
        fs::read_to_string(&self.path).unwrap()
    }
}

fn ask(session: &mut Session) -> String {
    session.begin_turn();
    say(session, "user", "tell me a tale")
}

fn stopped(text: &str) -> NewEntry {
    let message = format!(
        r#"{{"role":"assistant","content":[{{"type":"thinking","thinking":"hm"}},{{"type":"text","text":"{text}"}}],"stopReason":"aborted"}}"#
    );
    NewEntry::message(Json::parse(&message).unwrap()).unwrap()
}

fn told(diagnostics: &[Diagnostic]) -> Vec<String> {
    diagnostics.iter().filter(|told| told.code == Code::HalfAnswer).map(|told| told.message.clone()).collect()
}

/// The ids and parents of the messages that were stopped.
fn recorded(session: &Session) -> Vec<(String, String)> {
    let tree = session.tree();
    let entries = tree.entries().filter(|ix| session.entry(*ix).unwrap().line().contains(r#""stopReason":"aborted""#));
    entries.map(|ix| (tree.node(ix).id().unwrap().to_string(), tree.parent_id(ix).unwrap().to_string())).collect()
}

#[test]
fn half_an_answer_of_a_killed_program_is_recorded_once_below_its_prompt() {
    let kept = Kept::new();
    let prompt = kept.killed("Once upon a ti");
    assert_eq!(fs::metadata(&kept.halves()[0]).unwrap().permissions().mode() & 0o777, 0o600);
    let before = kept.text();

    let mut two = kept.open();
    let says = "half of an answer is kept outside the session, because the program was killed: “Once upon a ti”; the next prompt records it";
    assert_eq!(told(two.diagnostics()), [says]);
    assert_eq!((kept.text(), kept.halves().len()), (before, 1), "opening never writes");

    ask(&mut two);
    let [(half, parent)] = recorded(&two).try_into().unwrap();
    assert_eq!(parent, prompt);
    assert_eq!(two.tree().parent_id(two.leaf().unwrap()).unwrap().as_str(), half, "the next prompt continues from it");
    let says = "half of an answer is recorded, because its program was killed: “Once upon a ti”";
    assert_eq!(told(&two.take_news()), [says]);
    assert_eq!(kept.halves(), [] as [PathBuf; 0]);
    drop(two);
    let mut three = kept.open();
    say(&mut three, "user", "and then?");
    assert_eq!((recorded(&three).len(), told(three.diagnostics())), (1, vec![]));
}

/// Whatever is appended: the leaf of the half answer is the leaf.
#[test]
fn half_an_answer_is_recorded_by_any_append() {
    let kept = Kept::new();
    let prompt = kept.killed("Once");
    let mut two = kept.open();
    two.append(&NewEntry::session_info("tale")).unwrap();
    let [(half, parent)] = recorded(&two).try_into().unwrap();
    assert_eq!((parent, two.tree().parent_id(two.leaf().unwrap()).unwrap().as_str()), (prompt, half.as_str()));
}

#[test]
fn half_an_answer_of_a_living_program_is_its_own() {
    let kept = Kept::new();
    let mut one = kept.open();
    ask(&mut one);
    one.keep_half_answer(&stopped("Once")).unwrap();
    one.keep_half_answer(&stopped("Once upon")).unwrap();
    assert_eq!(kept.halves().len(), 1, "in place of the one before");
    let mut two = kept.open();
    say(&mut two, "user", "beside it");
    assert_eq!((told(two.diagnostics()), recorded(&two)), (vec![], vec![]));
    // Whoever was there first finds it with its next prompt.
    let said = fs::read_to_string(&kept.halves()[0]).unwrap();
    assert!(said.contains("Once upon"), "{said}");
    drop(one);
    ask(&mut two);
    assert_eq!(recorded(&two).len(), 1);
}

#[test]
fn half_an_answer_becomes_a_branch_of_its_own_if_the_leaf_moved_on() {
    let kept = Kept::new();
    let mut two = kept.open();
    let prompt = kept.killed("Once");
    let elsewhere = say(&mut two, "user", "something else");
    drop(two);
    let mut three = kept.open();
    let below = ask(&mut three);
    assert_eq!(recorded(&three)[0].1, prompt);
    assert_eq!(three.tree().parent_id(three.find(&below).unwrap()).unwrap().as_str(), elsewhere, "the leaf has stayed");
    let says = "half of an answer is recorded as a branch of its own, because its program was killed: “Once”";
    assert_eq!(told(&three.take_news()), [says]);
}

#[test]
fn a_recorded_answer_or_the_end_of_the_turn_removes_its_half() {
    let kept = Kept::new();
    let mut one = kept.open();
    ask(&mut one);
    one.keep_half_answer(&stopped("Once")).unwrap();
    say(&mut one, "assistant", "Once upon a time.");
    assert_eq!(kept.halves(), [] as [PathBuf; 0]);
    one.keep_half_answer(&stopped("Twice")).unwrap();
    one.end_turn();
    assert_eq!(kept.halves(), [] as [PathBuf; 0]);
}

/// A program is killed after its answer is in the file and before it has removed the half.
#[test]
fn half_of_a_recorded_answer_is_not_recorded_again() {
    let kept = Kept::new();
    let mut one = kept.open();
    ask(&mut one);
    one.keep_half_answer(&stopped("Once")).unwrap();
    let left = (kept.halves().remove(0), fs::read(&kept.halves()[0]).unwrap());
    let whole = r#"{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"Once upon a time."}]}"#;
    one.append(&NewEntry::message(Json::parse(whole).unwrap()).unwrap()).unwrap();
    drop(one);
    fs::write(&left.0, left.1).unwrap();
    let mut two = kept.open();
    say(&mut two, "user", "and then?");
    assert_eq!((recorded(&two), told(&two.take_news()), kept.halves()), (vec![], vec![], vec![]));
}

/// What is not half of an answer of this session stays where it is, and the session goes on.
#[test]
fn what_cannot_be_recorded_stays_and_is_reported() {
    let kept = Kept::new();
    kept.killed("Once");
    let place = kept.halves().remove(0);
    let sound = fs::read_to_string(&place).unwrap();
    let with = |from: &str, to: &str| sound.replace(from, to);
    let id = Session::open(&kept.path, Options::default()).unwrap().id().to_owned();
    let call = r#""content":[{"type":"toolCall","id":"c","name":"bash","arguments":{"command":"ls"}},"#;
    let half = Json::parse(sound.lines().nth(1).unwrap()).unwrap().str("id").unwrap().into_owned();
    let foreign = [
        (with(&format!(r#""id":"{half}""#), r#""id":"b""#), "the session has another entry b"),
        (with(&format!(r#""sessionId":"{id}""#), r#""sessionId":"another""#), "it is of the session another"),
        (with(r#""parentId":""#, r#""parentId":"no"#), "the session has no entry no"),
        (with(r#""role":"assistant""#, r#""role":"user""#), "it is not half of an answer"),
        (with(r#""stopReason":"aborted""#, r#""stopReason":"toolUse""#), "it is not half of an answer"),
        (with(r#""content":["#, call), "it is not half of an answer"),
        (sound[..sound.len() - 9].to_owned(), "it is not half of an answer"),
        (sound.clone() + &sound, "it is not half of an answer"),
        (String::new(), "it is not half of an answer"),
        ("\0".repeat((16 << 20) + 1), "it is too large"),
    ];
    for (content, why) in foreign {
        fs::write(&place, &content).unwrap();
        let mut two = kept.open();
        let says = told(two.diagnostics());
        assert!(says.len() == 1 && says[0].contains(why), "{says:?}");
        say(&mut two, "user", "on");
        assert_eq!((recorded(&two), told(&two.take_news())), (vec![], vec![]), "{why}: it has been said");
        assert_eq!(fs::read_to_string(&place).unwrap(), content, "{why}");
    }
    fs::remove_file(&place).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(&place).status().unwrap().success());
    say(&mut kept.open(), "user", "a pipe is not waited for");
    assert!(Path::new(&place).exists());
}
