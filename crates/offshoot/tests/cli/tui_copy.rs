//! Copying to the clipboard, with fake clipboard programs on the PATH.

use offshoot_agent::testing::script::Reply;

use crate::agent::Talk;
use crate::terminal::Terminal;
use crate::tui_paste::programs;

/// The terminal after an answer and `/copy`, with these programs alone on the way.
fn after_copy(talk: &Talk, scripts: &[(&str, &str)], variables: &[(&str, &str)], told: &str) -> Terminal {
    let path = scripts.iter().map(|(name, text)| programs(talk, name, text)).next_back().unwrap();
    let variables: Vec<_> = variables.iter().copied().chain([("PATH", path.as_str())]).collect();
    let mut terminal = Terminal::offshoot_in(talk, &[], (120, 24), &variables);
    terminal.until_text("m1").send("how many?\r");
    terminal.until_text("Forty-two.").until_idle();
    terminal.send("/copy\r");
    terminal.until_text(told);
    terminal
}

/// A program that keeps what it is given, and with which arguments.
const KEEPS: &str = "#!/bin/sh\necho \"$0 $*\" >> \"${0%/*}/ran\"\n/bin/cat > \"${0%/*}/kept\"\n";
const FAILS: &str = "#!/bin/sh\n/bin/cat > /dev/null\nexit 3\n";
const OSC_52: &str = "\x1b]52;c;Rm9ydHktdHdvLg==\x1b\\";

#[test]
fn the_first_program_that_takes_it_is_named() {
    for (program, others, variables, told, ran) in [
        (
            "wl-copy",
            None,
            vec![("WAYLAND_DISPLAY", "wayland-0"), ("DISPLAY", ":0")],
            "copied the last answer (wl-copy)",
            "wl-copy --type text/plain",
        ),
        (
            "xclip",
            None,
            vec![("WAYLAND_DISPLAY", "wayland-0"), ("DISPLAY", ":0")],
            "copied the last answer (xclip)",
            "xclip -selection clipboard -in",
        ),
        ("xsel", Some("xclip"), vec![("DISPLAY", ":0")], "copied the last answer (xsel)", "xsel --clipboard --input"),
        (
            "tmux",
            None,
            vec![("TMUX", "/tmp/none,1,0")],
            "copied the last answer to tmux's buffer",
            "tmux load-buffer -w -",
        ),
        // The display is one of the machine at the other end.
        (
            "tmux",
            Some("xclip"),
            vec![("TMUX", "/tmp/none,1,0"), ("DISPLAY", ":0"), ("SSH_CONNECTION", "a b")],
            "to tmux's buffer",
            "tmux load-buffer -w -",
        ),
    ] {
        let talk = Talk::new([Reply::text("Forty-two.")]);
        let scripts: Vec<_> = others.map(|other| (other, FAILS)).into_iter().chain([(program, KEEPS)]).collect();
        let mut terminal = after_copy(&talk, &scripts, &variables, told);
        let kept = |name: &str| std::fs::read_to_string(talk.world.work().join("bin").join(name)).unwrap();
        assert_eq!(kept("kept"), "Forty-two.");
        assert!(kept("ran").trim_end().ends_with(ran), "{}", kept("ran"));
        assert!(!terminal.raw().contains(OSC_52), "{program}");
        terminal.send("\x04");
        assert!(terminal.ended());
    }
}

/// Story: it said "copied" where no program and no terminal took it.
#[test]
fn what_no_program_takes_is_sent_to_the_terminal_and_said_so() {
    for (program, variables, told) in [
        ("none", vec![], "sent the last answer to the terminal (OSC 52), which does not say"),
        (
            "wl-copy",
            vec![("WAYLAND_DISPLAY", "wayland-0")],
            "wl-copy: exit status: 3; sent the last answer to the terminal",
        ),
        (
            "wl-copy",
            vec![("WAYLAND_DISPLAY", "wayland-0"), ("SSH_TTY", "/dev/pts/1")],
            "sent the last answer to the terminal",
        ),
    ] {
        let talk = Talk::new([Reply::text("Forty-two.")]);
        let mut terminal = after_copy(&talk, &[(program, FAILS)], &variables, told);
        terminal.until_raw(OSC_52).send("\x04");
        assert!(terminal.ended());
    }
}

#[test]
fn what_cannot_be_copied_is_said() {
    let talk = Talk::new([Reply::text("Forty-two.")]);
    let mut terminal =
        after_copy(&talk, &[("none", "")], &[("TERM", "linux")], "the last answer was not copied: this console");
    assert!(!terminal.raw().contains(OSC_52));
    terminal.send("\x04");
    assert!(terminal.ended());
}
