//! Agents that misbehave, and those that the world is against: what the others, the files and the sums are then.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use offshoot_agent::sessions::Sessions;
use offshoot_agent::testing::script::{Gate, Reply, Then};
use offshoot_agent::{Family, FamilyLimits, Setup};
use offshoot_protocol::Settled;
use offshoot_session::error::{Error, Result};
use offshoot_session::session::{NewSession, Options, Session};
use offshoot_session::testing::FaultMedium;
use serde_json::json;

use crate::children::{ends, entries, files, lines, result, task};
use crate::world::{World, prompting, run};

/// The session of the agent Alpha goes wrong; the others are files.
struct Wrong {
    folder: PathBuf,
    alpha: Alpha,
}

enum Alpha {
    /// Its file cannot be created.
    Refused,
    /// The disk has room for so many operations.
    Full(FaultMedium),
    /// Another program has begun the file a moment ago.
    Taken(String),
}

impl Sessions for Wrong {
    fn create(&self, new: &NewSession<'_>) -> Result<Session> {
        Session::create(new, Options::default(), |id, time| self.file_path("", id, time))
    }

    fn open(&self, file: &Path) -> Result<Session> {
        Session::open(file, Options::default())
    }

    fn open_or_create(&self, file: &Path, new: &NewSession<'_>) -> Result<Session> {
        let is_alpha = file.file_stem().is_some_and(|stem| stem == "Alpha");
        match &self.alpha {
            Alpha::Refused if is_alpha => {
                let full = std::io::Error::from(std::io::ErrorKind::StorageFull);
                Err(Error::io("create", file)(full))
            }
            Alpha::Full(medium) if is_alpha => Session::over_medium(Box::new(medium.clone()), new, Options::default()),
            Alpha::Taken(text) if is_alpha => {
                std::fs::create_dir_all(file.parent().unwrap()).unwrap();
                std::fs::write(file, text).unwrap();
                Session::open_or_create(file, new, Options::default())
            }
            Alpha::Refused | Alpha::Full(_) | Alpha::Taken(_) => Session::open_or_create(file, new, Options::default()),
        }
    }

    fn file_path(&self, _cwd: &str, id: &str, timestamp: &str) -> PathBuf {
        self.folder.join(offshoot_session::store::file_name(id, timestamp))
    }
}

/// Alpha and Beta, of whom each answers once.
fn two() -> World {
    let orders = json!({"tasks": [{"task": "do alpha", "name": "Alpha"}, {"task": "do beta", "name": "Beta"}]});
    World::new([
        task(orders),
        Reply::text("alpha is done").on("do alpha"),
        Reply::text("beta is done").on("do beta"),
        Reply::text("All.").on("go"),
    ])
}

/// What the result of the call says when Alpha goes wrong.
async fn with(alpha: Alpha) -> (World, String) {
    let world = two();
    let sessions = Arc::new(Wrong { folder: world.path("sessions"), alpha });
    let (agent, _events) = world.start_with(world.session(), Setup { sessions, ..world.setup() });
    assert_eq!(prompting(&agent, "go").await.unwrap(), Ok(Settled::Done));
    agent.close().await;
    let text = result(&world)["content"][0]["text"].as_str().unwrap().to_owned();
    assert!(text.contains("<task-result id=\"Beta\" agent=\"task\" status=\"completed\">\nbeta is done"), "{text}");
    assert_eq!(result(&world)["isError"], false);
    (world, text)
}

#[test]
fn a_child_whose_file_cannot_be_created_fails_and_sends_nothing_and_the_others_go_on() {
    run(async {
        let (world, text) = with(Alpha::Refused).await;
        assert!(text.contains("status=\"failed\">\nfailed: its session cannot be opened: "), "{text}");
        assert!(world.server.seen().iter().all(|seen| !seen.body.contains("do alpha") || seen.body.contains("go")));
    });
}

#[test]
fn a_child_whose_disk_is_full_fails_before_a_request_that_would_not_be_recorded() {
    run(async {
        let medium = FaultMedium::new(Vec::new());
        medium.set_full(true);
        let (world, text) = with(Alpha::Full(medium)).await;
        assert!(text.contains("id=\"Alpha\" agent=\"task\" status=\"failed\">"), "{text}");
        let asked = world.server.seen();
        assert!(asked.iter().all(|seen| !seen.body.contains("do alpha") || seen.body.contains("go")), "{text}");
    });
}

/// The disk fills while the first or the second answer of the child is on its way: what was recorded stays, nothing more is asked, the
/// parent is told why, and the ledger has each request that was sent.
#[test]
fn a_child_whose_disk_fills_in_the_middle_keeps_what_was_recorded_and_fails() {
    run(async {
        for filled_at in [1, 2] {
            let gate = Gate::new();
            let look = Reply::call("ls", "k1", json!({})).on("do alpha");
            let after = Reply::text("alpha is done").on("do alpha");
            let hold = |reply: Reply| Reply { gate: Some((0, gate.clone())), ..reply };
            let replies = if filled_at == 1 { vec![hold(look)] } else { vec![look, hold(after)] };
            let order = json!({"tasks": [{"task": "do alpha", "name": "Alpha"}, {"task": "do beta", "name": "Beta"}]});
            let others = [Reply::text("beta is done").on("do beta"), Reply::text("All.").on("go")];
            let world = World::new(std::iter::once(task(order)).chain(replies).chain(others));
            let medium = FaultMedium::new(Vec::new());
            let sessions = Arc::new(Wrong { folder: world.path("sessions"), alpha: Alpha::Full(medium.clone()) });
            let family = Family::new(FamilyLimits::default(), Some(world.path("ledgers")));
            let (agent, mut events) = world.start_with(world.session(), Setup { sessions, family, ..world.setup() });
            let talking = prompting(&agent, "go");
            let asked = || {
                let seen = world.server.seen();
                seen.iter().filter(|seen| seen.body.contains("do alpha") && !seen.body.contains("go")).count()
            };
            while asked() < filled_at {
                tokio::task::yield_now().await;
            }
            let before = medium.bytes();
            medium.set_full(true);
            gate.open();
            assert_eq!(talking.await.unwrap(), Ok(Settled::Done));
            agent.close().await;
            world.no_problems();
            assert_eq!(asked(), filled_at, "nothing is asked that would not be recorded");
            assert_eq!(medium.bytes(), before, "what was recorded is as it was");
            let text = result(&world)["content"][0]["text"].as_str().unwrap().to_owned();
            assert!(text.contains("id=\"Alpha\" agent=\"task\" status=\"failed\">\nfailed: "), "{text}");
            assert!(text.contains("a fault on demand"), "{text}");
            assert!(text.contains("status=\"completed\">\nbeta is done"), "{text}");
            let ended = ends(&mut events);
            let alpha = ended.iter().find(|state| state.id == "Alpha").unwrap();
            assert_eq!((alpha.status.as_str(), alpha.requests), ("failed", filled_at as u64));
            let ledger = std::fs::read_dir(world.path("ledgers")).unwrap().next().unwrap().unwrap().path();
            let ledger = lines(&ledger);
            let count = |name: &str| ledger.iter().filter(|line| line[name].is_string()).count();
            // Alpha's, Beta's, and that of the parent after them.
            assert_eq!((count("hold"), count("end")), (filled_at + 2, filled_at + 2));
        }
    });
}

/// Two programs with one session start an agent of the same name in the same moment.
#[test]
fn a_name_that_another_program_has_taken_meanwhile_is_not_shared() {
    run(async {
        let header = r#"{"type":"session","version":3,"id":"x","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}"#;
        let start = r#"{"type":"custom","customType":"offshoot.child","data":{"parentId":"p","toolCallId":"c9","index":0,"name":"Alpha","agent":"task","depth":1,"limits":{},"task":"theirs"},"id":"aaaa1111","parentId":null,"timestamp":"2026-01-01T00:00:00.000Z"}"#;
        let theirs = format!("{header}\n{start}\n");
        let (world, text) = with(Alpha::Taken(theirs.clone())).await;
        assert!(text.contains("another program has started an agent with this name"), "{text}");
        let file = &files(&world).1[0];
        assert_eq!(std::fs::read_to_string(file).unwrap(), theirs, "their file is left alone");
    });
}

/// Two programs with one session: each has its own children, and the files of both are whole.
#[test]
fn two_parents_on_one_file_have_children_of_their_own() {
    run(async {
        let order = |word: &str| json!({"tasks": [{"task": format!("do {word}"), "name": "Alpha"}]});
        let world = World::new([
            task(order("one")).on("first"),
            Reply::text("one is done").on("do one"),
            Reply::text("All of one.").on("first"),
            task(order("two")).on("second"),
            Reply::text("two is done").on("do two"),
            Reply::text("All of two.").on("second"),
        ]);
        let session = world.session();
        let ledgers = Some(world.path("ledgers"));
        let setup = || Setup { family: Family::new(FamilyLimits::default(), ledgers.clone()), ..world.setup() };
        let (first, _events) = world.start_with(session, setup());
        assert_eq!(prompting(&first, "first").await.unwrap(), Ok(Settled::Done));
        let file = files(&world).0;
        let (second, _others) = world.start_with(Session::open(&file, Options::default()).unwrap(), setup());
        assert_eq!(prompting(&second, "second").await.unwrap(), Ok(Settled::Done));
        first.close().await;
        second.close().await;
        let (_, children) = files(&world);
        let names: Vec<_> = children.iter().map(|file| file.file_stem().unwrap().to_str().unwrap()).collect();
        assert_eq!(names, ["Alpha-2", "Alpha"]);
        for (child, words) in children.iter().zip(["two", "one"]) {
            let said = entries(child);
            assert_eq!(said.matches("custom offshoot.child").count(), 2, "{said}");
            assert!(said.contains(&format!("{words} is done")), "{said}");
        }
        // Both runs are in the ledger of the session, and each request is settled once.
        let ledger = std::fs::read_dir(world.path("ledgers")).unwrap().next().unwrap().unwrap().path();
        let text = std::fs::read_to_string(ledger).unwrap();
        assert!(text.lines().all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()), "{text}");
        assert!(text.contains("\"Alpha\"") && text.contains("\"Alpha-2\""), "{text}");
    });
}

#[test]
fn without_a_ledger_that_can_be_written_nothing_is_started() {
    run(async {
        let world = two();
        std::fs::write(world.path("ledgers"), "a file").unwrap();
        let family = Family::new(FamilyLimits::default(), Some(world.path("ledgers")));
        let (agent, _events) = world.start_with(world.session(), Setup { family, ..world.setup() });
        assert_eq!(prompting(&agent, "go").await.unwrap(), Ok(Settled::Done));
        let result = result(&world);
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(text.starts_with("Nothing is started: "), "{text}");
        assert_eq!((files(&world).1.len(), world.server.seen().len()), (0, 2));
    });
}

#[test]
fn a_child_that_never_ends_ends_at_its_limit() {
    run(async {
        let order = json!({"tasks": [{"task": "dig", "name": "Alpha", "limits": {"requests": 3}}]});
        let looks = (0..3).map(|number| Reply::call("ls", &format!("k{number}"), json!({})).on("dig"));
        let world = World::new(std::iter::once(task(order)).chain(looks).chain([Reply::text("All.").on("go")]));
        let (agent, mut events) = world.start();
        assert_eq!(prompting(&agent, "go").await.unwrap(), Ok(Settled::Done));
        let end = &ends(&mut events)[0];
        assert_eq!((end.status.as_str(), end.requests), ("limit", 3));
        assert_eq!(world.server.seen().len(), 5, "no request follows");
    });
}

#[test]
fn a_child_that_floods_is_cut_for_its_parent_and_whole_in_its_file() {
    run(async {
        let flood = "words and words ".repeat(20_000);
        let order = json!({"tasks": [{"task": "talk", "name": "Alpha"}]});
        let world = World::new([task(order), Reply::text(&flood).on("talk"), Reply::text("All.").on("go")]);
        let (agent, _events) = world.start();
        assert_eq!(prompting(&agent, "go").await.unwrap(), Ok(Settled::Done));
        let text = result(&world)["content"][0]["text"].as_str().unwrap().to_owned();
        assert!(text.len() < 52 * 1024 && text.contains("all of it is in "), "{}", text.len());
        let child = &files(&world).1[0];
        assert!(lines(child).iter().any(|line| line["message"].to_string().contains(flood.trim_end())));
    });
}

#[test]
fn a_child_whose_server_hangs_ends_with_its_seconds() {
    run(async {
        let hang = Reply { then: Then::Hang, cut: Some(400), ..Reply::text(&"on and on ".repeat(50)) }.on("wait");
        let order = json!({"tasks": [{"task": "wait", "name": "Alpha", "limits": {"seconds": 1}}]});
        let world = World::new([task(order), hang, Reply::text("All.").on("go")]);
        let (agent, mut events) = world.start();
        assert_eq!(prompting(&agent, "go").await.unwrap(), Ok(Settled::Done));
        let end = &ends(&mut events)[0];
        assert_eq!((end.status.as_str(), end.why.as_deref()), ("limit", Some("stopped: limit seconds 1 reached")));
    });
}
