//! One generated conversation: turns with tool calls, branches, compactions, labels, images.
//!
//! The same shape and seed give the same bytes on the same machine.

use std::collections::BTreeSet;
use std::io::{Result, Write};

use super::chance::Chance;
use super::prose::Prose;
use super::record::{EPOCH_MS, EntryPlace, Records, Version, id, push_quoted, session_id};

/// The longest tool result; the peers' own tools cut at the same length.
const RESULT_CAP: usize = 50 * 1024;
const TOOLS: &[&str] = &["bash", "read", "edit", "grep"];
/// The base64 of an image repeats a block of this many bytes.
const IMAGE_BLOCK: usize = 4096;

#[derive(Debug, Clone)]
pub(super) struct Shape {
    pub(super) entries: u32,
    pub(super) branches: usize,
    pub(super) compactions: u32,
    pub(super) compact_at: Option<u32>,
    pub(super) labels: usize,
    pub(super) images: usize,
    pub(super) image_bytes: usize,
    pub(super) result: usize,
    /// What the model also says, in the second half of the session.
    pub(super) says: &'static str,
    pub(super) version: Version,
    pub(super) seed: u64,
}

impl Default for Shape {
    fn default() -> Self {
        Self {
            entries: 0,
            branches: 0,
            compactions: 0,
            compact_at: None,
            labels: 0,
            images: 0,
            image_bytes: 200_000,
            result: 1000,
            says: "",
            version: Version::V3,
            seed: 1,
        }
    }
}

enum Turn {
    User,
    Assistant { calls_left: usize },
    Tool { call: String, name: &'static str, calls_left: usize },
}

struct Writer<'a, W> {
    records: Records<W>,
    prose: &'a Prose,
    shape: &'a Shape,
    chance: Chance,
    parents: Vec<Option<u32>>,
    leaf: Option<u32>,
    ms: i64,
    turn: Turn,
    body: Vec<u8>,
}

/// Writes a session and returns the time of its last entry, in milliseconds.
pub(super) fn write(out: impl Write, prose: &Prose, shape: &Shape, cwd: &str) -> Result<i64> {
    let mut chance = Chance::new(shape.seed);
    let branches = places(&mut chance, shape.branches, 60, shape.entries);
    let labels = places(&mut chance, shape.labels, 10, shape.entries);
    let images = places(&mut chance, shape.images, 5, shape.entries);
    let ms = EPOCH_MS + i64::try_from(shape.seed).unwrap_or(0) * 61_000;
    let records = Records::new(out, shape.version);
    let mut writer = Writer {
        records,
        prose,
        shape,
        chance,
        parents: Vec::new(),
        leaf: None,
        ms,
        turn: Turn::User,
        body: Vec::new(),
    };
    writer.records.header(&session_id(shape.seed), cwd, ms)?;
    let mut image_due = false;
    for at in 0..shape.entries {
        image_due |= images.contains(&at);
        writer.ms += 900 + i64::try_from(writer.chance.below(4000)).unwrap_or(0);
        if at == 0 {
            writer.model_change()?;
        } else if branches.contains(&at) && shape.version == Version::V3 {
            writer.branch()?;
        } else if writer.compacts(at) {
            writer.compaction()?;
        } else if labels.contains(&at) && shape.version == Version::V3 {
            writer.label()?;
        } else {
            image_due = writer.message(image_due)?;
        }
    }
    let last = writer.ms;
    writer.records.finish()?;
    Ok(last)
}

/// `count` different entries between `from` and `end`.
fn places(chance: &mut Chance, count: usize, from: usize, end: u32) -> BTreeSet<u32> {
    let room = usize::try_from(end).unwrap_or(0).saturating_sub(from);
    let mut places = BTreeSet::new();
    while places.len() < count.min(room / 2) {
        places.insert(u32::try_from(from + chance.below(room)).unwrap_or(end));
    }
    places
}

impl<W: Write> Writer<'_, W> {
    fn compacts(&self, at: u32) -> bool {
        let step = self.shape.entries.checked_div(self.shape.compactions).filter(|step| *step > 1);
        // Shifted, so that entries follow the last compaction.
        let regular = step.is_some_and(|step| at > 30 && at % step == step - step / 4);
        regular || self.shape.compact_at == Some(at)
    }

    fn push(&mut self, kind: &str) -> Result<()> {
        let at = u32::try_from(self.parents.len()).unwrap_or(u32::MAX);
        let body = std::mem::take(&mut self.body);
        self.records.entry(kind, EntryPlace { at, parent: self.leaf, ms: self.ms }, &body)?;
        self.body = body;
        self.body.clear();
        self.parents.push(self.leaf);
        self.leaf = Some(at);
        Ok(())
    }

    /// The entry `steps` above the leaf, or the root.
    fn above(&self, steps: usize) -> Option<u32> {
        let mut here = self.leaf?;
        for _ in 0..steps {
            let parent = self.parents.get(usize::try_from(here).ok()?).copied().flatten();
            let Some(parent) = parent else { break };
            here = parent;
        }
        Some(here)
    }

    fn model_change(&mut self) -> Result<()> {
        self.text(r#""provider":"anthropic","modelId":"claude-opus-4-5""#);
        self.push("model_change")
    }

    /// Goes back some entries and starts again there, with a summary of the abandoned branch.
    fn branch(&mut self) -> Result<()> {
        let back = 1 + self.chance.below(30);
        let from = self.leaf.map_or_else(|| "root".to_owned(), id);
        self.leaf = self.above(back);
        self.text(&format!(r#""fromId":"{from}","summary":"#));
        self.prose(300, 0.5, 2000);
        self.turn = Turn::User;
        self.push("branch_summary")
    }

    fn compaction(&mut self) -> Result<()> {
        let kept = self.above(24).unwrap_or(0);
        self.text(r#""summary":"#);
        self.prose(4000, 0.3, 12_000);
        match self.shape.version {
            Version::V3 => self.text(&format!(r#","firstKeptEntryId":"{}""#, id(kept))),
            Version::V1 => self.text(&format!(r#","firstKeptEntryIndex":{}"#, kept + 1)),
        }
        let tokens = 150_000 + self.chance.below(40_000);
        self.text(&format!(r#","tokensBefore":{tokens}"#));
        self.turn = Turn::User;
        self.push("compaction")
    }

    fn label(&mut self) -> Result<()> {
        let target = self.leaf.map(id).unwrap_or_default();
        let number = self.parents.len();
        self.text(&format!(r#""targetId":"{target}","label":"mark {number}""#));
        self.push("label")
    }

    fn message(&mut self, image_due: bool) -> Result<bool> {
        self.text(r#""message":{"#);
        let turn = std::mem::replace(&mut self.turn, Turn::User);
        let mut still_due = false;
        self.turn = match turn {
            Turn::User => self.user(image_due),
            Turn::Assistant { calls_left } => {
                still_due = image_due;
                self.assistant(calls_left)
            }
            Turn::Tool { call, name, calls_left } => self.tool_result(&call, name, calls_left, image_due),
        };
        let ms = self.ms;
        self.text(&format!(r#","timestamp":{ms}}}"#));
        self.push("message")?;
        Ok(still_due)
    }

    fn user(&mut self, image: bool) -> Turn {
        self.text(r#""role":"user","content":[{"type":"text","text":"#);
        self.prose(180, 0.8, 4000);
        self.text("}");
        self.image(image);
        self.text("]");
        let calls_left = [1, 2, 4, 8, 12].get(self.chance.below(5)).copied().unwrap_or(1);
        Turn::Assistant { calls_left }
    }

    fn assistant(&mut self, calls_left: usize) -> Turn {
        self.text(r#""role":"assistant","content":["#);
        if self.chance.happens(0.4) {
            self.text(r#"{"type":"thinking","thinking":"#);
            self.prose(400, 0.8, 8000);
            let signature = self.chance.below(1 << 32);
            self.text(&format!(r#","thinkingSignature":"sig{signature:08x}"}},"#));
        }
        if !self.shape.says.is_empty() && self.parents.len() * 2 > self.shape.entries as usize {
            self.text(&format!(r#"{{"type":"text","text":"{}"}},"#, self.shape.says));
        }
        self.text(r#"{"type":"text","text":"#);
        self.prose(250, 1.0, 8000);
        self.text("}");
        let (stop, next) = match calls_left.checked_sub(1) {
            Some(calls_left) => ("toolUse", self.tool_call(calls_left)),
            None => ("stop", Turn::User),
        };
        self.text(r#"],"api":"anthropic-messages","provider":"anthropic","model":"claude-opus-4-5","#);
        self.usage();
        self.text(&format!(r#","stopReason":"{stop}""#));
        next
    }

    fn tool_call(&mut self, calls_left: usize) -> Turn {
        let name = self.chance.pick(TOOLS);
        let call = format!("toolu_{:012x}", self.parents.len() * 7919);
        self.text(&format!(r#",{{"type":"toolCall","id":"{call}","name":"{name}","arguments":{{"#));
        if name == "bash" {
            self.text(r#""command":"#);
            self.prose(80, 0.5, 400);
        } else {
            let word = Prose::word(&mut self.chance);
            self.text(&format!(r#""path":"src/{word}.rs""#));
        }
        if name == "edit" {
            self.text(r#","oldText":"#);
            self.prose(300, 0.7, 4000);
            self.text(r#","newText":"#);
            self.prose(400, 0.7, 4000);
        }
        self.text("}}");
        Turn::Tool { call, name, calls_left }
    }

    fn tool_result(&mut self, call: &str, name: &str, calls_left: usize, image: bool) -> Turn {
        self.text(&format!(
            r#""role":"toolResult","toolCallId":"{call}","toolName":"{name}","content":[{{"type":"text","text":"#
        ));
        self.prose(self.shape.result, 1.6, RESULT_CAP);
        self.text("}");
        self.image(image);
        let error = self.chance.happens(0.05);
        self.text(&format!(r#"],"isError":{error}"#));
        Turn::Assistant { calls_left }
    }

    fn usage(&mut self) {
        let (input, output) = (2000 + self.chance.below(148_000), 50 + self.chance.below(1950));
        let (cost_in, cost_out) = (input as f64 / 200_000.0, output as f64 / 40_000.0);
        self.text(&format!(
            r#""usage":{{"input":{input},"output":{output},"cacheRead":0,"cacheWrite":0,"totalTokens":{},"cost":{{"input":{cost_in},"output":{cost_out},"cacheRead":0,"cacheWrite":0,"total":{}}}}}"#,
            input + output,
            cost_in + cost_out
        ));
    }

    fn image(&mut self, due: bool) {
        if !due {
            return;
        }
        self.text(r#",{"type":"image","data":"iVBORw0KGgo"#);
        const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let block: Vec<u8> = (0..IMAGE_BLOCK).map(|_| DIGITS[self.chance.below(64)]).collect();
        for _ in 0..self.shape.image_bytes / IMAGE_BLOCK {
            self.body.extend_from_slice(&block);
        }
        self.text(r#"A","mimeType":"image/png"}"#);
    }

    fn text(&mut self, text: &str) {
        self.body.extend_from_slice(text.as_bytes());
    }

    fn prose(&mut self, median: usize, spread: f64, cap: usize) {
        let length = self.chance.length(median, spread, cap);
        let text = self.prose.cut(&mut self.chance, length);
        push_quoted(&mut self.body, text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    fn lines(shape: &Shape) -> Vec<Value> {
        let mut out = Vec::new();
        write(&mut out, &Prose::new(), shape, "/home/u/project").unwrap();
        let text = String::from_utf8(out).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    fn count(lines: &[Value], kind: &str) -> usize {
        lines.iter().filter(|line| line["type"] == kind).count()
    }

    fn small() -> Shape {
        Shape {
            entries: 2000,
            branches: 20,
            compactions: 4,
            labels: 15,
            images: 3,
            image_bytes: 20_000,
            seed: 7,
            ..Shape::default()
        }
    }

    #[test]
    fn a_session_has_what_its_shape_asks_for() {
        let lines = lines(&small());
        assert_eq!(lines.len(), 2001);
        let asked = [("branch_summary", 20), ("compaction", 4), ("label", 15)];
        for (kind, wanted) in asked {
            assert!(count(&lines, kind) + 2 >= wanted, "{kind}: {}", count(&lines, kind));
        }
        let images = lines.iter().filter(|line| line.to_string().contains("image/png")).count();
        assert_eq!(images, 3);
    }

    #[test]
    fn every_parent_and_kept_entry_comes_before_its_child() {
        let lines = lines(&small());
        let mut seen = BTreeSet::new();
        for line in &lines[1..] {
            for key in ["parentId", "firstKeptEntryId", "targetId", "fromId"] {
                let named = line[key].as_str();
                assert!(named.is_none_or(|id| seen.contains(id)), "{line}");
            }
            seen.insert(line["id"].as_str().unwrap().to_owned());
        }
        assert_eq!(lines[1]["parentId"], Value::Null);
    }

    #[test]
    fn every_tool_call_is_answered_by_the_next_message() {
        let lines = lines(&Shape { entries: 500, ..Shape::default() });
        for pair in lines.windows(2).filter(|pair| pair[0]["message"]["stopReason"] == "toolUse") {
            let call = pair[0]["message"]["content"].as_array().unwrap().last().unwrap();
            assert_eq!(pair[1]["message"]["toolCallId"], call["id"]);
        }
    }

    #[test]
    fn version_1_has_no_ids_and_keeps_by_index() {
        let lines = lines(&Shape { version: Version::V1, ..small() });
        assert!(lines[1..].iter().all(|line| line.get("id").is_none() && line.get("parentId").is_none()));
        assert!(lines.iter().any(|line| line["firstKeptEntryIndex"].is_u64()));
        assert_eq!(count(&lines, "label") + count(&lines, "branch_summary"), 0);
    }

    #[test]
    fn the_same_shape_gives_the_same_bytes() {
        let bytes = |seed| {
            let mut out = Vec::new();
            write(&mut out, &Prose::new(), &Shape { seed, ..small() }, "/home/u/project").unwrap();
            out
        };
        assert!(bytes(7) == bytes(7) && bytes(7) != bytes(8));
    }
}
