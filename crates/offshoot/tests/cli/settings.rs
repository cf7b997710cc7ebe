//! `settings.json`, the user's and the project's: what `offshoot -p` goes by.

use insta::assert_snapshot;
use offshoot_agent::testing::script::Reply;
use serde_json::json;

use crate::agent::Talk;

#[test]
fn the_project_comes_before_the_user() {
    let talk = Talk::new([Reply::text("Yes.")]);
    talk.data("settings.json", &json!({"defaultTools": ["ls"], "defaultThinkingLevel": "high"}));
    talk.world.write(".offshoot/settings.json", r#"{"defaultTools": ["read", "grep"]}"#);
    assert_snapshot!(talk.run(&["--trust", "-p", "well?"]), @"Yes.");
    let request = talk.server.seen().last().unwrap().json();
    let tools: Vec<_> = request["tools"].as_array().unwrap().iter().filter_map(|tool| tool["name"].as_str()).collect();
    assert_eq!(tools, ["read", "grep"]);
    let levels = talk.lines().iter().filter(|line| line["thinkingLevel"] == "high").count();
    assert_eq!(levels, 1);
}

#[test]
fn the_command_line_comes_before_both() {
    let talk = Talk::new([Reply::text("Yes.")]);
    talk.world.write(".offshoot/settings.json", r#"{"defaultTools": []}"#);
    assert_snapshot!(talk.run(&["--trust", "-p", "well?", "--tools", "ls"]), @"Yes.");
    let request = talk.server.seen().last().unwrap().json();
    assert_eq!(request["tools"][0]["name"], "ls");
}

#[test]
fn what_has_no_effect_is_told() {
    let talk = Talk::new([Reply::text("Yes.")]);
    talk.world.write(".offshoot/settings.json", "{\n  \"defaultModle\": \"m1\",\n  \"shellPath\": \"./evil\"\n}");
    assert_snapshot!(talk.run(&["--trust", "-p", "well?"]), @r#"
    Yes.
    [stderr]
    warning: [WORK]/.offshoot/settings.json:2:19: there is no setting "defaultModle": did you mean defaultModel?
    warning: [WORK]/.offshoot/settings.json:3:16: shellPath works only in the user's settings, not in a project's
    "#);
}

#[test]
fn a_users_file_that_is_no_json_stops_the_agent() {
    let talk = Talk::new([]);
    let file = talk.world.home().join(".local/share/offshoot/settings.json");
    std::fs::write(file, "{\"theme\": dark}").unwrap();
    assert_snapshot!(talk.run(&["-p", "well?"]), @"
    [stderr]
    error: could not read the settings
    caused by: [HOME]/.local/share/offshoot/settings.json:1:11: expected a value for JSON
    hint: correct the file, or move it away to do without it
    [exit code 4]
    ");
    assert_eq!(talk.files(), [] as [std::path::PathBuf; 0]);
}

/// A cloned project could keep the agent from starting, and a link to `/dev/zero` filled the memory.
#[test]
fn a_projects_settings_do_not_stop_the_agent() {
    let talk = Talk::new([Reply::text("Yes."), Reply::text("Yes."), Reply::text("Yes.")]);
    talk.world.write(".offshoot/settings.json", "{\"theme\": dark}");
    assert_snapshot!(talk.run(&["--trust", "-p", "well?"]), @"
    Yes.
    [stderr]
    warning: could not read the settings: [WORK]/.offshoot/settings.json:1:11: expected a value for JSON; the project's settings are not used
    ");
    talk.world.write(".offshoot/settings.json", r#"{"defaultTools": ["raed"]}"#);
    assert_snapshot!(talk.run(&["--trust", "-p", "well?"]), @r#"
    Yes.
    [stderr]
    warning: there is no tool "raed" (did you mean read?); there are read, bash, edit, write, grep, find, ls, ask, todo, plan, task, bash_output, bash_stop, bash_list
    "#);
    let settings = talk.world.work().join(".offshoot/settings.json");
    std::fs::remove_file(&settings).unwrap();
    std::os::unix::fs::symlink("/dev/zero", settings).unwrap();
    assert_snapshot!(talk.run(&["--trust", "-p", "well?"]), @"
    Yes.
    [stderr]
    warning: could not read [WORK]/.offshoot/settings.json: it is a device, not a regular file: save its content in one first; the project's settings are not used
    ");
}

/// An extension that is not loaded now may bring them, so the run goes on, as in pi.
#[test]
fn tools_that_do_not_exist_are_reported_as_for_the_command_line() {
    let talk = Talk::new([Reply::text("Yes."), Reply::text("Yes.")]);
    let of_option = talk.run(&["-p", "well?", "--tools", "raed,x*", "--exclude-tools", "bahs"]);
    assert_snapshot!(of_option, @r#"
    Yes.
    [stderr]
    warning: there is no tool "raed" (did you mean read?); there are read, bash, edit, write, grep, find, ls, ask, todo, plan, task, bash_output, bash_stop, bash_list
    warning: there is no tool "bahs" (did you mean bash?); there are read, bash, edit, write, grep, find, ls, ask, todo, plan, task, bash_output, bash_stop, bash_list
    "#);
    talk.data("settings.json", &json!({"defaultTools": ["raed"]}));
    assert_snapshot!(talk.run(&["-p", "well?"]), @r#"
    Yes.
    [stderr]
    warning: there is no tool "raed" (did you mean read?); there are read, bash, edit, write, grep, find, ls, ask, todo, plan, task, bash_output, bash_stop, bash_list
    "#);
}
