//! Commands in the background, with the real shell.

use std::sync::mpsc::{Receiver, channel};

use serde_json::{Value, json};
use tokio::sync::mpsc::unbounded_channel;

use super::*;
use crate::tool::testing::place;
use crate::tool::{Bash, ConversationLink, KeyGuard, Shell, Tool, ToolOutcome};
use offshoot_protocol::message::Block;
use offshoot_protocol::{MASK, Secret, Secrets};

struct World {
    dir: tempfile::TempDir,
    place: Arc<ToolContext>,
    commands: BackgroundCommands,
    news: Receiver<BackgroundNews>,
}

impl World {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let (tell, news) = channel();
        let tell = Mutex::new(tell);
        let commands = BackgroundCommands::new(move |news| drop(tell.lock().unwrap().send(news)));
        let conversation = ConversationLink::default().with_background(commands.clone());
        let secrets = Secrets::new([Secret::new("sk-test-0123456789abcdef")]);
        let keys = KeyGuard { secrets, ..KeyGuard::default() };
        let place = Arc::new(ToolContext { conversation, keys, ..place(dir.path()) });
        Self { dir, place, commands, news }
    }

    async fn call(&self, tool: &dyn Tool, arguments: Value) -> ToolOutcome {
        tool.run(arguments, self.place.clone(), unbounded_channel().0).await
    }

    async fn start(&self, command: &str) -> ToolOutcome {
        let bash = Bash { shell: Shell::default() };
        self.call(&bash, json!({"command": command, "background": true})).await
    }

    async fn look(&self, id: &str, wait: u32) -> String {
        let outcome = self.call(&BashOutput, json!({"id": id, "wait": wait})).await;
        assert!(!outcome.is_error);
        said(&outcome)
    }
}

fn run(test: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(test);
}

/// The texts of a result, each on lines of its own.
fn said(outcome: &ToolOutcome) -> String {
    let text = |block: &Block| match block {
        Block::Text { text, .. } => text.trim_end().to_owned(),
        other => panic!("{other:?}"),
    };
    outcome.content.iter().map(text).collect::<Vec<_>>().join("\n")
}

/// Waits until a process has ended.
async fn gone(pid: &str) {
    while std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z ")) {
        tokio::task::yield_now().await;
    }
}

/// Waits until no command runs, without a look at any.
async fn all_ended(world: &World) {
    while world.commands.running() > 0 {
        tokio::task::yield_now().await;
    }
}

/// Without the seconds.
fn words(text: &str) -> String {
    let cut = |line: &str| {
        line.split_once(" after ").or(line.split_once(" for ")).map_or(line.to_owned(), |(a, _)| a.to_owned())
    };
    text.lines().map(cut).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_command_runs_beside_the_conversation_and_each_look_shows_what_is_new() {
    run(async {
        let world = World::new();
        let go = world.dir.path().join("go");
        let started = world.start("echo one; until [ -e go ]; do sleep 0.02; done; echo two >&2; exit 3").await;
        assert!(said(&started).starts_with("b1 runs in the background."), "{started:?}");
        assert_eq!(started.details, Some(json!({"backgroundId": "b1"})));
        assert_eq!(words(&world.look("b1", 60).await), "one\n[b1: running");
        assert_eq!(words(&world.look("b1", 0).await), "(nothing new)\n[b1: running");
        assert_eq!(world.commands.untold(), []);
        std::fs::write(go, "").unwrap();
        // A look may come between the output and the end.
        all_ended(&world).await;
        assert_eq!(words(&world.look("b1", 60).await), "two\n[b1: running".replace("running", "exit code 3"));
        // The model knows the end.
        assert_eq!(world.commands.untold(), []);
        assert_eq!(world.news.recv().unwrap(), BackgroundNews::Started("b1".to_owned()));
        assert_eq!(world.news.recv().unwrap(), BackgroundNews::Ended("b1".to_owned()));
        let list = world.call(&BashList, json!({})).await;
        assert!(said(&list).starts_with("b1 exit code 3: echo one;"), "{list:?}");
        let unknown = world.call(&BashOutput, json!({"id": "b7"})).await;
        assert_eq!(said(&unknown), "there is no command b7 in the background: there are b1");
        assert!(unknown.is_error);
    });
}

/// The marker is written by a process that the command has started and that ignores a polite end.
#[test]
fn what_is_stopped_ends_with_all_that_it_has_started() {
    run(async {
        let world = World::new();
        let child = "(trap '' TERM HUP; echo $BASHPID > pid; while :; do sleep 0.02; done) & wait";
        world.start(child).await;
        let pid = world.dir.path().join("pid");
        while std::fs::read_to_string(&pid).unwrap_or_default().trim().is_empty() {
            tokio::task::yield_now().await;
        }
        let pid = std::fs::read_to_string(&pid).unwrap().trim().to_owned();
        let stopped = world.call(&BashStop, json!({"id": "b1"})).await;
        assert_eq!(words(&said(&stopped)), "(nothing new)\n[b1: stopped");
        gone(&pid).await;
        // Once more is no error.
        assert!(!world.call(&BashStop, json!({"id": "b1"})).await.is_error);
        // Nobody holds the list any more.
        world.start("echo $BASHPID > own; while :; do sleep 0.02; done").await;
        let own = world.dir.path().join("own");
        while std::fs::read_to_string(&own).unwrap_or_default().trim().is_empty() {
            tokio::task::yield_now().await;
        }
        let own = std::fs::read_to_string(&own).unwrap().trim().to_owned();
        let World { dir: _dir, place, commands, .. } = world;
        drop((place, commands));
        gone(&own).await;
    });
}

#[test]
fn a_flood_is_bounded_and_keys_are_masked() {
    run(async {
        let world = World::new();
        world.start("printf 'sk-test-0123'; printf '456789abcdef\\n'; seq 200000; echo end").await;
        all_ended(&world).await;
        assert_eq!(world.commands.untold().len(), 1);
        let ended = world.commands.take_untold(&[None]);
        let [ended] = ended.as_slice() else { panic!("{ended:?}") };
        assert_eq!(words(&ended.how), "exit code 0");
        assert!(ended.unread.len() < 5000 && ended.unread.ends_with("200000\nend\n"), "{}", ended.unread);
        let (_, path) = ended.unread.lines().next().unwrap().split_once("all of it is in ").unwrap();
        let whole = std::fs::read_to_string(path.trim_end_matches(']')).unwrap();
        assert!(whole.starts_with(&format!("{MASK}\n1\n2\n")), "{whole:.40}");
        assert_eq!(world.commands.untold(), []);
        assert_eq!(words(&world.look("b1", 0).await), "(nothing new)\n[b1: exit code 0");
        world.start("echo sk-test-0123456789abcdef").await;
        all_ended(&world).await;
        assert_eq!(world.commands.all()[1].command, format!("echo {MASK}"));
        let unknown = world.call(&BashStop, json!({"id": "\u{1b}[2J".repeat(1 << 20)})).await;
        assert!(said(&unknown).len() < 300 && !said(&unknown).contains('\u{1b}'), "{}", said(&unknown));
    });
}

#[test]
fn too_many_are_refused_and_a_time_out_ends_one() {
    run(async {
        let world = World::new();
        for _ in 0..MOST_RUNNING {
            assert!(!world.start("sleep 1000").await.is_error);
        }
        let refused = world.start("sleep 1000").await;
        assert_eq!(said(&refused), "16 commands run in the background already: stop one of them first");
        assert!(refused.is_error);
        assert_eq!(world.commands.stop_all().await.len(), MOST_RUNNING);
        assert_eq!(world.commands.running(), 0);
        let bash = Bash { shell: Shell { timeout: Some(Duration::from_millis(1)), ..Shell::default() } };
        world.call(&bash, json!({"command": "sleep 1000", "background": true, "timeout": 0.05})).await;
        all_ended(&world).await;
        assert_eq!(words(&world.look("b17", 60).await), "(nothing new)\n[b17: killed at its time-out");
    });
}
