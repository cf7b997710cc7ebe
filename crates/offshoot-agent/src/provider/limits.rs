//! How much of one answer is read. Servers are foreign: without limits an answer need never end.

use std::time::Duration;

use super::classify::AnswerTrouble;

/// Beyond one of these an answer fails with what was received so far. It is not retried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AnswerLimits {
    /// Of the response's body as it is sent.
    pub bytes: u64,
    /// Of text, thinking and tool calls.
    pub blocks: usize,
    /// From the request to the end of the answer.
    pub time: Duration,
}

impl Default for AnswerLimits {
    fn default() -> Self {
        Self { bytes: 64 << 20, blocks: 1000, time: Duration::from_secs(3600) }
    }
}

impl AnswerLimits {
    pub(super) fn check(&self, bytes: u64, blocks: usize) -> Result<(), AnswerTrouble> {
        if bytes > self.bytes {
            return Err(beyond(&format!("is longer than {} bytes", self.bytes), "answer.maxBytes"));
        }
        if blocks > self.blocks {
            return Err(beyond(&format!("has more than {} blocks", self.blocks), "answer.maxBlocks"));
        }
        Ok(())
    }

    pub(super) fn late(&self) -> AnswerTrouble {
        beyond(&format!("took longer than {} seconds", self.time.as_secs()), "answer.maxSeconds")
    }
}

fn beyond(what: &str, setting: &str) -> AnswerTrouble {
    let text = format!("the answer {what}: the rest was not read (the setting {setting} changes the limit)");
    AnswerTrouble { text, ..AnswerTrouble::default() }
}
