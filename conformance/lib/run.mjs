// Sets up one run: peers, offshoot (or its stand-in), a fresh corpus, a report. Tears all of it down again.
import * as fs from "node:fs";
import * as path from "node:path";
import { writeCorpus } from "../corpus.mjs";
import { Offshoot } from "./offshoot.mjs";
import { startPeers } from "./peers.mjs";
import { temporaryFolder } from "./places.mjs";
import { Planning } from "./planning.mjs";
import { Reading } from "./reading.mjs";
import { Report } from "./report.mjs";
import { Writing } from "./writing.mjs";

/** `command`: offshoot's program and leading arguments. `corpus`: options of writeCorpus. */
export async function startRun({ command, differences = [], corpus = {} }) {
  const folder = temporaryFolder("run");
  const peers = startPeers(folder);
  const dir = path.join(folder, "corpus");
  const manifest = await writeCorpus(dir, { peers, ...corpus });
  const offshoot = new Offshoot(command, folder);
  const report = new Report(differences);
  const parts = { offshoot, peers, dir, manifest, report, folder };
  return {
    ...parts,
    planning: new Planning(parts),
    reading: new Reading(parts),
    writing: new Writing(parts),
    async end() {
      await Promise.all([peers.pi.close(), peers.omp.close(), offshoot.close()]);
      fs.rmSync(folder, { recursive: true, force: true });
    },
  };
}
