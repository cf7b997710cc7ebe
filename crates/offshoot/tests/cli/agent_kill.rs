//! `kill -9` at any moment of a turn: whatever an event announced is in the file, the file opens, and the next request
//! is valid.

use std::io::{BufRead as _, BufReader};

use offshoot_agent::testing::script::Reply;
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
