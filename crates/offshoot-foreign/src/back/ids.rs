//! Ids and names that the agents ask of their files. Knows no session.

use std::collections::HashSet;

use offshoot_session::clock::Millis;
use offshoot_session::zone::Zone;

use crate::key::hex_hash;

/// A UUID of version 4 that is a hash of texts.
pub(super) fn uuid_of(parts: &[&[u8]]) -> String {
    let hash = hex_hash(parts, 32);
    let digit = |at: usize| hash.get(at..at + 1).unwrap_or("0");
    let variant = match digit(16) {
        "0" | "1" | "2" | "3" => "8",
        "4" | "5" | "6" | "7" => "9",
        "8" | "9" | "a" | "b" => "a",
        _ => "b",
    };
    let part = |from: usize, to: usize| hash.get(from..to).unwrap_or_default();
    format!("{}-{}-4{}-{variant}{}-{}", part(0, 8), part(8, 12), part(13, 16), part(17, 20), part(20, 32))
}

/// The id of a new session of Claude Code: a UUID of version 4, made of any new id.
#[must_use]
pub fn claude_session_id(new: &str) -> String {
    uuid_of(&[b"claude", new.as_bytes()])
}

/// The name of a new rollout, and the folders by date in which it belongs. Codex finds no file whose name differs.
#[must_use]
pub fn rollout_name(id: &str, now: Millis, zone: &Zone) -> String {
    // `2026-11-30 09:30`
    let minute = zone.minute(now);
    let (day, clock) = minute.split_once(' ').unwrap_or((&minute, "00:00"));
    let seconds = now.div_euclid(1000).rem_euclid(60);
    let name = format!("rollout-{day}T{}-{seconds:02}-{id}.jsonl", clock.replace(':', "-"));
    format!("sessions/{}/{name}", day.replace('-', "/"))
}

/// Ids of calls in a form that every provider takes, each once.
#[derive(Debug, Default)]
pub(super) struct CallIds {
    used: HashSet<String>,
    /// Those of the last answer, as they were and as they are.
    open: Vec<(String, String)>,
}

impl CallIds {
    /// A new answer begins.
    pub(super) fn begin(&mut self) {
        self.open.clear();
    }

    /// The id of a call.
    pub(super) fn call(&mut self, id: &str) -> String {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        let fits = (1..=64).contains(&id.len()) && id.bytes().all(is_plain);
        let mut made = if fits { id.to_owned() } else { format!("call_{}", hex_hash(&[id.as_bytes()], 24)) };
        let mut number: u32 = 1;
        while !self.used.insert(made.clone()) {
            number = number.saturating_add(1);
            made = format!("call_{}", hex_hash(&[id.as_bytes(), number.to_string().as_bytes()], 24));
        }
        self.open.push((id.to_owned(), made.clone()));
        made
    }

    /// The same in a result; `None` if the last answer has no such call.
    pub(super) fn result(&self, id: &str) -> Option<&str> {
        self.open.iter().find(|(own, _)| own == id).map(|(_, made)| made.as_str())
    }
}

/// The name of a tool in a form that every provider takes.
pub(super) fn tool_name(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') { c } else { '_' };
    let name: String = name.chars().map(plain).take(64).collect();
    if name.is_empty() { "tool".to_owned() } else { name }
}

/// The times of a file, which rise.
#[derive(Debug, Default)]
pub(super) struct RisingTime(Millis);

impl RisingTime {
    pub(super) fn next(&mut self, wanted: Millis) -> Millis {
        self.0 = wanted.max(self.0.saturating_add(1));
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_uuids_of_version_4() {
        for seed in 0..64_u32 {
            let id = uuid_of(&[&seed.to_le_bytes()]);
            let bytes = id.as_bytes();
            assert_eq!((id.len(), bytes[14]), (36, b'4'), "{id}");
            assert!(matches!(bytes[19], b'8' | b'9' | b'a' | b'b'), "{id}");
        }
    }

    #[test]
    fn calls_have_plain_ids_and_each_its_own() {
        let mut ids = CallIds::default();
        assert_eq!(ids.call("toolu_1"), "toolu_1");
        ids.begin();
        let again = ids.call("toolu_1");
        assert_ne!(again, "toolu_1");
        assert_eq!((ids.result("toolu_1"), ids.result("other")), (Some(again.as_str()), None));
        assert!(ids.call("call|with bars").starts_with("call_"));
    }
}
