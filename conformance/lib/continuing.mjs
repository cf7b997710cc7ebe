// What pi does next after a pick: it continues the session with a prompt, and a session in which the model of here said the same words.
// One long-lived pi in RPC mode in front of a model that answers from a script. Knows no files but its own copies.
import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as path from "node:path";
import { home, model } from "./model.mjs";
import { bunBinary, piPackage } from "./places.mjs";
import { RpcPeer } from "./rpc.mjs";

const ANSWER = { input: 60, output: 5 };
const FREE = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 } };
/** As dear as an answer in a full context: a program that took it for the size of this one would compact. */
const LARGE = { ...FREE, input: 194_000, output: 1000, totalTokens: 195_000, cost: { ...FREE.cost, input: 1, total: 1 } };
const SMALL = { ...FREE, input: 40, output: 10, totalTokens: 50, cost: { ...FREE.cost, input: 0.01, total: 0.01 } };

const linesOf = (bytes) => bytes.toString("utf8").split("\n").filter((line) => line.trim() !== "");
const parsed = (line) => {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
};

const isName = (name) => typeof name === "string" && name !== "";

/** The model that an entry names; null if none. */
function modelOf(entry) {
  const { provider, model: id } = (entry?.type === "model_change" ? { ...entry, model: entry.modelId } : entry?.message) ?? {};
  return isName(provider) && isName(id) ? { provider, id } : null;
}

/** The models that a session names, for `model` in lib/model.mjs. */
export const modelsIn = (file) => linesOf(fs.readFileSync(file)).map(parsed).map(modelOf).filter((named) => named !== null);

/** pi compacts after an answer of its model that ended at a limit and has fewer tokens than the limit: a copy has none. */
const isCutOff = (entry) => entry.message?.role === "assistant" && entry.message.stopReason === "length";

export class Continuing {
  /** How many picks were continued, with how many copies and compactions, and how many brought words of another model. */
  counts = { picks: 0, copies: 0, compactions: 0, "from other models": 0, "not answered": 0 };

  /** `models`: those that the sessions name. */
  static async start(folder, offshoot, models, count) {
    const server = await model(folder, "next", Array(3 * count).fill({ say: [{ text: "Next." }], usage: ANSWER }), models);
    const place = home(folder, "next", server.models, ".pi/agent");
    // So that a context that seems full would be compacted.
    fs.writeFileSync(path.join(place.env.HOME, ".pi/agent/settings.json"), JSON.stringify({ defaultProvider: "test", defaultModel: "m1", compaction: { keepRecentTokens: 10 } }));
    const cli = path.join(piPackage(), "dist/cli.js");
    const pi = new RpcPeer(bunBinary(), [cli, "--mode", "rpc"], { cwd: place.cwd, env: place.env });
    return Object.assign(new Continuing(), { server, pi, place, offshoot });
  }

  async #ask(command) {
    const { success, data, error } = await this.pi.ask(command);
    assert.ok(success, `${command.type}: ${error}`);
    return data;
  }

  async #opened(file) {
    await this.#ask({ type: "switch_session", sessionPath: file });
    const { model, thinkingLevel } = await this.#ask({ type: "get_state" });
    const { cost, contextUsage } = await this.#ask({ type: "get_session_stats" });
    return { model: { provider: model.provider, id: model.id, api: model.api }, thinkingLevel, cost, estimate: contextUsage.tokens };
  }

  /** A prompt: what pi did, and what it takes the session for before and after it. */
  async #continued(file) {
    const opened = await this.#opened(file);
    const from = this.pi.records.length;
    await this.pi.prompt("and now?");
    const happened = this.pi.records.slice(from).map(({ type }) => type).filter((type) => !["message_update", "response"].includes(type));
    const { cost, contextUsage } = await this.#ask({ type: "get_session_stats" });
    const { content, provider, model, usage, stopReason } = parsed(linesOf(fs.readFileSync(file)).at(-1)).message;
    return { ...opened, happened, added: Number((cost - opened.cost).toFixed(9)), estimateAfter: contextUsage.tokens, answer: { content, provider, model, usage, stopReason } };
  }

  /** Where a pick goes, and what is selected on other branches; null where there are none. */
  async #place(file, rng) {
    return await this.offshoot.withSession(this.offshoot.api("open", { path: file }), async (call) => {
      const named = (await call("getEntries")).map(({ id }) => id).filter((id) => typeof id === "string" && id.length >= 4);
      await call("switch", { entryId: rng.pick(named) });
      const here = new Set((await call("getBranch")).map(({ id }) => id));
      const elsewhere = named.filter((id) => !here.has(id));
      if (elsewhere.length === 0) return null;
      const [first, second] = [rng.pick(elsewhere), rng.pick(elsewhere)];
      return { here, selections: rng.chance(0.5) ? [first, second] : [`..${first}`] };
    });
  }

  /** The answers of here become small and cheap, those of all branches large and dear; whether here has a model, which its last answer or choice names. */
  #price(file, here) {
    const priced = linesOf(fs.readFileSync(file)).map((line) => {
      const entry = parsed(line);
      // pi opens no session of a folder that is not there.
      if (entry?.type === "session") return JSON.stringify({ ...entry, cwd: this.place.cwd });
      if (entry?.message?.role !== "assistant") return line;
      entry.message.usage = here.has(entry.id) ? SMALL : LARGE;
      return JSON.stringify(entry);
    });
    fs.writeFileSync(file, `${priced.join("\n")}\n`);
    const last = priced.map(parsed).findLast((entry) => here.has(entry?.id) && (entry.type === "model_change" || entry.message?.role === "assistant"));
    return modelOf(last) !== null;
  }

  /** One pick from a dear branch in a copy of a file; false where there was nothing to do. */
  async pick(file, rng) {
    const place = await this.#place(file, rng);
    if (place === null) return false;
    const hasModel = this.#price(file, place.here);
    const bytes = fs.readFileSync(file);
    const before = path.join(path.dirname(file), `before-${path.basename(file)}`);
    fs.writeFileSync(before, bytes);
    const written = await this.offshoot.withSession(this.offshoot.api("open", { path: file }), async (call) =>
      call("pick", { selections: place.selections }).catch((error) => {
        if (!/wait for their results/.test(error.message)) throw error;
        return null;
      }),
    );
    if (!written) return false;
    const was = await this.#opened(before);
    const added = linesOf(fs.readFileSync(file).subarray(bytes.length)).map(parsed);
    const copies = added.filter(({ pickedFrom }) => pickedFrom !== undefined);
    const said = this.#said(file, bytes, { added, copies, model: hasModel ? was.model : null });
    const [ours, theirs] = [await this.#continued(file), await this.#continued(said)];
    assert.deepEqual(ours, theirs, "pi continues as if the words had been said here");
    // pi makes no request of a block without a type that it knows, wherever it was said.
    if (ours.answer.stopReason === "error") {
      this.counts["not answered"] += 1;
      return false;
    }
    assert.equal(ours.cost, was.cost, "the branch counts once");
    if (hasModel) assert.deepEqual(ours.model, was.model, "the model of here stays");
    const answers = [...linesOf(bytes).map(parsed).filter((entry) => place.here.has(entry?.id)), ...copies].filter(({ message }) => message?.role === "assistant");
    const compacts = ours.happened.includes("compaction_start");
    assert.ok(!compacts || isCutOff(answers.at(-1)), ours.happened.join(" "));
    assert.ok(ours.estimate === null || ours.estimate < 100_000, `the size of the branch is not the size of here: ${ours.estimate}`);
    this.counts.picks += 1;
    this.counts.copies += copies.length;
    this.counts.compactions += Number(compacts);
    this.counts["from other models"] += Number(copies.some(({ message }) => message?.model && message.model !== was.model.id));
    return true;
  }

  /** The session before a pick with the same words, said here by its model for nothing; without a model, by theirs. */
  #said(file, bytes, { added, copies, model }) {
    let parent = added[0].parentId;
    const lines = copies.map(({ pickedFrom, ...entry }) => {
      const line = structuredClone({ ...entry, parentId: parent });
      parent = line.id;
      if (line.message?.role !== "assistant") return line;
      if (model && !isCutOff(line)) Object.assign(line.message, { provider: model.provider, model: model.id, api: model.api });
      return line;
    });
    if (model) lines.push({ type: "model_change", id: "5a1d0001", parentId: parent, timestamp: added[0].timestamp, provider: model.provider, modelId: model.id });
    const said = path.join(path.dirname(file), `said-${path.basename(file)}`);
    const text = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
    fs.writeFileSync(said, Buffer.concat([bytes, Buffer.from(text)]));
    return said;
  }

  /** The number of requests, and complaints of one request of a pair that the other did not give rise to. */
  async end() {
    await this.pi.end();
    const { requests, complaints } = await this.server.end();
    // Words that another model signed have no signature that the model of here could have made.
    const texts = complaints.map((complaint) => complaint.replace(/^request \d+: /, "")).filter((text) => !text.startsWith("the signature "));
    return { requests, complaints: [...new Set(texts)].filter((text) => texts.filter((other) => other === text).length % 2 === 1) };
  }
}
