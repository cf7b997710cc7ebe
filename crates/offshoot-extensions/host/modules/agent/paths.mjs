// Which file a path means, for tools whose files an extension reads: exactly the one that is named, and for readers else the only
// one that looks the same. Lists no folder: the files may be on another machine.
import * as os from "node:os";
import * as path from "node:path";
import { fileURLToPath } from "node:url";

const ODD_BLANKS = /[\u00a0\u2000-\u200a\u202f\u205f\u3000]/g;

export function exact(cwd, file) {
  const named = /^file:\/\/(localhost)?\//.test(file) ? fileURLToPath(file) : file.replace(/^~(?=\/|$)/, () => os.homedir());
  return path.resolve(cwd, named);
}

/** Other spellings of a name, the likeliest first. */
function spellings(file) {
  const plain = [file, file.replace(ODD_BLANKS, " ")];
  const blanks = [...plain, file.replace(/ (?=[AP]M\.)/gi, "\u202f"), file.replaceAll(" ", "\u00a0")];
  const quoted = blanks.flatMap((name) => [name, name.replaceAll("'", "\u2019"), name.replaceAll("\u2019", "'")]);
  return quoted.flatMap((name) => [name, name.normalize("NFC"), name.normalize("NFD")]);
}

/** A way to ask rejects, or answers false, where nothing is. */
const isThere = async (file, ask) => {
  try {
    return (await ask(file)) !== false;
  } catch {
    return false;
  }
};

/** The file that a reader means. Without a way to ask it is the one that is named. */
export async function existing(cwd, file, ask) {
  const named = exact(cwd, file);
  if (!ask || (await isThere(named, ask))) return named;
  const others = [file, ...(file.startsWith("@") && file.length > 1 ? [file.slice(1)] : [])];
  for (const other of others) {
    const found = [];
    for (const full of new Set(spellings(other).map((name) => exact(cwd, name)))) if (full !== named && (await isThere(full, ask))) found.push(full);
    if (found.length > 0) return found.length === 1 ? found[0] : named;
  }
  return named;
}

/** The file that a new one with an `@` before it probably means; undefined if it is what it says. */
export async function doubtful(cwd, file, ask) {
  if (!ask || !file.startsWith("@") || file.length === 1) return undefined;
  const meant = file.slice(1);
  const first = (name) => path.resolve(cwd, name.split("/")[0]);
  if (await isThere(first(file), ask)) return undefined;
  const isRooted = /^(\/|~(\/|$)|file:\/\/)/.test(meant);
  return isRooted || (await isThere(first(meant), ask)) ? meant : undefined;
}
