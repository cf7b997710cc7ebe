//! Ways out of the sandbox, each tried by a real command: without a sandbox, with all of it, and without namespaces.
//! `escapes.json` lists them: a name, a command that succeeds if it gets out, and the two outcomes that are promised.

use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::fs::symlink;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use offshoot_agent::sandbox::{Helper, Layers, SandboxMode, SandboxPolicy, SandboxWishes};
use portable_pty::{MasterPty, PtySize, native_pty_system};

const ESCAPES: &str = include_str!("escapes.json");

pub(crate) const ALL: Layers = Layers { namespaces: true, landlock: true };
const LANDLOCK: Layers = Layers { namespaces: false, landlock: true };

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
#[allow(clippy::print_stderr, reason = "a case that is not tried must be seen")]
pub(crate) fn is_possible(policy: &SandboxPolicy, layers: Layers) -> bool {
    let output = confined(policy, layers, "true").output().unwrap();
    let why = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        eprintln!("not tried on this system: {layers:?}: {why}");
    }
    output.status.success()
}

/// A working folder, and beside it everything that a command should not reach.
struct Outside {
    folder: tempfile::TempDir,
    shared_memory: tempfile::TempDir,
    process: Child,
    _listeners: (UnixListener, UnixListener),
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
        for path in [&work, &out, &out.join("dir"), &work.join(".offshoot"), &folder.path().join("tmp")] {
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
        let pair = native_pty_system().openpty(PtySize::default()).unwrap();
        let terminal = pair.master.tty_name().unwrap();
        Self {
            folder,
            shared_memory: tempfile::tempdir_in("/dev/shm").unwrap(),
            process,
            _listeners: (path, UnixListener::bind_addr(&name).unwrap()),
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
            .env("TCP", self.tcp.local_addr().unwrap().port().to_string())
            .env("UDP", self.udp.local_addr().unwrap().port().to_string())
            .env("PTRACE", if cfg!(target_arch = "aarch64") { "117" } else { "101" })
            .env("MEMFD", if cfg!(target_arch = "aarch64") { "279" } else { "319" })
            .env("SHM", self.shared_memory.path())
            .env("TERMINAL", &self.terminal.0)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_ne!(output.status.code(), Some(125), "the sandbox was not made: {said}");
        (output.status.success(), said)
    }
}

fn plain(world: &Outside, script: &str) -> Command {
    let mut command = Command::new("bash");
    command.args(["-c", script]).current_dir(world.path("work")).stdin(Stdio::null());
    command
}

#[test]
fn every_escape_has_the_outcome_that_is_promised() {
    let escapes: Vec<[String; 4]> = serde_json::from_str(ESCAPES).unwrap();
    let world = Outside::new();
    let columns =
        [(ALL, 2), (LANDLOCK, 3)].map(|(layers, column)| (layers, column, is_possible(&world.policy(), layers)));
    let mut wrong = Vec::new();
    for escape in &escapes {
        let [name, script, ..] = escape;
        let (got_out, said) = {
            let world = Outside::new();
            world.gets_out(plain(&world, script))
        };
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
