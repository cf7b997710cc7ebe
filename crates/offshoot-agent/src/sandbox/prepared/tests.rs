//! Helpers of commands, prepared and taken: with a script in the place of the program.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Duration;

use super::super::{Confinement, KeptKeys, NestedRepositories, Sandbox, SandboxOptions, SandboxState};
use super::*;
use crate::process::{End, Errors, News, shell_words};

/// Becomes its command, or waits for it and then does what the test wants.
const HELPER: &str = r#"#!/bin/sh
    case " $* " in
    *" --wait "*) printf '\005'; words=$(tr '\0' '\n'); eval "$(cat "$0.waits")" ;;
    *) while [ "$1" != -- ]; do shift; done; shift; echo plain; exec "$@" ;;
    esac
"#;
const STARTS: &str = r#"printf '\006'; echo prepared; exec sh -c "$(echo "$words" | tail -n 1)""#;

/// How a command is started.
#[derive(Default)]
struct Begin {
    cwd: Option<&'static str>,
    env: Vec<(String, String)>,
    without: Vec<String>,
    hidden: Vec<PathBuf>,
    kept: Vec<String>,
    timeout: Option<Duration>,
}

impl Begin {
    fn keys(&self) -> KeptKeys<'_> {
        KeptKeys { files: &self.hidden, variables: &self.kept }
    }
}

struct Fixture {
    sandbox: Sandbox,
    runtime: tokio::runtime::Runtime,
}

impl Fixture {
    fn new(waits: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let helper = folder.path().join("helper");
        std::fs::write(&helper, HELPER).unwrap();
        std::fs::set_permissions(&helper, std::fs::Permissions::from_mode(0o700)).unwrap();
        let sandbox = Sandbox {
            options: SandboxOptions::default(),
            helper,
            temporary: folder.path().to_owned(),
            keeper: Arc::new(folder),
            nested: NestedRepositories::default(),
            prepared: PreparedCommands::default(),
            state: SandboxState::On(Confinement { namespaces: Ok(()), landlock: Ok(6), calls: Ok(()) }),
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let fixture = Self { sandbox, runtime };
        fixture.waits(waits);
        fixture
    }

    /// What helpers do from now on when they have read all that was sent.
    fn waits(&self, script: &str) {
        std::fs::write(self.sandbox.helper.with_extension("waits"), script).unwrap();
    }

    fn run(&self, command: &str) -> String {
        self.end(command, &Begin::default()).1
    }

    fn end(&self, command: &str, begin: &Begin) -> (End, String) {
        self.runtime.block_on(self.end_in(&self.sandbox, command, begin)).unwrap()
    }

    async fn end_in(&self, sandbox: &Sandbox, command: &str, begin: &Begin) -> std::io::Result<(End, String)> {
        let words = shell_words(Path::new("sh"), command);
        let Begin { env, without, timeout, .. } = begin;
        let job = Job { words: &words, cwd: self.cwd(begin), env, without, errors: Errors::Shown, timeout: *timeout };
        let mut output = Vec::new();
        let tell = |news: News<'_>| match news {
            News::Piece(bytes) => output.extend_from_slice(bytes),
            News::Tick => {}
        };
        let end = sandbox.run(job, begin.keys(), tell).await?;
        Ok((end, String::from_utf8(output).unwrap()))
    }

    /// The commands all run at once.
    fn together(&self, count: usize) -> Vec<String> {
        let ends =
            (0..count).map(|_| async { self.end_in(&self.sandbox, "echo $$", &Begin::default()).await.unwrap().1 });
        self.runtime.block_on(futures_util::future::join_all(ends))
    }

    /// So many commands are expected.
    fn expect(&self, begin: &Begin, commands: usize) {
        let _runtime = self.runtime.enter();
        self.sandbox.make_ready(self.cwd(begin), begin.keys(), commands);
    }

    fn cwd<'a>(&'a self, begin: &Begin) -> &'a Path {
        begin.cwd.map_or(self.sandbox.temporary.as_path(), Path::new)
    }

    fn prepared(&self) -> Vec<u32> {
        self.sandbox.prepared.helpers().iter().filter_map(|helper| helper.process.id()).collect()
    }
}

fn lives(process: u32) -> bool {
    std::fs::read_to_string(format!("/proc/{process}/stat")).is_ok_and(|stat| !stat.contains(") Z "))
}

fn until_ended(process: u32) {
    while lives(process) {
        std::thread::yield_now();
    }
}

#[test]
fn commands_take_the_helper_that_was_prepared_after_the_one_before() {
    let fixture = Fixture::new(STARTS);
    let said = ["echo 1", "echo 2; exit 3", "echo 3"].map(|command| fixture.end(command, &Begin::default()));
    let expected = [(0, "plain\n1\n"), (3, "prepared\n2\n"), (0, "prepared\n3\n")];
    assert_eq!(said, expected.map(|(code, text)| (End::Exited(code), text.to_owned())));
}

#[test]
fn the_first_command_takes_the_helper_that_was_prepared_when_it_was_expected() {
    let fixture = Fixture::new(STARTS);
    fixture.expect(&Begin::default(), 1);
    let first = fixture.prepared();
    fixture.expect(&Begin::default(), 1);
    assert!(first.len() == 1 && fixture.prepared() == first);
    assert_eq!(fixture.run("echo $$"), format!("prepared\n{}\n", first[0]));
}

#[test]
fn commands_that_run_at_once_take_the_helpers_that_were_prepared_for_them() {
    let fixture = Fixture::new(STARTS);
    fixture.expect(&Begin::default(), 3);
    let helpers = fixture.prepared();
    let mut said = fixture.together(3);
    said.sort_unstable();
    let mut expected: Vec<String> = helpers.iter().map(|helper| format!("prepared\n{helper}\n")).collect();
    expected.sort_unstable();
    assert_eq!(said, expected);
    assert_eq!(fixture.prepared().len(), 1, "one for the next answer");
}

#[test]
fn no_more_helpers_wait_than_may() {
    let fixture = Fixture::new(STARTS);
    fixture.expect(&Begin::default(), 1000);
    assert_eq!(fixture.prepared().len(), MOST_PREPARED);
    let said = fixture.together(MOST_PREPARED + 2);
    assert_eq!(said.iter().filter(|said| said.starts_with("prepared\n")).count(), MOST_PREPARED);
    assert_eq!(said.iter().filter(|said| said.starts_with("plain\n")).count(), 2);
}

#[test]
fn sandboxes_that_take_turns_have_a_helper_each() {
    let fixture = Fixture::new(STARTS);
    let read_only = fixture.sandbox.read_only().unwrap();
    let end =
        |sandbox: &Sandbox| fixture.runtime.block_on(fixture.end_in(sandbox, "true", &Begin::default())).unwrap().1;
    let said = [&fixture.sandbox, &read_only, &fixture.sandbox, &read_only, &read_only].map(end);
    assert_eq!(said, ["plain\n", "plain\n", "prepared\n", "prepared\n", "prepared\n"]);
    assert_eq!(fixture.prepared().len(), 2);
}

#[test]
fn helpers_whose_folder_keys_or_protected_names_are_others_now_end() {
    type Change = fn(&Fixture) -> Begin;
    let others: [(&str, Change); 4] = [
        ("folder", |_| Begin { cwd: Some("/"), ..Begin::default() }),
        ("files of keys", |_| Begin { hidden: vec!["/etc/passwd".into()], ..Begin::default() }),
        ("variables of keys", |_| Begin { kept: vec!["A".to_owned()], ..Begin::default() }),
        ("protected names", |fixture| {
            std::fs::write(fixture.sandbox.temporary.join(".mcp.json"), "").unwrap();
            Begin::default()
        }),
    ];
    for (what, other) in others {
        let mut fixture = Fixture::new(STARTS);
        fixture.sandbox.options.mode = SandboxMode::Workspace;
        fixture.expect(&Begin::default(), 2);
        let old = fixture.prepared();
        let other = other(&fixture);
        fixture.expect(&other, 1);
        let new = fixture.prepared();
        assert!(new.len() == 1 && !old.contains(&new[0]), "{what}: {old:?} {new:?}");
        old.into_iter().for_each(until_ended);
        assert!(lives(new[0]), "{what}");
        assert_eq!(fixture.end("echo $$", &other).1, format!("prepared\n{}\n", new[0]), "{what}");
    }
}

#[test]
fn a_helper_that_ends_without_starting_its_command_is_followed_by_one_that_starts_it_once() {
    let ends = ["exit 1", "echo 'offshoot: the sandbox cannot be set up'; exit 125", "printf '\\005'; kill -KILL $$"];
    for waits in ends {
        let fixture = Fixture::new(waits);
        fixture.run("true");
        assert_eq!(fixture.run("echo x >> ran; cat ran"), "plain\nx\n", "{waits}");
        fixture.waits(STARTS);
        assert_eq!(fixture.run("echo 2"), "prepared\n2\n", "{waits}");
    }
}

#[test]
fn a_command_that_is_started_in_another_way_takes_no_prepared_helper() {
    let others = [
        ("folder", Begin { cwd: Some("/"), ..Begin::default() }),
        ("variables of keys", Begin { kept: vec!["A".to_owned()], ..Begin::default() }),
        ("files of keys", Begin { hidden: vec!["/etc/passwd".into()], ..Begin::default() }),
    ];
    for (what, other) in others {
        let fixture = Fixture::new(STARTS);
        fixture.run("true");
        assert_eq!(fixture.end("echo 1", &other).1, "plain\n1\n", "{what}");
        assert_eq!(fixture.end("echo 2", &other).1, "prepared\n2\n", "{what}");
        assert_eq!(fixture.run("echo 3"), "plain\n3\n", "{what}");
    }
}

#[test]
fn a_command_of_any_length_and_with_any_variables_takes_a_prepared_helper() {
    let fixture = Fixture::new(STARTS);
    fixture.run("true");
    let variables = Begin { env: vec![("A".to_owned(), "b".to_owned())], ..Begin::default() };
    assert_eq!(fixture.end("echo 1", &variables).1, "prepared\n1\n");
    let without = Begin { without: vec!["A".to_owned()], ..Begin::default() };
    assert_eq!(fixture.end("echo 2", &without).1, "prepared\n2\n");
    let long = |length: usize| format!("echo 3 #{}", "x".repeat(length - 8));
    assert_eq!(fixture.run(&long((128 << 10) - 1)), "prepared\n3\n");
    let refused = fixture.runtime.block_on(fixture.end_in(&fixture.sandbox, &long(128 << 10), &Begin::default()));
    assert_eq!(refused.unwrap_err().kind(), std::io::ErrorKind::ArgumentListTooLong, "as without a sandbox");
}

/// It has a part of the words; the rest does not fit into the pipe.
#[test]
fn a_helper_that_reads_no_more_ends_at_the_time_out() {
    let fixture = Fixture::new(STARTS);
    let helper = std::fs::read_to_string(&fixture.sandbox.helper).unwrap();
    std::fs::write(&fixture.sandbox.helper, helper.replace("words=$(tr", "sleep 1000; words=$(tr")).unwrap();
    fixture.run("true");
    let begin = Begin { timeout: Some(Duration::from_millis(50)), ..Begin::default() };
    let command = format!("echo x > ran #{}", "x".repeat(100_000));
    assert_eq!(fixture.end(&command, &begin), (End::TimedOut, String::new()));
    assert!(!fixture.sandbox.temporary.join("ran").exists());
}

#[test]
fn a_command_whose_helper_does_not_answer_ends_at_its_time_out_and_is_not_started_again() {
    let fixture = Fixture::new("sleep 1000");
    fixture.run("true");
    let begin = Begin { timeout: Some(Duration::from_millis(50)), ..Begin::default() };
    let ran = fixture.sandbox.temporary.join("ran");
    assert_eq!(fixture.end("echo x > ran", &begin), (End::TimedOut, String::new()));
    assert!(!ran.exists());
}

#[test]
fn without_one_of_the_layers_nothing_is_prepared() {
    let missing = || Err("missing".to_owned());
    for confinement in [
        Confinement { namespaces: missing(), landlock: Ok(6), calls: Ok(()) },
        Confinement { namespaces: Ok(()), landlock: Err("missing".to_owned()), calls: Ok(()) },
    ] {
        let mut fixture = Fixture::new(STARTS);
        fixture.sandbox.state = SandboxState::On(confinement);
        fixture.expect(&Begin::default(), 2);
        fixture.run("true");
        assert!(fixture.prepared().is_empty());
    }
}

#[test]
fn prepared_helpers_end_with_their_agent() {
    let fixture = Fixture::new(STARTS);
    fixture.expect(&Begin::default(), 2);
    let helpers = fixture.prepared();
    assert!(helpers.len() == 2 && helpers.iter().all(|helper| lives(*helper)));
    drop(fixture);
    helpers.into_iter().for_each(until_ended);
}
