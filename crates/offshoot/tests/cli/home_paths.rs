//! `~/` in a path: shells leave it as it is after `=` and in quotes, and the home directory is meant.

use std::fs;

use offshoot_agent::testing::script::Reply;

use crate::agent::Talk;
use crate::world::{SAMPLE, World};

/// Story: `--output=~/x.md` failed, because there was no folder `~`; one that was there got the file.
#[test]
fn every_file_of_a_command_may_be_in_the_home_directory() {
    let world = World::with_sample();
    fs::create_dir(world.work().join("~")).unwrap();
    fs::create_dir(world.home().join("folder")).unwrap();
    for name in ["sample.jsonl", "folder/another.jsonl"] {
        fs::write(world.home().join(name), SAMPLE).unwrap();
    }
    fs::write(world.home().join("mine.json"), r##"{"name": "mine", "export": {"pageBg": "#123456"}}"##).unwrap();
    for (line, made) in [
        ("export sample.jsonl --output=~/x.md", "x.md"),
        ("export sample.jsonl --output=~/x.html --theme=~/mine.json", "x.html"),
        ("export '~/sample.jsonl' --output=~/x.json", "x.json"),
        ("repair sample.jsonl --copy=~/copy.jsonl", "copy.jsonl"),
        ("man --out=~/pages", "pages/offshoot-tree.1"),
    ] {
        let told = world.run(line);
        assert!(!told.contains("[exit code"), "{line}: {told}");
        assert!(world.home().join(made).is_file(), "{line}: {told}");
    }
    assert!(fs::read_to_string(world.home().join("x.html")).unwrap().contains("#123456"));
    for (line, told) in [
        ("check '~/folder'", "1 file ok"),
        ("check '~/sample.jsonl'", "sample.jsonl: ok"),
        ("doctor '~/sample.jsonl'", "sample.jsonl"),
    ] {
        let all = world.run(line);
        assert!(all.contains(told) && !all.contains("does not exist"), "{line}: {all}");
    }
    assert_eq!(fs::read_dir(world.work().join("~")).unwrap().count(), 0, "nothing is in a folder of that name");
}

#[test]
fn skills_templates_and_texts_of_the_prompt_may_be_in_the_home_directory() {
    let talk = Talk::new([Reply::text("Yes.")]);
    for (name, text) in [
        ("skill/SKILL.md", "---\nname: skill\ndescription: of the home directory\n---\nDo it."),
        ("template.md", "filled $1"),
        ("text.md", "text of the home directory"),
    ] {
        let file = talk.world.home().join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    let files = ["--skill=~/skill", "--prompt-template=~/template.md", "--append-system-prompt=~/text.md"];
    let told = talk.run(&[&files[..], &["-p", "/template it"]].concat());
    assert_eq!(told, "Yes.\n");
    let asked = talk.server.seen().pop().unwrap().body;
    for part in ["of the home directory", "filled it", "text of the home directory"] {
        assert!(asked.contains(part), "{part}: {asked}");
    }
}
