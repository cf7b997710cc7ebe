// Starts the two peers as line servers and gives them plain methods. Knows how they are run, not what they answer.
import * as path from "node:path";
import { LineServer } from "./lines.mjs";
import { HERE, PROJECT, bunBinary, sealedEnvironment } from "./places.mjs";

export class Peer {
  #server;

  constructor(name, command, folder) {
    this.name = name;
    this.#server = new LineServer(name, command, { env: sealedEnvironment(folder), cwd: folder });
  }

  dump(file, options = {}) {
    return this.#server.request({ cmd: "dump", file, ...options });
  }
  plans(file, wanted) {
    return this.#server.request({ cmd: "plans", file, ...wanted });
  }
  list(dir, cwd) {
    return this.#server.request({ cmd: "list", dir, cwd });
  }
  grow(target, ops) {
    return this.#server.request({ cmd: "grow", ...target, ops });
  }
  contextOf(entries, leafId) {
    return this.#server.request({ cmd: "context", entries, ...(leafId === undefined ? {} : { leafId }) });
  }
  fork(file, dir, cwd = PROJECT) {
    return this.#server.request({ cmd: "fork", file, dir, cwd });
  }
  close() {
    return this.#server.close();
  }
}

/** `folder` becomes the home of the peers, so that they leave nothing in the home of the person who runs this. */
export function startPeers(folder) {
  return {
    pi: new Peer("pi", [process.execPath, path.join(HERE, "peer-pi.mjs")], folder),
    omp: new Peer("omp", [bunBinary(), path.join(HERE, "peer-omp.ts")], folder),
  };
}
