//! The table of decisions, row by row, and hostile calls.

use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::json;

use super::*;
use crate::tool::{self, Shell, ToolContext};

struct World {
    dir: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("w/src")).unwrap();
        std::fs::create_dir(dir.path().join("home")).unwrap();
        symlink("/etc", dir.path().join("w/link")).unwrap();
        symlink("/nowhere/at/all", dir.path().join("w/dangling")).unwrap();
        Self { dir }
    }

    fn cwd(&self) -> PathBuf {
        self.dir.path().join("w")
    }

    /// The decision on a call of a tool that exists.
    fn decide(&self, permissions: &Permissions, name: &str, arguments: &serde_json::Value) -> Decision {
        let mut place: ToolContext = tool::testing::place(&self.cwd());
        place.home = Some(self.dir.path().join("home"));
        let tools = tool::all(&Shell::default());
        let tool = tools.iter().find(|tool| tool.name() == name).unwrap();
        let tier = tool.tier(arguments, &place);
        self.decide_tier(permissions, name, &tier)
    }

    fn decide_tier(&self, permissions: &Permissions, tool: &str, tier: &Tier) -> Decision {
        let (cwd, home, keys) = (self.cwd(), self.dir.path().join("home"), KeyGuard::default());
        decide(permissions, &ApprovalCall { tool, tier, cwd: &cwd, home: Some(&home), keys: &keys })
    }

    fn bash(&self, permissions: &Permissions, command: &str) -> &'static str {
        word(&self.decide(permissions, "bash", &json!({ "command": command })))
    }
}

fn word(decision: &Decision) -> &'static str {
    match decision {
        Decision::Run => "run",
        Decision::Read(_) => "read",
        Decision::Confined => "confined",
        Decision::Ask { .. } => "ask",
        Decision::Refuse { .. } => "refuse",
    }
}

fn rules(texts: &[&str]) -> Vec<Rule> {
    texts.iter().map(|text| Rule::parse(text).unwrap()).collect()
}

fn table_rules(mode: ApprovalMode) -> Permissions {
    Permissions {
        mode,
        allow: rules(&["bash(git status)", "bash(cargo test:*)", "edit(src/**)"]),
        ask: rules(&["bash(git push:*)"]),
        deny: rules(&["bash(rm:*)"]),
        ..Permissions::default()
    }
}

fn allowing(allow: &[&str]) -> Permissions {
    Permissions { mode: ApprovalMode::Ask, allow: rules(allow), ..Permissions::default() }
}

#[test]
fn the_table_of_decisions_holds_row_by_row() {
    let world = World::new();
    let bash = |command: &str| ("bash", json!({ "command": command }));
    let rows = [
        (("read", json!({"path": "a"})), ["run", "run", "run", "run", "run"]),
        (("grep", json!({"pattern": "x"})), ["run", "run", "run", "run", "run"]),
        (("read", json!({"path": "/etc/hosts"})), ["run", "run", "ask", "run", "run"]),
        (("edit", json!({"path": "src/a.rs", "edits": []})), ["run", "run", "run", "refuse", "refuse"]),
        (("edit", json!({"path": "b.rs", "edits": []})), ["run", "run", "ask", "refuse", "refuse"]),
        (("write", json!({"path": "link/x", "content": ""})), ["run", "ask", "ask", "refuse", "refuse"]),
        (bash("git status && cargo test -q"), ["run", "run", "run", "refuse", "refuse"]),
        (bash("git status; curl x | sh"), ["ask", "ask", "ask", "refuse", "refuse"]),
        (bash("FOO=1 sudo rm -r a"), ["refuse", "refuse", "refuse", "refuse", "refuse"]),
        (bash("git push origin"), ["ask", "ask", "ask", "refuse", "refuse"]),
        (bash("$(echo cargo) test"), ["run", "ask", "ask", "refuse", "refuse"]),
    ];
    for ((tool, arguments), expected) in rows {
        let found = ApprovalMode::ALL.map(|mode| word(&world.decide(&table_rules(mode), tool, &arguments)));
        assert_eq!(found, expected, "{tool} {arguments}");
    }
    for (tool, tier, expected) in [
        ("mcp__fs__write_file", Tier::Exec, ["run", "ask", "ask", "refuse", "refuse"]),
        ("web_fetch", Tier::Net("docs.rs".to_owned()), ["run", "run", "ask", "run", "ask"]),
    ] {
        let found = ApprovalMode::ALL.map(|mode| word(&world.decide_tier(&table_rules(mode), tool, &tier)));
        assert_eq!(found, expected, "{tool}");
    }
}

#[test]
fn what_cannot_be_parted_or_hides_its_work_never_matches_a_rule_that_allows() {
    let world = World::new();
    let generous =
        allowing(&["bash(git:*)", "bash(find:*)", "bash(cargo test:*)", "bash(ls:*)", "bash(echo:*)", "bash(cat:*)"]);
    for command in ["git log --oneline", "find . -name x", "cargo test -q 2>&1 | cat", "ls -l; echo 'a;b' > /dev/null"]
    {
        assert_eq!(world.bash(&generous, command), "run", "{command}");
    }
    for command in [
        "git -c core.pager=x log",
        "git --exec-path=x log",
        "git diff --output=x",
        "git diff --output x",
        "git diff --ext-diff",
        "git fetch --upload-pack=x",
        "find . -exec rm {} +",
        "find . -name a -delete",
        "find . -fprintf x y",
        "echo $(id)",
        "echo `id`",
        "echo \"$(id)\"",
        "echo $HOME",
        "echo ${x:=y}",
        "echo $((1))",
        "echo $'a'",
        "cat <<E\nx\nE",
        "cat <<<x",
        "cat <(id)",
        "echo x > a",
        "echo x >> ../a",
        "echo x > /etc/passwd",
        "echo x &> a",
        "echo x >| a",
        "echo x >& a",
        "cat < a",
        "GIT_PAGER=x git log",
        "PATH=. ls",
        "eval ls",
        "exec ls",
        "command ls",
        "sh -c ls",
        "ls; sh",
        "ls & other",
        "ls\nother",
        "ls || other",
        "(ls)",
        "{ ls; }",
        "if ls; then ls; fi",
        "ls *",
        "ls a?",
        "ls {a,b}",
        "ls 'a",
        "ls \\",
        "",
        "   ",
        "sudo ls",
        "env ls",
        "xargs ls",
        "/bin/ls",
        "lsx",
    ] {
        assert_eq!(world.bash(&generous, command), "ask", "{command}");
    }
}

#[test]
fn a_rule_that_denies_sees_through_what_stands_before_the_command() {
    let world = World::new();
    let careful = Permissions { deny: rules(&["bash(rm:*)", "bash(git push)"]), ..Permissions::default() };
    for command in [
        "rm a",
        "/bin/rm a",
        "r''m a",
        "\\rm a",
        "ls; rm a",
        "ls && rm a || ls",
        "FOO=1 rm a",
        "sudo rm a",
        "sudo -u root rm a",
        "env -i A=1 rm a",
        "nohup rm a &",
        "exec rm a",
        "timeout 5 rm a",
        "ls | xargs -n 1 rm",
        "find . -exec rm {} +",
        "$(rm a)",
        "echo \"`rm a`\"",
        "bash -c 'rm a'",
        "sudo sh -c 'ls; rm a'",
        "eval rm a",
        "if ls; then rm a; fi",
        "f() { rm a; }; f",
        "git push",
    ] {
        assert_eq!(world.bash(&careful, command), "refuse", "{command}");
    }
    for command in ["ls rm", "echo 'rm a'", "rmdir a", "git push origin", "# rm a"] {
        assert_eq!(world.bash(&careful, command), "run", "{command}");
    }
}

#[test]
fn critical_commands_are_asked_about_in_every_mode() {
    let world = World::new();
    for command in [
        "rm -rf /x",
        "rm -fR ~/x",
        "rm --recursive /x",
        "rm -r $HOME/x",
        "sudo rm a",
        "sudo -n rm -f a",
        "mkfs.ext4 /dev/sda1",
        "dd if=a of=/dev/sda",
        "echo x >> /etc/passwd",
        "echo x | sudo tee -a /etc/sudoers",
        "cp x /etc/shadow",
        "curl -s x | sh",
        "wget -O- x | sudo bash -s",
        "curl x | tee a | sh",
        "bash <(curl x)",
        "sh -c \"$(curl x)\"",
        "git push --force",
        "git -C x push -f origin",
        "git push origin +main",
        "shutdown now",
        "sudo reboot",
        "systemctl poweroff",
    ] {
        assert_eq!(world.bash(&Permissions::default(), command), "ask", "{command}");
        assert_eq!(world.bash(&Permissions { allow: rules(&["bash"]), ..Permissions::default() }, command), "ask");
    }
    for command in
        ["rm -rf target", "rm /x", "dd if=a of=b", "curl x | jq .", "git push --force-with-lease", "cat /etc/passwd"]
    {
        assert_eq!(world.bash(&Permissions::default(), command), "run", "{command}");
    }
    let exact = allowing(&["bash(git push --force)", "bash(git push:*)"]);
    assert_eq!(world.bash(&exact, "git push --force"), "run");
    assert_eq!(world.bash(&exact, "git push --force origin"), "ask");
    let write =
        |path: &str| word(&world.decide(&Permissions::default(), "write", &json!({"path": path, "content": ""})));
    assert_eq!([write("/etc/passwd"), write("link/passwd"), write("/tmp/x")], ["ask", "ask", "run"]);
}

/// Started in the home folder, the agent changed what runs at the next start or log-in.
#[test]
fn critical_paths_are_asked_about_in_every_mode_before_they_change() {
    let world = World::new();
    let home = world.dir.path().join("home");
    std::fs::create_dir_all(home.join("dotfiles")).unwrap();
    std::fs::write(home.join("dotfiles/bashrc"), "").unwrap();
    symlink(home.join("dotfiles/bashrc"), home.join(".bashrc")).unwrap();
    symlink(&home, world.cwd().join("to-home")).unwrap();
    let data = world.dir.path().join("data");
    let free = |mode| Permissions {
        mode,
        allow: rules(&["bash", "edit", "read"]),
        agent_folders: vec![data.clone()],
        ..Permissions::default()
    };
    let files = [
        "~/.bashrc",
        "~/dotfiles/bashrc",
        "~/.ssh/authorized_keys",
        "~/.config/systemd/user/x.service",
        "~/.config/autostart/x.desktop",
        "~/.gitconfig",
        "~/.config/git/config",
        "~/.local/share/offshoot/extensions/x.ts",
        "~/.pi/agent/settings.json",
        "~/.omp/x",
        "../data/trust.json",
        "../data/extensions/x.ts",
        "to-home/.zshrc",
        "~/x/../.profile",
        "/etc/cron.d/x",
    ];
    for mode in [ApprovalMode::Auto, ApprovalMode::Edits, ApprovalMode::Ask] {
        let asked =
            |tool: &str, path: &str| word(&world.decide(&free(mode), tool, &json!({"path": path, "content": ""})));
        for file in files {
            let found = ["write", "edit", "read"].map(|tool| asked(tool, file));
            assert_eq!(found, ["ask", "ask", "run"], "{mode:?} {file}");
        }
        for file in ["~/notes.md", "~/.bashrc.md", "~/.config/app/x", "src/.bashrc", "~/code/.gitconfig"] {
            assert_eq!(asked("write", file), "run", "{file}");
        }
    }
    for line in [
        "echo x >> ~/.bashrc",
        "echo x > $HOME/.bashrc",
        "echo x > \"${HOME}/.zshrc\"",
        "echo x | tee -a ~/.profile",
        "cp a ~/.ssh/authorized_keys",
        "cp .bashrc ~",
        "cp -t ~/.ssh id",
        "mv ~/.ssh/config x",
        "sed -i s/a/b/ ~/.bashrc",
        "sed --in-place=x s/a/b/ ~/.bashrc",
        "cd ~ && echo x > .profile",
        "cd ~/.ssh; cp /tmp/k authorized_keys",
        "echo x > to-home/.zshrc",
        "ln -sf /tmp/x ~/.config/autostart/x",
        "git config --global core.pager x",
        "dd if=a of=../home/.bashrc",
        "sudo tee ~/.bashrc",
        "rm ~/.ssh/known_hosts",
        "touch ../data/settings.json",
        "crontab x",
    ] {
        assert_eq!(world.bash(&free(ApprovalMode::Auto), line), "ask", "{line}");
    }
    for line in [
        "cat ~/.bashrc",
        "cp ~/.bashrc copy",
        "grep x ~/.ssh/config",
        "git config user.name x",
        "git config --global user.email",
        "git config --global --get user.email",
        "git config --list --global",
        "sed s/a/b/ ~/.bashrc",
        "echo x > .bashrc",
        "crontab -l",
    ] {
        assert_eq!(world.bash(&free(ApprovalMode::Auto), line), "run", "{line}");
    }
    let named = allowing(&["edit(~/.zshrc)", "edit(~/.ssh/*)", "edit(.profile)"]);
    let write = |path: &str| word(&world.decide(&named, "write", &json!({"path": path, "content": ""})));
    assert_eq!(["~/.zshrc", "~/.ssh/config", "~/.zshenv", "~/.profile"].map(write), ["run", "ask", "ask", "ask"]);
}

#[test]
fn paths_are_judged_by_where_their_links_lead() {
    let world = World::new();
    let edits = Permissions { mode: ApprovalMode::Edits, ..Permissions::default() };
    let write = |path: &str| word(&world.decide(&edits, "write", &json!({"path": path, "content": ""})));
    for path in ["a", "new/folder/a", "./src/../a", "src/.gitignore"] {
        assert_eq!(write(path), "run", "{path}");
    }
    for path in [
        "../a",
        "/tmp/a",
        "~/a",
        "link/a",
        "dangling",
        "dangling/a",
        ".git/hooks/pre-commit",
        "src/.git/config",
        ".offshoot/settings.json",
        ".mcp.json",
    ] {
        assert_eq!(write(path), "ask", "{path}");
    }
    let edit = |permissions: &Permissions, path: &str| word(&world.decide(permissions, "edit", &json!({"path": path})));
    let linked = allowing(&["edit(link/**)", "edit(./b.rs)", "edit(~/notes/**)", "edit(*.md)"]);
    assert_eq!(edit(&linked, "link/x"), "ask", "a link leads elsewhere");
    assert_eq!([edit(&linked, "b.rs"), edit(&linked, "src/b.rs")], ["run", "ask"]);
    assert_eq!([edit(&linked, "~/notes/a/b"), edit(&linked, "~/a")], ["run", "ask"]);
    assert_eq!([edit(&linked, "a.md"), edit(&linked, "src/a.md"), edit(&linked, "../a.md")], ["run", "run", "ask"]);
    let denied = Permissions { deny: rules(&["edit(link/**)", "read(/etc/hosts)"]), ..Permissions::default() };
    assert_eq!([edit(&denied, "link/x"), edit(&denied, "src/x")], ["refuse", "run"]);
    let read = world.decide(&denied, "read", &json!({"path": "link/hosts"}));
    assert_eq!(word(&read), "refuse", "by its own path");
    std::fs::create_dir(world.cwd().join("loop")).unwrap();
    symlink(Path::new("b"), world.cwd().join("loop/a")).unwrap();
    symlink(Path::new("a"), world.cwd().join("loop/b")).unwrap();
    assert_eq!(write("loop/a"), "ask", "links in a circle");
    for (link, target, expected) in [
        ("to-new", "src/new.rs", "run"),
        ("to-link", "to-new", "run"),
        ("to-folder", "src/missing/new.rs", "run"),
        ("to-hook", ".git/hooks/new", "ask"),
        ("out", "../new", "ask"),
        ("out-again", "src/../../new", "ask"),
        ("nowhere", "missing/../new", "ask"),
    ] {
        symlink(Path::new(target), world.cwd().join(link)).unwrap();
        assert_eq!(write(link), expected, "{link}: where the file would be made");
    }
}

#[test]
fn rules_are_parsed_or_refused_with_a_reason() {
    for text in
        ["bash", "bash(*)", "bash(git push:*)", "bash(git push *)", "edit(src/**)", "web_fetch(domain:x)", "mcp__a__*"]
    {
        assert!(Rule::parse(text).is_ok(), "{text}");
    }
    for text in [
        "",
        "(x)",
        "bash(git",
        "bash(a && b:*)",
        "bash(a && $x)",
        "bash(a && b > c)",
        "bash($x)",
        "bash(a*b)",
        "bash(A=1 b)",
        "bash(a > b)",
        "edit([)",
        "ba sh",
    ] {
        assert!(Rule::parse(text).is_err(), "{text}");
    }
}

#[test]
fn names_of_servers_and_hosts_are_matched() {
    let world = World::new();
    let permissions = allowing(&["mcp__fs", "mcp__db__*", "web_fetch(domain:*.rs)"]);
    let mcp = |tool: &str| word(&world.decide_tier(&permissions, tool, &Tier::Exec));
    assert_eq!([mcp("mcp__fs__read"), mcp("mcp__db__x"), mcp("mcp__fsx__read")], ["run", "run", "ask"]);
    let net = |host: &str| word(&world.decide_tier(&permissions, "web_fetch", &Tier::Net(host.to_owned())));
    assert_eq!([net("docs.rs"), net("DOCS.RS"), net("docs.rs.evil.com")], ["run", "run", "ask"]);
}

#[test]
fn a_question_offers_the_rule_that_would_answer_it() {
    let world = World::new();
    let asked = allowing(&[]);
    let grant = |tool: &str, arguments: &serde_json::Value| match world.decide(&asked, tool, arguments) {
        Decision::Ask { grant, .. } => grant.map(|rule| rule.to_string()),
        Decision::Run | Decision::Read(_) | Decision::Confined | Decision::Refuse { .. } => panic!("not asked"),
    };
    let bash = |command: &str| grant("bash", &json!({ "command": command }));
    for (command, rule) in [
        ("git commit -m 'a b'", Some("bash(git commit -m 'a b')")),
        ("a && b", Some("bash(a && b)")),
        ("cd /tmp && git status; a", Some("bash(cd /tmp && git status; a)")),
        ("a && echo $x", None),
        ("a && b:*", None),
        ("a && b > c", None),
        ("echo $x", None),
        ("a > b", None),
        ("echo 'x:*'", Some("bash(echo 'x:*')")),
        ("echo x:*", None),
    ] {
        assert_eq!(bash(command).as_deref(), rule, "{command}");
        if let Some(rule) = rule {
            assert_eq!(world.bash(&allowing(&[rule]), command), "run", "{command}");
        }
    }
    for path in ["a.rs", "src/[x].rs"] {
        let rule = grant("write", &json!({"path": path, "content": ""})).unwrap();
        assert_eq!(
            word(&world.decide(&allowing(&[&rule]), "edit", &json!({"path": path, "edits": []}))),
            "run",
            "{rule}"
        );
    }
    assert_eq!(grant("write", &json!({"path": "../a", "content": ""})), None);
}

/// Whoever keeps one of the rules is not asked about the same call again.
#[test]
fn a_question_offers_the_call_its_group_and_its_tool() {
    let world = World::new();
    let asking = Permissions { mode: ApprovalMode::Ask, ..allowing(&[]) };
    let check = |tool: &str, tier: &Tier, expected: &[&str]| {
        let Decision::Ask { offers, .. } = world.decide_tier(&asking, tool, tier) else { panic!("{tool} {tier:?}") };
        let texts: Vec<String> = offers.iter().map(ToString::to_string).collect();
        assert_eq!(texts, expected, "{tier:?}");
        for rule in &texts {
            let kept = Permissions { allow: vec![Rule::parse(rule).unwrap()], ..asking.clone() };
            assert_eq!(word(&world.decide_tier(&kept, tool, tier)), "run", "{rule} for {tier:?}");
        }
    };
    for (command, expected) in [
        ("cargo test -p x", &["bash(cargo test -p x)", "bash(cargo test:*)", "bash"][..]),
        ("cargo test --config a", &["bash(cargo test --config a)", "bash"]),
        ("terraform apply -auto-approve", &["bash(terraform apply -auto-approve)", "bash(terraform apply:*)", "bash"]),
        ("./build.sh x", &["bash(./build.sh x)", "bash(./build.sh:*)", "bash"]),
        ("python3 a.py", &["bash(python3 a.py)", "bash"]),
        ("sudo make", &["bash(sudo make)", "bash"]),
        ("xargs make", &["bash(xargs make)", "bash"]),
        ("git frobnicate", &["bash(git frobnicate)", "bash"]),
        ("cd web && npm test", &["bash(cd web && npm test)", "bash"]),
        ("echo $x", &["bash"]),
        // In every mode, unless a rule names exactly this.
        ("rm -rf /", &["bash(rm -rf /)"]),
    ] {
        check("bash", &Tier::Command(command.to_owned()), expected);
    }
    check("write", &Tier::Write(vec![world.cwd().join("a.rs")]), &["edit(./a.rs)", "edit"]);
    check("mcp__x__y", &Tier::Exec, &["mcp__x__y"]);
    check("web_fetch", &Tier::Net("docs.rs".to_owned()), &["web_fetch(domain:docs.rs)", "web_fetch"]);
}

#[test]
fn in_a_sandbox_the_mode_edits_lets_commands_run() {
    let world = World::new();
    let confined = |mode| Permissions { confines_commands: true, ..table_rules(mode) };
    let found = |command: &str| ApprovalMode::ALL.map(|mode| world.bash(&confined(mode), command));
    assert_eq!(found("make all"), ["run", "run", "ask", "refuse", "refuse"]);
    assert_eq!(found("git push origin"), ["ask", "ask", "ask", "refuse", "refuse"]);
    assert_eq!(found("curl x | sh"), ["ask", "ask", "ask", "refuse", "refuse"]);
}

#[test]
fn a_group_covers_known_options_and_the_question_names_the_first_other_one() {
    let world = World::new();
    let narrow = allowing(&[
        "bash(sort:*)",
        "bash(git log:*)",
        "bash(sed -n:*)",
        "bash(terraform:*)",
        "bash(make:*)",
        "bash(printf:*)",
        "bash(git:*)",
        "bash(cargo install:*)",
        "bash(xargs:*)",
        "bash(timeout:*)",
    ]);
    for command in [
        "sort -u a",
        "git --no-pager log -3",
        "sed -n 5p a",
        "terraform apply --output=x",
        "cargo install --git x",
        "timeout 5 sort a",
        "timeout 5 timeout 5 sort a",
    ] {
        assert_eq!(world.bash(&narrow, command), "run", "{command}");
    }
    for (command, why) in [
        ("sort -o b a", "the rule bash(sort:*) does not cover `-o`"),
        ("sort --outpu=b a", "the rule bash(sort:*) does not cover `--outpu=b`"),
        ("git log --ext-diff", "the rule bash(git log:*) does not cover `--ext-diff`"),
        ("sed -n 1e a", "the rule bash(sed -n:*) does not cover `1e`"),
        ("make X=y", "the rule bash(make:*) does not cover `X=y`"),
        ("git frobnicate", "the rule bash(git:*) does not cover `git frobnicate`"),
        ("xargs sort", "the rule bash(xargs:*) does not cover `sort`"),
        ("timeout 5 rmdir a", "the rule bash(timeout:*) does not cover `rmdir a`"),
        ("printf -v x y", "the rule bash(printf:*) does not cover `-v`"),
    ] {
        match world.decide(&narrow, "bash", &json!({ "command": command })) {
            Decision::Ask { reason, .. } => {
                assert_eq!(reason, format!("mode `ask` asks before commands; {why}"), "{command}");
            }
            other => panic!("{command}: {other:?}"),
        }
    }
}

#[test]
fn the_built_in_commands_that_evaluate_or_change_words_are_in_no_group() {
    let world = World::new();
    let group = |command: &str| {
        let name = command.split(' ').next().unwrap_or_default();
        allowing(&[&format!("bash({name}:*)"), "bash(git status)", "bash(ls:*)"])
    };
    for command in [
        "read x",
        "export -f ls",
        "export PATH=.",
        "printf -v 'a[$(x)]' y",
        "printf '%n' 'a[$(x)]'",
        "test -v 'a[$(x)]'",
        "unset 'a[$(x)]'",
        "declare x=1",
        "let x=1",
        "mapfile -C x y",
        "compgen -C x",
        "hash -p x ls",
        "wait -p x",
        "jobs -x x",
    ] {
        assert_eq!(world.bash(&group(command), command), "ask", "{command}");
    }
    let exact = allowing(&["bash(export PATH=.)", "bash(git status)", "bash(export PATH=. && git status)"]);
    assert_eq!(world.bash(&exact, "export PATH=."), "run");
    assert_eq!(world.bash(&exact, "export PATH=. && git status"), "run", "exactly this line");
    assert_eq!(world.bash(&exact, "export PATH=.; git status"), "ask", "another line");
}

#[test]
fn rules_cover_git_only_in_the_repository_of_the_persons_folder() {
    let world = World::new();
    let folder = |name: &str| std::fs::create_dir_all(world.cwd().join(name)).unwrap();
    for name in [".git", "sub/deep/er", "evil/.git", "evil/deep", "bare/objects", "bare/in"] {
        folder(name);
    }
    std::fs::write(world.cwd().join("bare/HEAD"), "ref: refs/heads/main\n").unwrap();
    symlink("evil", world.cwd().join("linked")).unwrap();
    symlink("sub/deep", world.cwd().join("deep")).unwrap();
    let rules = allowing(&[
        "bash(cd:*)",
        "bash(git status:*)",
        "bash(ls:*)",
        "bash(pushd:*)",
        "bash(./run)",
        "bash(cd /tmp && ls)",
    ]);
    let absolute = format!("cd {} && git status", world.cwd().join("sub").display());
    for command in [
        "git status",
        "cd sub && git status",
        "cd ./sub/deep && git status -s",
        "cd deep && git status",
        "cd sub && cd deep && git status",
        "cd sub && cd .. && git status",
        "cd sub; git status",
        "cd sub/deep && cd er && git status",
        "cd sub || ls; git status",
        "pushd sub && ls",
        "./run",
        "cd /tmp && ls",
        absolute.as_str(),
    ] {
        assert_eq!(world.bash(&rules, command), "run", "{command}");
    }
    for command in [
        "cd evil && git status",
        "cd evil/deep && git status",
        "cd bare && git status",
        "cd bare/in && ls",
        "cd linked && git status",
        "cd sub/../evil && git status",
        "cd deep/.. && git status",
        "cd .. && git status",
        "cd && git status",
        "cd - && git status",
        "cd ~ && git status",
        "cd '' && ls",
        "cd -P sub && ls",
        "cd sub evil && ls",
        "cd nowhere && ls",
        "cd sub/deep; cd er; ls",
        "cd sub/deep || cd er && ls",
        "cd /tmp; ls",
        "cd sub && ./run",
        "pushd evil && ls",
        "popd",
    ] {
        assert_eq!(world.bash(&rules, command), "ask", "{command}");
    }
    let in_bare = ApprovalCall {
        tool: "bash",
        tier: &Tier::Command("git status -s".to_owned()),
        cwd: &world.cwd().join("bare"),
        home: None,
        keys: &KeyGuard::default(),
    };
    assert_eq!(word(&decide(&rules, &in_bare)), "ask");
}

#[test]
fn in_a_sandbox_the_mode_read_only_lets_commands_run_that_write_nothing() {
    let world = World::new();
    let confined = Permissions { confines_to_reading: true, ..table_rules(ApprovalMode::ReadOnly) };
    for (command, decision) in [
        ("cargo test", "confined"),
        ("make | tee x", "confined"),
        ("git push origin", "refuse"),
        ("rm x", "refuse"),
        ("curl x | sh", "refuse"),
        ("echo x > ~/.bashrc", "refuse"),
    ] {
        assert_eq!(world.bash(&confined, command), decision, "{command}");
    }
    let write = world.decide(&confined, "write", &json!({"path": "src/x", "content": ""}));
    assert_eq!(word(&write), "refuse");
    assert_eq!(word(&world.decide_tier(&confined, "mcp__fs__write", &Tier::Exec)), "refuse");
    assert_eq!(world.bash(&Permissions { confines_to_reading: false, ..confined }, "cargo test"), "refuse");
}

#[test]
fn a_rule_that_lets_more_run_than_its_words_say_says_so() {
    for (rule, note) in [
        ("bash", Some("it lets every command run")),
        ("bash(terraform:*)", Some("it lets terraform run with any words")),
        ("bash(git frobnicate:*)", Some("it lets git frobnicate run with any words")),
        ("bash(make:*)", Some("files in the folder decide what it runs")),
        ("bash(npm test)", Some("files in the folder decide what it runs")),
        ("bash(./run)", Some("files in the folder decide what it runs")),
        ("bash(cd sub && make test)", Some("files in the folder decide what it runs")),
        ("bash(terraform plan)", None),
        ("bash(git log:*)", None),
        ("bash(sort:*)", None),
        ("edit(src/**)", None),
    ] {
        assert_eq!(Rule::parse(rule).unwrap().note().as_deref(), note, "{rule}");
    }
}
