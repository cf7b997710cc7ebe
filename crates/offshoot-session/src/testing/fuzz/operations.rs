//! Runs operations of two writers on a disk that may fail, and compares with a list of what was acknowledged.

use std::cell::Cell;

use super::Choices;
use crate::compose::NewEntry;
use crate::entry::Source as _;
use crate::error::{Error, Result};
use crate::id::EntryId;
use crate::json::Json;
use crate::session::{Durability, NewSession, Options, Session};
use crate::testing::{Fault, FaultMedium, Loss, fixed_options};

const SOUND: &str = concat!(
    r#"{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}"#,
    "\n",
    r#"{"type":"message","id":"a","parentId":null,"timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"user","content":"first"}}"#,
    "\n",
);

/// The first bytes choose the file's state and up to two faults; each other byte is an operation.
///
/// # Panics
/// If something acknowledged is lost, moved, changed or doubled, or work cannot continue.
pub fn session_ops(bytes: &[u8]) {
    let mut choices = Choices(bytes);
    let beginning = match choices.below(3) {
        0 => SOUND.to_owned(),
        1 => SOUND.trim_end().to_owned(),
        _ => format!("{SOUND}{{\"type\":\"mess"),
    };
    // With `Os`, and if the last line feed is missing, a system crash may take what no sync covered.
    let durability = if choices.below(2) == 0 { Durability::Data } else { Durability::Os };
    let may_lose = durability == Durability::Data && !beginning.ends_with('}');
    let mut disk = FaultMedium::new(beginning.into_bytes());
    for _ in 0..choices.below(3) {
        let at = usize::from(choices.byte());
        let fault = fault(choices.byte(), may_lose);
        disk = disk.with_fault(at, fault);
    }
    let mut world = World { disk, durability, acknowledged: Vec::new(), attempts: 0, restarts: Cell::new(0) };
    let mut writers = [world.opened(), world.opened()];
    for _ in 0..64 {
        if choices.is_over() {
            break;
        }
        let writer = choices.below(2);
        world.operation(&mut writers[writer], &mut choices);
        // A crash ends both writers, whichever noticed it.
        while world.disk.is_crashed() || world.restarts.take() > 0 {
            writers = [world.opened(), world.opened()];
        }
    }
    let mut last = world.opened();
    world.compare(&last);
    while world.say(&mut last, 1).is_err() {
        last = world.opened();
    }
    world.compare(&world.opened());
}

fn fault(choice: u8, may_lose: bool) -> Fault {
    let losing = [
        Fault::Forget,
        Fault::Crash(Loss::Unsynced),
        Fault::Crash(Loss::HalfOfUnsynced),
        Fault::Crash(Loss::ZeroedUnsynced),
        Fault::Crash(Loss::FirstUnsyncedPage),
    ];
    match choice % 8 {
        0 => Fault::Fail,
        1 => Fault::Short,
        2 => Fault::Crash(Loss::Nothing),
        _ if !may_lose => Fault::Fail,
        other => losing[usize::from(other) - 3],
    }
}

/// The disk, and what was acknowledged: id, parent and text.
struct World {
    disk: FaultMedium,
    durability: Durability,
    acknowledged: Vec<(EntryId, Option<EntryId>, String)>,
    attempts: usize,
    /// Restarts since the last check.
    restarts: Cell<usize>,
}

impl World {
    /// Opens a session, again if a fault hits the opening.
    fn opened(&self) -> Session {
        for _ in 0..4 {
            if self.disk.is_crashed() {
                self.disk.restart();
                self.restarts.set(self.restarts.get() + 1);
            }
            let options = Options { durability: self.durability, ..fixed_options() };
            let new = NewSession { cwd: "/w", ..NewSession::default() };
            match Session::over_medium(Box::new(self.disk.clone()), &new, options) {
                Ok(session) => return session,
                Err(Error::Io { .. }) => {}
                Err(error) => panic!("the file does not open: {error}"),
            }
        }
        panic!("the file does not open");
    }

    fn operation(&mut self, session: &mut Session, choices: &mut Choices<'_>) {
        let before = session.tree().len();
        let kind = choices.below(8);
        let done = match kind {
            0 | 1 => self.say(session, 1),
            2 => self.say(session, 1 + choices.below(4)),
            3 => {
                let parent = pick(session, choices);
                self.say_below(session, &parent)
            }
            4 => {
                let target = pick(session, choices);
                session.find(target.as_str()).and_then(|ix| session.switch(ix))
            }
            5 => {
                let target = pick(session, choices);
                session.append(&NewEntry::label(target.as_str(), Some("x"))).map(drop)
            }
            6 => {
                let target = pick(session, choices);
                session.branch(target.as_str())
            }
            _ => {
                *session = self.opened();
                self.compare(session);
                return;
            }
        };
        match done {
            Ok(()) => self.check_path(session),
            Err(Error::Io { .. }) => assert!(session.tree().len() >= before, "a failed append takes nothing away"),
            // The session refuses until it is opened again.
            Err(Error::Conflict { .. }) => *session = self.opened(),
            Err(other) => panic!("{other}"),
        }
    }

    fn words(&mut self) -> (String, NewEntry) {
        self.attempts += 1;
        // Some are longer than a page of the disk.
        let more = if self.attempts.is_multiple_of(3) { "p".repeat(5000) } else { String::new() };
        let words = format!("attempt {}, long enough to be torn apart{more}", self.attempts);
        let message = format!(r#"{{"role":"user","content":"{words}"}}"#);
        (words, NewEntry::message(Json::parse(&message).expect("JSON")).expect("a message"))
    }

    fn say(&mut self, session: &mut Session, count: usize) -> Result<()> {
        let (words, new): (Vec<String>, Vec<NewEntry>) = (0..count).map(|_| self.words()).unzip();
        let mut parent = session.leaf_id().cloned();
        let ids = session.append_all(&new)?;
        assert_eq!(ids.len(), count, "all or nothing");
        for (id, words) in ids.into_iter().zip(words) {
            self.acknowledged.push((id.clone(), parent.replace(id), words));
        }
        Ok(())
    }

    fn say_below(&mut self, session: &mut Session, parent: &EntryId) -> Result<()> {
        let (words, new) = self.words();
        let ix = session.append_below(&new, Some(session.find(parent.as_str())?))?;
        let id = session.tree().node(ix).id().cloned().expect("an id");
        self.acknowledged.push((id, Some(parent.clone()), words));
        Ok(())
    }

    /// The context has what the list says about the path to the leaf.
    fn check_path(&self, session: &Session) {
        let mut expected = Vec::new();
        let mut at = session.leaf_id().cloned();
        while let Some((_, parent, words)) = self.acknowledged.iter().find(|(id, _, _)| Some(id) == at.as_ref()) {
            expected.push(words.as_str());
            at.clone_from(parent);
        }
        let Ok(context) = session.context() else { return };
        let messages: Result<Vec<_>> = context.messages(session).collect();
        let Ok(messages) = messages else { return };
        let said: Vec<_> = messages.iter().rev().filter_map(|message| message.json().str("content")).collect();
        assert!(said.len() >= expected.len() && said.iter().zip(&expected).all(|(said, expected)| said == expected));
    }

    /// Everything acknowledged is in its place, and nothing is doubled.
    fn compare(&self, session: &Session) {
        let mut found = Vec::new();
        for ix in session.tree().entries() {
            let Ok(entry) = session.entry(ix) else { return };
            found.extend(
                entry.get("message").and_then(|message| message.str("content").map(std::borrow::Cow::into_owned)),
            );
        }
        for (id, parent, words) in &self.acknowledged {
            let ix = session.find(id.as_str()).unwrap_or_else(|_| panic!("{id} was acknowledged and is lost"));
            assert_eq!(session.tree().parent_id(ix), parent.as_ref(), "{id}");
            assert_eq!(found.iter().filter(|said| *said == words).count(), 1, "{words}");
        }
        let count = found.len();
        found.sort();
        found.dedup();
        assert_eq!(found.len(), count, "an entry is there twice");
    }
}

/// Any entry with an id; the file starts with one.
fn pick(session: &Session, choices: &mut Choices<'_>) -> EntryId {
    let ids: Vec<EntryId> = session.tree().entries().filter_map(|ix| session.tree().node(ix).id().cloned()).collect();
    ids[choices.below(ids.len())].clone()
}
