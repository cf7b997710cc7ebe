//! Skills and prompt templates, with the real program, and what the model gets.

use std::io::Write as _;
use std::process::Stdio;

use insta::assert_snapshot;
use offshoot_agent::testing::script::Reply;

use crate::agent::Talk;
use crate::terminal::Terminal;

const REVIEW: &str = "---\ndescription: Look for mistakes\nargument-hint: <file>\n---\nReview $1 for ${2:-mistakes}.";
const SKILL: &str = "---\nname: brew\ndescription: Making tea.\n---\nBoil water.";

fn talk(replies: usize) -> Talk {
    let talk = Talk::new(std::iter::repeat_n(Reply::text("Yes."), replies));
    let data = talk.world.home().join(".local/share/offshoot");
    for (file, text) in [("prompts/review.md", REVIEW), ("skills/brew/SKILL.md", SKILL)] {
        let file = data.join(file);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }
    talk
}

/// The text of the last message that was sent.
fn sent(talk: &Talk) -> String {
    let request = talk.server.seen().last().unwrap().json();
    let content = request["messages"].as_array().unwrap().last().unwrap()["content"].clone();
    content.as_str().map(str::to_owned).unwrap_or_else(|| content[0]["text"].as_str().unwrap().to_owned())
}

#[test]
fn a_call_is_sent_as_what_it_stands_for() {
    let talk = talk(4);
    talk.run(&["-p", "/review main.rs"]);
    assert_eq!(sent(&talk), "Review main.rs for mistakes.");
    let request = talk.server.seen().last().unwrap().json().to_string();
    assert!(request.contains("<name>brew</name>"), "{request}");
    talk.run(&["-p", "/skill:brew green --then x"]);
    assert!(sent(&talk).ends_with("\n\nBoil water.\n</skill>\n\ngreen --then x"), "{}", sent(&talk));
    // Files and piped input go before it.
    talk.world.write("notes.txt", "buy milk");
    let mut child = talk.command(&["-p", "@notes.txt", "/review it's"]).stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"/review piped\n").unwrap();
    assert!(child.wait_with_output().unwrap().status.success());
    let text = sent(&talk);
    assert!(text.starts_with("/review piped\n<file name=") && text.ends_with("Review it's for mistakes."), "{text}");
    talk.run(&["--no-skills", "--no-prompt-templates", "-p", "/review x"]);
    assert_eq!(sent(&talk), "/review x");
    assert!(!talk.server.seen().last().unwrap().json().to_string().contains("brew"));
    talk.no_problems();
}

#[test]
fn what_cannot_be_called_is_not_sent() {
    let talk = talk(0);
    assert_snapshot!(talk.run(&["-p", "/skill:brw x"]), @"
    [stderr]
    error: there is no skill `brw`; there is brew
    [exit code 1]
    ");
    assert!(talk.server.seen().is_empty());
}

#[test]
fn those_of_a_project_count_once_it_is_trusted() {
    let talk = talk(2);
    talk.world.write(".pi/prompts/review.md", "The project's review.");
    talk.world.write(".agents/skills/fault/SKILL.md", "---\nname: a\nname: b\n---\n");
    assert_snapshot!(talk.run(&["-p", "/review x"]), @"
    Yes.
    [stderr]
    warning: ~/work/.pi/prompts is not used: this folder is not trusted; --trust uses it this once
    warning: ~/work/.agents/skills is not used: this folder is not trusted; --trust uses it this once
    warning: this folder is not trusted, so the approval mode is edits: commands are refused; --approval auto lets them run
    ");
    assert_eq!(sent(&talk), "Review x for mistakes.");
    assert_snapshot!(talk.run(&["--trust", "-p", "/review x"]), @"
    Yes.
    [stderr]
    warning: [WORK]/.agents/skills/fault/SKILL.md:3: `name` is there twice; the file is not used
    warning: [HOME]/.local/share/offshoot/prompts/review.md is not used: [WORK]/.pi/prompts/review.md has the same name, `review`
    ");
    assert_eq!(sent(&talk), "The project's review.");
}

#[test]
fn the_terminal_completes_them_and_queues_what_they_stand_for() {
    let talk = talk(2);
    talk.world.write(".offshoot/skills/mine/SKILL.md", SKILL.replace("brew", "mine"));
    let mut terminal = Terminal::offshoot(&talk, &["chat"], (80, 24));
    terminal.until_text("~/work/.offshoot/skills has skills for the model").until_text("n or Enter:").send("o\r");
    terminal.until_idle().send("/rev");
    terminal.until_text("<file>  Look for mistakes (user)").send("\t");
    terminal.send("main.rs\r");
    terminal.until_text("Review main.rs for mistakes.").until_text("Yes.").until_idle();
    terminal.send("/skill:");
    terminal.until_text("skill:mine").send("mine now\r");
    terminal.until_text("Boil water.").until_idle();
    assert!(sent(&talk).ends_with("Boil water.\n</skill>\n\nnow"), "{}", sent(&talk));
    terminal.send("/skill:nope\r");
    terminal.until_text("there is no command /skill:nope");
    terminal.send("\x15\x04");
    assert!(terminal.ended());
    talk.no_problems();
}
