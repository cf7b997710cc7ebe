//! Which variables of the environment are secrets, by their names and values. Reads no environment.

use offshoot_protocol::Secret;

/// Ends of the names of variables with secrets.
const ENDS: [&str; 8] = ["KEY", "KEY_ID", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PAT", "CREDENTIALS"];

/// Whether a value is a key by its beginning, or a long one of random characters in a variable named like a secret's.
pub(super) fn is_secret(name: &str, value: &str) -> bool {
    let (name, secret) = (name.to_ascii_uppercase(), Secret::new(value));
    let value = value.trim();
    let is_named =
        ENDS.iter().any(|end| name == *end || name.strip_suffix(end).is_some_and(|rest| rest.ends_with('_')));
    let is_path = value.starts_with(['/', '~', '.']) || value.contains("://");
    let is_random = !is_path && !value.contains(char::is_whitespace) && value.bytes().any(|byte| byte.is_ascii_digit());
    secret.is_telling() && (secret.has_known_prefix() || (is_named && is_random))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_told_from_other_variables() {
        for (name, value) in [
            ("GITHUB_TOKEN", "ghp_0123456789abcdef0123456789abcdef0123"),
            ("AWS_ACCESS_KEY_ID", "AKIA0123456789ABCDEF"),
            ("AWS_SECRET_ACCESS_KEY", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
            ("SOMETHING", "glpat-0123456789abcdef"),
            ("db_password", "correct-horse-battery-5taple"),
        ] {
            assert!(is_secret(name, value), "{name}");
        }
        for (name, value) in [
            ("GOOGLE_APPLICATION_CREDENTIALS", "/home/ann/keys/project-1234567.json"),
            ("SSH_AUTH_SOCK", "/tmp/ssh-0123456789/agent.1234"),
            ("PATH", "/usr/bin:/usr/local/bin0123456789"),
            ("GIT_SSH_KEY", "~/.ssh/id_ed25519_of_the_project"),
            ("TOKEN", "short1"),
            ("MONKEY", "a-long-name-of-an-animal-1"),
            ("HOTKEY_TOKEN", "control alt shift delete 1"),
        ] {
            assert!(!is_secret(name, value), "{name}");
        }
    }
}
