//! A long transcript of Claude Code, and its texts as a session of version 3: what a foreign session costs more than one of the
//! program's own. Prompts, answers, calls and their results, one below the other.

use std::io::{Result, Write};

use super::chance::Chance;
use super::prose::Prose;
use super::record::{EPOCH_MS, EntryPlace, Records, Version, iso, push_quoted, quoted, session_id};

const TEXT: usize = 4000;

/// The agent that wrote the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Writer {
    ClaudeCode,
    Pi,
}

pub(super) fn write(out: impl Write, prose: &Prose, records: u32, cwd: &str, writer: Writer) -> Result<()> {
    let mut chance = Chance::new(21);
    let mut own = Records::new(out, Version::V3);
    if writer == Writer::Pi {
        own.header(&session_id(21), cwd, EPOCH_MS)?;
    }
    let mut line = Vec::with_capacity(2 * TEXT);
    for at in 0..records {
        let mut text = Vec::with_capacity(2 * TEXT);
        push_quoted(&mut text, prose.cut(&mut chance, TEXT));
        let text = String::from_utf8_lossy(&text);
        let ms = EPOCH_MS + i64::from(at) * 1000;
        match writer {
            Writer::Pi => {
                let place = EntryPlace { at, parent: at.checked_sub(1), ms };
                own.entry("message", place, format!(r#""message":{}"#, pi_message(at, &text)).as_bytes())?;
            }
            Writer::ClaudeCode => {
                line.clear();
                write_record(&mut line, at, (&text, cwd), &iso(ms))?;
                own.line(&line)?;
            }
        }
    }
    own.finish().map(|_| ())
}

/// As Claude Code 2.1 writes it.
fn write_record(line: &mut Vec<u8>, at: u32, (text, cwd): (&str, &str), time: &str) -> Result<()> {
    let parent = at.checked_sub(1).map_or_else(|| "null".to_owned(), |parent| quoted(&uuid(parent)));
    write!(
        line,
        r#"{{"parentUuid":{parent},"isSidechain":false,"userType":"external","entrypoint":"cli","cwd":{},"sessionId":"{}","version":"2.1.270","gitBranch":"main","#,
        quoted(cwd),
        session_id(21)
    )?;
    let usage = r#""usage":{"input_tokens":12,"cache_creation_input_tokens":800,"cache_read_input_tokens":15000,"output_tokens":1,"service_tier":"standard"}"#;
    let answer = |block: &str, reason: &str| {
        format!(
            r#""type":"assistant","message":{{"model":"claude-opus-4-8","id":"msg_{at}","type":"message","role":"assistant","content":[{block}],"stop_reason":{reason},"stop_sequence":null,{usage}}},"requestId":"req_{at}""#
        )
    };
    let body = match at % 4 {
        0 => format!(
            r#""type":"user","message":{{"role":"user","content":{text}}},"promptId":"{}","origin":{{"kind":"human"}},"promptSource":"typed","permissionMode":"default""#,
            uuid(at)
        ),
        1 => answer(&format!(r#"{{"type":"text","text":{text}}}"#), "null"),
        2 => answer(
            &format!(r#"{{"type":"tool_use","id":"toolu_{at}","name":"Write","input":{{"content":{text}}}}}"#),
            r#""tool_use""#,
        ),
        _ => format!(
            r#""type":"user","message":{{"role":"user","content":[{{"tool_use_id":"toolu_{}","type":"tool_result","content":{text}}}]}},"toolUseResult":{{"stdout":"done","interrupted":false}}"#,
            at - 1
        ),
    };
    write!(line, r#"{body},"uuid":"{}","timestamp":"{time}"}}"#, uuid(at))
}

fn pi_message(at: u32, text: &str) -> String {
    let usage = r#""api":"anthropic-messages","provider":"anthropic","model":"claude-opus-4-8","usage":{"input":12,"output":1,"cacheRead":15000,"cacheWrite":800,"totalTokens":15813,"cost":{"input":0.1,"output":0.1,"cacheRead":0,"cacheWrite":0,"total":0.2}}"#;
    // As many bytes as the other agent spends on what it says in each record.
    let beside = format!(r#""details":{{"beside":"{}"}}"#, "x".repeat(210));
    match at % 4 {
        0 => format!(r#"{{"role":"user","content":{text},"timestamp":{EPOCH_MS},{beside}}}"#),
        1 => format!(
            r#"{{"role":"assistant","content":[{{"type":"text","text":{text}}}],{usage},"stopReason":"stop","timestamp":{EPOCH_MS},{beside}}}"#
        ),
        2 => format!(
            r#"{{"role":"assistant","content":[{{"type":"toolCall","id":"toolu_{at}","name":"write","arguments":{{"content":{text}}}}}],{usage},"stopReason":"toolUse","timestamp":{EPOCH_MS},{beside}}}"#
        ),
        _ => format!(
            r#"{{"role":"toolResult","toolCallId":"toolu_{}","toolName":"write","content":[{{"type":"text","text":{text}}}],"isError":false,"timestamp":{EPOCH_MS},{beside}}}"#,
            at - 1
        ),
    }
}

fn uuid(number: u32) -> String {
    session_id(u64::from(number) + 100_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(writer: Writer) -> Vec<serde_json::Value> {
        let mut out = Vec::new();
        write(&mut out, &Prose::new(), 40, "/home/u/p", writer).unwrap();
        String::from_utf8(out).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    #[test]
    fn both_say_the_same_in_about_as_many_bytes() {
        let (claude, pi) = (written(Writer::ClaudeCode), written(Writer::Pi));
        assert_eq!((claude.len(), pi.len()), (40, 41));
        for (record, entry) in claude.iter().zip(&pi[1..]).step_by(4) {
            assert_eq!(record["message"]["content"], entry["message"]["content"]);
        }
        assert!(claude.windows(2).all(|two| two[1]["parentUuid"] == two[0]["uuid"]));
        let length =
            |lines: &[serde_json::Value]| lines.iter().map(|line| line.to_string().len()).sum::<usize>() as f64;
        assert!((0.97..1.03).contains(&(length(&claude) / length(&pi))), "{}", length(&claude) / length(&pi));
    }
}
