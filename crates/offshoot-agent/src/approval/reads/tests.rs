//! The lines of `conformance/hostile/data`: those that only read pass, and near misses do not. Rows of the table are ones that are known.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use offshoot_protocol::ApprovalMode;

use super::super::known::{self, lists};
use super::super::{ApprovalCall, Decision, Permissions, ReadCommands, Rule, decide};
use super::table;
use crate::tool::{KeyGuard, Tier};

/// The near misses that `edits` lets pass: reads outside are not asked about there.
const OUTSIDE: &str = "what ask asks about: outside";

struct Project {
    place: tempfile::TempDir,
    elsewhere: tempfile::TempDir,
}

impl Project {
    /// With programs of every name outside of it.
    fn new() -> Self {
        let (place, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let project = Self { place, elsewhere };
        for folder in
            ["w/src", "w/sub/bare/objects", "w/sub/bare/refs", "w/evil/.git", "w/bin", "w/.hidden", "home", "keys"]
        {
            fs::create_dir_all(project.at(folder)).unwrap();
        }
        for file in ["a", "b", "x", "big", "data.json", "with space", "src/lib.rs", "sub/file", "bin/ls"] {
            fs::write(project.at("w").join(file), "hello\n").unwrap();
        }
        fs::write(project.at("outside"), "").unwrap();
        fs::write(project.at("keys/auth.json"), "{}").unwrap();
        fs::write(project.at("w/sub/bare/HEAD"), "ref: refs/heads/main\n").unwrap();
        for (link, target) in
            [("link", "/etc"), ("out", "../outside"), ("lnk", "evil"), ("keylink", "../keys/auth.json")]
        {
            symlink(target, project.at("w").join(link)).unwrap();
        }
        assert!(std::process::Command::new("mkfifo").arg(project.at("w/fifo")).status().unwrap().success());
        for name in table::ROWS.iter().map(|row| row.program.unwrap_or(row.name).split(' ').next().unwrap()) {
            project.program(name);
        }
        project.repository("w/.git");
        project
    }

    fn at(&self, path: &str) -> std::path::PathBuf {
        self.place.path().join(path)
    }

    fn program(&self, name: &str) {
        let program = self.programs().join(name);
        fs::write(&program, "#!/bin/sh\n").unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn programs(&self) -> std::path::PathBuf {
        self.elsewhere.path().to_owned()
    }

    fn repository(&self, git: &str) {
        for folder in ["objects/info", "refs/heads"] {
            fs::create_dir_all(self.at(git).join(folder)).unwrap();
        }
        fs::write(self.at(git).join("HEAD"), "ref: refs/heads/main\n").unwrap();
    }

    fn permissions(&self, mode: ApprovalMode) -> Permissions {
        let reads = ReadCommands { search_path: vec![self.programs()], finds_repositories: true };
        Permissions { mode, reads: Some(reads), ..Permissions::default() }
    }

    fn decide(&self, permissions: &Permissions, line: &str) -> Decision {
        let path = |path: &str| self.at(path).display().to_string();
        let line = line.replace("MARK", &path("mark")).replace("PROJ", &path("w"));
        let line = line.replace("KEYDIR", &path("keys")).replace("KEYS", &path("keys/auth.json"));
        let keys = KeyGuard { files: vec![self.at("keys/auth.json")].into(), ..KeyGuard::default() };
        let (cwd, home) = (self.at("w"), self.at("home"));
        decide(
            permissions,
            &ApprovalCall { tool: "bash", tier: &Tier::Command(line), cwd: &cwd, home: Some(&home), keys: &keys },
        )
    }

    fn reads(&self, mode: ApprovalMode, line: &str) -> bool {
        self.reads_under(&self.permissions(mode), line)
    }

    fn reads_under(&self, permissions: &Permissions, line: &str) -> bool {
        match self.decide(permissions, line) {
            Decision::Read(_) => true,
            Decision::Ask { .. } | Decision::Refuse { .. } => false,
            Decision::Run | Decision::Confined => panic!("{line} runs as it is"),
        }
    }
}

fn lines(name: &str) -> Vec<(String, String)> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/hostile/data").join(name);
    let groups: BTreeMap<String, Vec<String>> = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    groups.into_iter().flat_map(|(group, lines)| lines.into_iter().map(move |line| (group.clone(), line))).collect()
}

const MODES: [ApprovalMode; 3] = [ApprovalMode::Ask, ApprovalMode::Edits, ApprovalMode::ReadOnly];

#[test]
fn lines_that_only_read_pass_and_near_misses_do_not() {
    let project = Project::new();
    let (passing, others) = (lines("reads-pass.json"), lines("reads-ask.json"));
    assert!(passing.len() >= 250 && others.len() >= 600, "{} and {}", passing.len(), others.len());
    for mode in MODES {
        let wrong: Vec<_> = passing.iter().filter(|(_, line)| !project.reads(mode, line)).collect();
        assert!(wrong.is_empty(), "{mode:?} does not let pass: {wrong:#?}");
        let is_read = |(group, line): &&(String, String)| {
            (mode == ApprovalMode::Ask || group != OUTSIDE) && project.reads(mode, line)
        };
        let wrong: Vec<_> = others.iter().filter(is_read).collect();
        assert!(wrong.is_empty(), "{mode:?} lets pass: {wrong:#?}");
    }
}

#[test]
fn a_read_runs_as_it_was_judged() {
    let project = Project::new();
    let spelled = |line: &str| match project.decide(&project.permissions(ApprovalMode::Ask), line) {
        Decision::Read(read) => read.text.replace(&project.programs().display().to_string(), "/p"),
        other => panic!("{line}: {other:?}"),
    };
    for (line, runs) in [
        ("ls -l \"a\" # b", "'/p/ls' '-l' 'a'\n"),
        ("cat a 2>&1 | grep 'it'\\''s' 2>/dev/null", "'/p/cat' 'a' 2>&1 | '/p/grep' 'it'\\''s' 2>/dev/null\n"),
        ("cd src && ls&>/dev/null || pwd; ls", "'cd' './src' && '/p/ls' >/dev/null 2>&1 || '/p/pwd'\n'/p/ls'\n"),
        ("cd .hidden && ls", "'cd' './.hidden' && '/p/ls'\n"),
        ("cd ./src && cd .. && ls", "'cd' './src' && 'cd' '..' && '/p/ls'\n"),
        ("egrep x a", "'/p/grep' '-E' 'x' 'a'\n"),
        ("rg x |& cat", "'/p/rg' '--no-config' 'x' 2>&1 | '/p/cat'\n"),
        (
            "git diff HEAD",
            "'/p/git' '--no-pager' 'diff' '--no-ext-diff' '--no-textconv' '--ignore-submodules=dirty' 'HEAD'\n",
        ),
        ("git stash list -3", "'/p/git' '--no-pager' 'stash' 'list' '--no-ext-diff' '--no-textconv' '-3'\n"),
    ] {
        assert_eq!(spelled(line), runs, "{line}");
    }
}

#[test]
fn a_program_of_the_project_or_of_an_uncertain_folder_is_no_read() {
    let project = Project::new();
    let mut permissions = project.permissions(ApprovalMode::Ask);
    for (search_path, is_read) in [
        (vec![project.programs(), project.at("w/bin")], true),
        (vec![project.at("w/nothing"), project.programs()], true),
        (vec![project.at("w/bin"), project.programs()], false),
        (vec!["bin".into(), project.programs()], false),
        (vec!["".into(), project.programs()], false),
        (vec![], false),
    ] {
        fs::set_permissions(project.at("w/bin/ls"), fs::Permissions::from_mode(0o755)).unwrap();
        permissions.reads.as_mut().unwrap().search_path = search_path.clone();
        assert_eq!(project.reads_under(&permissions, "ls"), is_read, "{search_path:?}");
    }
    symlink(project.at("w/bin/ls"), project.programs().join("linked")).unwrap();
    fs::remove_file(project.programs().join("ls")).unwrap();
    fs::rename(project.programs().join("linked"), project.programs().join("ls")).unwrap();
    assert!(!project.reads(ApprovalMode::Edits, "ls"), "a link to a program of the project");
}

#[test]
fn rules_about_reading_hold_for_commands_that_read() {
    let project = Project::new();
    let with = |deny: &str| {
        let rule = Rule::parse(deny).unwrap();
        Permissions { deny: vec![rule], ..project.permissions(ApprovalMode::Ask) }
    };
    let rules = with("read(**/x)");
    assert!(project.reads_under(&rules, "cat a") && project.reads_under(&rules, "git branch"));
    for line in [
        "cat x",
        "cat a x",
        "cat ./src/../x",
        "grep -r hello .",
        "rg hello",
        "git log -p",
        "git show HEAD:x",
        "git diff",
        "cd src && cat ../x",
    ] {
        assert!(!project.reads_under(&rules, line), "{line}");
    }
    let asking = Permissions { ask: vec![Rule::parse("read(x)").unwrap()], ..project.permissions(ApprovalMode::Edits) };
    assert!(!project.reads_under(&asking, "cat x") && project.reads_under(&asking, "cat a"));
    let commands = Permissions {
        ask: vec![Rule::parse("bash(git log:*)").unwrap()],
        ..project.permissions(ApprovalMode::ReadOnly)
    };
    assert_eq!((project.reads_under(&commands, "git log"), project.reads_under(&commands, "git show")), (false, true));
    let denied = with("bash(cat:*)");
    assert!(matches!(project.decide(&denied, "ls; cat a"), Decision::Refuse { .. }));
}

#[test]
fn a_rule_that_allows_lets_nothing_but_reads_run_in_read_only() {
    let project = Project::new();
    let rules =
        Permissions { allow: vec![Rule::parse("bash").unwrap()], ..project.permissions(ApprovalMode::ReadOnly) };
    assert!(matches!(project.decide(&rules, "ls"), Decision::Read(_)));
    assert!(matches!(project.decide(&rules, "touch b"), Decision::Refuse { .. }));
}

/// `git` looks further up, elsewhere or inside of a repository that is not plain.
#[test]
fn git_reads_only_in_the_persons_own_whole_repository() {
    let modes =
        |project: &Project, line: &str| [ApprovalMode::Ask, ApprovalMode::Edits].map(|mode| project.reads(mode, line));
    let lines = ["git log", "git branch", "git status", "git diff"];
    let of_all = |change: &dyn Fn(&Project)| {
        let project = Project::new();
        change(&project);
        lines.map(|line| modes(&project, line))
    };
    let (never, outside_asks) = ([[false, false]; 4], [[false, true]; 4]);
    let git = |project: &Project, name: &str| project.at("w/.git").join(name);
    assert_eq!(of_all(&|_| {}), [[true, true]; 4]);
    assert_eq!(of_all(&|project| fs::remove_dir_all(git(project, "")).unwrap()), never, "no repository");
    assert_eq!(of_all(&|project| fs::remove_file(git(project, "HEAD")).unwrap()), never);
    assert_eq!(of_all(&|project| fs::write(git(project, "HEAD"), "x").unwrap()), never);
    assert_eq!(of_all(&|project| fs::remove_dir_all(git(project, "refs")).unwrap()), never);
    assert_eq!(of_all(&|project| fs::remove_dir_all(git(project, "objects")).unwrap()), never);
    assert_eq!(of_all(&|project| fs::write(git(project, "objects/info/alternates"), "/x").unwrap()), outside_asks);
    let moved = |project: &Project, named: &str| {
        project.repository("elsewhere");
        fs::remove_dir_all(git(project, "")).unwrap();
        fs::write(project.at("w/.git"), named).unwrap();
    };
    assert_eq!(of_all(&|project| moved(project, "gitdir: ../elsewhere\n")), outside_asks, "a linked work tree");
    assert_eq!(of_all(&|project| moved(project, "../elsewhere")), never);
    assert_eq!(
        of_all(&|project| {
            moved(project, "");
            fs::remove_file(project.at("w/.git")).unwrap();
            symlink("../elsewhere", project.at("w/.git")).unwrap();
        }),
        never,
        "a link"
    );
    assert_eq!(
        of_all(&|project| {
            fs::rename(project.at("w/.git"), project.at(".git")).unwrap();
        }),
        outside_asks,
        "the repository of a folder above"
    );
    let submodules = of_all(&|project| fs::write(project.at("w/.gitmodules"), "").unwrap());
    assert_eq!(submodules, [[true, true], [true, true], [false, false], [false, false]]);
    let modules = of_all(&|project| fs::create_dir(git(project, "modules")).unwrap());
    assert_eq!(modules, submodules);
}

#[test]
fn every_row_of_reads_has_one_of_known_options() {
    for row in table::ROWS {
        let known = known::rows().find(|known| known.name() == row.name);
        let known = known.unwrap_or_else(|| panic!("{}", row.name));
        for option in row.texts.iter().flat_map(|text| text.split(' ')) {
            let is_known = known.takes_value(option);
            assert!(is_known || row.name.starts_with("git "), "{} {option} takes no value", row.name);
            assert!(!lists(row.without, option), "{} {option}", row.name);
        }
    }
    let page = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/security.md")).unwrap();
    let part = page.split("Commands that only read").nth(1).unwrap();
    for row in table::ROWS {
        let name = row.name.strip_prefix("git ").unwrap_or(row.name);
        assert!(part.contains(&format!("`{name}`")), "{} is not on the page on security", row.name);
    }
}
