//! The helper of the next command, started when the model is asked or a command has ended: it is confined before its command comes. Only a command that
//! would be started in exactly the same way, but for its words, takes it.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::process::{Job, WaitingProcess};

/// At most one, for all commands of an agent.
#[derive(Debug, Clone, Default)]
pub struct PreparedCommand(Arc<Mutex<Option<(Start, WaitingProcess)>>>);

/// Everything that a command is started with, besides its own words, its output and its time.
#[derive(Debug, PartialEq, Eq)]
struct Start {
    helper: Vec<OsString>,
    cwd: PathBuf,
    env: Vec<(String, String)>,
    without: Vec<String>,
}

impl Start {
    fn of(job: &Job<'_>) -> Self {
        Self {
            helper: job.words.to_vec(),
            cwd: job.cwd.to_owned(),
            env: job.env.to_vec(),
            without: job.without.to_vec(),
        }
    }
}

impl PreparedCommand {
    /// The job's words are those of the helper.
    pub(super) fn take(&self, job: &Job<'_>) -> Option<WaitingProcess> {
        let (start, process) = self.slot().take()?;
        (start == Start::of(job)).then_some(process)
    }

    /// The job's words are those of the helper.
    pub(super) fn prepare(&self, job: &Job<'_>) {
        let start = Start::of(job);
        let mut slot = self.slot();
        if slot.as_ref().is_some_and(|(prepared, _)| *prepared == start) {
            return;
        }
        // Without one the next command starts a helper of its own.
        *slot = WaitingProcess::start(job).ok().map(|process| (start, process));
    }

    fn slot(&self) -> MutexGuard<'_, Option<(Start, WaitingProcess)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;
    use std::path::Path;
    use std::time::Duration;

    use super::super::{Confinement, NestedRepositories, Sandbox, SandboxOptions, SandboxState};
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
        timeout: Option<Duration>,
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
                prepared: PreparedCommand::default(),
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
            let words = shell_words(Path::new("sh"), command);
            let job = self.job(&words, begin);
            let mut output = Vec::new();
            let tell = |news: News<'_>| match news {
                News::Piece(bytes) => output.extend_from_slice(bytes),
                News::Tick => {}
            };
            let end = self.runtime.block_on(self.sandbox.run(job, &begin.hidden, tell)).unwrap();
            (end, String::from_utf8(output).unwrap())
        }

        /// The model is being asked.
        fn expect(&self, begin: &Begin) {
            let _runtime = self.runtime.enter();
            self.sandbox.make_ready(self.job(&[], begin), &begin.hidden);
        }

        fn job<'a>(&'a self, words: &'a [OsString], begin: &'a Begin) -> Job<'a> {
            let cwd = begin.cwd.map_or(self.sandbox.temporary.as_path(), Path::new);
            let Begin { env, without, timeout, .. } = begin;
            Job { words, cwd, env, without, errors: Errors::Shown, timeout: *timeout }
        }

        fn prepared(&self) -> Option<u32> {
            self.sandbox.prepared.slot().as_ref().and_then(|(_, process)| process.id())
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
        fixture.expect(&Begin::default());
        let first = fixture.prepared();
        fixture.expect(&Begin::default());
        assert!(first.is_some() && fixture.prepared() == first);
        assert_eq!(fixture.run("echo $$"), format!("prepared\n{}\n", first.unwrap()));
    }

    #[test]
    fn a_helper_that_ends_without_starting_its_command_is_followed_by_one_that_starts_it_once() {
        let ends =
            ["exit 1", "echo 'offshoot: the sandbox cannot be set up'; exit 125", "printf '\\005'; kill -KILL $$"];
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
        let variable = || vec![("A".to_owned(), "b".to_owned())];
        let others = [
            ("folder", Begin { cwd: Some("/"), ..Begin::default() }),
            ("variables", Begin { env: variable(), ..Begin::default() }),
            ("variables it does not get", Begin { without: vec!["A".to_owned()], ..Begin::default() }),
            ("files of keys", Begin { hidden: vec!["/etc/passwd".into()], ..Begin::default() }),
        ];
        for (what, other) in others {
            let fixture = Fixture::new(STARTS);
            fixture.run("true");
            assert_eq!(fixture.end("echo 1", &other).1, "plain\n1\n", "{what}");
            assert_eq!(fixture.end("echo 2", &other).1, "prepared\n2\n", "{what}");
            assert_eq!(fixture.run("echo 3"), "plain\n3\n", "{what}");
        }
        let long = Fixture::new(STARTS);
        long.run("true");
        assert_eq!(long.run(&format!("echo 1 #{}", "x".repeat(70_000))), "plain\n1\n", "a pipe does not hold it");
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
            fixture.expect(&Begin::default());
            fixture.run("true");
            assert_eq!(fixture.prepared(), None);
        }
    }

    #[test]
    fn a_prepared_helper_ends_with_its_agent() {
        let fixture = Fixture::new(STARTS);
        fixture.run("true");
        let stat = PathBuf::from(format!("/proc/{}/stat", fixture.prepared().unwrap()));
        let lives = || std::fs::read_to_string(&stat).is_ok_and(|stat| !stat.contains(") Z "));
        assert!(lives());
        drop(fixture);
        while lives() {
            std::thread::yield_now();
        }
    }
}
