// Writes the corpus into a folder: pi/, omp/ and odd/ with session files, and manifest.json that says what each one is.
// Deterministic from the seed, except the files that the peers grow themselves (their ids and times are theirs).
//   node corpus.mjs DIR [SEED]
import * as fs from "node:fs";
import * as path from "node:path";
import { fileURLToPath } from "node:url";
import { ompContextFiles } from "./corpus/hand-omp-contexts.mjs";
import { ompFiles } from "./corpus/hand-omp.mjs";
import { piFiles } from "./corpus/hand-pi.mjs";
import { valueFiles } from "./corpus/hand-values.mjs";
import { oddFiles } from "./corpus/odd.mjs";
import { randomFiles } from "./corpus/random.mjs";
import { vectorFiles } from "./corpus/vectors.mjs";
import { operationList } from "./lib/ops.mjs";
import { startPeers } from "./lib/peers.mjs";
import { REPOSITORY, temporaryFolder } from "./lib/places.mjs";

/** A fixed time for every file, so that what falls back to it is the same everywhere. */
const MODIFIED = new Date("2026-02-02T02:02:02.000Z");

const pathOf = ({ name, set, dialect }) => `${set === "odd" ? "odd" : dialect}/${name}.jsonl`;

function writeFile(dir, { name, body, ...facts }) {
  const file = pathOf({ name, ...facts });
  const target = path.join(dir, file);
  fs.mkdirSync(path.dirname(target), { recursive: true });
  fs.writeFileSync(target, body);
  fs.utimesSync(target, MODIFIED, MODIFIED);
  return { file, ...facts };
}

/** Sessions made by the peers' own managers from random operation lists. */
async function grownFiles(peers, seed, count) {
  const folder = temporaryFolder("grown");
  const files = [];
  try {
    for (const dialect of ["pi", "omp"]) {
      for (let i = 0; i < count; i++) {
        const ops = operationList(`${seed}/grown/${dialect}/${i}`, { dialect, size: 30 + i * 8, own: true });
        const { file } = await peers[dialect].grow({ dir: path.join(folder, dialect) }, ops);
        const peersThatRead = dialect === "pi" ? ["pi", "omp"] : ["omp"];
        files.push({
          name: `grown-${String(i).padStart(2, "0")}`,
          set: "grown",
          dialect,
          peers: peersThatRead,
          body: fs.readFileSync(file),
        });
      }
    }
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
  return files;
}

/** Real sessions kept beside the repository, where there are any. */
function fixtureFiles() {
  const file = path.join(REPOSITORY, "../shared/fixtures/before-compaction.jsonl");
  if (!fs.existsSync(file)) return [];
  return [
    { name: "fixture-before-compaction", set: "fixture", dialect: "pi", peers: ["pi", "omp"], v1: true, body: fs.readFileSync(file) },
  ];
}

/**
 * Writes everything below `dir` and answers the manifest. `peers` are running peer servers; without them nothing is grown.
 * `keep(path)` chooses the files that are written.
 */
export async function writeCorpus(dir, { seed = "offshoot", peers, random = { pi: 40, omp: 20 }, grown = 12, keep = () => true } = {}) {
  const files = [
    ...vectorFiles(),
    ...piFiles(),
    ...valueFiles(),
    ...ompFiles(),
    ...ompContextFiles(),
    ...oddFiles(),
    ...fixtureFiles(),
    ...randomFiles(seed, random),
    ...(peers ? await grownFiles(peers, seed, grown) : []),
  ];
  fs.mkdirSync(dir, { recursive: true });
  const manifest = files.filter((file) => keep(pathOf(file))).map((file) => writeFile(dir, file));
  fs.writeFileSync(path.join(dir, "manifest.json"), `${JSON.stringify(manifest, null, 1)}\n`);
  return manifest;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [dir, seed] = process.argv.slice(2);
  if (!dir) {
    console.error("usage: node corpus.mjs DIR [SEED]");
    process.exit(2);
  }
  const home = temporaryFolder("corpus");
  const peers = startPeers(home);
  try {
    const manifest = await writeCorpus(dir, { seed, peers });
    console.log(`${manifest.length} files in ${dir}`);
  } finally {
    await Promise.all([peers.pi.close(), peers.omp.close()]);
    fs.rmSync(home, { recursive: true, force: true });
  }
}
