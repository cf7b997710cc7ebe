// Sessions for comparing plans of compactions and branch summaries: long turns with many tool calls, results of every size,
// several compactions, edits, branches with summaries, notes, commands, system messages; seeded.
// Sizes are small, so that plans with few tokens to keep cut everywhere.
import { Draft, EPOCH, iso, text, toolCall, usage } from "./draft.mjs";
import { Rng } from "../lib/rng.mjs";

const FILES = ["src/a.rs", "src/b.rs", "a", "z", "\u{ff5e}.md", "😀.md", "docs/ä.md"];

class PlanTree {
  constructor(rng) {
    this.rng = rng;
    this.draft = new Draft({ id: `5e551000-0000-7000-8000-${rng.hex(12)}` });
    this.nodes = [];
    this.clock = EPOCH;
  }

  put(type, fields) {
    this.clock += this.rng.int(0, 5000);
    const id = this.draft.add(type, { timestamp: iso(this.clock), ...fields });
    this.nodes.push(id);
    return id;
  }

  message(message) {
    return this.put("message", { message: { ...message, timestamp: this.clock } });
  }

  /** Mostly short, sometimes of a size that matters, with characters of every width. */
  words() {
    const { rng } = this;
    const size = rng.weighted([
      [8, 1],
      [3, 12],
      [1, 60],
    ]);
    return Array.from({ length: size }, () => rng.text()).join(rng.pick([" ", "\n"]));
  }

  content() {
    const { rng } = this;
    if (rng.chance(0.4)) return this.words();
    const blocks = Array.from({ length: rng.int(0, 3) }, () => ({ type: "text", text: this.words() }));
    if (rng.chance(0.1)) blocks.push({ type: "image", data: "iVBORw0KGgo=", mimeType: "image/png" });
    return blocks;
  }

  usage() {
    const { rng } = this;
    return rng.pick([usage(rng.int(1, 4000)), { ...usage(0, 0), totalTokens: 0 }, { ...usage(rng.int(1, 400)), totalTokens: 0 }, undefined]);
  }

  arguments() {
    const { rng } = this;
    return rng.pick([
      { path: rng.pick(FILES) },
      { path: rng.pick(FILES), edits: [{ oldText: this.words(), newText: rng.text() }], 10: true, 9: [1.5, -0, 1e21, 1e-7] },
      { command: `echo "${rng.text(2)}"\n\t${"\u2028"}` },
      { path: 5 },
      {},
    ]);
  }

  assistant(calls, more = {}) {
    const { rng } = this;
    const content = [];
    if (rng.chance(0.3)) content.push({ type: "thinking", thinking: this.words() });
    if (rng.chance(0.7)) content.push({ type: "text", text: rng.chance(0.1) ? "" : this.words() });
    content.push(...calls.map((id) => toolCall(id, rng.pick(["read", "edit", "write", "bash"]), this.arguments())));
    if (rng.chance(0.1)) content.push({ type: "text", text: rng.text() });
    const message = { role: "assistant", content, api: "x", provider: "p", model: "m", usage: this.usage(), stopReason: "stop", ...more };
    return this.message(message);
  }

  /** Results around the length at which they are cut, also where the cut goes through a pair of surrogates. */
  result(id) {
    const { rng } = this;
    const long = "x".repeat(1999) + rng.pick(["", "y", "😀", "😀tail", "é".repeat(3000)]);
    const said = rng.weighted([
      [6, this.words()],
      [2, long],
      [1, ""],
    ]);
    const content = rng.chance(0.1) ? [{ type: "image", data: "x", mimeType: "image/png" }] : text(said);
    this.message({ role: "toolResult", toolCallId: id, toolName: "t", content, isError: rng.chance(0.1) });
  }

  turn() {
    const { rng } = this;
    rng.weighted([
      [7, () => this.message({ role: "user", content: this.content() })],
      [1, () => this.note()],
      [1, () => this.bash()],
      [1, () => {}],
    ])();
    const rounds = rng.weighted([
      [4, 1],
      [3, 3],
      [1, 14],
    ]);
    for (let round = 0; round < rounds; round++) {
      const ids = Array.from({ length: rng.int(1, 3) }, () => `call_${rng.hex(6)}`);
      this.assistant(ids, { stopReason: "toolUse" });
      for (const id of ids) this.result(id);
      if (rng.chance(0.1)) this.settings();
    }
    if (rng.chance(0.15)) this.failure();
    if (rng.chance(0.85)) this.assistant([]);
  }

  /** An attempt that failed, and the edits that take it out of the context. */
  failure() {
    const { rng } = this;
    const id = this.assistant([], { stopReason: rng.pick(["error", "aborted", "length"]), errorMessage: "x" });
    if (rng.chance(0.7)) this.put("context_edit", { targetId: id, replacement: null });
  }

  note() {
    this.put("custom_message", { customType: "note", content: this.content(), display: true });
  }

  bash() {
    const { rng } = this;
    const excluded = rng.chance(0.3) ? { excludeFromContext: true } : {};
    const ending = rng.pick([{ exitCode: 0 }, { exitCode: 3 }, { cancelled: true }, { truncated: true, fullOutputPath: "/tmp/o" }]);
    this.message({ role: "bashExecution", command: "ls", output: rng.chance(0.2) ? "" : this.words(), ...ending, ...excluded });
  }

  settings() {
    const { rng } = this;
    rng.pick([
      () => this.put("model_change", { provider: "p", modelId: "m" }),
      () => this.put("thinking_level_change", { thinkingLevel: "high" }),
      () => this.put("custom", { customType: "state", data: {} }),
      () => this.put("label", { targetId: rng.pick(this.nodes), label: rng.pick(["pin", "x"]) }),
      () => this.put("session_info", { name: "n" }),
    ])();
  }

  edit() {
    const { rng } = this;
    const replacement = rng.pick([null, { content: rng.text() }, { content: text(this.words()) }]);
    this.put("context_edit", { targetId: rng.pick(this.nodes.slice(-20)), replacement });
  }

  system() {
    const { rng } = this;
    const more = rng.pick([{}, { sections: { a: this.words(), b: rng.chance(0.5) ? null : "b" } }, { toolsAdded: [{ name: "t", n: 1 }] }]);
    this.message({ role: "system", content: rng.text(), ...more });
  }

  details() {
    const { rng } = this;
    const list = () => rng.shuffle(FILES).slice(0, rng.int(0, 3));
    return rng.pick([{}, { details: { readFiles: list(), modifiedFiles: list() } }, { details: { other: 1 } }]);
  }

  by() {
    return this.rng.pick([{}, { fromHook: false }, { fromHook: true }]);
  }

  compaction() {
    const { rng } = this;
    const kept = rng.weighted([
      [8, rng.pick(this.nodes.slice(-12))],
      [1, rng.pick(this.nodes)],
      [1, "unknown"],
    ]);
    const more = rng.chance(0.2) ? { systemMessage: { role: "system", content: "S", timestamp: this.clock } } : {};
    this.put("compaction", { summary: this.words(), firstKeptEntryId: kept, tokensBefore: 9, ...this.details(), ...this.by(), ...more });
  }

  branch() {
    const { rng, draft } = this;
    const before = draft.leaf;
    draft.leaf = rng.pick(this.nodes);
    if (rng.chance(0.7))
      this.put("branch_summary", { fromId: before, summary: rng.chance(0.1) ? "" : this.words(), ...this.details(), ...this.by() });
  }

  grow(steps) {
    const { rng } = this;
    if (rng.chance(0.3)) this.system();
    this.turn();
    for (let step = 0; step < steps; step++)
      rng.weighted([
        [10, () => this.turn()],
        [2, () => this.settings()],
        [2, () => this.compaction()],
        [2, () => this.branch()],
        [1, () => this.edit()],
        [1, () => this.note()],
        [1, () => this.bash()],
        [0.5, () => this.system()],
      ])();
    return this.draft.text();
  }
}

/** Arguments as other writers may spell them: what JavaScript prints after reading them is not what stands there. */
function spelledOtherwise() {
  const draft = new Draft();
  draft.user("go");
  const id = draft.nextId();
  const spelled = String.raw`{"path" : "src\/\u00e9.rs", "n":1.0, "m":1e2, "2":"\ud83d", "1":[ -0, 0.10 ], "n":2, "deep":{"b":1,"a":{"3":0,"x":"\u001F"}}}`;
  draft.raw(
    `{"type":"message","id":"${id}","parentId":"${draft.leaf}","timestamp":"${iso(EPOCH)}","message":{"role":"assistant","content":[{"type":"toolCall","id":"c","name":"read","arguments":${spelled}}]}}`,
  );
  draft.at(id);
  draft.result("c");
  for (let turn = 0; turn < 3; turn++) {
    draft.user("more ".repeat(20));
    draft.assistant("yes ".repeat(20));
  }
  return draft.text();
}

/** `[{name, body}]`. */
export function planFiles(seed, count) {
  const grown = Array.from({ length: count }, (_, i) => {
    const rng = new Rng(`${seed}/plan/${i}`);
    return { name: `plan-${String(i).padStart(2, "0")}`, body: new PlanTree(rng).grow(rng.int(1, 40)) };
  });
  return [{ name: "plan-arguments-spelled-otherwise", body: spelledOtherwise() }, ...grown];
}
