//! How much of one answer is read. Servers are foreign: without limits an answer need never end.

use offshoot_protocol::AnswerLimits;
use offshoot_session::text::counted;

use super::classify::AnswerTrouble;

pub(super) fn check(limits: AnswerLimits, bytes: u64, blocks: usize) -> Result<(), AnswerTrouble> {
    if bytes > limits.bytes {
        return Err(beyond(&format!("is longer than {}", counted(limits.bytes, "byte", "bytes")), "answer.maxBytes"));
    }
    if blocks > limits.blocks {
        return Err(beyond(
            &format!("has more than {}", counted(limits.blocks, "block", "blocks")),
            "answer.maxBlocks",
        ));
    }
    Ok(())
}

pub(super) fn late(limits: AnswerLimits) -> AnswerTrouble {
    let time = counted(limits.time.as_secs(), "second", "seconds");
    beyond(&format!("took longer than {time}"), "answer.maxSeconds")
}

fn beyond(what: &str, setting: &str) -> AnswerTrouble {
    let text = format!("the answer {what}: the rest was not read (the setting {setting} changes the limit)");
    AnswerTrouble { text, ..AnswerTrouble::default() }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn limits_of_one_have_singular_nouns() {
        let limits = AnswerLimits { bytes: 1, blocks: 1, time: Duration::from_secs(1) };
        let told = [check(limits, 2, 0).unwrap_err(), check(limits, 0, 2).unwrap_err(), late(limits)];
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
