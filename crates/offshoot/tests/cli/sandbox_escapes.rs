//! Ways out of the sandbox, each tried by a real command: without a sandbox, with all of it, with Landlock alone, with
//! namespaces alone, and with all of it that was prepared before the command came. `escapes.json` lists them: a name, a command that succeeds if it gets out, and the three outcomes that
//! are promised. A fifth word marks those that fail without a sandbox too where the user has no privileges.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::fs::{PermissionsExt as _, chown, symlink};
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use nix::libc;
use nix::sys::signal::{self, Signal};
use nix::unistd::Pid;
use offshoot_agent::sandbox::{
    Helper, HelperTask, NestedRepositories, READY, STARTED, SandboxLayers, SandboxOptions, SandboxPolicy,
};
use offshoot_protocol::SandboxMode;
use portable_pty::{MasterPty, PtySize, native_pty_system};

use crate::crashes::say;

const ESCAPES: &str = include_str!("escapes.json");

pub(crate) const ALL: SandboxLayers = SandboxLayers { namespaces: true, landlock: true, calls: true };
const LANDLOCK: SandboxLayers = SandboxLayers { namespaces: false, ..ALL };
const NAMESPACES: SandboxLayers = SandboxLayers { landlock: false, ..ALL };

/// The policy of commands in this folder.
pub(crate) fn policy(mode: SandboxMode, cwd: &Path, temporary: &Path) -> SandboxPolicy {
    let options = SandboxOptions { mode, ..SandboxOptions::default() };
    let mut policy = SandboxPolicy::new(&options, cwd, temporary);
    NestedRepositories::find(&policy).protect(&mut policy);
    policy
}

pub(crate) fn confined(policy: &SandboxPolicy, layers: SandboxLayers, script: &str) -> Command {
    let command = ["bash", "-c", script].map(Into::into).to_vec();
    helper(Helper { policy: policy.clone(), layers, task: HelperTask::Run, command })
}

/// Waits for its command.
pub(crate) fn waiting(policy: &SandboxPolicy) -> Command {
    helper(Helper { policy: policy.clone(), layers: ALL, task: HelperTask::Wait, command: Vec::new() })
}

fn helper(helper: Helper) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_offshoot"));
    command.current_dir(&helper.policy.cwd).args(helper.arguments()).stdin(Stdio::null());
    command
}

/// The helper of a command that has not come yet.
pub(crate) struct Prepared(Child);

impl Prepared {
    pub(crate) fn start(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let mut said = [0];
        process.stdout.as_mut().unwrap().read_exact(&mut said).unwrap();
        assert_eq!(said, [READY]);
        Self(process)
    }

    pub(crate) fn id(&self) -> u32 {
        self.0.id()
    }

    /// What a part of the words, or all of them, makes of it; without what the helper itself says. `None` if no command was started.
    pub(crate) fn hear(mut self, message: &[u8]) -> (Option<Output>, String) {
        // It may have ended.
        drop(self.0.stdin.take().unwrap().write_all(message));
        let mut output = self.0.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let is_started = output.stdout.first() == Some(&STARTED);
        output.stdout.drain(..usize::from(is_started));
        (is_started.then_some(output), said)
    }

    /// `None` if it was not started.
    pub(crate) fn run(self, script: &str) -> (Option<Output>, String) {
        self.hear(format!("3 0 0\0bash\0-c\0{script}\0").as_bytes())
    }
}

/// Whether this system has these layers. Elsewhere fewer cases can be tried, and that is said.
pub(crate) fn is_possible(policy: &SandboxPolicy, layers: SandboxLayers) -> bool {
    let output = confined(policy, layers, "true").output().unwrap();
    let why = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        say(&format!("not tried on this system: {layers:?}: {why}"));
    }
    output.status.success()
}

/// The numbers of system calls that the escapes make, and one of a flag, as variables of these names.
const CALLS: [(&str, libc::c_long); 29] = [
    ("O_TMPFILE", libc::O_TMPFILE as libc::c_long),
    ("add_key", libc::SYS_add_key),
    ("bpf", libc::SYS_bpf),
    ("capset", libc::SYS_capset),
    ("getpid", libc::SYS_getpid),
    ("io_uring_setup", libc::SYS_io_uring_setup),
    ("ioprio_set", libc::SYS_ioprio_set),
    ("keyctl", libc::SYS_keyctl),
    ("linkat", libc::SYS_linkat),
    ("memfd_create", libc::SYS_memfd_create),
    ("mq_open", libc::SYS_mq_open),
    ("mq_unlink", libc::SYS_mq_unlink),
    ("name_to_handle_at", libc::SYS_name_to_handle_at),
    ("open_by_handle_at", libc::SYS_open_by_handle_at),
    ("perf_event_open", libc::SYS_perf_event_open),
    ("pidfd_getfd", libc::SYS_pidfd_getfd),
    ("pidfd_open", libc::SYS_pidfd_open),
    ("pidfd_send_signal", libc::SYS_pidfd_send_signal),
    ("prlimit64", libc::SYS_prlimit64),
    ("process_vm_writev", libc::SYS_process_vm_writev),
    ("ptrace", libc::SYS_ptrace),
    ("request_key", libc::SYS_request_key),
    ("rt_sigqueueinfo", libc::SYS_rt_sigqueueinfo),
    ("sched_setaffinity", libc::SYS_sched_setaffinity),
    ("sched_setscheduler", libc::SYS_sched_setscheduler),
    ("sethostname", libc::SYS_sethostname),
    ("seccomp", libc::SYS_seccomp),
    ("setpriority", libc::SYS_setpriority),
    ("setxattr", libc::SYS_setxattr),
];

/// Another program of the user's, without privileges. It holds shared memory and a queue, keeps SIGUSR2 for later, says what it has, and
/// ends with its input.
const VICTIM: &str = r#"
    use POSIX; use IPC::SysV qw(IPC_PRIVATE); $| = 1;
    sigprocmask(SIG_BLOCK, POSIX::SigSet->new(SIGUSR2));
    my $memory = shmget(IPC_PRIVATE, 4096, 0600) // die "shmget: $!"; my $queue = "offshoot-$$\0"; my $text = "mine";
    # Of one message of one byte: of the usual size a user may have nine.
    my $size = pack("q8", 0, 1, 1, 0, 0, 0, 0, 0);
    syscall($ENV{mq_open} + 0, $queue, 0102, 0600, $size) >= 0 || die "mq_open: $!";
    syscall($ENV{capset} + 0, my $version = pack("LL", 0x20080522, 0), my $none = "\0" x 24) == 0 || die "capset: $!";
    print "$memory ", unpack("J", pack("p", $text)), "\n";
    <STDIN>;
    shmctl($memory, 0, 0); syscall($ENV{mq_unlink} + 0, $queue);
"#;

/// A working folder, and beside it everything that a command should not reach.
pub(crate) struct Outside {
    folder: tempfile::TempDir,
    shared_memory: tempfile::TempDir,
    process: Child,
    /// Of the process: its memory that it shares, and the address of a text.
    held: (String, String),
    _pipe: File,
    _listeners: (UnixListener, UnixListener, UnixDatagram),
    tcp: TcpListener,
    udp: UdpSocket,
    terminal: (PathBuf, Box<dyn MasterPty + Send>),
    /// Of the next command, where that can be.
    prepared: Option<Prepared>,
}

impl Drop for Outside {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        // A tracer may have left it stopped.
        signal::kill(Pid::from_raw(self.process.id().cast_signed()), Signal::SIGCONT).unwrap();
        self.process.wait().unwrap();
    }
}

impl Outside {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (work, out) = (folder.path().join("work"), folder.path().join("out"));
        let sockets = out.join(".X11-unix");
        for path in [&work, &out, &out.join("dir"), &sockets, &work.join(".offshoot"), &folder.path().join("tmp")] {
            std::fs::create_dir(path).unwrap();
        }
        for (path, text) in
            [(out.join("victim"), "mine\n"), (out.join("auth.json"), "secret"), (work.join(".mcp.json"), "{}")]
        {
            std::fs::write(path, text).unwrap();
        }
        symlink(&out, work.join("out")).unwrap();
        std::fs::hard_link(out.join("victim"), work.join("hard")).unwrap();
        make_repositories(&work);
        let (process, held) = start_victim(&out);
        assert!(Command::new("mkfifo").arg(out.join("pipe")).status().unwrap().success());
        let pipe = File::options().read(true).write(true).open(out.join("pipe")).unwrap();
        let path = UnixListener::bind(out.join("socket")).unwrap();
        let name = SocketAddr::from_abstract_name(folder.path().to_str().unwrap()).unwrap();
        let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
        let answers = udp.try_clone().unwrap();
        std::thread::spawn(move || {
            let mut buffer = [0; 16];
            while let Ok((_, from)) = answers.recv_from(&mut buffer) {
                answers.send_to(b"answer\n", from).unwrap();
            }
        });
        let log = UnixDatagram::bind(sockets.join("log")).unwrap();
        obey(UnixListener::bind(sockets.join("X0")).unwrap());
        install_setuid(&out.join("setuid"));
        let pair = native_pty_system().openpty(PtySize::default()).unwrap();
        let terminal = pair.master.tty_name().unwrap();
        Self {
            folder,
            shared_memory: tempfile::tempdir_in("/dev/shm").unwrap(),
            process,
            held,
            _pipe: pipe,
            _listeners: (path, UnixListener::bind_addr(&name).unwrap(), log),
            tcp: TcpListener::bind("127.0.0.1:0").unwrap(),
            udp,
            terminal: (terminal, pair.master),
            prepared: None,
        }
    }

    fn of(script: &str) -> Self {
        let mut world = Self::new();
        if script.contains("$PREPARED") && is_possible(&world.policy(), ALL) {
            world.prepared = Some(Prepared::start(waiting(&world.policy())));
        }
        world
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn policy(&self) -> SandboxPolicy {
        let mut policy = policy(SandboxMode::Workspace, &self.path("work"), &self.path("tmp"));
        policy.hidden.push(self.path("out/auth.json"));
        policy
    }

    /// Whether the command got out.
    fn gets_out(&self, mut command: Command) -> (bool, String) {
        let output = self.tell(&mut command).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_ne!(output.status.code(), Some(125), "the sandbox was not made: {said}");
        (output.status.success(), said)
    }

    /// What scripts know of it.
    pub(crate) fn tell<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        command
            .env("OUT", self.path("out"))
            .env("VICTIM", self.process.id().to_string())
            .env("SOCKET", self.path("out/socket"))
            .env("ABSTRACT", self.folder.path())
            .env("LOG", self.path("out/.X11-unix/log"))
            .env("DAEMON", self.path("out/.X11-unix/X0"))
            .env("SETUID", self.path("out/setuid"))
            .env("SHARED", std::env::temp_dir())
            .env("TCP", self.tcp.local_addr().unwrap().port().to_string())
            .env("UDP", self.udp.local_addr().unwrap().port().to_string())
            .envs(CALLS.map(|(name, number)| (name, number.to_string())))
            .env("MEMORY", &self.held.0)
            .env("ADDRESS", &self.held.1)
            .env("SHM", self.shared_memory.path())
            .env("TERMINAL", &self.terminal.0)
            .env("PREPARED", self.prepared.as_ref().map(|prepared| prepared.id().to_string()).unwrap_or_default())
    }

    /// A helper that knows of it, and waits for its command.
    pub(crate) fn prepare(&self) -> Prepared {
        let mut command = waiting(&self.policy());
        self.tell(&mut command);
        Prepared::start(command)
    }
}

/// A daemon that runs what it is asked to run, line by line.
fn obey(requests: UnixListener) {
    std::thread::spawn(move || {
        for request in requests.incoming().flatten() {
            for line in BufReader::new(request).lines().map_while(Result::ok).take(1) {
                Command::new("sh").args(["-c", &line]).status().unwrap();
            }
        }
    });
}

fn start_victim(cwd: &Path) -> (Child, (String, String)) {
    let mut command = Command::new("perl");
    command.args(["-e", VICTIM]).current_dir(cwd).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut process = command.envs(CALLS.map(|(name, number)| (name, number.to_string()))).spawn().unwrap();
    let mut said = String::new();
    BufReader::new(process.stdout.as_mut().unwrap()).read_line(&mut said).unwrap();
    let (memory, address) = said.trim().split_once(' ').unwrap();
    let held = (memory.to_owned(), address.to_owned());
    (process, held)
}

/// One for the folder itself, and below it: one, one in a group, and a bare one. Each has hooks.
fn make_repositories(work: &Path) {
    let template = work.join("../template");
    std::fs::create_dir_all(template.join("hooks")).unwrap();
    std::fs::write(template.join("hooks/pre-push.sample"), "").unwrap();
    for (arguments, folder) in
        [(&[][..], ""), (&[], "nested"), (&[], "group/inner"), (&["--bare"], "bare"), (&[], "a/b/c/d/e/f/deep")]
    {
        std::fs::create_dir_all(work.join(folder)).unwrap();
        let mut git = Command::new("git");
        git.args(["init", "-q", "--template"]).arg(&template).args(arguments).current_dir(work.join(folder));
        assert!(git.status().unwrap().success());
    }
    for (file, text) in [
        ("nested/.envrc", ""),
        ("nested/.vscode/tasks.json", "{}"),
        ("nested/.claude/settings.json", "{}"),
        ("linked/.git", "gitdir: ../nested/.git/worktrees/linked\n"),
        ("node_modules/.bin/tool", ""),
    ] {
        std::fs::create_dir_all(work.join(file).parent().unwrap()).unwrap();
        std::fs::write(work.join(file), text).unwrap();
    }
}

/// A program that runs as another user, if this system lets us make one.
fn install_setuid(path: &Path) {
    const NOBODY: u32 = 65534;
    std::fs::copy("/usr/bin/id", path).unwrap();
    if chown(path, Some(NOBODY), Some(NOBODY)).is_ok() {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o4755)).unwrap();
    }
}

fn plain(world: &Outside, script: &str) -> Command {
    let mut command = Command::new("bash");
    command.args(["-c", script]).current_dir(world.path("work")).stdin(Stdio::null());
    command
}

#[test]
fn every_escape_has_the_outcome_that_is_promised() {
    let escapes: Vec<Vec<String>> = serde_json::from_str(ESCAPES).unwrap();
    let world = Outside::new();
    let columns = [
        (ALL, HelperTask::Run, 2),
        (LANDLOCK, HelperTask::Run, 3),
        (NAMESPACES, HelperTask::Run, 4),
        (ALL, HelperTask::Wait, 2),
    ];
    let columns: Vec<_> = columns.into_iter().filter(|(layers, ..)| is_possible(&world.policy(), *layers)).collect();
    let parts = escapes.chunks(escapes.len().div_ceil(4));
    let wrong: Vec<String> = std::thread::scope(|scope| {
        let tried: Vec<_> = parts.map(|part| scope.spawn(|| wrong_outcomes(part, &columns))).collect();
        tried.into_iter().flat_map(|part| part.join().unwrap()).collect()
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(escapes.len() >= 100);
}

fn wrong_outcomes(escapes: &[Vec<String>], columns: &[(SandboxLayers, HelperTask, usize)]) -> Vec<String> {
    let mut wrong = Vec::new();
    for escape in escapes {
        let [name, script, ..] = escape.as_slice() else { panic!("{escape:?}") };
        let (got_out, said) = {
            let world = Outside::of(script);
            world.gets_out(plain(&world, script))
        };
        if !got_out && escape.get(5).is_some() {
            say(&format!("not tried on this system: {name}: {said}"));
            continue;
        }
        if !got_out {
            wrong.push(format!("{name}: proves nothing, it fails without a sandbox too: {said}"));
        }
        for (layers, task, column) in columns {
            let world = Outside::of(script);
            let (got_out, said) = match task {
                HelperTask::Wait => {
                    let (output, said) = world.prepare().run(script);
                    (output.unwrap().status.success(), said)
                }
                HelperTask::Run | HelperTask::Serve | HelperTask::Probe => {
                    world.gets_out(confined(&world.policy(), *layers, script))
                }
            };
            let outcome = if got_out { "open" } else { "stopped" };
            if outcome != escape[*column] {
                wrong.push(format!("{name}, {layers:?}, {task:?}: {outcome}, promised: {}: {said}", escape[*column]));
            }
        }
    }
    wrong
}

/// Programs know these errors and go on without: Node.js without rings, a resolver without AF_VSOCK.
#[test]
fn calls_that_are_refused_fail_with_errors_that_programs_know() {
    const SCRIPT: &str = r#"
        use Socket; my $ring = "\0" x 120; my $limit = "\0" x 16;
        sub outcome { print shift, $_[0] < 0 ? " failed with " . ($! + 0) : " passed", "\n" }
        outcome("io_uring_setup", syscall($ENV{io_uring_setup} + 0, 1, $ring));
        outcome("keyctl", syscall($ENV{keyctl} + 0, 0, -4, 1));
        outcome("vsock", socket(V, 40, 1, 0) ? 0 : -1);
        outcome("x32", syscall($ENV{getpid} | 0x40000000)) if $ENV{HAS_X32};
        outcome("own limits", syscall($ENV{prlimit64} + 0, 0, 7, 0, $limit));
        outcome("own priority", syscall($ENV{setpriority} + 0, 0, 0, 19));
        outcome("socketpair", socketpair(A, B, PF_UNIX, SOCK_STREAM, 0) ? 0 : -1);
        outcome("TCP", socket(T, PF_INET, SOCK_STREAM, 0) ? 0 : -1);
    "#;
    let world = Outside::new();
    for layers in [ALL, LANDLOCK, NAMESPACES] {
        if !is_possible(&world.policy(), layers) {
            continue;
        }
        let mut command = confined(&world.policy(), layers, "perl -e \"$SCRIPT\"");
        command.env("SCRIPT", SCRIPT).envs(CALLS.map(|(name, number)| (name, number.to_string())));
        let x32 = if cfg!(target_arch = "x86_64") { "x32 failed with 1\n" } else { "" };
        command.env("HAS_X32", if x32.is_empty() { "" } else { "yes" });
        let output = command.output().unwrap();
        let printed = String::from_utf8(output.stdout).unwrap();
        let refused = format!("io_uring_setup failed with 38\nkeyctl failed with 1\nvsock failed with 97\n{x32}");
        let passed = "own limits passed\nown priority passed\nsocketpair passed\nTCP passed\n";
        assert_eq!(printed, format!("{refused}{passed}"), "{layers:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

/// Regression: a socket of another program that was removed at this moment made the command fail.
#[test]
fn what_is_gone_before_it_is_covered_stops_no_command() {
    let world = Outside::new();
    let mut policy = world.policy();
    if !is_possible(&policy, ALL) {
        return;
    }
    policy.hidden.push(world.path("out/gone"));
    assert!(is_possible(&policy, ALL));
}
