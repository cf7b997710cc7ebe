//! A process that is started ahead: it has all that a command gets but the words, and waits to become the command. Knows what the two
//! sides say to each other, not what the process does before it waits.
//!
//! It says that it is ready, reads the words up to the end of its input, says that it starts them, and becomes the command. If it
//! ends without saying so, no part of the command has run.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::ChildStdin;
use tokio::time::timeout_at;

use super::{End, Job, News, StartedCommand, deadline, follow, start};

/// Said when the process waits. No text begins with it.
pub const READY: u8 = 5;
/// Said when the process has all words and becomes the command.
pub const STARTED: u8 = 6;
/// What a pipe holds: sending never waits for a process that does not read.
const LONGEST: usize = 64 << 10;

#[derive(Debug)]
pub(crate) struct WaitingProcess {
    command: StartedCommand,
    input: ChildStdin,
}

impl WaitingProcess {
    /// The job's words are those of a process that waits.
    pub(crate) fn start(job: &Job<'_>) -> io::Result<Self> {
        let mut command = start(job, Stdio::piped())?;
        let input = command.child.stdin().take().ok_or_else(|| io::Error::other("a started process has no input"))?;
        Ok(Self { command, input })
    }

    #[cfg(test)]
    pub(crate) fn id(&self) -> Option<u32> {
        self.command.child.id()
    }
}

/// As [`super::run`], by a process that waits. `None` if it has ended without becoming the command, or if the words are too long to be sent.
pub(crate) async fn run_waiting(
    waiting: WaitingProcess,
    words: &[OsString],
    timeout: Option<Duration>,
    tell: impl FnMut(News<'_>),
) -> io::Result<Option<End>> {
    let message = message(words);
    if message.len() > LONGEST {
        return Ok(None);
    }
    let deadline = deadline(timeout);
    let WaitingProcess { mut command, mut input } = waiting;
    command.tree.begin();
    let begins = async {
        let is_sent = input.write_all(&message).await.is_ok();
        drop(input);
        let mut said = [0; 2];
        // Not before the words were sent: whoever has a part of them starts nothing.
        is_sent && command.pipe.read_exact(&mut said).await.is_ok() && said == [READY, STARTED]
    };
    match timeout_at(deadline, begins).await {
        Ok(true) => follow(command, deadline, tell).await.map(Some),
        Ok(false) => Ok(None),
        Err(_) => Ok(Some(End::TimedOut)),
    }
}

/// The number of words, then each word, each followed by a zero byte. A message that was cut cannot be read.
fn message(words: &[OsString]) -> Vec<u8> {
    let count = OsString::from(words.len().to_string());
    let words = std::iter::once(&count).chain(words);
    words.flat_map(|word| word.as_bytes().iter().copied().chain([0])).collect()
}

/// The words of a command, from all that a process has read that waits for them. `None` if something is missing.
pub fn parse_words(message: &[u8]) -> Option<Vec<OsString>> {
    let fields = message.strip_suffix(&[0])?.split(|byte| *byte == 0);
    let mut fields = fields.map(|field| OsStr::from_bytes(field).to_owned());
    let count: usize = fields.next()?.to_str()?.parse().ok()?;
    let words: Vec<OsString> = fields.collect();
    (words.len() == count && count > 0).then_some(words)
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStringExt as _;

    use super::*;

    #[test]
    fn no_part_of_a_message_is_a_message() {
        for words in [&["bash", "-c", "echo 1\n echo 2"][..], &["bash", "-c", ""], &["", "", ""], &["3"]] {
            let words: Vec<OsString> = words.iter().map(Into::into).collect();
            let whole = message(&words);
            assert_eq!(parse_words(&whole), Some(words));
            for end in 0..whole.len() {
                assert_eq!(parse_words(&whole[..end]), None, "{end} of {whole:?}");
            }
            assert_eq!(parse_words(&[&whole[..], b"more\0"].concat()), None);
        }
        let odd = vec![OsString::from_vec(vec![0xff])];
        assert_eq!(parse_words(&message(&odd)), Some(odd));
        assert_eq!(parse_words(b"0\0"), None);
    }
}
