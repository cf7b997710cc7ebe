// Two readings of one session laid side by side. Answers findings [{aspect, at?, difference | null}], one per thing compared.
// Knows the form of a dump (peer.mjs), not who made it.
import { firstDifference } from "./canon.mjs";

/** Names entries by their place in the file where ids are made up at each opening (v1). */
function namer(dump, v1) {
  if (!v1) return (id) => id;
  const places = new Map(dump.entries.map(([id], place) => [id, `#${place}`]));
  return (id) => places.get(id) ?? id;
}

/** Points of `from` in the ids of `to`. */
export function translatePoints(points, from, to, v1) {
  if (!v1) return points;
  const places = new Map(from.map(([id], place) => [id, place]));
  return points.map((point) => (point.kind === "id" ? { ...point, id: to[places.get(point.id)]?.[0] ?? "(no such entry)" } : point));
}

const finding = (aspect, left, right, at) => ({ aspect, at, difference: firstDifference(left, right) });

function compareTrees(left, right, names, { labelTimes, v1 }) {
  const rows = (dump, name) =>
    dump.tree.map(([depth, id, label, time]) => (labelTimes ? [depth, name(id), label, time] : [depth, name(id), label]));
  const labels = (dump, name) => dump.labels.map(([id, label]) => [name(id), label]);
  return [
    finding("tree", rows(left, names[0]), rows(right, names[1])),
    finding("labels", labels(left, names[0]), labels(right, names[1])),
    ...(v1
      ? []
      : [
          finding(
            "ids",
            left.entries.map(([id, type]) => [id, type]),
            right.entries.map(([id, type]) => [id, type]),
          ),
        ]),
    finding(
      "types",
      left.entries.map(([, type]) => type),
      right.entries.map(([, type]) => type),
    ),
  ];
}

function compareContexts(left, right, names, plain) {
  if (left.length !== right.length) return [finding("context", { points: left.length }, { points: right.length })];
  return left.flatMap((expected, i) => {
    const actual = right[i];
    const at = expected.kind === "id" ? names[0](expected.id) : expected.kind;
    const place = (point, name) => (point.kind === "id" ? name(point.id) : point.kind);
    if (place(expected, names[0]) !== place(actual, names[1]))
      return [finding("context", { point: at }, { point: place(actual, names[1]) }, at)];
    if (expected.error || actual.error) return [finding("context", { error: expected.error ?? null }, { error: actual.error ?? null }, at)];
    if (!plain) return [finding("context", pick(expected), pick(actual), at)];
    return expected.plain === null || actual.plain === null ? [] : [finding("context", expected.plain, actual.plain, at)];
  });
}

const pick = ({ settings, messages }) => ({ settings, messages });

/**
 * `own`: both sides answer in the same dialect, so everything must agree. Otherwise ids, tree and leaf must, and with
 * `plain` what the dialects' contexts have in common. `labelTimes`: both sides know when a label was set.
 */
export function compareDumps(left, right, { v1 = false, own = true, plain = false, labelTimes = true } = {}) {
  const names = [namer(left, v1), namer(right, v1)];
  const findings = [
    finding("header", left.header, right.header),
    finding("leaf", names[0](left.leafId), names[1](right.leafId)),
    ...compareTrees(left, right, names, { labelTimes, v1 }),
    ...(own ? [finding("name", left.name, right.name)] : []),
    ...(own && !v1
      ? [
          finding(
            "entries",
            left.entries.map((row) => row[2]),
            right.entries.map((row) => row[2]),
          ),
        ]
      : []),
  ];
  return own || plain ? [...findings, ...compareContexts(left.contexts, right.contexts, names, plain)] : findings;
}

/** Fields of a session info that are compared, by the peer that listed it. omp estimates the others from parts of the file. */
const LIST_FIELDS = {
  pi: ["path", "id", "cwd", "name", "parentSessionPath", "created", "modified", "messageCount", "firstMessage", "allMessagesText"],
  omp: ["path", "id", "cwd", "name", "parentSessionPath", "created"],
};

/** One finding per listed file, and one on the order of those that both sides list. `nameOf` gives a path's short name. */
export function compareLists(peer, expected, actual, nameOf) {
  const only = (info) => Object.fromEntries(LIST_FIELDS[peer].map((field) => [field, info[field] ?? null]));
  const titled = peer === "omp" ? expected.map(({ title, ...info }) => ({ ...info, name: title })) : expected;
  const byPath = (infos) => new Map(infos.map((info) => [info.path, only(info)]));
  const [left, right] = [byPath(titled), byPath(actual)];
  const paths = [...new Set([...left.keys(), ...right.keys()])];
  const findings = paths.map((path) => ({
    file: nameOf(path),
    session: path,
    aspect: "list",
    difference: firstDifference(left.get(path), right.get(path)),
  }));
  if (peer === "omp") return findings;
  const order = (infos, others) =>
    infos
      .map(({ path }) => path)
      .filter((path) => others.has(path))
      .map(nameOf);
  return [...findings, { file: "(all)", ...finding("list-order", order(titled, right), order(actual, left)) }];
}
