//! Packages: installed from a registry, from git and from a folder, used, pinned, updated and removed; hostile ones refused.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use offshoot_agent::testing::script::Reply;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha512};

use crate::agent::Talk;

/// A registry with the packages of a table; it answers as npm's does.
pub(crate) struct Registry {
    url: String,
    packages: Arc<Mutex<BTreeMap<String, Vec<u8>>>>,
}

impl Registry {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let packages: Arc<Mutex<BTreeMap<String, Vec<u8>>>> = Arc::default();
        let (known, base) = (Arc::clone(&packages), url.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                drop(answer(stream, &known.lock().unwrap(), &base));
            }
        });
        Self { url, packages }
    }

    pub(crate) fn publish(&self, name: &str, version: &str, files: &[(&str, &str)]) {
        let manifest = json!({"name": name, "version": version});
        let is_own = files.iter().any(|(name, _)| *name == "package.json");
        let manifest = (!is_own).then(|| ("package.json".to_owned(), manifest.to_string()));
        let files = files.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
        let mut archive = tar::Builder::new(flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast()));
        for (name, text) in files.chain(manifest) {
            let mut header = tar::Header::new_gnu();
            header.set_size(text.len() as u64);
            header.set_mode(0o644);
            archive.append_data(&mut header, format!("package/{name}"), text.as_bytes()).unwrap();
        }
        let bytes = archive.into_inner().unwrap().finish().unwrap();
        self.packages.lock().unwrap().insert(format!("{name}@{version}"), bytes);
    }
}

fn answer(mut stream: TcpStream, packages: &BTreeMap<String, Vec<u8>>, base: &str) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream.try_clone()?).lines();
    let first = lines.next().unwrap()?;
    while lines.next().is_some_and(|line| line.is_ok_and(|line| !line.is_empty())) {}
    let path = first.split(' ').nth(1).unwrap().trim_start_matches('/').replace("%2f", "/");
    let body = match packages.get(&path) {
        Some(archive) => Some(archive.clone()),
        None => about(&path, packages, base).map(|about| about.to_string().into_bytes()),
    };
    let status = if body.is_some() { "200 OK" } else { "404 Not Found" };
    let body = body.unwrap_or_default();
    write!(stream, "HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len())?;
    stream.write_all(&body)
}

fn about(name: &str, packages: &BTreeMap<String, Vec<u8>>, base: &str) -> Option<Value> {
    let versions = packages.iter().filter_map(|(known, archive)| {
        let version = known.strip_prefix(name)?.strip_prefix('@')?;
        let integrity = format!("sha512-{}", STANDARD.encode(Sha512::digest(archive)));
        Some((version.to_owned(), json!({"dist": {"tarball": format!("{base}/{known}"), "integrity": integrity}})))
    });
    let versions: BTreeMap<String, Value> = versions.collect();
    let latest = versions.keys().next_back()?.clone();
    Some(json!({"name": name, "dist-tags": {"latest": latest}, "versions": versions}))
}

const SKILL: &str = "---\nname: count\ndescription: Counts letters.\n---\nCount them.\n";

pub(crate) struct Shop {
    pub(crate) talk: Talk,
    pub(crate) registry: Registry,
}

impl Shop {
    pub(crate) fn new(replies: impl IntoIterator<Item = Reply>) -> Self {
        let shop = Self { talk: Talk::new(replies), registry: Registry::start() };
        let files = [("skills/count/SKILL.md", SKILL), ("prompts/rev.md", "Review $1."), ("prompts/ask.md", "Ask $@.")];
        shop.registry.publish("@team/kit", "1.0.0", &files);
        shop
    }

    /// Without npm: of the programs only git is there.
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.talk.command(arguments);
        let programs = self.talk.world.home().join("programs");
        fs::create_dir_all(&programs).unwrap();
        let git = programs.join("git");
        if !git.exists() {
            let real =
                ["/usr/bin/git", "/usr/local/bin/git", "/bin/git"].into_iter().find(|path| Path::new(path).exists());
            std::os::unix::fs::symlink(real.unwrap(), git).unwrap();
        }
        let temporary = self.talk.world.home().join("tmp");
        fs::create_dir_all(&temporary).unwrap();
        command.env("PATH", programs).env("npm_config_registry", &self.registry.url).env("TMPDIR", temporary);
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> String {
        self.talk.world.shown(&self.command(arguments).output().unwrap())
    }

    pub(crate) fn data(&self, name: &str) -> String {
        fs::read_to_string(self.talk.world.home().join(".local/share/offshoot").join(name)).unwrap_or_default()
    }

    /// The names in the folder of temporary files.
    pub(crate) fn temporary(&self) -> Vec<String> {
        let files = fs::read_dir(self.talk.world.home().join("tmp")).unwrap();
        files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect()
    }

    pub(crate) fn git(&self, folder: &Path, arguments: &[&str]) {
        let mut command = Command::new("git");
        command.args(["-c", "user.name=t", "-c", "user.email=t@t"]).args(arguments).current_dir(folder);
        let done = command.env("HOME", self.talk.world.home()).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    }

    pub(crate) fn asked(&self) -> String {
        self.talk.server.seen().pop().unwrap().body
    }
}

/// Each process read the record and the list, and wrote them with its own package alone: the others' were lost.
#[test]
fn processes_that_install_and_remove_at_once_lose_nothing() {
    let shop = Shop::new([]);
    let names: Vec<String> = (0..8).map(|number| format!("@team/k{number}")).collect();
    for name in &names {
        shop.registry.publish(name, "1.0.0", &[("prompts/x.md", "X.")]);
    }
    let at_once = |argument: &str, names: &[String]| {
        let start = |name: &String| {
            let mut command = shop.command(&[argument, &format!("npm:{name}")]);
            if argument == "install" {
                command.arg("--yes");
            }
            command.stderr(std::process::Stdio::piped()).stdout(std::process::Stdio::piped()).spawn().unwrap()
        };
        let all: Vec<_> = names.iter().map(start).collect();
        for one in all {
            let done = one.wait_with_output().unwrap();
            assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        }
    };
    let kept = |names: &[String]| {
        let (lock, settings) = (shop.data("packages-lock.json"), shop.data("settings.json"));
        let is_kept = |name: &&String| lock.contains(&format!("\"npm:{name}\"")) && settings.contains(name.as_str());
        names.iter().filter(is_kept).count()
    };
    at_once("install", &names);
    assert_eq!(kept(&names), 8);
    at_once("remove", &names[..4]);
    assert_eq!((kept(&names[..4]), kept(&names[4..])), (0, 4));
}

/// A project's packages come with a clone: they count only if it is trusted.
#[test]
fn packages_of_a_project_count_if_it_is_trusted() {
    let shop = Shop::new([Reply::text("Yes."), Reply::text("Yes.")]);
    shop.talk.world.write("kit/prompts/rev.md", "From the folder: $1.");
    let told = shop.run(&["install", "./kit", "--project", "--yes"]);
    assert!(told.contains("/rev"), "{told}");
    assert_eq!(shop.talk.world.read(".offshoot/settings.json"), "{\n  \"packages\": [\"../kit\"]\n}\n");
    shop.run(&["-p", "/rev x"]);
    assert!(shop.asked().contains("From the folder: x."), "who makes the settings trusts them");
    let told = shop.run(&["--no-trust", "-p", "/rev x"]);
    assert!(shop.asked().contains("/rev x"), "{told}");
    assert!(shop.run(&["--no-trust", "install", "-l", "npm:@team/kit", "--yes"]).contains("not trusted"));
    shop.run(&["install", "npm:@team/kit", "-l", "--yes"]);
    assert!(shop.talk.world.read(".offshoot/packages-lock.json").contains("sha512-"));
    assert_eq!(shop.talk.world.read(".offshoot/packages/.gitignore"), "*\n");
    shop.run(&["remove", "./kit", "-l"]);
    assert!(shop.talk.world.read("kit/prompts/rev.md").contains("From the folder"), "a folder stays");
}

/// Words of the lists are files and folders, or patterns over what is found.
#[test]
fn lists_of_the_settings_add_and_take_away() {
    let shop = Shop::new([Reply::text("Yes."), Reply::text("Yes."), Reply::text("Yes.")]);
    let data = shop.talk.world.home().join(".local/share/offshoot");
    for (name, text) in [("prompts/a.md", "A."), ("prompts/b.md", "B."), ("more/deep/c.md", "C.")] {
        fs::create_dir_all(data.join(name).parent().unwrap()).unwrap();
        fs::write(data.join(name), text).unwrap();
    }
    shop.talk.data("settings.json", &json!({"prompts": ["more", "!a.md", "nowhere"]}));
    let told = shop.run(&["-p", "/c"]);
    assert!(told.contains("nowhere: the settings list it, and it does not exist"), "{told}");
    assert!(shop.asked().contains("\"C.\""), "{}", shop.asked());
    shop.run(&["-p", "/a"]);
    assert!(shop.asked().contains("\"/a\""));
    shop.run(&["-p", "/b"]);
    assert!(shop.asked().contains("\"B.\""));
}
