//! Situations of other programs' published bug reports that need a terminal, each with what offshoot promises about it. Those that
//! need none are in `conformance/reports/`.

use std::fs;

use offshoot_agent::testing::script::{Reply, Then};
use rustix::process::Signal;
use serde_json::json;

use crate::agent::Talk;
use crate::terminal::Terminal;

struct Report {
    /// The repository and the number of the report.
    report: &'static str,
    promise: &'static str,
    run: fn(&Talk, Terminal),
}

const REPORTS: &[Report] = &[
    Report {
        report: "anomalyco/opentui#1256",
        promise: "a paste whose end never comes does not swallow the keys for ever",
        run: |_, mut terminal| {
            terminal.send("\x1b[200~pasted");
            terminal.until("the open paste", |screen| screen.contains("\npasted\n") && screen.contains("ends it"));
            terminal.send("\x1b");
            terminal.until_gone("ends it").send(" typed");
            leave(terminal.until_text("pasted typed"));
        },
    },
    Report {
        report: "QwenLM/qwen-code#3181",
        promise: "Ctrl+C is reachable after a paste has begun without an end, also an empty one",
        run: |_, mut terminal| {
            terminal.send("\x1b[200~");
            terminal.until_text("ends it").send("\x03");
            terminal.until_gone("ends it").send("\x03\x03");
            assert!(terminal.ended());
        },
    },
    Report {
        report: "NousResearch/hermes-agent#32018",
        promise: "the end of a paste may come much later",
        run: |_, mut terminal| {
            terminal.send("\x1b[200~pasted");
            terminal.until_text("ends it").send("\x1b[20");
            terminal.send("1~ typed");
            leave(terminal.until_gone("ends it").until_text("pasted typed"));
        },
    },
    Report {
        report: "1jehuang/jcode#970",
        promise: "the terminal's background is not the beginning of the first prompt",
        run: |_, mut terminal| {
            terminal.send("\x1b]11;rgb:3030/3434/4646\x1b\\\x1b]11;rgb:3030/3434/4646\x07first");
            leave(terminal.until("the prompt", |screen| screen.contains("\nfirst\n")));
        },
    },
    Report {
        report: "NousResearch/hermes-agent#30092",
        promise: "an answer that comes in pieces is not a message, nor is a query that comes back",
        run: |_, mut terminal| {
            terminal.send("the \x1b]11;rgb:213d");
            terminal.until("the first piece was read", |screen| screen.contains("\nthe\n"));
            terminal.send("/2743/33e7\x1b\\\x1b]11;?\x1b\\first");
            leave(terminal.until("the prompt", |screen| screen.contains("\nthe first\n")));
        },
    },
    Report {
        report: "anthropics/claude-code#39466",
        promise: "kitty's keys are given back, however the program is told to end",
        run: |talk, mut terminal| {
            terminal.signal(Signal::INT);
            assert_given_back(terminal.ended(), &terminal);
            for signal in [Signal::QUIT, Signal::TERM, Signal::HUP] {
                let mut terminal = begun(talk);
                terminal.signal(signal);
                assert_given_back(terminal.ended(), &terminal);
            }
        },
    },
    Report {
        report: "openai/codex#31865",
        promise: "kitty's keys are given back after Ctrl+C in its form",
        run: |_, mut terminal| {
            terminal.send("\x1b[99;5u\x1b[99;5u");
            assert_given_back(terminal.ended(), &terminal);
        },
    },
    Report {
        report: "earendil-works/pi#5065",
        promise: "kitty's keys are given back after the command that leaves",
        run: |_, mut terminal| {
            terminal.send("/quit\r");
            assert_given_back(terminal.ended(), &terminal);
        },
    },
    Report {
        report: "earendil-works/pi#3919",
        promise: "the terminal is given back by a program that ends while an answer streams",
        run: |_, mut terminal| {
            terminal.send("go\r");
            terminal.until_text("so many words");
            terminal.signal(Signal::INT);
            assert_given_back(terminal.ended(), &terminal);
        },
    },
    Report {
        report: "anthropics/claude-code#81210",
        promise: "no command is left when the terminal's program ends",
        run: |talk, mut terminal| {
            terminal.send("!echo $$ > ~/command; exec sleep 1000\r");
            let file = talk.world.home().join("command");
            terminal.while_not("the command", || fs::read_to_string(&file).is_ok_and(|id| id.ends_with('\n')));
            terminal.signal(Signal::INT);
            assert_given_back(terminal.ended(), &terminal);
            let id = fs::read_to_string(file).unwrap();
            let stat = fs::read_to_string(format!("/proc/{}/stat", id.trim())).unwrap_or_default();
            assert!(stat.is_empty() || stat.contains(") Z"), "{stat}");
        },
    },
];

fn leave(terminal: &mut Terminal) {
    terminal.send("\x03");
    terminal.send("\x04");
    assert!(terminal.ended());
}

fn assert_given_back(has_ended_well: bool, terminal: &Terminal) {
    let raw = terminal.raw();
    assert!(has_ended_well && terminal.is_given_back(), "{}", terminal.screen());
    assert!(raw.rfind("\x1b[<1u") > raw.rfind("\x1b[>1u"), "{raw:?}");
}

fn begun(talk: &Talk) -> Terminal {
    let mut terminal = Terminal::offshoot(talk, &[], (80, 24));
    terminal.until_text("% of 200k");
    terminal
}

#[test]
fn what_was_reported_of_other_programs_holds_here() {
    for Report { report, promise, run } in REPORTS {
        let hanging = Reply { then: Then::Hang, cut: Some(900), ..Reply::text(&"so many words ".repeat(40)) };
        let talk = Talk::new([hanging]);
        talk.data("settings.json", &json!({"retry": {"baseDelayMs": 0, "maxAgentDelayMs": 0}}));
        println!("{report}: {promise}");
        let terminal = begun(&talk);
        run(&talk, terminal);
    }
}
