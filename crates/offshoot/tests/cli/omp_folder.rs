//! oh-my-pi's own folder: asked for once, used after pi's, and never written.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use offshoot_agent::provider::Api;
use offshoot_agent::testing::script::Reply;
use serde_json::json;

use crate::agent::Talk;
use crate::pi_folder::stamps;
use crate::terminal::Terminal;

/// oh-my-pi's settings.
const CONFIG: &str = "# mine
theme:
  dark: night
  light: paper
modelRoles:
  default: mine/o1:low
compaction: {keepRecentTokens: 12345, methodOrder: [soft]}
skills: {ignoredSkills: [ignored]}
tools: {approvalMode: write}
shellPath: /bin/other
statusLine: {preset: full}
";

/// A home in which somebody works with oh-my-pi. offshoot has no model of its own.
fn with_omp(replies: impl IntoIterator<Item = Reply>) -> (Talk, PathBuf) {
    let talk = Talk::new(replies);
    let url = talk.server.base_url(Api::Anthropic);
    talk.data("models.json", &json!({"providers": {}}));
    talk.data("settings.json", &json!({}));
    let omp = talk.world.home().join(".omp/agent");
    let models = format!(
        "# mine\nproviders:\n  mine: &mine\n    baseUrl: {url}\n    api: anthropic-messages\n    apiKey: sk-$of-omp-0123456789\n    models:\n\
        \x20     - id: o1\n        contextWindow: 200000\n        maxTokens: 8000\n        reasoning: true\n\
        \x20       thinking: {{mode: budget, efforts: [low, high]}}\n"
    );
    for (name, text) in [
        ("models.yml", models.as_str()),
        ("commands/rev.md", "Review $1 and $@[2] as in omp."),
        ("commands/plain.md", "Plain."),
        ("prompts/ask.md", "Ask {{arguments}}."),
        ("prompts/broken.md", "---\na: b: c\n---\nx"),
        ("skills/count/SKILL.md", "---\nname: count\ndescription: Counts in omp.\n---\nCount.\n"),
        ("skills/deep/er/SKILL.md", "---\nname: deeper\ndescription: Too deep for omp.\n---\nx\n"),
        ("skills/lone.md", "---\nname: lone\ndescription: No skill in omp.\n---\nx\n"),
        ("themes/night.json", "{\"name\": \"night\"}"),
        ("RULES.md", "Always be kind."),
        ("rules/rust.md", "---\ndescription: Rust code\nglobs: **/*.rs\n---\nNo unwrap."),
        ("rules/tabs.mdc", "---\nalwaysApply: true\n---\nUse tabs."),
        ("rules/other.md", "---\nalwaysApply: true\nagents: [reviewer]\n---\nFor another agent."),
        ("AGENTS.md", "Words of omp's AGENTS.md."),
        ("config.yml", CONFIG),
        ("keybindings.yml", "app.clear: alt+c\n"),
        ("APPEND_SYSTEM.md", "Appended by omp."),
        ("managed-skills/learnt/SKILL.md", "---\nname: learnt\ndescription: Learnt in omp.\n---\nx\n"),
        ("skills/ignored/SKILL.md", "---\nname: ignored\ndescription: Ignored in omp.\n---\nx\n"),
        ("mcp.json", "{}"),
    ] {
        put(&omp.join(name), text);
    }
    let rows = r#"INSERT INTO auth_credentials (provider, credential_type, data) VALUES
        ('mine', 'api_key', '{"key":"sk-of-db-0123456789"}'), ('anthropic', 'oauth', '{"access":"secret-token","refresh":"r"}'),
        ('nobody', 'api_key', '{"key":"x"}')"#;
    let database = rusqlite::Connection::open(omp.join("agent.db")).unwrap();
    let table = "CREATE TABLE auth_credentials (id INTEGER PRIMARY KEY, provider TEXT, credential_type TEXT, data TEXT, disabled_cause TEXT)";
    database.execute_batch(&format!("PRAGMA journal_mode=wal; {table}; {rows}")).unwrap();
    database.close().unwrap();
    fs::set_permissions(omp.join("agent.db"), fs::Permissions::from_mode(0o600)).unwrap();
    talk.was_started_before();
    (talk, omp)
}

fn put(path: &std::path::Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

#[test]
fn it_counts_only_after_the_user_said_so_and_is_never_written() {
    let replies = ["Reviewed.", "Yes.", "Asked.", "Own."].map(Reply::text);
    let (talk, omp) = with_omp(replies);
    let before = stamps(&omp);
    let told = talk.run(&["-p", "/rev x"]);
    assert!(told.contains("no provider has a key"), "nobody was asked yet: {told}");
    assert!(
        told.contains(".omp/agent does not count yet: `offshoot` on a terminal asks about it, or set ompFolder"),
        "{told}"
    );
    insta::assert_snapshot!(
        talk.run(&["doctor"]).lines().skip_while(|line| !line.contains("ompFolder")).collect::<Vec<_>>().join("\n"), @"
        [HOME]/.omp/agent  does not count yet: the first conversation asks (omp's folder, ompFolder)
          keys of mine
          models.yml with mine
          2 prompt templates
          2 commands
          3 skills
          4 rules
          1 theme
          settings: theme.dark, modelRoles.default, compaction.keepRecentTokens, skills.ignoredSkills, tools.approvalMode
          key bindings, if you have none
          AGENTS.md, if you have none
          APPEND_SYSTEM.md, if you have none
          not: logins, which omp alone may renew: anthropic
          not: keys of providers without a model here: nobody
          not: settings that name a program: shellPath
          not: settings that offshoot does not have: compaction.methodOrder
          not: settings about omp's own looks: statusLine
          not: the setting theme.light names the theme paper, which is not here
          not: mcp.json: the setting mcp.import adds its MCP servers
        ");

    let mut terminal = Terminal::offshoot(&talk, &[], (80, 30));
    terminal.until_text("Use the files of omp in ~/.omp/agent?").until_text("such as 1y 2y:").send("y\n");
    terminal.until_text("o1").until_idle().send("/rev main.rs a b\r");
    terminal.until_text("Reviewed.").until_idle().send("\x04");
    assert!(terminal.ended());
    let request = talk.server.seen().pop().unwrap();
    let listed = format!("- rust (**/*.rs): Rust code [{}]", omp.join("rules/rust.md").display());
    for part in [
        "Review main.rs and a b as in omp.",
        "Counts in omp.",
        "Learnt in omp.",
        "Words of omp's AGENTS.md.",
        "Appended by omp.",
        "Always be kind.",
        "Use tabs.",
        &listed,
    ] {
        assert!(request.body.contains(part), "{part}: {}", request.body);
    }
    for part in ["Too deep", "No skill in omp", "Ignored in omp", "No unwrap", "another agent"] {
        assert!(!request.body.contains(part), "{part}: {}", request.body);
    }
    assert!(format!("{:?}", request.headers).contains("sk-of-db-0123456789"), "the key of its database");
    assert!(request.body.contains("\"budget_tokens\":2048"), "the level of its model: {}", request.body);

    let told = talk.run(&["-p", "/plain a b"]);
    assert!(talk.server.seen().pop().unwrap().body.contains(r"Plain.\n\na b"));
    assert!(told.contains("broken.md:2"), "{told}");
    talk.run(&["-p", "/ask it"]);
    assert!(talk.server.seen().pop().unwrap().body.contains("Ask it."));

    // Both offshoot's and pi's come first, silently.
    talk.data("settings.json", &json!({"piFolder": "on", "ompFolder": "on"}));
    let pi = talk.world.home().join(".pi/agent");
    put(&pi.join("prompts/rev.md"), "pi's own $1.");
    put(&pi.join("AGENTS.md"), "pi's context.");
    let told = talk.run(&["-p", "/rev main.rs"]);
    let request = talk.server.seen().pop().unwrap().body;
    assert!(request.contains("pi's own main.rs.") && request.contains("pi's context."), "{request}");
    assert!(!request.contains("Words of omp") && !told.contains("rev.md"), "{told}");
    assert!(stamps(&omp) == before, "not one byte, mode or time of it changed");
    talk.no_problems();
}

/// Keys that others may read are reported and not used, and neither are those of a file that is no database.
#[test]
fn keys_of_its_database_may_be_refused() {
    let (talk, omp) = with_omp(["One.", "Two."].map(Reply::text));
    talk.data("settings.json", &json!({"ompFolder": "on"}));
    let said = talk.run(&["-p", "hi"]);
    assert!(!said.contains("agent.db"), "{said}");
    fs::set_permissions(omp.join("agent.db"), fs::Permissions::from_mode(0o644)).unwrap();
    let said = talk.run(&["-p", "hi"]);
    assert!(said.contains("agent.db: others may read it (mode 644)"), "{said}");
    let headers = format!("{:?}", talk.server.seen().pop().unwrap().headers);
    assert!(
        headers.contains("sk-$of-omp-0123456789"),
        "the key of models.yml, in which a dollar sign is one: {headers}"
    );
    fs::write(omp.join("agent.db"), "no database").unwrap();
    assert!(talk.run(&["models"]).contains("agent.db: its keys are not used: "));
    talk.no_problems();
}

/// A project comes from anybody.
#[test]
fn a_projects_folder_counts_only_where_it_is_trusted() {
    let (talk, _) = with_omp(["One.", "Two."].map(Reply::text));
    talk.data("settings.json", &json!({"ompFolder": "on"}));
    let project = talk.world.home().join("work/.omp");
    put(&project.join("AGENTS.md"), "Words of the project.");
    put(&project.join("skills/theirs/SKILL.md"), "---\nname: theirs\ndescription: Of the project.\n---\nx\n");
    put(&project.join("commands/go.md"), "Go $1.");
    put(
        &project.join("config.yml"),
        "modelRoles: {default: mine/o1:off}\ntools: {approvalMode: always-ask}\nextensions: [loud.mjs]\n",
    );
    put(
        &talk.world.home().join("work/loud.mjs"),
        "export default (pi) => { pi.on('session_start', (event, ctx) => ctx.ui.notify('loud')); };",
    );
    let said = talk.run(&["-p", "/go x"]);
    let request = talk.server.seen().pop().unwrap().body;
    assert!(!request.contains("of the project") && !request.contains("Of the project"), "{request}");
    for name in ["skills", "commands", "config.yml"] {
        assert!(said.contains(&format!(".omp/{name} is not used")), "{said}");
    }
    assert!(request.contains("\"budget_tokens\":2048"), "{request}");
    let said = talk.run(&["--trust", "-p", "/go x"]);
    let request = talk.server.seen().pop().unwrap().body;
    assert!(!request.contains("budget_tokens"), "{request}");
    assert!(said.contains("loud"), "{said}");
    for part in ["Words of the project.", "Of the project.", "Go x."] {
        assert!(request.contains(part), "{part}: {request}");
    }
    talk.no_problems();
}

/// Settings of a peer may name a model for which there is no key here, or no model at all, and are no reason not to start.
#[test]
fn settings_that_do_not_fit_do_not_stop_the_start() {
    let (talk, omp) = with_omp(["One.", "Two.", "Three."].map(Reply::text));
    talk.data("settings.json", &json!({"ompFolder": "on"}));
    put(&omp.join("config.yml"), "modelRoles: {default: anthropic/claude-opus-4-5}\n");
    let said = talk.run(&["-p", "hi"]);
    assert!(said.contains("One.") && said.contains("anthropic has no key here"), "{said}");
    put(&omp.join("config.yml"), "modelRoles: {default: nobody/nothing}\n");
    let said = talk.run(&["-p", "hi"]);
    assert!(said.contains("Two.") && said.contains("the settings of omp are not used"), "{said}");
    put(&omp.join("config.yml"), "modelRoles: [\n");
    let said = talk.run(&["-p", "hi"]);
    assert!(said.contains("Three."), "{said}");
    assert!(talk.run(&["doctor"]).contains("not: [HOME]/.omp/agent/config.yml:2: "), "{said}");
    talk.no_problems();
}

/// A file with a fault is reported with its line, and nothing of it counts.
#[test]
fn a_damaged_file_of_models_is_reported_with_its_line() {
    let (talk, omp) = with_omp([]);
    talk.data("settings.json", &json!({"ompFolder": "on"}));
    for (text, why) in [
        ("providers:\n  mine: a: b\n", "models.yml:2: "),
        ("providers:\n  mine:\n    models:\n      - id: [1]\n", "models.yml:4: "),
        ("- 1\n", "models.yml:1: "),
    ] {
        put(&omp.join("models.yml"), text);
        let told = talk.run(&["-p", "hi"]);
        assert!(told.contains(why) && told.contains("nothing of the file is used"), "{told}");
    }
    talk.no_problems();
}

/// A rule with a condition stops the answer that runs into it, once on each branch, and also after the session is opened again.
#[test]
fn a_rule_stops_the_answer_that_runs_into_it() {
    let replies =
        ["I use the forbidden  word.", "Better.", "The forbidden word again.", "Sure.", "Fine."].map(Reply::text);
    let (talk, omp) = with_omp(replies);
    talk.data("settings.json", &json!({"ompFolder": "on"}));
    put(&omp.join("rules/nofoo.md"), "---\ncondition: \"forbidden\\\\s+word\"\n---\nNever say it.");
    put(&omp.join("rules/bad.md"), "---\ncondition: \"(\"\n---\nNever.");
    let said = talk.run(&["-p", "go"]);
    assert!(said.contains("Better.") && said.contains("rules/bad.md: the condition `(` is not used"), "{said}");
    let request = talk.server.seen().pop().unwrap().body;
    for part in ["system-interrupt", r#"rule=\"nofoo\" path=\"~/.omp/agent/rules/nofoo.md\""#, "Never say it."] {
        assert!(request.contains(part), "{part}: {request}");
    }
    assert!(!request.contains("I use the forbidden"), "the model does not see what it wrote: {request}");
    let file = talk.files().pop().unwrap();
    let text = fs::read_to_string(&file).unwrap();
    for part in [
        r#""stopReason":"aborted""#,
        "TTSR matched rule: nofoo",
        r#""customType":"ttsr-injection""#,
        r#""type":"ttsr_injection""#,
        r#""injectedRules":["nofoo"]"#,
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(talk.run(&["-c", "-p", "again"]).contains("The forbidden word again."), "once on a branch");
    assert_eq!(talk.server.seen().len(), 3);
    talk.no_problems();
}

/// A rule that stops nothing is before the result of the call that fits it, or follows the answer.
#[test]
fn a_rule_that_stops_nothing_follows() {
    let write = |name: &str, words: &str| Reply::call("write", name, json!({"path": name, "content": words}));
    let replies = [
        write("a.rs", "let x = Box::leak(y);"),
        Reply::text("The hushed word."),
        Reply::text("Better."),
        write("b.rs", "Box::leak(z)"),
        Reply::text("End."),
    ];
    let (talk, omp) = with_omp(replies);
    talk.data("settings.json", &json!({"ompFolder": "on"}));
    put(&omp.join("config.yml"), "ttsr: {interruptMode: never, disabledRules: [off]}\n");
    put(&omp.join("rules/hush.md"), "---\ncondition: hushed\n---\nHush.");
    put(&omp.join("rules/off.md"), "---\ncondition: word\n---\nOff.");
    let said = talk.run(&["--trust", "--approval", "auto", "-p", "go"]);
    assert!(said.contains("Better."), "{said}");
    let [_, after_call, after_text] = &talk.server.seen()[..] else { panic!("{said}") };
    let reminder = r#"<system-reminder reason=\"rule_violation\" rule=\"rs-box-leak\" path=\"oh-my-pi/rs-box-leak\">"#;
    assert!(after_call.body.contains(reminder), "{}", after_call.body);
    for part in ["The hushed word.", r#"rule=\"hush\""#, "Hush."] {
        assert!(after_text.body.contains(part) && !after_call.body.contains(part), "{part}: {}", after_text.body);
    }
    assert!(!after_text.body.contains("Off."), "{}", after_text.body);
    let text = fs::read_to_string(talk.files().pop().unwrap()).unwrap();
    let order = [
        r#""injectedRules":["rs-box-leak"]"#,
        r#""role":"toolResult""#,
        "The hushed word.",
        r#""injectedRules":["hush"]"#,
        "Better.",
    ];
    let at: Vec<usize> = order.iter().map(|part| text.find(part).unwrap_or_else(|| panic!("{part}: {text}"))).collect();
    assert!(at.is_sorted() && !text.contains("aborted"), "{text}");
    talk.run(&["--trust", "--approval", "auto", "-c", "-p", "again"]);
    let request = talk.server.seen().pop().unwrap().body;
    assert_eq!(request.matches("<system-reminder").count(), 2, "once on a branch: {request}");
    talk.no_problems();
}
