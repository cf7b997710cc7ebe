//! How much of one answer is read. Servers are foreign: without limits an answer need never end.

use std::time::Duration;

use offshoot_session::text::counted;

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
            return Err(beyond(&format!("is longer than {}", counted(self.bytes, "byte", "bytes")), "answer.maxBytes"));
        }
        if blocks > self.blocks {
            return Err(beyond(
                &format!("has more than {}", counted(self.blocks, "block", "blocks")),
                "answer.maxBlocks",
            ));
        }
        Ok(())
    }

    pub(super) fn late(&self) -> AnswerTrouble {
        let time = counted(self.time.as_secs(), "second", "seconds");
        beyond(&format!("took longer than {time}"), "answer.maxSeconds")
    }
}

fn beyond(what: &str, setting: &str) -> AnswerTrouble {
    let text = format!("the answer {what}: the rest was not read (the setting {setting} changes the limit)");
    AnswerTrouble { text, ..AnswerTrouble::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_of_one_have_singular_nouns() {
        let limits = AnswerLimits { bytes: 1, blocks: 1, time: Duration::from_secs(1) };
        let told = [limits.check(2, 0).unwrap_err(), limits.check(0, 2).unwrap_err(), limits.late()];
        let begins = [
            "the answer is longer than 1 byte:",
            "the answer has more than 1 block:",
            "the answer took longer than 1 second:",
        ];
        for (trouble, begin) in told.iter().zip(begins) {
            assert!(trouble.text.starts_with(begin), "{}", trouble.text);
        }
    }
}
