//! Requests that wait because another program is writing to their session, while requests of other sessions are answered. Those of one
//! session stay in their order. Knows no methods.

use std::collections::VecDeque;
use std::time::Duration;

use offshoot_session::clock::Millis;
use offshoot_session::json::{Json, JsonKind};

/// How long a request waits for a lock before the next one has its turn. Most programs hold one for less.
pub(super) const AT_ONCE: Duration = Duration::from_millis(20);
/// How often the waiting ones are tried.
pub(super) const PAUSE: Duration = Duration::from_millis(10);
/// With so many waiting, the next request waits until one of them is done.
const MOST: usize = 1024;
/// The same with lines of so many bytes.
const MOST_BYTES: usize = 64 << 20;

/// A line of the input whose request waits.
#[derive(Debug)]
pub(super) struct WaitingRequest {
    pub(super) line: Vec<u8>,
    session: u64,
    /// When its lock is given up.
    until: Millis,
}

/// The waiting requests, in the order in which they came.
#[derive(Debug, Default)]
pub(super) struct WaitingRequests {
    all: VecDeque<WaitingRequest>,
    /// How long their lines are together.
    bytes: usize,
}

/// Whether a request can be carried out now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    Now,
    /// After an earlier one of its session.
    Later,
    /// After all that wait.
    Last,
}

impl WaitingRequests {
    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    pub(super) fn is_full(&self) -> bool {
        self.all.len() >= MOST || self.bytes >= MOST_BYTES
    }

    /// When the request of a line has its turn.
    pub(super) fn turn_of(&self, message: Json<'_>) -> Turn {
        if self.all.is_empty() {
            return Turn::Now;
        }
        if message.kind() == JsonKind::Array {
            return Turn::Last;
        }
        let named = sessions_of(message);
        let waits = |session: &u64| self.all.iter().any(|waiting| waiting.session == *session);
        match named.iter().position(waits) {
            // The request is about its first session; a second one is only read.
            Some(0) => Turn::Later,
            Some(_) => Turn::Last,
            None => Turn::Now,
        }
    }

    /// Puts a request at the end, which is given up after `until`.
    pub(super) fn add(&mut self, line: Vec<u8>, session: u64, until: Millis) {
        self.bytes += line.len();
        self.all.push_back(WaitingRequest { line, session, until });
    }

    /// Lets the first request of each session try. `attempt` gets a request and whether this is its last try, and returns whether it was
    /// answered; if so, the next one of its session has its turn.
    ///
    /// # Errors
    /// Those of `attempt`.
    pub(super) fn try_each<E>(
        &mut self,
        now: Millis,
        mut attempt: impl FnMut(&WaitingRequest, bool) -> Result<bool, E>,
    ) -> Result<(), E> {
        let (mut still, mut held) = (VecDeque::with_capacity(self.all.len()), Vec::new());
        while let Some(waiting) = self.all.pop_front() {
            let is_last = now >= waiting.until;
            if held.contains(&waiting.session) || !attempt(&waiting, is_last)? {
                held.push(waiting.session);
                still.push_back(waiting);
            }
        }
        self.bytes = still.iter().map(|waiting| waiting.line.len()).sum();
        self.all = still;
        Ok(())
    }
}

/// The numbers of the sessions that a request names: the one that it is about, and one that it reads.
pub(super) fn sessions_of(message: Json<'_>) -> Vec<u64> {
    let number = |name: &str| message.get("params")?.get(name)?.text().parse().ok();
    ["session", "from"].into_iter().filter_map(number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(text: &str) -> Json<'_> {
        Json::parse(text).unwrap()
    }

    #[test]
    fn there_is_room_for_so_many_requests_and_bytes() {
        let mut waiting = WaitingRequests::default();
        let mut fill = |line: Vec<u8>, count: usize| {
            for _ in 0..count {
                assert!(!waiting.is_full());
                waiting.add(line.clone(), 1, 0);
            }
            assert!(waiting.is_full());
            waiting.try_each(0, |_, _| Ok::<_, ()>(true)).unwrap();
            assert!(!waiting.is_full(), "those that are answered take no room");
        };
        fill(Vec::new(), MOST);
        fill(vec![b' '; MOST_BYTES / 2], 2);
    }

    #[test]
    fn requests_of_one_session_keep_their_order() {
        let (mut waiting, now) = (WaitingRequests::default(), 1_000);
        assert_eq!(waiting.turn_of(json(r#"{"params":{"session":1}}"#)), Turn::Now);
        for (session, line) in [(1, "a"), (2, "b"), (1, "c"), (3, "d"), (2, "e")] {
            waiting.add(line.into(), session, now + 60_000);
        }
        assert_eq!(waiting.turn_of(json(r#"{"params":{"session":2}}"#)), Turn::Later);
        assert_eq!(waiting.turn_of(json(r#"{"params":{"session":4}}"#)), Turn::Now);
        assert_eq!(waiting.turn_of(json(r#"{"params":{"session":4,"from":2}}"#)), Turn::Last);
        assert_eq!(waiting.turn_of(json(r#"{"params":{"cwd":"/"}}"#)), Turn::Now);
        assert_eq!(waiting.turn_of(json("[]")), Turn::Last);
        let mut tried = Vec::new();
        let mut pass = |free: &[&str]| {
            tried.clear();
            waiting
                .try_each(now, |request, is_last| {
                    assert!(!is_last);
                    let line = String::from_utf8(request.line.clone()).unwrap();
                    tried.push(line.clone());
                    Ok::<_, ()>(free.contains(&line.as_str()))
                })
                .unwrap();
            tried.join("")
        };
        // While the first one of a session waits, the others are not tried.
        assert_eq!(pass(&["c", "e"]), "abd");
        assert_eq!(pass(&["b", "d"]), "abde");
        assert_eq!(pass(&["a", "c", "e"]), "ace");
        assert!(waiting.is_empty());
    }

    #[test]
    fn a_request_is_told_when_its_time_is_over() {
        let (mut waiting, now) = (WaitingRequests::default(), 1_000);
        waiting.add(b"a".to_vec(), 1, now + 10);
        let mut tries = Vec::new();
        for at in [now, now + 10] {
            waiting
                .try_each(at, |_, is_last| {
                    tries.push(is_last);
                    Ok::<_, ()>(is_last)
                })
                .unwrap();
        }
        assert_eq!(tries, [false, true]);
        assert!(waiting.is_empty() && !waiting.is_full());
    }
}
