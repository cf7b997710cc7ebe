// Counts findings, sorts deliberate differences from others, and prints the summary table. Compares nothing itself.

export class Report {
  #rows = new Map();
  #used = new Set();
  failures = [];

  /** `differences` is the table of differences.mjs. */
  constructor(differences = []) {
    this.differences = differences;
  }

  #row(peer, group) {
    const key = `${peer}\t${group}`;
    if (!this.#rows.has(key))
      this.#rows.set(key, { files: new Set(), leaves: 0, equal: 0, different: 0, deliberate: 0, facts: 0, otherwise: 0 });
    return this.#rows.get(key);
  }

  #deliberate(peer, file, aspect, difference) {
    const covers = (row) => (row.files ? row.files.includes(file) : true) && (row.when ? row.when(difference, file) : true);
    const row = this.differences.find((d) => d.peer === peer && d.aspect === aspect && covers(d));
    if (row) this.#used.add(row);
    return row !== undefined;
  }

  /** Takes the findings about one file. Answers those that are neither equal nor deliberate. */
  add(peer, group, file, findings) {
    const row = this.#row(peer, group);
    row.files.add(file);
    const failed = [];
    for (const { aspect, at, difference, file: other } of findings) {
      const context = aspect === "context";
      if (context) row.leaves++;
      else row.facts++;
      if (difference === null) {
        if (context) row.equal++;
      } else if (this.#deliberate(peer, other ?? file, aspect, difference)) {
        row.deliberate++;
      } else {
        if (context) row.different++;
        else row.otherwise++;
        failed.push({ peer, group, file: other ?? file, aspect, at, difference });
      }
    }
    this.failures.push(...failed);
    return failed;
  }

  /** Something went wrong before there was anything to compare. */
  fail(peer, group, file, message) {
    return this.add(peer, group, file, [{ aspect: "failure", difference: { path: "", left: "an answer", right: message } }]);
  }

  /** Rows of the table of differences that nothing needed. */
  stale() {
    return this.differences.filter((row) => !this.#used.has(row));
  }

  table() {
    const head = ["peer", "group", "files", "leaves", "equal", "different", "deliberate", "other facts", "different"];
    const body = [...this.#rows].map(([key, r]) =>
      [...key.split("\t"), r.files.size, r.leaves, r.equal, r.different, r.deliberate, r.facts, r.otherwise].map(String),
    );
    const widths = head.map((name, i) => Math.max(name.length, ...body.map((line) => line[i].length)));
    const line = (cells) => cells.map((cell, i) => (i < 2 ? cell.padEnd(widths[i]) : cell.padStart(widths[i]))).join("  ");
    return [line(head), line(widths.map((w) => "-".repeat(w))), ...body.map(line)].join("\n");
  }
}

/** The first few failures in words, for the message of a failed test. */
export function describe(failures, limit = 12) {
  const shown = failures
    .slice(0, limit)
    .map(
      ({ peer, file, aspect, at, difference }) =>
        `${file}: ${aspect}${at === undefined ? "" : ` at ${at}`}${difference.path ? ` ${difference.path}` : ""}\n    ${peer}: ${difference.left}\n    offshoot: ${difference.right}`,
    );
  const rest = failures.length > limit ? [`... and ${failures.length - limit} more`] : [];
  return [`${failures.length} differences`, ...shown, ...rest].join("\n  ");
}
