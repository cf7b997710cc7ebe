// Random trees: every entry type of a dialect, branches, compactions, equal and out-of-order times, seeded.
// `plain` trees hold only what pi and omp show alike: no failed turns, no loose tool calls, no edits, no system messages.
import { CWD, Draft, EPOCH, Shelf, iso, text, titleSlot, toolCall, usage } from "./draft.mjs";
import { Rng } from "../lib/rng.mjs";

const LEVELS = ["off", "minimal", "low", "medium", "high", "xhigh"];
const ROLES = ["default", "smol", "slow", "plan", "fallback", undefined];

class RandomTree {
  constructor(rng, { dialect, plain }) {
    this.rng = rng;
    this.dialect = dialect;
    this.plain = plain;
    this.draft = new Draft({ id: `5e551000-0000-7000-8000-${rng.hex(12)}`, cwd: rng.chance(0.1) ? `/proj/${rng.hex(3)}` : CWD });
    this.nodes = [];
    this.clock = EPOCH;
  }

  /** Mostly forward, sometimes the same instant, sometimes back. */
  time() {
    this.clock += this.rng.weighted([
      [6, this.rng.int(1, 90_000)],
      [2, 0],
      [1, -this.rng.int(1, 600_000)],
    ]);
    return iso(this.clock);
  }

  /** Field order varies: it means nothing. */
  put(type, fields) {
    const entry = { type, id: this.draft.nextId(), parentId: this.draft.leaf, timestamp: this.time(), ...fields };
    const keys = this.rng.chance(0.2) ? this.rng.shuffle(Object.keys(entry)) : Object.keys(entry);
    this.draft.raw(JSON.stringify(Object.fromEntries(keys.map((key) => [key, entry[key]]))));
    this.nodes.push({ id: entry.id, type, role: fields.message?.role });
    this.draft.leaf = entry.id;
    return entry.id;
  }

  someId() {
    return this.nodes.length > 0 ? this.rng.pick(this.nodes).id : "none";
  }

  message(message) {
    return this.put("message", { message: { ...message, ...(this.rng.chance(0.9) ? { timestamp: this.clock } : {}) } });
  }

  content() {
    const { rng } = this;
    if (rng.chance(0.4)) return rng.text();
    const blocks = Array.from({ length: rng.int(1, 3) }, () => ({ type: "text", text: rng.text() }));
    if (rng.chance(0.2)) blocks.push({ type: "image", data: "iVBORw0KGgo=", mimeType: "image/png" });
    return blocks;
  }

  assistant(more = {}) {
    const { rng } = this;
    const blocks = [];
    if (rng.chance(0.3))
      blocks.push({ type: "thinking", thinking: rng.text(), ...(rng.chance(0.6) ? { thinkingSignature: rng.hex(8) } : {}) });
    if (rng.chance(0.9)) blocks.push({ type: "text", text: rng.text() });
    const [provider, model] = rng.pick(["anthropic/claude-x", "openai/gpt-x", "google/gem-x"]).split("/");
    return { role: "assistant", content: blocks, api: "x", provider, model, usage: usage(rng.int(1, 9999)), stopReason: "stop", ...more };
  }

  turn() {
    const { rng } = this;
    if (rng.chance(0.7)) this.message({ role: "user", content: this.content() });
    for (let calls = rng.int(0, 2); calls > 0; calls--) {
      const ids = Array.from({ length: rng.int(1, 2) }, () => `call_${rng.hex(6)}`);
      const turn = this.assistant({ stopReason: "toolUse" });
      turn.content.push(...ids.map((id) => toolCall(id, rng.pick(["bash", "read", "edit"]), { path: rng.text(2), n: rng.int(0, 9) })));
      this.message(turn);
      const answered = this.plain || rng.chance(0.8) ? ids : ids.slice(1);
      for (const id of answered)
        this.message({ role: "toolResult", toolCallId: id, toolName: "bash", content: text(rng.text()), isError: rng.chance(0.1) });
    }
    if (!this.plain && rng.chance(0.15))
      return this.message(this.assistant({ stopReason: rng.pick(["error", "aborted", "length"]), errorMessage: "x" }));
    return this.message(this.assistant());
  }

  branch() {
    const { rng, draft } = this;
    draft.leaf = rng.weighted([
      [8, this.someId()],
      [1, null],
      [this.plain ? 0 : 0.5, "gone"],
    ]);
    if (rng.chance(0.5)) this.put("branch_summary", { fromId: this.someId(), summary: rng.chance(0.15) ? "" : rng.text() });
    this.message({ role: "user", content: this.content() });
  }

  compaction() {
    const { rng } = this;
    const more =
      this.dialect === "pi"
        ? rng.pick([
            {},
            { details: { readFiles: ["a"], modifiedFiles: [] }, fromHook: false },
            this.plain ? {} : { systemMessage: { role: "system", content: rng.text(), timestamp: this.clock } },
          ])
        : rng.pick([{}, { shortSummary: rng.text(3), method: "soft", tokensAfter: 10 }, { fromExtension: true, preserveData: { k: 1 } }]);
    const kept = rng.weighted([
      [6, this.recent(10)],
      [2, this.draft.leaf ?? "none"],
      [1, this.someId()],
      [1, "unknown"],
    ]);
    this.put("compaction", { summary: rng.text(), firstKeptEntryId: kept, tokensBefore: rng.int(1000, 200_000), ...more });
  }

  recent(span) {
    return this.nodes.at(-this.rng.int(1, Math.min(span, this.nodes.length || 1)))?.id ?? "none";
  }

  common() {
    const { rng } = this;
    const shown = {
      customType: rng.pick(["gate", "note"]),
      content: this.content(),
      display: rng.chance(0.5),
      ...(rng.chance(0.4) ? { details: { n: rng.int(0, 9) } } : {}),
    };
    rng.pick([
      () => this.put("label", { targetId: this.someId(), ...(rng.chance(0.75) ? { label: rng.text(2) } : {}) }),
      () => this.put("custom", { customType: "state", data: { n: rng.int(0, 99), s: rng.text() } }),
      () => this.put("custom_message", shown),
      () =>
        this.message({
          role: "bashExecution",
          command: rng.text(2),
          output: rng.text(),
          exitCode: rng.int(0, 2),
          cancelled: false,
          truncated: false,
          ...(rng.chance(0.3) ? { excludeFromContext: true } : {}),
        }),
      () => this.put("a_type_of_tomorrow", { body: rng.text() }),
    ])();
  }

  /** Entries that only pi writes. */
  piEntry() {
    const { rng } = this;
    const quiet = [
      () => this.put("model_change", { provider: "openai", modelId: rng.text(1) }),
      () => this.put("thinking_level_change", { thinkingLevel: rng.pick(LEVELS) }),
      () => this.put("session_info", { name: rng.chance(0.2) ? "" : rng.text(3) }),
      () => this.put("usage", { kind: "cache_warm", provider: "p", model: "m", usage: usage() }),
    ];
    const loud = [
      () => this.put("context_edit", { targetId: this.recent(12), replacement: rng.chance(0.3) ? null : { content: this.content() } }),
      () => this.message({ role: "system", content: rng.text(), sections: { [rng.text(1)]: rng.text(2) } }),
      () => this.message({ role: rng.pick(["user", "assistant", "toolResult"]), content: null }),
    ];
    rng.pick(this.plain ? quiet : [...quiet, ...loud])();
  }

  /** Entries that only omp writes. */
  ompEntry() {
    const { rng } = this;
    rng.pick([
      () =>
        this.put("model_change", {
          model: `${rng.pick(["a", "b"])}/${rng.text(1)}`,
          role: rng.pick(ROLES),
          resolvedModelIsFallback: false,
        }),
      () => this.put("thinking_level_change", { thinkingLevel: rng.pick([...LEVELS, null]), configured: rng.pick(["auto", null]) }),
      () => this.put("mode_change", { mode: rng.pick(["plan", "none", "vibe"]), ...(rng.chance(0.5) ? { data: { f: rng.text(1) } } : {}) }),
      () =>
        this.put("service_tier_change", { serviceTier: rng.pick([null, { openai: "flex" }, { anthropic: "priority", google: "auto" }]) }),
      () => this.put("ttsr_injection", { injectedRules: [rng.hex(1), rng.hex(1)] }),
      () => this.put("title_change", { title: rng.text(2), source: "auto" }),
      () => this.put("session_init", { systemPrompt: rng.text(), task: rng.text(), tools: ["read"] }),
      () => this.put("credential_pin", { provider: "p", hash: rng.hex(64) }),
      () => this.put("model_usage", { purpose: "title", api: "a", provider: "p", model: "m", usage: usage(), stopReason: "stop" }),
      () => rng.chance(0.4) && this.put("reset_boundary", {}),
      () =>
        this.put("custom_message", {
          customType: rng.pick(["interrupted-thinking", "note"]),
          content: rng.text(),
          display: false,
          attribution: rng.pick(["agent", "user"]),
        }),
      () => this.message({ role: "developer", content: rng.text(), attribution: "agent" }),
    ])();
  }

  grow(size) {
    if (this.dialect === "omp") this.put("model_change", { model: "anthropic/claude-x", role: "default", resolvedModelIsFallback: false });
    const steps = [
      [8, () => this.turn()],
      [2, () => this.branch()],
      [1, () => this.compaction()],
      [3, () => this.common()],
      [3, () => (this.dialect === "pi" ? this.piEntry() : this.ompEntry())],
    ];
    while (this.nodes.length < size) this.rng.weighted(steps)();
    return this;
  }

  /** Now and then the lines of a file stand in another order than they were made. */
  text() {
    const [header, ...rest] = this.draft.lines;
    if (!this.plain && this.rng.chance(0.15)) this.draft.lines = [header, ...this.rng.shuffle(rest)];
    return this.draft.text({ eol: this.rng.chance(0.1) ? "\r\n" : "\n" });
  }
}

export function randomFiles(seed, { pi = 40, omp = 20 } = {}) {
  const shelves = { pi: new Shelf({ set: "random", dialect: "pi" }), omp: new Shelf({ set: "random", dialect: "omp" }) };
  const one = (dialect, i) => {
    const rng = new Rng(`${seed}/${dialect}/${i}`);
    const plain = dialect === "pi" && i % 3 === 0;
    const body = new RandomTree(rng, { dialect, plain }).grow(rng.int(20, 200)).text();
    const slot = dialect === "omp" && i % 2 === 0;
    const facts = { plain, ...(slot ? { peers: ["omp"] } : {}) };
    shelves[dialect].put(`random-${String(i).padStart(2, "0")}`, facts, slot ? titleSlot(rng.text(3), "auto") + body : body);
  };
  for (let i = 0; i < pi; i++) one("pi", i);
  for (let i = 0; i < omp; i++) one("omp", i);
  return [...shelves.pi.files, ...shelves.omp.files];
}
