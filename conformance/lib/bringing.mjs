// What must hold when offshoot brings work of one branch to another: picks, merges, compactions that are taken back, and
// undos. The peers open the file after each and show what offshoot shows. Works on copies in a folder of its own.
import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as path from "node:path";
import { firstDifference } from "./canon.mjs";

const OPEN = [{ kind: "open" }];

export class Bringing {
  #copies = 0;
  /** How many operations were written, by name; and how many were refused or had nothing to do. */
  counts = {};

  constructor({ offshoot, peers, dir, folder }) {
    Object.assign(this, { offshoot, peers, dir, folder });
  }

  #count(what) {
    this.counts[what] = (this.counts[what] ?? 0) + 1;
  }

  copy(file) {
    const copy = path.join(this.folder, `b${this.#copies++}-${path.basename(file)}`);
    fs.copyFileSync(path.join(this.dir, file), copy);
    return copy;
  }

  /** The context that a peer opens a file with. */
  async view(peer, file) {
    const [context] = (await this.peers[peer].dump(file, { points: OPEN })).contexts;
    assert.equal(context.error, undefined, file);
    return { settings: context.settings, messages: context.messages };
  }

  /** The same, after offshoot said the same. */
  async agreed(peer, file) {
    const theirs = await this.view(peer, file);
    const [ours] = (await this.offshoot.dump(file, { points: () => OPEN, withTree: false })).contexts;
    const difference = firstDifference(theirs, { settings: ours.settings, messages: ours.messages });
    assert.equal(difference, null, `${file}: ${JSON.stringify(difference)}`);
    return theirs;
  }

  /** Plans and writes one operation; null where there is nothing to do. A turn that waits for results refuses it. */
  #operate(call, { what, entries, again }) {
    const [first, second] = entries;
    const options = { again };
    const planned = {
      pick: () => call("planPick", { selections: [first, second], ...options }),
      "pick a branch": () => call("planPick", { selections: [`..${first}`], ...options }),
      merge: () => call("planMerge", { source: first }),
      uncompact: () => call("planUncompact"),
    }[what]();
    const method = what.split(" ")[0];
    const more = method === "merge" ? { summary: "what was found there" } : {};
    return planned.then(
      (plan) => (plan === null ? null : call(method, { plan: plan.plan, force: true, ...more }).then((written) => written && { ...written, plan })),
      (error) => {
        if (!/wait for their results/.test(error.message)) throw error;
        return null;
      },
    );
  }

  /** One operation somewhere in a copy of a file, held to `peer`; then it is undone, and before that cut after each line. False if there was none. */
  async bring(peer, source, rng, withCuts) {
    const file = this.copy(source);
    return await this.offshoot.withSession(this.offshoot.api("open", { path: file }), async (call) => {
      const named = (await call("getEntries")).map(({ id }) => id).filter((id) => typeof id === "string" && id.length >= 4);
      await call("switch", { entryId: rng.pick(named) });
      const before = await this.agreed(peer, file);
      const bytes = fs.readFileSync(file);
      const what = rng.pick(["pick", "pick", "pick a branch", "merge", "uncompact"]);
      const path = new Set((await call("getBranch")).map(({ id }) => id));
      const elsewhere = named.filter((id) => !path.has(id));
      const entry = () => rng.pick(elsewhere.length > 0 && rng.chance(0.8) ? elsewhere : named);
      const written = await this.#operate(call, { what, entries: [entry(), entry()], again: rng.chance(0.2) });
      if (!written) {
        assert.ok(fs.readFileSync(file).equals(bytes), "nothing was written");
        this.#count("nothing to do, or refused");
        return false;
      }
      this.#count(what);
      const after = await this.agreed(peer, file);
      if (peer === "pi" && what !== "uncompact") {
        assert.deepEqual(after.messages.slice(0, before.messages.length), before.messages, "the context before comes first");
        // An answer without a model's name names none that could stay.
        const { model } = before.settings;
        if (model?.provider && model.modelId) assert.deepEqual(after.settings.model, model, "the model of here stays");
      }
      if (withCuts) await this.#cuts(peer, file, bytes, before);
      await call("undo");
      assert.deepEqual(await this.agreed(peer, file), before, "undone, the context is as before");
      this.#count("undo");
      await call("undo");
      assert.deepEqual(await this.agreed(peer, file), after, "undone twice, it is as after");
      this.#count("redo");
      return true;
    });
  }

  /** After each line of the operation the peer opens the file, and offshoot is where it was before, until all is there. */
  async #cuts(peer, file, bytes, before) {
    const whole = fs.readFileSync(file);
    for (let end = whole.indexOf(10, bytes.length); end >= 0 && end + 1 < whole.length; end = whole.indexOf(10, end + 1)) {
      const cut = path.join(this.folder, "cut.jsonl");
      fs.writeFileSync(cut, whole.subarray(0, end + 1));
      await this.view(peer, cut);
      const [ours] = (await this.offshoot.dump(cut, { points: () => OPEN, withTree: false })).contexts;
      assert.deepEqual(ours.messages, before.messages, `cut at ${end}`);
      this.#count("cuts");
    }
  }
}
