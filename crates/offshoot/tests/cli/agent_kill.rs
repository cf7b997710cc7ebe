//! `kill -9` at any moment of a turn: whatever an event announced is in the file, the file opens, and the next request
//! is valid.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use offshoot_agent::testing::script::{Reply, Then};
use serde_json::{Value, json};

use crate::agent::Talk;

/// A turn with everything in it: text, a tool that writes, one that runs, an answer.
fn script(round: usize) -> [Reply; 3] {
    [
        Reply::call("write", &format!("w{round}"), json!({"path": "n.txt", "content": round.to_string()})),
        Reply::call("bash", &format!("b{round}"), json!({"command": "cat n.txt"})),
        Reply { piece: 3, ..Reply::text(&format!("This was round {round}. {}", "And so on. ".repeat(8))) },
    ]
}

#[test]
fn killed_at_any_moment() {
    const ROUNDS: usize = 48;
    let talk = Talk::new([]);
    let file = talk.world.work().join("s.jsonl");
    let name = file.to_str().unwrap();
    let (mut announced, mut lost, mut whole) = (0, 0, 0);
    for round in 0..ROUNDS {
        // A run may begin with what a killed one left of the script: any answer fits any question.
        talk.server.add(script(round));
        let mut child =
            talk.command(&["--mode", "json", "--session", name, &format!("round {round}")]).spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut seen = Vec::new();
        let mut line = String::new();
        while seen.len() < round * 2 {
            line.clear();
            if out.read_line(&mut line).unwrap() == 0 {
                break;
            }
            seen.push(std::mem::take(&mut line));
        }
        // Not only right behind an event.
        (0..(round % 7) * 40_000).for_each(|n| {
            std::hint::black_box(n);
        });
        child.kill().unwrap();
        // Whatever it had written when it was killed was announced as well.
        while out.read_line(&mut line).unwrap() > 0 {
            seen.push(std::mem::take(&mut line));
        }
        whole += usize::from(child.wait().unwrap().success());
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        let kept: Vec<Value> = text
            .lines()
            .filter_map(|line| serde_json::from_str::<Value>(line).ok())
            .map(|entry| entry["message"].clone())
            .collect();
        for event in seen.iter().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
            if event["type"] == "message_end" {
                announced += 1;
                lost += usize::from(!kept.contains(&event["message"]));
            }
        }
        if !text.is_empty() {
            let check = talk.command(&["check", name]).output().unwrap();
            assert!(check.status.code() != Some(4), "{}", String::from_utf8_lossy(&check.stdout));
        }
    }
    // After all that the session continues.
    talk.server.add(script(ROUNDS));
    assert!(talk.run(&["-p", "--session", name, "well?"]).starts_with("This was round"));
    println!(
        "{ROUNDS} rounds killed ({whole} had ended), {announced} entries announced, {lost} lost, {} requests, {} invalid",
        talk.server.seen().len(),
        talk.server.problems().len()
    );
    assert_eq!(lost, 0);
    assert!(announced > ROUNDS, "{announced}");
    talk.no_problems();
}

/// A program that is killed while an answer arrives loses at most a second of it. Reading finds the half and writes nothing; the
/// next prompt records it below its prompt and continues from there.
#[test]
fn half_an_answer_of_a_killed_program_is_kept() {
    let hang = Reply { then: Then::Hang, cut: Some(1500), ..Reply::text(&"on and on ".repeat(500)) };
    let talk = Talk::new([Reply::text("Begun."), hang, Reply::text("To the second.")]);
    talk.run(&["-p", "begin with this"]);
    let mut first = talk.command(&["-c", "-p", "the first asks"]);
    let mut first = first.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let turns = talk.world.home().join(".local/state/offshoot/turns");
    let halves = || -> Vec<String> {
        let files = std::fs::read_dir(&turns).into_iter().flatten().map(|file| file.unwrap().path());
        let halves = files.filter(|path| path.to_string_lossy().contains(".half~"));
        halves.filter_map(|path| std::fs::read_to_string(path).ok()).collect()
    };
    while halves().is_empty() {
        assert!(first.try_wait().unwrap().is_none(), "it has ended");
        std::thread::yield_now();
    }
    first.kill().unwrap();
    first.wait().unwrap();
    let before = talk.lines();
    let shown = talk.command(&["show", "latest"]).output().unwrap();
    let told = String::from_utf8(shown.stderr).unwrap();
    assert!(told.contains("half of an answer is kept outside the session"), "{told}");
    assert_eq!((talk.lines(), halves().len()), (before.clone(), 1), "reading never writes");

    let second = talk.command(&["-c", "-p", "the second asks"]).output().unwrap();
    assert_eq!(String::from_utf8(second.stdout).unwrap(), "To the second.\n");
    let told = String::from_utf8(second.stderr).unwrap();
    assert!(told.contains("half of an answer"), "{told}");
    let lines = talk.lines();
    let of = |text: &str| lines.iter().find(|line| line["message"]["content"].to_string().contains(text)).unwrap();
    let half = of("on and on");
    assert_eq!(half["message"]["stopReason"], "aborted");
    assert_eq!((&half["parentId"], &of("the second asks")["parentId"]), (&of("the first asks")["id"], &half["id"]));
    assert_eq!(halves(), [] as [&str; 0]);
    assert!(talk.server.seen().pop().unwrap().body.contains("the first asks"));
    talk.run(&["check", "latest"]);
}
