//! Commands whose sandbox was prepared before they came: each is confined as if its sandbox was made for it, whatever an earlier
//! command tried, and whatever has changed outside since. Where something has changed, it is not started.

use std::fs::DirEntry;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use offshoot_agent::sandbox::CommandMessage;
use offshoot_agent::testing::script::{Gate, Reply, Say};
use offshoot_protocol::SandboxMode;
use serde_json::json;

use crate::agent::Talk;
use crate::crashes::say;
use crate::sandbox_escapes::{ALL, Outside, Prepared, confined, is_possible, policy, waiting};

/// What is mounted where, without numbers, and without the sockets of other programs: they come and go.
const MOUNTED: &str =
    "cut -d' ' -f4- /proc/self/mountinfo | sed 's/ - / /' | awk '$1 != \"/null\" || $2 ~ /^.dev/' | sort";

/// `None` where it cannot be tried.
fn world() -> Option<Outside> {
    let world = Outside::new();
    is_possible(&world.policy(), ALL).then_some(world)
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr].concat()).into_owned()
}

#[test]
fn a_command_finds_the_same_in_a_sandbox_that_was_prepared() {
    let Some(world) = world() else { return };
    let script = format!(
        "{MOUNTED}; ls /dev/pts /dev/shm; ipcs | wc -l; grep -h . /proc/self/uid_map /proc/self/setgroups /proc/net/dev; pwd; umask; ulimit -a
         grep -e ^Cap -e Priv -e Sec -e SigB -e SigI -e SigC /proc/self/status; readlink /proc/self/fd/0; ls /proc/self/fd; env | sort; echo $0 $#"
    );
    let mut own = confined(&world.policy(), ALL, &script);
    let own = world.tell(&mut own).env_remove("OUT").env("LOG", "").env("NEW", "a=b\nc").output().unwrap();
    let message = CommandMessage {
        words: ["bash", "-c", &script].map(Into::into).to_vec(),
        without: ["OUT", "NEW", "NONE"].map(Into::into).to_vec(),
        env: [("LOG", ""), ("NEW", "a=b\nc")].map(|(name, value)| (name.into(), value.into())).to_vec(),
    };
    let (output, said) = world.prepare().hear(&message.to_bytes());
    let own = text(&own);
    assert!(own.contains("/nested/.git/hooks") && own.contains("\n/dev/null\n"), "{own}");
    assert_eq!(text(&output.unwrap_or_else(|| panic!("{said}"))), own);
}

#[test]
fn what_was_changed_outside_since_starts_no_command() {
    let cases = [
        ("hooks made anew", "rm -rf nested/.git/hooks; mkdir nested/.git/hooks"),
        ("hooks moved", "mv nested/.git/hooks old; mkdir nested/.git/hooks"),
        ("hooks moved and none made", "mv nested/.git/hooks old"),
        ("settings written by git", "git -C nested config a.b c"),
        ("a file renamed over another", "echo > new; mv new nested/.envrc"),
        ("a file removed", "rm nested/.envrc"),
        ("a file of a folder that stays", "rm nested/.vscode/tasks.json; echo > nested/.vscode/tasks.json"),
        ("another repository in its place", "mv nested old; cp -r old nested"),
        ("two repositories exchanged", "mv nested a1; mv group/inner nested; mv a1 group/inner"),
        ("a folder of repositories moved", "mv group others"),
        ("another folder of repositories in its place", "mv group others; cp -r others group"),
        ("a bare repository", "mv bare old; cp -r old bare"),
        ("the settings of agents", "rm -r .offshoot; mkdir .offshoot"),
        ("MCP servers", "rm .mcp.json; echo > .mcp.json"),
        ("the working folder's own repository", "mv .git old; cp -r old .git"),
        ("its hooks", "mv .git/hooks old; mkdir .git/hooks"),
        ("the working folder", "cp -a ../work ../other; mv ../work ../old; mv ../other ../work"),
        ("the temporary folder", "rmdir ../tmp; mkdir ../tmp"),
        ("a link in the place of hooks", "mv nested/.git/hooks old; ln -s ../../../out nested/.git/hooks"),
        ("a link in the place of a repository", "mv nested ../out/nested; ln -s ../out/nested nested"),
    ];
    for (name, change) in cases {
        let Some(world) = world() else { return };
        let prepared = world.prepare();
        let made = Command::new("sh").args(["-ec", change]).current_dir(world.path("work")).status().unwrap();
        assert!(made.success(), "{name}");
        let (output, said) = prepared.run("echo x > ../tmp/ran; echo x > ran; echo x > nested/.git/hooks/x");
        assert!(output.is_none(), "{name}: {}", text(&output.unwrap()));
        assert!(said.contains("was replaced") || said.contains("was moved or replaced"), "{name}: {said}");
        assert!(["work/ran", "old/ran", "tmp/ran"].iter().all(|ran| !world.path(ran).exists()), "{name}");
    }
}

#[test]
fn what_was_gone_when_the_sandbox_was_prepared_and_is_there_again_starts_no_command() {
    let Some(world) = world() else { return };
    let policy = world.policy();
    let envrc = world.path("work/nested/.envrc");
    std::fs::remove_file(&envrc).unwrap();
    let prepared = [waiting(&policy), waiting(&policy)].map(Prepared::start);
    let [first, second] = prepared;
    assert!(first.run("true").0.is_some(), "nothing has changed");
    std::fs::write(&envrc, "").unwrap();
    let (output, said) = second.run("echo x > nested/.envrc");
    assert!(output.is_none(), "{said}");
}

#[test]
fn what_has_left_its_place_and_is_back_is_protected() {
    let Some(world) = world() else { return };
    let prepared = world.prepare();
    for (from, to) in [("nested", "old"), ("old", "nested"), ("nested/.git", "old"), ("old", "nested/.git")] {
        std::fs::rename(world.path("work").join(from), world.path("work").join(to)).unwrap();
    }
    let (output, said) =
        prepared.run("mv nested old || mv nested/.git old || echo x > nested/.git/hooks/x || echo x >> nested/.envrc");
    assert_eq!(output.expect("all is in its place").status.code(), Some(1), "{said}");
}

#[test]
fn sockets_and_keys_that_were_made_since_are_out_of_reach() {
    let Some(world) = world() else { return };
    let connect = |path: &str| {
        format!(
            "perl -MSocket -e 'socket(S, PF_UNIX, SOCK_STREAM, 0); exit(connect(S, sockaddr_un(\"{path}\")) ? 0 : 1)'"
        )
    };
    let changes = "rm $OUT/socket; cp $OUT/auth.json $OUT/new; mv $OUT/new $OUT/auth.json";
    let prepared = world.prepare();
    let mut change = Command::new("sh");
    assert!(world.tell(change.args(["-ec", changes])).status().unwrap().success());
    let sockets = ["out/late", "out/socket", "work/own"].map(|path| UnixListener::bind(world.path(path)).unwrap());
    let script = format!(
        "{} && echo late; {} && echo again; {} && echo own; cat $OUT/auth.json",
        connect("$ENV{OUT}/late"),
        connect("$ENV{OUT}/socket"),
        connect("own")
    );
    let (output, said) = prepared.run(&script);
    assert_eq!(String::from_utf8(output.unwrap_or_else(|| panic!("{said}")).stdout).unwrap(), "own\n", "{said}");
    drop(sockets);
}

/// An agent that ends while it sends, or that sends nothing.
#[test]
fn a_part_of_the_words_starts_nothing() {
    let Some(world) = world() else { return };
    for message in [
        "",
        "3 0 0\0",
        "3 0 0\0bash\0",
        "3 0 0\0bash\0-c\0",
        "3 0 0\0bash\0-c\0touch ran",
        "2 0 0\0bash\0-c\0touch ran\0",
        "0 0 0\0",
        "3 0 1\0bash\0-c\0touch ran\0",
    ] {
        let (output, said) = world.prepare().hear(message.as_bytes());
        assert!(output.is_none() && said.contains("the command has not come"), "{message:?}: {said}");
        assert!(!world.path("work/ran").exists(), "{message:?}");
    }
    assert!(world.prepare().hear(b"3 0 0\0bash\0-c\0touch ran\0").0.is_some());
    assert!(world.path("work/ran").exists());
}

#[test]
fn nothing_that_a_command_does_reaches_the_sandbox_of_the_next_one() {
    let Some(world) = world() else { return };
    let policy = world.policy();
    let own = text(&confined(&policy, ALL, MOUNTED).output().unwrap());
    let attempts = [
        "umount -l nested/.git/config; umount -R .; umount -l /dev/shm; mount -o remount,rw /",
        "unshare -Urm sh -c 'umount -l nested/.git/config; mount -t tmpfs none nested; mount --bind group nested; pivot_root . .'",
        "unshare -Urmipn sh -c 'mount -o remount,bind,rw nested/.git/config; mount --make-rshared /'",
        "nsenter -t $NEXT -U -m --preserve-credentials umount -l nested/.git/config; nsenter -t $NEXT -m mount -t tmpfs none $PWD/nested",
        "kill -KILL $NEXT; kill -STOP $NEXT; kill -TERM $NEXT",
        "printf '3 0 0\\0sh\\0-c\\0echo x > $PWD/other\\0' > /proc/$NEXT/fd/0; : > /proc/$NEXT/fd/1; cat /proc/$NEXT/environ",
        "echo x > /proc/$NEXT/root$PWD/left; echo x > /proc/$NEXT/cwd/left; echo x > /dev/shm/left; ipcmk -M 100",
        "mv nested old; rm -rf nested/.git group/inner; mv .git old; ln -sf /etc .mcp.json",
        "(sleep 100000 > /dev/null 2>&1 & echo $! > child); ulimit -f 0; umask 0; ulimit -n 3",
    ];
    let look = format!("{MOUNTED}; ls /dev/shm; ipcs -m | grep -c ^0x >&2; umask >&2");
    for attempt in attempts {
        // What is mounted outside meanwhile, as other tests do, ends a helper that waits: the next test.
        let tries = std::iter::repeat_with(|| {
            let prepared = Prepared::start(waiting(&policy));
            let tried = confined(&policy, ALL, attempt).env("NEXT", prepared.id().to_string()).output().unwrap();
            (tried, prepared.run(&look))
        });
        let is_undisturbed = |(_, (_, said)): &(_, (_, String))| !said.contains("other file systems are mounted now");
        let (tried, (output, said)) = tries.take(5).find(is_undisturbed).unwrap();
        let output = output.unwrap_or_else(|| panic!("{attempt}: {said}: {}", text(&tried)));
        assert_eq!(String::from_utf8_lossy(&output.stdout), own, "{attempt}: {}", text(&tried));
        assert_eq!(said, "0\n0022\n", "{attempt}");
        assert!(!world.path("work/other").exists());
    }
    let child = std::fs::read_to_string(world.path("work/child")).unwrap();
    assert!(Command::new("kill").args(["-KILL", child.trim()]).status().unwrap().success());
}

/// What is mounted meanwhile would be missing, and what is unmounted could not be ejected.
#[test]
fn a_mount_outside_ends_a_helper_that_waits() {
    const SCRIPT: &str = r#"
        coproc HELPER { exec "$@" 2>&1; }; read -r -N 1 -u ${HELPER[0]} ready; exec 3<&${HELPER[0]}-; eval "$CHANGE"
        printf '3 0 0\0bash\0-c\0echo started\0' >&${HELPER[1]}; exec {HELPER[1]}>&-; cat <&3
    "#;
    let Some(world) = world() else { return };
    std::fs::create_dir_all(world.path("out/drive")).unwrap();
    let run = |change: &str| {
        let helper = waiting(&world.policy());
        let mut command = Command::new("unshare");
        command.args([
            "-Urm",
            "bash",
            "-c",
            &format!("mount -t tmpfs none {}; {SCRIPT}", world.path("out/dir").display()),
        ]);
        command.arg("bash").arg(helper.get_program()).args(helper.get_args());
        text(&world.tell(command.env("CHANGE", change).stdin(Stdio::null())).output().unwrap())
    };
    let unchanged = run("true");
    if unchanged != "\u{6}started\n" {
        say(&format!("not tried on this system: a sandbox in a user namespace: {unchanged}"));
        return;
    }
    for change in ["mount -t tmpfs none $OUT/drive", "umount $OUT/dir"] {
        let said = run(change);
        assert!(said.contains("other file systems are mounted now") && !said.contains("started"), "{change}: {said}");
    }
}

fn bash(id: &str, command: &str) -> Reply {
    Reply::call("bash", id, json!({ "command": command }))
}

/// The results of the calls, as the model gets them.
fn results(talk: &Talk) -> Vec<String> {
    let lines = talk.lines();
    let results = lines.iter().filter(|line| line["message"]["role"] == "toolResult");
    results.map(|line| line["message"]["content"][0]["text"].as_str().unwrap().trim().to_owned()).collect()
}

/// The ids of the helpers of commands in this folder.
fn helpers(work: &Path) -> Vec<String> {
    let waits = |process: &DirEntry| {
        let arguments = std::fs::read(process.path().join("cmdline")).unwrap_or_default();
        let mut arguments = arguments.split(|byte| *byte == 0);
        arguments.any(|argument| argument == b"--wait")
            && arguments.any(|argument| argument == work.as_os_str().as_bytes())
    };
    let all = std::fs::read_dir("/proc").unwrap().flatten();
    all.filter(waits).map(|process| process.file_name().into_string().unwrap()).collect()
}

/// A killed process may outlive the one that killed it by a moment.
pub(crate) fn until_helpers_are(count: usize, work: &Path) -> Vec<String> {
    let since = Instant::now();
    loop {
        let helpers = helpers(work);
        if helpers.len() == count {
            return helpers;
        }
        assert!(since.elapsed() < Duration::from_secs(60), "{helpers:?} are not {count}");
        std::thread::yield_now();
    }
}

/// An agent whose model has been asked and has not answered.
struct Asked {
    talk: Talk,
    gate: Gate,
    agent: Child,
}

impl Asked {
    /// `None` where it cannot be tried.
    fn start(sandbox: &str, first: Reply, others: impl IntoIterator<Item = Reply>) -> Option<Self> {
        let gate = Gate::new();
        let first = Reply { gate: Some((0, gate.clone())), ..first };
        Self::start_with(sandbox, &[], (gate, first), others)
    }

    /// The gate is that of the first reply.
    fn start_with(
        sandbox: &str,
        options: &[&str],
        (gate, first): (Gate, Reply),
        others: impl IntoIterator<Item = Reply>,
    ) -> Option<Self> {
        let talk = Talk::new([first].into_iter().chain(others));
        if !is_possible(&policy(SandboxMode::Workspace, &talk.world.work(), &talk.world.home()), ALL) {
            return None;
        }
        let mut agent = talk.command(&[options, &["--sandbox", sandbox, "-p", "go"]].concat());
        std::fs::create_dir(talk.world.home().join("tmp")).unwrap();
        agent.env("TMPDIR", talk.world.home().join("tmp"));
        let agent = agent.stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
        while talk.server.seen().is_empty() {
            std::thread::yield_now();
        }
        Some(Self { talk, gate, agent })
    }

    fn end(mut self) -> Vec<String> {
        self.gate.open();
        assert!(self.agent.wait().unwrap().success());
        until_helpers_are(0, &self.talk.world.work());
        let left = std::fs::read_dir(self.talk.world.home().join("tmp")).unwrap().count();
        assert_eq!(left, 0, "the temporary folder stays");
        results(&self.talk)
    }
}

#[test]
fn the_sandbox_of_the_first_command_is_prepared_while_the_model_is_asked() {
    let Some(asked) = Asked::start("workspace", bash("c1", "echo $$"), [Reply::text("Done.")]) else { return };
    let helpers = until_helpers_are(1, &asked.talk.world.work());
    assert_eq!(asked.end(), helpers);
}

/// The rest of the answer comes later: meanwhile the sandboxes of its calls are prepared.
#[test]
fn the_commands_of_one_answer_take_the_sandboxes_that_were_prepared_while_it_was_written() {
    let call = |id: &str| Say::Call {
        call: "bash".to_owned(),
        id: id.to_owned(),
        arguments: json!({ "command": "echo $$" }).as_object().unwrap().clone(),
        signature: None,
    };
    let answer = ["c1", "c2", "c3"].map(call).into_iter().chain([Say::Text { text: "x".repeat(2000) }]);
    let gate = Gate::new();
    let answer = Reply { gate: Some((8000, gate.clone())), ..Reply::say(answer) };
    let Some(asked) = Asked::start_with("workspace", &[], (gate, answer), [Reply::text("Done.")]) else { return };
    let mut helpers = until_helpers_are(3, &asked.talk.world.work());
    let mut said = asked.end();
    helpers.sort_unstable();
    said.sort_unstable();
    assert_eq!(said, helpers);
}

/// Commands that only read run in the usual sandbox, others in one where they write nothing.
#[test]
fn in_read_only_both_sandboxes_are_prepared() {
    let gate = Gate::new();
    let first = Reply { gate: Some((0, gate.clone())), ..bash("c1", "echo $$ | grep .") };
    let options = ["--approval", "read-only"];
    let Some(asked) = Asked::start_with("workspace", &options, (gate, first), [Reply::text("Done.")]) else { return };
    let helpers = until_helpers_are(2, &asked.talk.world.work());
    let said = asked.end();
    assert!(helpers.contains(&said[0]), "{helpers:?} {said:?}");
}

#[test]
fn without_a_sandbox_nothing_is_prepared() {
    let marks = ["c1", "c2"].map(|id| bash(id, "echo ${OFFSHOOT_COMMAND#*.}"));
    let [first, second] = marks;
    let Some(asked) = Asked::start("off", first, [second, Reply::text("Done.")]) else { return };
    assert_eq!(asked.end(), ["0", "1"], "each process of a command has a number");
}

#[test]
fn prepared_helpers_end_with_an_agent_that_is_killed() {
    let Some(mut asked) = Asked::start("workspace", Reply::text("Done."), []) else { return };
    until_helpers_are(1, &asked.talk.world.work());
    asked.agent.kill().unwrap();
    asked.agent.wait().unwrap();
    until_helpers_are(0, &asked.talk.world.work());
    asked.gate.open();
}

/// Each process that offshoot starts for a command has a number of its own in its mark.
#[test]
fn later_commands_of_an_agent_take_the_sandbox_that_was_prepared() {
    let mark = "echo ${OFFSHOOT_COMMAND#*.}";
    let protected = format!("{mark}; echo x > .mcp.json");
    let talk = Talk::new([
        bash("c1", mark),
        bash("c2", &format!("{mark}; echo {{}} > .mcp.json")),
        bash("c3", &protected),
        bash("c4", mark),
        Reply::text("Done."),
    ]);
    if !is_possible(&policy(SandboxMode::Workspace, &talk.world.work(), &talk.world.home()), ALL) {
        return;
    }
    talk.run(&["--sandbox", "workspace", "-p", "go"]);
    let results = results(&talk);
    assert_eq!((results[0].as_str(), results[1].as_str(), results[3].as_str()), ("0", "1", "3"), "{results:?}");
    assert!(results[2].starts_with("2\n") && results[2].contains("Read-only file system"), "{results:?}");
    until_helpers_are(0, &talk.world.work());
}
