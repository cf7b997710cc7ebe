// A session with everything that a page shows: pictures, colours, diffs of every kind, failures, branches, copies, a merge,
// compactions, labels, a system prompt. Pure: the same text every time.

const PIXELS = "iVBORw0KGgoAAAANSUhEUgAAAHgAAABQCAIAAABd+SbeAAAAtklEQVR42u3QoRHAIBBEUQqLpvaUE4FA0kFcyB7zZr5ccffaM6Y21BCABi3QoEFTAA1aoEGDpgAatECDBi3QoAUaNOiA7n69Bxo0aNCgQYMGDRo0aNCgQdc+AzRo0KBBgwYNGjRo0KBBgwYNGjRo0KBBgwYNGjRo0KBBgwYNGjRo0NWgv+MADRo06MLQIR+CBg367zNAgwYNOgs6ZAwa9FnQIWPQu6BxgAZtDBo0aBygQRuDTh0vW27AxNJvh0wAAAAASUVORK5CYII=";
export const PICTURE = { type: "image", mimeType: "image/png", data: PIXELS };

const RUST = `use std::time::Duration;

/// Runs the request until it succeeds.
pub async fn send(request: &Request) -> Result<Response, Error> {
    let mut wait = Duration::from_millis(200);
    for attempt in 0..5 {
        match request.once().await {
            Ok(response) if response.status() < 500 => return Ok(response),
            _ => tokio::time::sleep(wait).await,
        }
        wait *= 2; // doubles
    }
    Err(Error::GaveUp("after 5 attempts"))
}
`;

/** The id of an entry by its number. */
export const idOf = (number) => (0xa1000000 + number * 0x010203).toString(16).slice(0, 8);

/** Writes entries one after the other; `at` goes back to an earlier one. */
class Writer {
  entries = [];
  leaf = null;
  clock = Date.UTC(2026, 0, 5, 9, 0, 0);
  spent = 18_000;

  push(type, more, seconds = 7) {
    this.clock += seconds * 1000;
    const id = idOf(this.entries.length);
    this.entries.push({ type, id, parentId: this.leaf, timestamp: new Date(this.clock).toISOString(), ...more });
    this.leaf = id;
    return id;
  }

  said(role, content, more, seconds) {
    return this.push("message", { message: { role, content, timestamp: this.clock, ...more } }, seconds);
  }

  user(text, ...more) {
    return this.said("user", [{ type: "text", text }, ...more], {}, 40);
  }

  answer(content, more = {}, seconds = 9) {
    this.spent += 900;
    const usage = { input: 1200, output: 340, cacheRead: this.spent, cacheWrite: 800, totalTokens: this.spent + 2340, cost: { input: 0.006, output: 0.009, cacheRead: 0.005, cacheWrite: 0.003, total: 0.023 } };
    return this.said("assistant", content, { api: "anthropic-messages", provider: "anthropic", model: "claude-sonnet-4-5", usage, stopReason: content.some((block) => block.type === "toolCall") ? "toolUse" : "stop", ...more }, seconds);
  }

  call(name, args, text, more = {}, seconds = 3) {
    const id = `call_${this.entries.length}`;
    this.answer([...(more.words ? [{ type: "text", text: more.words }] : []), { type: "toolCall", id, name, arguments: args }]);
    const { words: _, content, ...rest } = more;
    return this.said("toolResult", content ?? [{ type: "text", text }], { toolCallId: id, toolName: name, isError: false, ...rest }, seconds);
  }

  text() {
    return [HEADER, ...this.entries].map((entry) => `${JSON.stringify(entry)}\n`).join("");
  }
}

const HEADER = { type: "session", version: 3, id: "0199f0a0-0000-7000-8000-0000000000aa", timestamp: "2026-01-05T08:59:00.000Z", cwd: "/home/u/archive" };

/** The lines of the session, and ids by name. */
export function richSession() {
  const w = new Writer();
  const ids = {};
  w.push("model_change", { provider: "anthropic", modelId: "claude-sonnet-4-5" });
  w.push("thinking_level_change", { thinkingLevel: "high" });
  w.said("system", "You are a careful engineer. Keep changes small.", { sections: { rules: "Never touch the lock file." }, toolsAdded: [{ name: "bash", description: "Run a command" }, { name: "edit", description: "Replace text in a file" }] });
  ids.first = w.user("The upload to the archive fails about once a day with **503**. Please make it retry, but not for ever.\n\nSee https://example.com/runbook for what operations expect.");
  w.answer([{ type: "thinking", thinking: "The user wants retries with a bound. First look at how the request is sent.\n\nThen decide on a policy." }, { type: "text", text: "I will look at how requests are sent first." }]);
  ids.read = w.call("read", { path: "src/archive/send.rs", offset: 1, limit: 40 }, RUST, {}, 1);
  w.call("grep", { pattern: "send\\(", path: "src", glob: "*.rs", ignoreCase: true, limit: 20 }, "src/archive/send.rs:4:pub async fn send(\nsrc/main.rs:88:    send(&request).await?;", {}, 1);
  w.call("ls", { path: "src/archive", limit: 50 }, "mod.rs\nsend.rs\nstore.rs", {}, 1);
  ids.fork = w.answer([
    { type: "text", text: "There are two ways:\n\n| way | pauses | code |\n|:--|--:|:-:|\n| fixed | 200 ms | 4 lines |\n| growing | 200 ms … 3.2 s | 9 lines |\n\n1. **Fixed pauses** are simple.\n2. *Growing pauses* spare a server that is down.\n\n```rust\nlet wait = base * 2u32.pow(attempt); // grows\n```\n\nWhich one?" },
  ]);
  // A way that was dropped.
  ids.dropped = w.user("Try fixed pauses.");
  w.call("edit", { path: "src/archive/send.rs", oldText: "        wait *= 2; // doubles\n", newText: "        // The pause stays as it is.\n" }, "Edited src/archive/send.rs");
  ids.droppedRun = w.call("bash", { command: "cargo test archive -- --nocapture", timeout: 120 }, "\u001b[1m\u001b[32m   Compiling\u001b[0m archive v0.1.0\nrunning 3 tests\ntest retries ... \u001b[31mFAILED\u001b[0m\n\u001b[38;5;208mwarning\u001b[0m: unused variable \u001b[38;2;90;160;250m`wait`\u001b[0m\n", { isError: true }, 64);
  ids.droppedEnd = w.answer([{ type: "text", text: "Fixed pauses make the test time out: the server needs longer than a second." }]);
  // The way that stayed.
  w.leaf = ids.fork;
  ids.summary = w.push("branch_summary", { fromId: ids.droppedEnd, summary: "## Goal\nFixed pauses for retries\n\n## Progress\n- the test timed out\n", details: { readFiles: ["src/archive/send.rs"], modifiedFiles: ["src/archive/send.rs"] } });
  ids.second = w.user("Growing pauses, then. Here is a picture of the error rate:", PICTURE);
  ids.edit = w.call("edit", { path: "src/archive/send.rs", oldText: "a", newText: "b" }, "Edited src/archive/send.rs", { details: { diff: "   5     let mut wait = Duration::from_millis(200);\n-  6     for attempt in 0..5 {\n+  6     for attempt in 0..LIMIT {\n   7         match request.once().await {" }, words: "The number of attempts becomes a constant." });
  ids.edits = w.call("edit", { path: "src/main.rs", edits: [{ oldText: "send(&request).await?;", newText: "send(&request).await.context(\"upload\")?;" }, { oldText: "use archive::send;\n", newText: "use anyhow::Context as _;\nuse archive::send;\n" }] }, "Edited src/main.rs");
  ids.failedEdit = w.call("edit", { path: "src/store.rs", old_string: "fn put(&self)", new_string: "fn put(&mut self)" }, "The text was not found in src/store.rs", { isError: true });
  ids.write = w.call("write", { path: "docs/retry.md", content: "# Retries\n\nFive attempts, 200 ms to 3.2 s apart.\n" }, "Wrote docs/retry.md");
  ids.run = w.call("bash", { command: "cargo test archive", timeout: 120 }, `\u001b[32m   Compiling\u001b[0m archive v0.1.0\n${Array.from({ length: 30 }, (_, at) => `test case_${at} ... \u001b[32mok\u001b[0m`).join("\n")}\n`, {}, 41);
  w.push("compaction", { summary: "The retry **policy** grows from 200 ms to 3.2 s; tests pass.", firstKeptEntryId: ids.second, tokensBefore: 91_400 });
  w.spent = 6_000;
  ids.done = w.answer([{ type: "text", text: "Uploads are now retried five times, 200 ms to 3.2 s apart. All 30 tests pass.\n\n- [x] code\n- [x] `docs/retry.md`\n- [ ] changelog\n\n> The lock file was not touched." }]);
  ids.label = w.push("label", { targetId: ids.done, label: "works" });
  // Copies and a merge.
  const copied = w.entries.find((entry) => entry.id === ids.droppedEnd);
  ids.picked = w.push("message", { pickedFrom: ids.droppedEnd, message: { ...copied.message, usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 } } } });
  ids.merged = w.push("branch_summary", { fromId: ids.droppedEnd, summary: "Fixed pauses were tried and **dropped**.", details: { readFiles: [], modifiedFiles: [], merged: { base: ids.fork, tip: ids.droppedEnd } } });
  ids.bash = w.push("message", { message: { role: "bashExecution", command: "git diff --stat", output: " src/archive/send.rs | 2 +-\n src/main.rs | 3 ++-\n", exitCode: 0, cancelled: false, truncated: false, timestamp: w.clock } });
  ids.last = w.user("Thank you. Write the changelog line, too.");
  ids.leaf = w.answer([{ type: "text", text: "Added to `CHANGELOG.md`: *Uploads that meet a busy server are retried.*" }]);
  return { text: w.text(), ids };
}

/** A long session for one purpose each, as text. */
export const LONG = {
  /** `count` messages, of which every third is an answer with a thought. */
  talk(count) {
    const w = new Writer();
    for (let at = 0; at < count; at++) {
      if (at % 3 === 2) w.answer([{ type: "thinking", thinking: `thought ${at}` }, { type: "text", text: `words ${at}` }]);
      else w.user(`words ${at}`);
    }
    return w.text();
  },

  /** An edit whose diff has `count` lines, and another that was asked for and failed. */
  diff(count) {
    const w = new Writer();
    w.user("Change everything.");
    const changed = Array.from({ length: count }, (_, at) => `${at % 2 ? "+" : "-"}${String(at).padStart(5)} line ${at} of the file`);
    w.call("edit", { path: "long.txt", oldText: "a", newText: "b" }, "Edited", { details: { diff: changed.join("\n") } });
    const text = (word) => Array.from({ length: count }, (_, at) => `${word} ${at}`).join("\n");
    w.call("edit", { path: "failed.txt", oldText: text("old"), newText: text("new") }, "not found", { isError: true });
    return w.text();
  },

  /** Code of `size` characters, and a little of the same. */
  code(size) {
    const w = new Writer();
    const line = "let value = 12; // words\n";
    w.user("Write code.");
    w.answer([{ type: "text", text: `\`\`\`rust\n${line.repeat(Math.ceil(size / line.length))}\`\`\`\n\nand\n\n\`\`\`rust\n${line}\`\`\`\n` }]);
    return w.text();
  },

  /** Equal halves: each branch of a pair is one level deeper; `count` entries. */
  halves(count) {
    const entry = (at) => ({ type: "message", id: `e${at}`, parentId: at === 0 ? null : `e${Math.floor(at / 2)}`, timestamp: "2026-01-05T09:00:00.000Z", message: { role: "user", content: `${"words ".repeat(12)}${at}` } });
    return [HEADER, ...Array.from({ length: count }, (_, at) => entry(at))].map((line) => `${JSON.stringify(line)}\n`).join("");
  },

  /** `count` pictures, one to a message. */
  pictures(count, data) {
    const w = new Writer();
    for (let at = 0; at < count; at++) w.user(`picture ${at}`, { type: "image", mimeType: "image/png", data });
    return w.text();
  },
};
