//! Ways out of the sandbox, each tried by a real command: without a sandbox, with all of it, with Landlock alone, and with
//! namespaces alone. `escapes.json` lists them: a name, a command that succeeds if it gets out, and the three outcomes that
//! are promised. A fifth word marks those that fail without a sandbox too where the user has no privileges.

use std::io::{BufRead as _, BufReader};
use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::fs::{PermissionsExt as _, chown, symlink};
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use offshoot_agent::sandbox::{Helper, Layers, SandboxMode, SandboxPolicy, SandboxWishes};
use portable_pty::{MasterPty, PtySize, native_pty_system};

use crate::crashes::say;

const ESCAPES: &str = include_str!("escapes.json");

pub(crate) const ALL: Layers = Layers { namespaces: true, landlock: true };
const LANDLOCK: Layers = Layers { namespaces: false, landlock: true };
const NAMESPACES: Layers = Layers { namespaces: true, landlock: false };

/// The policy of commands in this folder.
pub(crate) fn policy(mode: SandboxMode, cwd: &Path, temporary: &Path) -> SandboxPolicy {
    let wishes = SandboxWishes { mode, ..SandboxWishes::default() };
    SandboxPolicy::new(&wishes, cwd, temporary)
}

pub(crate) fn confined(policy: &SandboxPolicy, layers: Layers, script: &str) -> Command {
    let command = ["bash", "-c", script].map(Into::into).to_vec();
    let helper = Helper { policy: policy.clone(), layers, is_probe: false, command };
    let mut command = Command::new(env!("CARGO_BIN_EXE_offshoot"));
    command.args(helper.arguments()).current_dir(&policy.cwd).stdin(Stdio::null());
    command
}

/// Whether this system has these layers. Elsewhere fewer cases can be tried, and that is said.
pub(crate) fn is_possible(policy: &SandboxPolicy, layers: Layers) -> bool {
    let output = confined(policy, layers, "true").output().unwrap();
    let why = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        say(&format!("not tried on this system: {layers:?}: {why}"));
    }
    output.status.success()
}

/// A working folder, and beside it everything that a command should not reach.
struct Outside {
    folder: tempfile::TempDir,
    shared_memory: tempfile::TempDir,
    process: Child,
    _listeners: (UnixListener, UnixListener, UnixDatagram),
    tcp: TcpListener,
    udp: UdpSocket,
    terminal: (PathBuf, Box<dyn MasterPty + Send>),
}

impl Drop for Outside {
    fn drop(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

impl Outside {
    fn new() -> Self {
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
        assert!(Command::new("git").args(["init", "-q"]).current_dir(&work).status().unwrap().success());
        let process = Command::new("sleep").arg("1000").current_dir(&out).spawn().unwrap();
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
            _listeners: (path, UnixListener::bind_addr(&name).unwrap(), log),
            tcp: TcpListener::bind("127.0.0.1:0").unwrap(),
            udp,
            terminal: (terminal, pair.master),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn policy(&self) -> SandboxPolicy {
        let mut policy = policy(SandboxMode::Workspace, &self.path("work"), &self.path("tmp"));
        policy.hidden.push(self.path("out/auth.json"));
        policy
    }

    /// Whether the command got out.
    fn gets_out(&self, mut command: Command) -> (bool, String) {
        let output = command
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
            .env("PTRACE", if cfg!(target_arch = "aarch64") { "117" } else { "101" })
            .env("MEMFD", if cfg!(target_arch = "aarch64") { "279" } else { "319" })
            .env("SETXATTR", if cfg!(target_arch = "aarch64") { "5" } else { "188" })
            .env("SHM", self.shared_memory.path())
            .env("TERMINAL", &self.terminal.0)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_ne!(output.status.code(), Some(125), "the sandbox was not made: {said}");
        (output.status.success(), said)
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
    let columns = [(ALL, 2), (LANDLOCK, 3), (NAMESPACES, 4)]
        .map(|(layers, column)| (layers, column, is_possible(&world.policy(), layers)));
    let mut wrong = Vec::new();
    for escape in &escapes {
        let [name, script, ..] = escape.as_slice() else { panic!("{escape:?}") };
        let (got_out, said) = {
            let world = Outside::new();
            world.gets_out(plain(&world, script))
        };
        if !got_out && escape.get(5).is_some() {
            say(&format!("not tried on this system: {name}: {said}"));
            continue;
        }
        if !got_out {
            wrong.push(format!("{name}: proves nothing, it fails without a sandbox too: {said}"));
        }
        for (layers, column, _) in columns.iter().filter(|(.., is_possible)| *is_possible) {
            let world = Outside::new();
            let (got_out, said) = world.gets_out(confined(&world.policy(), *layers, script));
            let outcome = if got_out { "open" } else { "stopped" };
            if outcome != escape[*column] {
                wrong.push(format!("{name}, {layers:?}: {outcome}, promised: {}: {said}", escape[*column]));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(escapes.len() >= 40);
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
