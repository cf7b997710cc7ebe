//! A process that is started ahead: it has all that a command gets but its words and variables, and waits to become the command. Knows what the two
//! sides say to each other, not what the process does before it waits.
//!
//! It says that it is ready, reads both up to the end of its input, says that it starts the command, and becomes the command. If it
//! ends without saying so, no part of the command has run.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::process::Stdio;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::ChildStdin;
use tokio::time::timeout_at;

use super::tree::MARK;
use super::{End, Job, News, StartedCommand, deadline, follow, start};

/// Said when the process waits. No text begins with it.
pub const READY: u8 = 5;
/// Said when the process has all words and becomes the command.
pub const STARTED: u8 = 6;
/// The kernel starts nothing with a longer word or variable, with its end.
const LONGEST_WORD: usize = 128 << 10;

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

/// As [`super::run`], by a process that waits. `None` if it has ended without becoming the command, or if the words are too long for any
/// process.
pub(crate) async fn run_waiting(
    waiting: WaitingProcess,
    job: Job<'_>,
    tell: impl FnMut(News<'_>),
) -> io::Result<Option<End>> {
    let message = CommandMessage::of(&job);
    if message.is_too_long() {
        return Ok(None);
    }
    let (message, deadline) = (message.to_bytes(), deadline(job.timeout));
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

/// What a process that waits has to know to become its command.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CommandMessage {
    /// The program and its arguments.
    pub words: Vec<OsString>,
    /// Variables of the process that the command does not get.
    pub without: Vec<OsString>,
    /// Variables that it gets besides, each a name and a value.
    pub env: Vec<(OsString, OsString)>,
}

impl CommandMessage {
    /// The mark is the process's own.
    fn of(job: &Job<'_>) -> Self {
        let env = job.env.iter().filter(|(name, _)| name != MARK);
        Self {
            words: job.words.to_vec(),
            without: job.without.iter().filter(|name| *name != MARK).map(Into::into).collect(),
            env: env.map(|(name, value)| (name.into(), value.into())).collect(),
        }
    }

    /// The numbers of words, of variables that are removed and of those that are set; then the variables and the words, each followed by
    /// a zero byte. A message that was cut cannot be read.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let counts = format!("{} {} {}", self.words.len(), self.without.len(), self.env.len());
        let set = self.env.iter().flat_map(|(name, value)| [name, value]);
        let fields = self.without.iter().chain(set).chain(&self.words).map(|field| field.as_bytes());
        std::iter::once(counts.as_bytes()).chain(fields).flat_map(|field| field.iter().copied().chain([0])).collect()
    }

    /// Reads [`CommandMessage::to_bytes`]. `None` if something is missing.
    #[must_use]
    pub fn parse(message: &[u8]) -> Option<Self> {
        let fields = message.strip_suffix(&[0])?.split(|byte| *byte == 0);
        let mut fields = fields.map(|field| OsStr::from_bytes(field).to_owned());
        let counts = fields.next()?;
        let counts: Vec<usize> = counts.to_str()?.split(' ').map(|count| count.parse().ok()).collect::<Option<_>>()?;
        let [words, removed, set] = counts[..] else { return None };
        let without: Vec<OsString> = fields.by_ref().take(removed).collect();
        let mut env = Vec::new();
        for _ in 0..set {
            env.push((fields.next()?, fields.next()?));
        }
        let message = Self { words: fields.collect(), without, env };
        (message.words.len() == words && words > 0).then_some(message)
    }

    /// Whether the kernel may refuse to start it. Then the helper must not have said that it starts it.
    fn is_too_long(&self) -> bool {
        let set = self.env.iter().map(|(name, value)| name.len() + value.len() + 2);
        let mut lengths = self.words.iter().map(|word| word.len() + 1).chain(set);
        lengths.any(|length| length > LONGEST_WORD)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStringExt as _;

    use super::*;

    fn message(words: &[&str], without: &[&str], env: &[(&str, &str)]) -> CommandMessage {
        CommandMessage {
            words: words.iter().map(Into::into).collect(),
            without: without.iter().map(Into::into).collect(),
            env: env.iter().map(|(name, value)| (name.into(), value.into())).collect(),
        }
    }

    #[test]
    fn no_part_of_a_message_is_a_message() {
        for words in [&["bash", "-c", "echo 1\n echo 2"][..], &["bash", "-c", ""], &["", "", ""], &["3"]] {
            for (without, env) in [(&[][..], &[][..]), (&["A", ""], &[("B", ""), ("", "c d")]), (&[], &[("1", "2")])] {
                let message = message(words, without, env);
                let whole = message.to_bytes();
                assert_eq!(CommandMessage::parse(&whole), Some(message));
                for end in 0..whole.len() {
                    assert_eq!(CommandMessage::parse(&whole[..end]), None, "{end} of {whole:?}");
                }
                assert_eq!(CommandMessage::parse(&[&whole[..], b"more\0"].concat()), None);
            }
        }
        let odd = CommandMessage { words: vec![OsString::from_vec(vec![0xff])], ..CommandMessage::default() };
        assert_eq!(CommandMessage::parse(&odd.to_bytes()), Some(odd));
        for other in ["0 0 0\0", "1\0a\0", "1 0\0a\0", "1 0 0 0\0a\0", "1 0 18446744073709551615\0a\0", "1 -1 0\0a\0"] {
            assert_eq!(CommandMessage::parse(other.as_bytes()), None, "{other}");
        }
    }

    #[test]
    fn what_the_kernel_would_refuse_is_not_sent() {
        let long = "x".repeat(LONGEST_WORD - 1);
        assert!(!message(&["sh", &long], &[], &[]).is_too_long());
        assert!(message(&["sh", &format!("{long}x")], &[], &[]).is_too_long());
        assert!(message(&["sh"], &[], &[("A", &long)]).is_too_long());
    }
}
