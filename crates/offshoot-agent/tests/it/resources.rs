//! Skills and templates in real folders.

use std::fs;
use std::path::Path;

use offshoot_agent::resources::{ExpandError, ResourcePlaces, Resources, SystemTexts, TypedTexts, of_project};

fn write(root: &Path, file: &str, text: &str) {
    let file = root.join(file);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, text).unwrap();
}

fn skill(name: &str) -> String {
    format!("---\nname: {name}\ndescription: About {name} & <more>.\n---\nDo {name}.\n")
}

struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn root(&self) -> &Path {
        self.0.path()
    }

    fn places(&self) -> ResourcePlaces {
        ResourcePlaces {
            project: Some(self.root().join("repo/sub")),
            data: Some(self.root().join("data")),
            home: Some(self.root().join("home")),
            finds_templates: true,
            finds_skills: true,
            ..ResourcePlaces::default()
        }
    }

    /// Names of templates and skills, and the troubles, without the folder's path.
    fn found(&self, places: &ResourcePlaces) -> (String, String, Vec<String>) {
        let (Resources { templates, skills, .. }, troubles) = places.find();
        let names = |names: Vec<&str>| names.join(" ");
        let root = format!("{}/", self.root().display());
        (
            names(templates.iter().map(|template| template.about.name.as_str()).collect()),
            names(skills.iter().map(|skill| skill.about.name.as_str()).collect()),
            troubles.iter().map(|trouble| trouble.to_string().replace(&root, "")).collect(),
        )
    }
}

#[test]
fn the_innermost_place_comes_first_and_a_second_of_a_name_is_reported() {
    let place = Place::new();
    let root = place.root();
    fs::create_dir_all(root.join("repo/.git")).unwrap();
    for (file, name) in [
        ("repo/sub/.offshoot/skills/a/SKILL.md", "a"),
        ("repo/sub/.pi/skills/b/SKILL.md", "b"),
        ("repo/sub/.agents/skills/c/SKILL.md", "c"),
        ("repo/.agents/skills/d/SKILL.md", "d"),
        (".agents/skills/above/SKILL.md", "above"),
        ("data/skills/e/SKILL.md", "e"),
        ("data/skills/again/SKILL.md", "a"),
        ("home/.agents/skills/f/SKILL.md", "f"),
        ("given/SKILL.md", "g"),
    ] {
        write(root, file, &skill(name));
    }
    write(root, "repo/sub/.offshoot/prompts/one.md", "1");
    write(root, "repo/sub/.pi/commands/two.md", "2");
    write(root, "data/prompts/one.md", "of the user");
    write(root, "data/prompts/three.md", "3");
    write(root, "data/prompts/nested/no.md", "no");
    write(root, "data/prompts/.hidden.md", "no");
    write(root, "data/prompts/UPPER.MD", "no");
    let given = ResourcePlaces { skills: vec![root.join("given")], ..place.places() };
    let (templates, skills, troubles) = place.found(&given);
    assert_eq!((templates.as_str(), skills.as_str()), ("one two three", "g a b c d e f"));
    assert_eq!(
        troubles,
        [
            "data/prompts/one.md is not used: repo/sub/.offshoot/prompts/one.md has the same name, `one`",
            "data/skills/again/SKILL.md is not used: repo/sub/.offshoot/skills/a/SKILL.md has the same name, `a`",
        ]
    );
    let untrusted = ResourcePlaces { project: None, ..given.clone() };
    assert_eq!(place.found(&untrusted).1, "g a e f");
    assert_eq!(of_project(&root.join("repo/sub"), None).len(), 6);
    let few = ResourcePlaces { finds_skills: false, finds_templates: false, ..given };
    assert_eq!(place.found(&few), (String::new(), "g".to_owned(), vec![]));
}

#[test]
fn a_folder_is_walked_by_the_rules_of_git() {
    let place = Place::new();
    let root = place.root();
    let at = |file: &str, name: &str| write(root, &format!("data/skills/{file}"), &skill(name));
    at("deep/er/est/SKILL.md", "deep");
    at("deep/er/est/below/SKILL.md", "below-a-skill");
    at("loose.md", "loose");
    at("sub/not-direct.md", "not-direct");
    at(".hidden/SKILL.md", "hidden");
    at("node_modules/x/SKILL.md", "module");
    at("ignored/SKILL.md", "ignored");
    at("sub/ignored-below/x/SKILL.md", "ignored-below");
    at("anchored/SKILL.md", "anchored");
    at("sub/anchored/SKILL.md", "not-anchored");
    write(root, "data/skills/.gitignore", "ignored\n/anchored\n");
    write(root, "data/skills/sub/.fdignore", "x\n");
    write(root, "data/skills/no.md", "Only text.");
    write(root, "home/.agents/skills/direct.md", &skill("direct"));
    write(root, "home/.agents/skills/set/below.md", &skill("below"));
    std::os::unix::fs::symlink(root.join("data/skills/nowhere"), root.join("data/skills/dangling")).unwrap();
    std::os::unix::fs::symlink(root.join("data/skills"), root.join("data/skills/circle")).unwrap();
    let fifo = std::process::Command::new("mkfifo").arg(root.join("data/skills/fifo.md")).status().unwrap();
    assert!(fifo.success());
    let (_, skills, troubles) = place.found(&place.places());
    assert_eq!(skills, "deep loose not-anchored below");
    assert_eq!(troubles, Vec::<String>::new());
}

#[test]
fn what_is_odd_is_reported_with_its_file_and_line() {
    let place = Place::new();
    let root = place.root();
    write(root, "data/skills/Bad_Name/SKILL.md", "---\ndescription: x\n---\n");
    write(root, "data/skills/empty/SKILL.md", "---\nname: empty\n---\n");
    write(root, "data/skills/fault/SKILL.md", "---\nname: a\nname: b\n---\n");
    write(root, "data/skills/long/SKILL.md", &format!("---\ndescription: {}\n---\n", "x".repeat(1025)));
    write(root, "data/prompts/fault.md", "---\na: b: c\n---\n");
    let (templates, skills, troubles) = place.found(&place.places());
    assert_eq!((templates.as_str(), skills.as_str()), ("", "Bad_Name long"));
    insta::assert_snapshot!(troubles.join("\n"), @"
    data/prompts/fault.md:2: mapping values are not allowed in this context; the file is not used
    data/skills/Bad_Name/SKILL.md: the name `Bad_Name` has characters other than a-z, 0-9 and -
    data/skills/empty/SKILL.md: there is no `description`; the file is not used
    data/skills/fault/SKILL.md:3: `name` is there twice; the file is not used
    data/skills/long/SKILL.md: the description has 1025 characters, more than 1024
    ");
}

#[test]
fn a_call_is_replaced_by_what_it_stands_for() {
    let place = Place::new();
    let root = place.root();
    write(root, "data/skills/alpha/SKILL.md", &skill("alpha").replace("Do alpha.", "Use $1 and ${@:2} <b>&"));
    write(root, "data/prompts/review.md", "Review $1: ${2:-everything}\n");
    write(root, "data/prompts/empty.md", "");
    write(root, "data/prompts/skill.md", "/skill:alpha");
    let (resources, _) = place.places().find();
    let sent = |typed: &str| resources.expand(typed).unwrap();
    let block = format!(
        "<skill name=\"alpha\" location=\"{0}/SKILL.md\">\nReferences are relative to {0}.\n\nUse $1 and ${{@:2}} <b>&\n</skill>",
        root.join("data/skills/alpha").display()
    );
    assert_eq!(sent("/skill:alpha"), Some(block.clone()));
    assert_eq!(sent("/skill:alpha  do  this \"x\"  "), Some(format!("{block}\n\ndo  this \"x\"")));
    assert_eq!(sent("/skill:alpha\nline two"), Some(format!("{block}\n\nline two")));
    assert_eq!(sent("/review main.rs"), Some("Review main.rs: everything\n".to_owned()));
    assert_eq!(sent("/review\nmain.rs it's"), Some("Review main.rs: it's\n".to_owned()));
    assert_eq!(sent("/skill x"), Some("/skill:alpha".to_owned()));
    for verbatim in ["/unknown x", " /review x", "/Review x", "review", "/", "/tmp/x is odd"] {
        assert_eq!(sent(verbatim), None, "{verbatim}");
    }
    let refused = |typed: &str| resources.expand(typed).unwrap_err().to_string();
    assert_eq!(refused("/skill:alph x"), "there is no skill `alph`; there is alpha");
    assert_eq!(refused("/skill:alpha,x"), "there is no skill `alpha,x`; there is alpha");
    assert!(matches!(resources.expand("/empty"), Err(ExpandError::Empty(_))));
    // Edits count at once.
    write(root, "data/skills/alpha/SKILL.md", &skill("alpha").replace("Do alpha.", "New."));
    assert!(sent("/skill:alpha").is_some_and(|text| text.contains("\n\nNew.\n</skill>")));
    fs::remove_file(root.join("data/skills/alpha/SKILL.md")).unwrap();
    assert!(refused("/skill:alpha").starts_with("cannot read "));
}

#[test]
fn the_model_is_told_of_skills_that_it_may_open() {
    let place = Place::new();
    write(place.root(), "data/skills/alpha/SKILL.md", &skill("alpha"));
    let hidden = skill("hidden").replace("---\nDo", "disable-model-invocation: true\n---\nDo");
    write(place.root(), "data/skills/hidden/SKILL.md", &hidden);
    let (resources, _) = place.places().find();
    let told = resources.for_model("read").unwrap().replace(&place.root().display().to_string(), "");
    insta::assert_snapshot!(told, @"
    Skills are instructions for certain tasks. When a task fits a skill's description, open its file with read first and follow it. Paths in it are relative to the skill's folder.

    <available_skills>
      <skill>
        <name>alpha</name>
        <description>About alpha &amp; &lt;more&gt;.</description>
        <location>/data/skills/alpha/SKILL.md</location>
      </skill>
    </available_skills>
    ");
    assert!(resources.expand("/skill:hidden go").unwrap().is_some());
    assert_eq!(Resources::default().for_model("read"), None);
}

/// What counts of a folder's files and of the command line.
#[test]
fn texts_of_the_system_prompt_come_from_the_command_line_the_project_or_the_user() {
    let root = tempfile::tempdir().unwrap();
    let at = |name: &str| root.path().join(name);
    let write = |name: &str, text: &str| {
        std::fs::create_dir_all(at(name).parent().unwrap()).unwrap();
        std::fs::write(at(name), text).unwrap();
    };
    write("data/SYSTEM.md", "\u{feff}The user's.");
    write("data/APPEND_SYSTEM.md", "Also the user's.");
    write("work/.pi/SYSTEM.md", "The project's.");
    write("work/own.md", "A file's.");
    let found = |project: bool, replacing: &[&str], added: &[&str]| {
        let places = ResourcePlaces {
            project: project.then(|| at("work")),
            data: Some(at("data")),
            ..ResourcePlaces::default()
        };
        let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let (replacing, added) = (owned(replacing), owned(added));
        let typed = TypedTexts { cwd: &at("work"), replacing: &replacing, added: &added };
        let (SystemTexts { replacing, added }, troubles) = SystemTexts::find(&places, typed);
        (replacing.unwrap_or_default(), added.unwrap_or_default(), troubles.len())
    };
    let told = |replacing: &str, added: &str, troubles| (replacing.to_owned(), added.to_owned(), troubles);
    assert_eq!(found(false, &[], &[]), told("The user's.", "Also the user's.", 0));
    assert_eq!(found(true, &[], &[]), told("The project's.", "Also the user's.", 0));
    assert_eq!(found(true, &["own.md", "and words"], &[""]), told("A file's.\n\nand words", "", 0));
    assert_eq!(found(true, &[""], &["x"]), told("", "x", 0));
    // Names that look like files are reported, and are the text.
    assert_eq!(found(true, &["missing.md"], &["../work"]), told("missing.md", "../work", 2));
    assert_eq!(found(true, &["Say a/b or c."], &[]), told("Say a/b or c.", "Also the user's.", 0));
    assert_eq!(of_project(&at("work"), None), [at("work/.pi/SYSTEM.md")]);
}

/// Claude Code's definitions count in a trusted project, after offshoot's own of the same name.
#[test]
fn definitions_of_agents_are_found_in_claude_codes_folder_of_a_project_too() {
    let place = Place::new();
    let root = place.root();
    let agent =
        |name: &str, words: &str| format!("---\nname: {name}\ndescription: {words}\ntools: Read, Bash\n---\nWork.\n");
    write(root, "repo/sub/.offshoot/agents/a.md", &agent("fixer", "of offshoot"));
    write(root, "repo/sub/.claude/agents/b.md", &agent("fixer", "of Claude"));
    write(root, "repo/sub/.claude/agents/c.md", &agent("tester", "of Claude"));
    write(root, "data/agents/d.md", &agent("tester", "of the user"));
    let agents = |places: &ResourcePlaces| {
        let (found, _) = places.find();
        found.agents.iter().map(offshoot_agent::resources::AgentDefinition::told).collect::<Vec<_>>().join("\n")
    };
    let all = agents(&place.places());
    assert!(all.contains("of offshoot") && all.contains("tester") && all.contains("of Claude"), "{all}");
    assert_eq!(all.matches("of Claude").count(), 1, "{all}");
    let untrusted = ResourcePlaces { project: None, ..place.places() };
    assert!(!agents(&untrusted).contains("Claude"));
    assert!(of_project(&root.join("repo/sub"), None).contains(&root.join("repo/sub/.claude/agents")));
}
