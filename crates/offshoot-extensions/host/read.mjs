// Reads files that belong to somebody else: regular ones, to a limit. A FIFO waits for ever, and a device has no end. Node.js itself
// reads manifests as it looks for packages, so those are looked at before it is asked.
import * as fs from "node:fs";
import * as path from "node:path";

/** A longer module, or a longer file of data, is refused. */
const LONGEST = 64 << 20;
const LONGEST_MANIFEST = 1 << 20;

const kindOf = (stat) => (stat.isDirectory() ? "folder" : stat.isFIFO() ? "FIFO" : stat.isSocket() ? "socket" : "device");

const refuse = (file, stat, longest) => {
  if (!stat.isFile()) throw new Error(`${file} is a ${kindOf(stat)}, not a regular file`);
  if (stat.size > longest) throw new Error(`${file} is larger than ${longest >> 20} MiB`);
};

/** The bytes of a regular file, or of the one that a link leads to. */
export function readRegular(file, longest = LONGEST) {
  let handle;
  try {
    handle = fs.openSync(file, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK);
  } catch (error) {
    // What nobody reads or listens at has no other end.
    if (error.code === "ENXIO") refuse(file, fs.statSync(file), longest);
    throw error;
  }
  try {
    const stat = fs.fstatSync(handle);
    refuse(file, stat, longest);
    // It may grow while it is read; what has come since it was looked at is not taken.
    const bytes = Buffer.alloc(stat.size);
    let filled = 0;
    while (filled < bytes.length) {
      const count = fs.readSync(handle, bytes, filled, bytes.length - filled, null);
      if (count === 0) break;
      filled += count;
    }
    return bytes.subarray(0, filled);
  } finally {
    fs.closeSync(handle);
  }
}

export const readText = (file) => readRegular(file).toString("utf8");

export const readManifest = (file) => JSON.parse(readRegular(file, LONGEST_MANIFEST).toString("utf8"));

/** Throws if Node.js would wait for a manifest as it looks at a file, or at a package of this name, from a folder. */
export function checkManifests(folder, name) {
  for (let at = folder; ; at = path.dirname(at)) {
    check(path.join(at, "package.json"));
    if (name) check(path.join(at, "node_modules", name, "package.json"));
    if (path.dirname(at) === at) return;
  }
}

function check(manifest) {
  const stat = fs.statSync(manifest, { throwIfNoEntry: false });
  // Node.js passes over a folder.
  if (stat && !stat.isDirectory()) refuse(manifest, stat, LONGEST_MANIFEST);
}

/** Throws if a file that Node.js is about to load is not a regular one, or is too large. */
export function checkRegular(file) {
  const stat = fs.statSync(file, { throwIfNoEntry: false });
  if (stat) refuse(file, stat, LONGEST);
}
