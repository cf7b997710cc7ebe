// A client of a program in RPC mode: sends commands, keeps every record, waits for what a test asks for.
import { spawn } from "node:child_process";

export class RpcPeer {
  constructor(file, args, place) {
    this.records = [];
    this.stderr = "";
    this.asked = 0;
    this.waiting = new Set();
    this.child = spawn(file, args, place);
    this.ended = new Promise((resolve) => this.child.on("close", (code, signal) => resolve(code ?? signal)));
    this.ended.then(() => this.#look());
    this.child.stderr.on("data", (data) => (this.stderr += data));
    this.child.stdin.on("error", () => {});
    let rest = Buffer.alloc(0);
    this.child.stdout.on("data", (data) => {
      rest = Buffer.concat([rest, data]);
      for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
        this.records.push(JSON.parse(rest.subarray(0, end).toString()));
        rest = rest.subarray(end + 1);
        this.#look();
      }
    });
  }

  #look() {
    for (const look of [...this.waiting]) look();
  }

  /** The first record from `from` on that is wanted; fails when the program ends without it. */
  until(isWanted, from = 0) {
    return new Promise((resolve, reject) => {
      const look = () => {
        const found = this.records.slice(from).find(isWanted);
        if (!found && this.child.exitCode === null && this.child.signalCode === null) return;
        this.waiting.delete(look);
        if (found) resolve(found);
        else reject(new Error(`the program ended: ${this.stderr}`));
      };
      this.waiting.add(look);
      look();
    });
  }

  line(text) {
    this.child.stdin.write(`${text}\n`);
  }

  /** The response to a command. */
  ask(command) {
    const id = `r${(this.asked += 1)}`;
    this.line(JSON.stringify({ id, ...command }));
    return this.until((record) => record.type === "response" && record.id === id);
  }

  /** A prompt, until nothing goes on by itself. */
  async prompt(message) {
    const from = this.records.length;
    const accepted = await this.ask({ type: "prompt", message });
    if (accepted.success) await this.until((record) => record.type === "agent_settled", from);
    return accepted;
  }

  /** Ends the input; how the program ended. */
  end() {
    this.child.stdin.end();
    return this.ended;
  }
}
