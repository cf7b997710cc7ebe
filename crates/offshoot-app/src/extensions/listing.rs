//! The list of extensions for people.

use serde_json::Value;

use crate::config::Environment;

/// In place of an empty list.
pub const NO_EXTENSION: &str = "no extension is loaded; docs/extensions.md says where they are looked for";

/// Whether a prompt asks for the list. Where an extension is there, its set answers.
pub fn asks_for_list(prompt: &str) -> bool {
    prompt.split_whitespace().next() == Some("/extensions")
}

/// Each extension with its file, kind, origin, host and time of loading, what it has registered, and its error.
pub fn listing(environment: &Environment, extensions: &[Value]) -> Vec<String> {
    if extensions.is_empty() {
        return vec![NO_EXTENSION.to_owned()];
    }
    extensions.iter().flat_map(|extension| described(environment, extension)).collect()
}

fn described(environment: &Environment, extension: &Value) -> Vec<String> {
    let text = |name: &str| extension[name].as_str().unwrap_or_default();
    let ms = extension["loadMs"].as_f64().unwrap_or_default();
    let origin = match text("origin") {
        "user" => "your folder",
        "project" => "the project",
        "package" => "a package",
        "settings" => "the settings",
        _ => "the command line",
    };
    let mut lines = vec![
        environment.short(text("path")),
        format!("  {} of {origin} · {} · loaded in {ms:.0} ms", text("kind"), text("host")),
    ];
    for (what, name) in [("commands", "/"), ("tools", ""), ("events", ""), ("shortcuts", "")] {
        let names = extension[what].as_array().into_iter().flatten().filter_map(Value::as_str);
        let mut names: Vec<String> = names.map(|known| format!("{name}{known}")).collect();
        names.dedup();
        if !names.is_empty() {
            lines.push(format!("  {what}: {}", names.join(", ")));
        }
    }
    let error = extension["error"].as_str().into_iter().flat_map(str::lines);
    lines.extend(error.map(|line| format!("  ! {line}")));
    lines.push(String::new());
    lines
}
