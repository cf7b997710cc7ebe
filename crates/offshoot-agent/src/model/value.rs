//! What `models.json` and `auth.json` say for a key: the key itself, `$NAME` in it, or `!command`, as pi reads them.

use std::io::Read as _;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// How long a command may take to say a key.
const PATIENCE: Duration = Duration::from_secs(10);

/// Why a value has no text. Nothing of the value is in it but names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Missing {
    /// The environment lacks this variable.
    Variable(String),
    /// The command failed.
    Command(String),
}

/// The variables that a value needs and the environment lacks.
pub(super) fn lacks(value: &str, env: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    if value.starts_with('!') {
        return None;
    }
    match template(value, env) {
        Err(Missing::Variable(name)) => Some(name),
        Ok(_) | Err(Missing::Command(_)) => None,
    }
}

/// What a value stands for. A value that begins with `!` is run by `sh`; otherwise `$NAME` and `${NAME}` are variables,
/// `$$` is `$` and `$!` is `!`. A value that is nothing but a variable's name stands for that variable, if it is there.
pub(super) fn resolve(value: &str, env: &dyn Fn(&str) -> Option<String>) -> Result<String, Missing> {
    match value.strip_prefix('!') {
        Some(command) => run(command).map_err(Missing::Command),
        None => template(value, env),
    }
}

fn template(value: &str, env: &dyn Fn(&str) -> Option<String>) -> Result<String, Missing> {
    let is_name = value.starts_with(|c: char| c.is_ascii_uppercase())
        && value.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
    if let Some(found) = is_name.then(|| env(value)).flatten() {
        return Ok(found);
    }
    let mut out = String::new();
    let mut rest = value;
    while let Some((before, after)) = rest.split_once('$') {
        out.push_str(before);
        rest = after;
        if let Some(same) = after.chars().next().filter(|c| matches!(c, '$' | '!')) {
            out.push(same);
            rest = after.get(1..).unwrap_or_default();
            continue;
        }
        let (name, behind) = match after.strip_prefix('{') {
            Some(inside) => inside.split_once('}').unwrap_or(("", after)),
            None => {
                after.split_at(after.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(after.len()))
            }
        };
        if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
            out.push('$');
            continue;
        }
        out.push_str(&env(name).ok_or_else(|| Missing::Variable(name.to_owned()))?);
        rest = behind;
    }
    out.push_str(rest);
    Ok(out)
}

/// What a command says on its standard output.
fn run(command: &str) -> Result<String, String> {
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = shell.spawn().map_err(|error| format!("could not start sh: {error}"))?;
    let Some(mut stdout) = child.stdout.take() else { return Err("it has no output".to_owned()) };
    let (done, said) = mpsc::channel();
    std::thread::spawn(move || {
        let mut text = String::new();
        let read = stdout.read_to_string(&mut text).map(|_| text);
        // Nobody waits any more after the time is up.
        let _unheard = done.send(read);
    });
    let Ok(said) = said.recv_timeout(PATIENCE) else {
        // A command that has ended meanwhile cannot be killed.
        let _ended = child.kill();
        let _reaped = child.wait();
        return Err(format!("it said nothing for {} seconds", PATIENCE.as_secs()));
    };
    let status = child.wait().map_err(|error| format!("could not wait for it: {error}"))?;
    let text = said.map_err(|error| format!("its output could not be read: {error}"))?;
    match (status.success(), text.trim()) {
        (false, _) => Err(format!("it ended with {status}")),
        (true, "") => Err("it said nothing".to_owned()),
        (true, text) => Ok(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn got(value: &str) -> Result<String, Missing> {
        resolve(value, &|name| (name == "KEY" || name == "A_1").then(|| format!("<{name}>")))
    }

    #[test]
    fn variables_are_filled_in_and_the_rest_stays() {
        for (value, expected) in [
            ("literal", "literal"),
            ("$KEY", "<KEY>"),
            ("a${KEY}b$A_1-", "a<KEY>b<A_1>-"),
            ("KEY", "<KEY>"),
            ("OTHER", "OTHER"),
            ("$$KEY$!", "$KEY!"),
            ("5$ and ${", "5$ and ${"),
            ("$1", "$1"),
        ] {
            assert_eq!(got(value).as_deref(), Ok(expected), "{value}");
        }
        assert_eq!(got("x$NONE"), Err(Missing::Variable("NONE".to_owned())));
        assert_eq!(lacks("x${NONE}", &|_| None).as_deref(), Some("NONE"));
        assert_eq!(lacks("!exit 1", &|_| None), None);
    }

    #[test]
    fn a_command_says_the_key_or_fails() {
        assert_eq!(got("!printf ' %s\\n' secret").as_deref(), Ok("secret"));
        assert!(matches!(got("!echo secret; exit 3"), Err(Missing::Command(why)) if why.contains('3')));
        assert_eq!(got("!true"), Err(Missing::Command("it said nothing".to_owned())));
    }
}
