// Random operation lists: what a program may ask of a session manager, in the names and fields of `offshoot api`.
// Follows along what the operations do, so that it can refer to entries on and off the path; runs nothing itself.
// `{$ref: n}` stands for the id that operation n gave; `mayFail` marks an operation that every manager must refuse.
import { Rng } from "./rng.mjs";

const EPOCH = 1767225600000;

class OperationList {
  ops = [];
  nodes = [];
  leaf = null;

  constructor(rng, dialect, plain) {
    this.rng = rng;
    this.dialect = dialect;
    this.plain = plain;
  }

  /** An operation whose result is a new entry below the leaf. */
  append(op, fields, kind = op) {
    const node = { at: this.ops.length, parent: this.leaf, kind };
    this.ops.push({ op, ...fields });
    this.nodes.push(node);
    return (this.leaf = node);
  }

  ref(node) {
    return { $ref: node.at };
  }

  path() {
    const path = [];
    for (let node = this.leaf; node; node = node.parent) path.unshift(node);
    return path;
  }

  user() {
    this.append(
      "appendMessage",
      {
        message: {
          role: "user",
          content: this.rng.chance(0.5) ? this.rng.text() : [{ type: "text", text: this.rng.text() }],
          timestamp: EPOCH + this.ops.length,
        },
      },
      "user",
    );
  }

  assistant(extra = []) {
    this.append(
      "appendMessage",
      {
        message: {
          role: "assistant",
          content: [{ type: "text", text: this.rng.text() }, ...extra],
          api: "x",
          provider: this.rng.pick(["p", "q"]),
          model: "m",
          usage: {
            input: 1,
            output: 1,
            cacheRead: 0,
            cacheWrite: 0,
            totalTokens: 2,
            cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
          },
          stopReason: extra.length > 0 ? "toolUse" : "stop",
          timestamp: EPOCH + this.ops.length,
        },
      },
      "assistant",
    );
  }

  turn() {
    this.user();
    if (this.rng.chance(0.4)) {
      const id = `call_${this.rng.hex(6)}`;
      this.assistant([{ type: "toolCall", id, name: "bash", arguments: { command: this.rng.text(2) } }]);
      this.append(
        "appendMessage",
        {
          message: {
            role: "toolResult",
            toolCallId: id,
            toolName: "bash",
            content: [{ type: "text", text: this.rng.text() }],
            isError: false,
            timestamp: EPOCH,
          },
        },
        "toolResult",
      );
    }
    this.assistant();
  }

  move() {
    const { rng } = this;
    const target = rng.pick(this.nodes);
    const summarise = rng.chance(0.4);
    if (rng.chance(0.1)) {
      this.ops.push({ op: "resetLeaf" });
      this.leaf = null;
    } else if (!summarise) {
      this.ops.push({ op: "branch", entryId: this.ref(target) });
      this.leaf = target;
    }
    if (!summarise) return this.user();
    const toRoot = rng.chance(0.15);
    this.leaf = toRoot ? null : target;
    this.append("branchWithSummary", {
      entryId: toRoot ? null : this.ref(target),
      summary: rng.text(),
      ...(rng.chance(0.5) ? { details: { readFiles: [rng.text(1)], modifiedFiles: [] } } : {}),
    });
  }

  compact() {
    const path = this.path();
    if (path.length < 3) return this.turn();
    const more = this.dialect === "omp" ? { shortSummary: "short" } : {};
    this.append("appendCompaction", {
      summary: this.rng.text(),
      ...more,
      firstKeptEntryId: this.ref(this.rng.pick(path)),
      tokensBefore: this.rng.int(1, 200_000),
      ...(this.rng.chance(0.5) ? { details: { readFiles: [], modifiedFiles: ["x"] }, fromHook: this.rng.chance(0.5) } : {}),
    });
  }

  bookkeeping() {
    const { rng } = this;
    const target = () => this.ref(rng.pick(this.nodes));
    const attribution = this.dialect === "omp" ? { attribution: "agent" } : {};
    rng.pick([
      () => this.append("appendLabelChange", { targetId: target(), ...(rng.chance(0.75) ? { label: rng.text(2) } : {}) }),
      () => this.append("appendCustomEntry", { customType: "state", data: { n: rng.int(0, 9) } }),
      () =>
        this.append(
          "appendCustomMessageEntry",
          {
            customType: "note",
            content: rng.text(),
            display: rng.chance(0.5),
            ...(rng.chance(0.5) ? { details: { a: null } } : {}),
            ...attribution,
          },
          "custom_message",
        ),
      () =>
        this.append(
          "appendMessage",
          {
            message: {
              role: "bashExecution",
              command: "ls",
              output: rng.text(),
              exitCode: 0,
              cancelled: false,
              truncated: false,
              timestamp: EPOCH,
            },
          },
          "bash",
        ),
    ])();
  }

  pi() {
    const { rng } = this;
    const usage = {
      input: 3,
      output: 0,
      cacheRead: 0,
      cacheWrite: 9,
      totalTokens: 12,
      cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
    };
    const editable = this.path().filter(({ kind }) => ["user", "assistant", "toolResult", "custom_message"].includes(kind));
    const quiet = [
      () => this.append("appendModelChange", { provider: rng.pick(["openai", "anthropic"]), modelId: rng.text(1) }),
      () => this.append("appendThinkingLevelChange", { thinkingLevel: rng.pick(["off", "low", "high"]) }),
      () => this.append("appendSessionInfo", { name: rng.pick([" A name\nin two lines ", "", rng.text(2)]) }),
      () => this.append("appendUsage", { kind: "cache_warm", provider: "p", model: "m", usage, ...(rng.chance(0.5) ? { note: "n" } : {}) }),
    ];
    const loud = [
      () =>
        this.append(
          "appendMessage",
          { message: { role: "system", content: rng.text(), sections: { [rng.text(1)]: rng.text(2) }, timestamp: EPOCH } },
          "system",
        ),
      () =>
        editable.length > 0 &&
        this.append("appendContextEdit", {
          targetId: this.ref(rng.pick(editable)),
          replacement: rng.chance(0.3) ? null : { content: rng.chance(0.5) ? rng.text() : [{ type: "text", text: rng.text() }] },
        }),
    ];
    rng.pick(this.plain ? quiet : [...quiet, ...loud])();
  }

  omp() {
    const { rng } = this;
    rng.pick([
      () => this.append("appendModelChange", { model: `p/${rng.text(1)}`, role: rng.pick(["default", "smol", "plan"]) }),
      () => this.append("appendThinkingLevelChange", { thinkingLevel: rng.pick(["off", "high"]), configured: rng.pick(["auto", "high"]) }),
      () => this.append("appendSessionInit", { systemPrompt: rng.text(), task: rng.text(), tools: ["read", "bash"] }),
      () => this.append("appendTtsrInjection", { injectedRules: [rng.hex(1), rng.hex(1)] }),
    ])();
  }

  /** What only omp's own manager offers. */
  ompOwn() {
    const { rng } = this;
    rng.pick([
      () => this.append("appendModeChange", { mode: rng.pick(["plan", "none"]), ...(rng.chance(0.5) ? { data: { f: 1 } } : {}) }),
      () => this.append("appendServiceTierChange", { serviceTier: rng.pick([null, { openai: "flex" }]) }),
      () => rng.chance(0.5) && this.append("appendResetBoundary", {}),
      () => this.append("appendCredentialPin", { provider: "p", hash: rng.hex(64) }),
    ])();
  }

  /** Refused by every manager, without any effect. */
  mistake() {
    const { rng } = this;
    const off = this.nodes.filter((node) => !this.path().includes(node));
    this.ops.push({
      mayFail: true,
      ...rng.pick([
        { op: "branch", entryId: "no-such-entry" },
        { op: "appendLabelChange", targetId: "no-such-entry", label: "x" },
        { op: "branchWithSummary", entryId: "no-such-entry", summary: "x" },
        ...(this.dialect === "omp"
          ? []
          : [
              { op: "appendContextEdit", targetId: "no-such-entry", replacement: null },
              { op: "appendContextEdit", targetId: this.ref(this.nodes[0]), replacement: { content: 5 } },
              ...(off.length > 0 ? [{ op: "appendContextEdit", targetId: this.ref(rng.pick(off)), replacement: null }] : []),
            ]),
      ]),
    });
  }
}

/**
 * `dialect`: "pi" or "omp"; `own` adds operations of omp that `offshoot api` does not have; `plain` leaves out what only
 * pi shows in a context (edits, system messages).
 */
export function operationList(seed, { dialect = "pi", size = 40, own = false, plain = false } = {}) {
  const rng = new Rng(seed);
  const list = new OperationList(rng, dialect, plain);
  list.turn();
  const steps = [
    [6, () => list.turn()],
    [3, () => list.move()],
    [1, () => list.compact()],
    [3, () => list.bookkeeping()],
    [3, () => list[dialect]()],
    [0.5, () => list.mistake()],
    [own && dialect === "omp" ? 2 : 0, () => list.ompOwn()],
  ];
  while (list.ops.length < size) rng.weighted(steps)();
  return list.ops;
}
