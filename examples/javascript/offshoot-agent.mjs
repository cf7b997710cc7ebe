// A client of `offshoot --mode rpc` in one file, without dependencies.
//
//   const agent = new OffshootAgent(["offshoot", "--mode", "rpc"]);
//   for await (const event of agent.prompt("What is in notes.txt?")) …
//   await agent.close();
import { spawn } from "node:child_process";

/** A command was refused; nothing has changed. */
export class RpcError extends Error {}

export class OffshootAgent {
  #child;
  #ended;
  #asked = 0;
  #responses = new Map();
  #listeners = new Set();

  constructor([program, ...args], options = {}) {
    this.#child = spawn(program, args, { ...options, stdio: ["pipe", "pipe", "inherit"] });
    this.#child.stdin.on("error", () => {});
    this.#ended = new Promise((resolve) => this.#child.on("close", resolve));
    this.#ended.then(() => this.#tell({ type: "ended" }));
    let rest = Buffer.alloc(0);
    // Split at LF only: readline also splits at U+2028.
    this.#child.stdout.on("data", (data) => {
      const lines = Buffer.concat([rest, data]);
      let start = 0;
      for (let end = lines.indexOf(10); end >= 0; end = lines.indexOf(10, start)) {
        this.#take(JSON.parse(lines.subarray(start, end)));
        start = end + 1;
      }
      rest = lines.subarray(start);
    });
  }

  /** Calls `listener` with every event from now on; returns a function that ends this. */
  listen(listener) {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  send(record) {
    this.#child.stdin.write(`${JSON.stringify(record)}\n`);
  }

  /** Sends a command; the data of its response. */
  ask(type, members = {}) {
    const id = `c${(this.#asked += 1)}`;
    return new Promise((resolve, reject) => {
      this.#responses.set(id, { resolve, reject });
      this.send({ id, type, ...members });
    });
  }

  /** Sends a prompt; its events until nothing goes on by itself. */
  async *prompt(message, members = {}) {
    const events = [];
    let wake = () => {};
    const stop = this.listen((event) => {
      events.push(event);
      wake();
    });
    try {
      await this.ask("prompt", { message, ...members });
      for (;;) {
        while (events.length === 0) await new Promise((resolve) => (wake = resolve));
        const event = events.shift();
        if (event.type === "ended") throw new RpcError("the program has ended");
        yield event;
        if (event.type === "agent_settled") return;
      }
    } finally {
      stop();
    }
  }

  /** Ends the input, and with it the program; what was sent before is answered. */
  close() {
    this.#child.stdin.end();
    return this.#ended;
  }

  #take(record) {
    if (record.type !== "response") return this.#tell(record);
    const asked = this.#responses.get(record.id);
    this.#responses.delete(record.id);
    if (record.success) asked?.resolve(record.data);
    else asked?.reject(new RpcError(record.error));
  }

  #tell(event) {
    for (const listener of [...this.#listeners]) listener(event);
    if (event.type !== "ended") return;
    for (const asked of this.#responses.values()) asked.reject(new RpcError("the program has ended"));
  }
}
