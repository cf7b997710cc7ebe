//! The examples run, offline, and print what their texts promise.

use std::path::PathBuf;
use std::process::Command;

/// Examples lie beside the folder of the test's own binary; cargo builds them with the tests.
fn run(name: &str) -> String {
    let deps = std::env::current_exe().unwrap();
    let folder: PathBuf = deps.parent().unwrap().parent().unwrap().join("examples");
    let output = Command::new(folder.join(name)).output().unwrap_or_else(|error| {
        panic!("{}: {error}; `cargo test -p offshoot-agent` builds it", folder.join(name).display())
    });
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn minimal() {
    let said = run("minimal");
    assert!(said.starts_with("[ls {\"path\":\"/\"}]\nThat is the root folder.\nDone: 2 answers"), "{said}");
}

#[test]
fn own_tool() {
    assert!(run("own_tool").contains(r#"[{"type":"text","text":"desserts"}]"#));
}

#[test]
fn own_provider() {
    let said = run("own_provider");
    assert!(
        said.contains(r#""delta":"You said: hello""#) && said.trim_end().ends_with(r#""aborted":false}"#),
        "{said}"
    );
}

#[test]
fn own_summarizer() {
    let said = run("own_summarizer");
    assert!(said.contains(r#""summariser":"count""#) && said.contains("messages were exchanged"), "{said}");
}
