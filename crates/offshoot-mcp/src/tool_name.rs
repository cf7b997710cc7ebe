//! The names under which models see tools of servers: pi's formula, which Claude Code's spelling resembles.

use std::collections::BTreeMap;

use sha2::{Digest as _, Sha256};

/// No provider takes a longer name.
const LONGEST: usize = 64;
const SUFFIX: usize = 8;

/// The names of a server's tools, in their order. A name that is too long, or that two tools have, ends in a hash.
pub fn tool_names(server: &str, tools: &[&str]) -> Vec<String> {
    let plain: Vec<String> = tools.iter().map(|tool| format!("mcp__{}__{}", in_name(server), in_name(tool))).collect();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    plain.iter().for_each(|name| *counts.entry(name).or_default() += 1);
    let is_taken = |name: &str| counts.get(name).is_some_and(|count| *count > 1);
    let named = tools.iter().zip(&plain).map(|(tool, name)| match name.len() > LONGEST || is_taken(name) {
        true => hashed(name, server, tool),
        false => name.clone(),
    });
    named.collect()
}

/// Whether servers may have this name.
pub fn is_server_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}

/// What two names have in common that differ only in `-` and `_`: their tools would have one name.
pub(crate) fn in_name(text: &str) -> String {
    text.chars().map(|at| if at.is_ascii_alphanumeric() || at == '_' { at } else { '_' }).collect()
}

fn hashed(name: &str, server: &str, tool: &str) -> String {
    let hash = hex(&Sha256::digest(format!("{server}\0{tool}")));
    let kept = name.len().min(LONGEST - SUFFIX - 1);
    format!("{}_{}", name.get(..kept).unwrap_or(name), hash.get(..SUFFIX).unwrap_or(&hash))
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What pi 1.6.0 names them.
    #[test]
    fn names_are_those_of_pi() {
        for (server, tool, expected) in [
            ("fs", "read_file", "mcp__fs__read_file"),
            ("every-thing", "get-sum", "mcp__every_thing__get_sum"),
            ("my-server", "x.y", "mcp__my_server__x_y"),
            ("puppeteer", "puppeteer_screenshot", "mcp__puppeteer__puppeteer_screenshot"),
            ("s", &"a".repeat(80), &format!("mcp__s__{}_2b133101", "a".repeat(47))),
        ] {
            assert_eq!(tool_names(server, &[tool]), [expected]);
        }
        let both = tool_names("fs", &["read_file", "read-file", "other"]);
        assert_eq!(both, ["mcp__fs__read_file_c34df62f", "mcp__fs__read_file_c8070f64", "mcp__fs__other"]);
    }

    #[test]
    fn a_server_name_is_ascii() {
        for (name, is_one) in
            [("fs", true), ("my-server_2", true), ("Ünï", false), ("", false), ("a.b", false), ("a b", false)]
        {
            assert_eq!(is_server_name(name), is_one, "{name}");
        }
    }
}
