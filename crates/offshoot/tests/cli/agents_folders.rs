//! The folders of other agents under `strace`: no call below them writes, makes, renames, removes or locks anything, whatever the command.

use std::path::Path;

use crate::crashes::in_bash;
use crate::kernel::can_inject;
use crate::world::World;

/// Calls that change something by a path, or by a file that is open.
const CALLS: &str = "open,openat,openat2,creat,unlink,unlinkat,rename,renameat,renameat2,mkdir,mkdirat,rmdir,link,linkat,symlink,\
                     symlinkat,chmod,fchmod,fchmodat,chown,fchown,fchownat,utimensat,truncate,ftruncate,fallocate,mknod,mknodat,\
                     setxattr,fsetxattr,write,writev,pwrite64,pwritev,flock,copy_file_range";

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

#[test]
fn no_call_below_an_agents_folder_writes() {
    if !can_inject("calls below the folders of other agents") {
        return;
    }
    let world = World::new();
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../offshoot-foreign/tests/fixtures");
    let folders = [
        ("claude-code", ".claude"),
        ("codex", ".codex"),
        ("opencode", ".local/share/opencode"),
        ("gemini-cli", ".gemini"),
        ("goose/data", ".local/share/goose"),
        ("copilot-cli", ".copilot"),
        ("cursor", ".cursor"),
    ];
    for (fixture, folder) in folders {
        copy(&fixtures.join(fixture), &world.home().join(folder));
    }
    let roots: Vec<String> =
        folders.iter().map(|(_, folder)| format!("{}/", world.home().join(folder).display())).collect();
    let of_agents = |path: &Path| folders.iter().any(|(_, folder)| path.starts_with(world.home().join(folder)));
    let before = world.files(of_agents);
    for line in [
        "list --agent all --all",
        "tree claude:1111",
        "show ses_main",
        "search zanzibar",
        "check claude:7777",
        "import --all --now --verify",
        "import --all",
        "sources",
        "keep on",
        "export claude:1111 --to claude -o transcript.jsonl",
    ] {
        assert_eq!(writing_calls(&world, line, &roots), Vec::<String>::new(), "{line}");
    }
    assert_eq!(world.files(of_agents), before);
    // The trace sees what is written where somebody asked for it.
    assert!(!writing_calls(&world, "export claude:1111 --to claude --install", &roots).is_empty());
}

/// What reads takes them as it takes own sessions. What writes names the command that makes one yours, and changes nothing.
#[test]
fn commands_that_read_take_a_session_of_another_agent_and_others_refuse_it() {
    let world = World::new();
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../offshoot-foreign/tests/fixtures");
    copy(&fixtures.join("claude-code"), &world.home().join(".claude"));
    copy(&fixtures.join("opencode"), &world.home().join(".local/share/opencode"));
    let (one, other) = ("a000000b-1111-4111-8111-00000000000b", "a000000f-1111-4111-8111-00000000000f");
    for (line, said) in [
        ("tree claude:1111".to_owned(), "use the regex crate"),
        ("tree opencode:ses_main".to_owned(), "why are blanks counted?"),
        ("show claude:1111".to_owned(), "日本語の説明もお願いします"),
        ("show claude:1111 --summary".to_owned(), "2 agents"),
        ("branches claude:1111".to_owned(), "[Request interrupted by user]"),
        ("context claude:1111".to_owned(), "日本語の説明もお願いします"),
        (format!("compare claude:1111 {one} {other}"), "split_whitespace"),
        (format!("entry claude:1111 {one}"), "use the regex crate"),
        ("check claude:7777".to_owned(), "torn-tail"),
        ("export claude:1111 --format md -o page.md".to_owned(), "page.md"),
        ("export claude:1111 -o page.html".to_owned(), "page.html"),
        ("export claude:1111 -o own.jsonl".to_owned(), "own.jsonl"),
        ("show own.jsonl".to_owned(), "日本語の説明もお願いします"),
        (format!("fork claude:1111 --at {other}"), ".jsonl"),
        ("search blanks agent:claude --scan".to_owned(), "wordcount"),
    ] {
        let output = world.run(&line);
        assert!(output.contains(said), "{line}: {output}");
    }
    let before = world.snapshot();
    for line in [
        format!("switch claude:1111 {one}"),
        format!("label claude:1111 {one} kept"),
        format!("pop claude:1111 {one}"),
        "compact claude:1111".to_owned(),
        "name claude:1111 another".to_owned(),
        "compact opencode:ses_main".to_owned(),
    ] {
        let output = world.run(&line);
        assert!(output.contains("which is only read") && output.contains("offshoot import"), "{line}: {output}");
    }
    assert_eq!(world.snapshot(), before);
}

/// The calls of a command that write below these folders.
fn writing_calls(world: &World, line: &str, roots: &[String]) -> Vec<String> {
    let logs = tempfile::tempdir().unwrap();
    let arguments: Vec<&str> = line.split(' ').collect();
    let log = logs.path().join("calls");
    // A file for each thread: calls of several would be cut into pieces.
    let traced = format!("exec strace -ff -y -qq -o '{}' -e trace={CALLS} -- \"$@\"", log.display());
    let output = in_bash(&world.command(&arguments), &traced).output().unwrap();
    assert!(matches!(output.status.code(), Some(0 | 1 | 4)), "{line}: {}", world.shown(&output));
    let files =
        std::fs::read_dir(logs.path()).unwrap().map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap());
    let calls: String = files.collect();
    assert!(calls.contains("openat("), "{line}: the trace is empty");
    let is_below = |text: &str| roots.iter().any(|root| text.contains(root.as_str()));
    let writes = |call: &&str| {
        let is_open = call.starts_with("open");
        let flags = ["O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC", "O_APPEND"];
        // Paths are also printed, and written to files of our own: then only the file counts.
        let is_written = call.starts_with("write") || call.starts_with("pwrite");
        match () {
            () if is_open => flags.iter().any(|flag| call.contains(flag)),
            () if is_written => call.split(',').next().is_some_and(is_below),
            () => true,
        }
    };
    calls.lines().filter(|call| is_below(call)).filter(writes).map(str::to_owned).collect()
}
