//! `offshoot completions`.

use insta::assert_snapshot;

use crate::world::World;

#[test]
fn every_shell_learns_the_commands() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = World::new().stdout(&format!("completions {shell}"));
        assert!(script.contains("branches") && script.contains("session-dir"), "{shell}");
    }
}

#[test]
fn an_unknown_shell_is_wrong_usage() {
    assert_snapshot!(World::new().run("completions tcsh"), @"
    [stderr]
    error: invalid value 'tcsh' for '<SHELL>'
      [possible values: bash, elvish, fish, powershell, zsh]

      tip: a similar value exists: 'zsh'

    For more information, try '--help'.
    [exit code 2]
    ");
}
