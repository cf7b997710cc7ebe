// Files on which a peer crashes, hangs, refuses or hides entries. Expected of offshoot: it opens them, every entry is
// somewhere in the tree, every leaf has a context, and `check` says what is wrong. `refused` files: an error, bytes untouched.
// Facts in the manifest: `entries`, how many must be there; `diagnostic`, whether `check` must speak; `contexts`, at how many
// leaves; `nested`, false where a tree is too deep to be one JSON value for every reader.
import { Draft, Shelf } from "./draft.mjs";

const small = () => {
  const d = new Draft();
  d.user("a", { id: "a" });
  d.assistant("b", {}, { id: "b" });
  d.user("c", { id: "c" });
  return d;
};
const entry = (fields) =>
  JSON.stringify({ type: "message", timestamp: "2026-01-01T00:00:30.000Z", message: { role: "user", content: "x" }, ...fields });

function loops(odd) {
  let d = new Draft();
  d.user("a", { id: "a", parentId: "c" });
  d.user("b", { id: "b" });
  d.user("c", { id: "c" });
  odd("cycle", 3, d);
  d = small();
  d.user("d", { id: "d", parentId: "d" });
  odd("self-parent-leaf", 4, d);
  d = small();
  d.raw(entry({ id: "x", parentId: "y" }))
    .raw(entry({ id: "y", parentId: "x" }))
    .raw(entry({ id: "z", parentId: "c" }));
  odd("cycle-beside-the-path", 6, d);
  d = small();
  d.raw(entry({ id: "tail", parentId: "x" }))
    .raw(entry({ id: "x", parentId: "y" }))
    .raw(entry({ id: "y", parentId: "x" }))
    .raw(entry({ id: "more", parentId: "tail" }));
  odd("cycle-with-a-tail", 7, d);
  d = small();
  d.raw(entry({ id: "a", parentId: "c" }));
  odd("duplicate-id-closes-a-loop", 4, d);
  d = small();
  d.raw(entry({ id: "b", parentId: "b" }));
  odd("duplicate-id-own-parent", 4, d);
  d = small();
  for (let i = 0; i < 20; i++) d.raw(entry({ id: "same", parentId: i % 2 ? "same" : "a" }));
  odd("duplicate-id-twenty-times", 23, d);
  d = new Draft();
  for (let i = 0; i < 2000; i++) d.user(`m${i}`, { id: `n${i}`, parentId: `n${(i + 1) % 2000}` });
  odd("cycle-of-2000", 2000, d);
}

function lines(odd) {
  const between = (...raw) => {
    const d = small();
    d.lines.splice(2, 0, ...raw);
    return d;
  };
  odd("null-line", 3, between("null"));
  odd("number-string-array-lines", 3, between("5", "0", "true", "false", '"text"', "[1,2]", '[{"type":"message"}]'));
  odd(
    "values-after-the-record",
    3,
    between(
      '{"type":"custom","id":"q","parentId":"a","timestamp":"2026-01-01T00:00:09.000Z"}{"type":"custom","id":"r","parentId":"q","timestamp":"2026-01-01T00:00:09.000Z"}',
    ),
  );
  odd("torn-tail", 3, small().text() + entry({ id: "torn", parentId: "c" }).slice(0, 60));
  odd(
    "torn-tail-inside-a-character",
    3,
    Buffer.concat([
      Buffer.from(`${small().text()}{"type":"message","id":"torn","parentId":"c","message":{"role":"user","content":"caf`),
      Buffer.from([0xc3]),
    ]),
  );
  odd("torn-middle", 3, between('{"type":"message","id":"b'));
  odd(
    "malformed-parent",
    2,
    (() => {
      const d = small();
      d.lines[2] = d.lines[2].slice(0, -3);
      return d;
    })(),
  );
  odd("nul-block-at-the-end", 3, small().text() + "\0".repeat(4096));
  odd("nul-block-in-a-line", 3, between(`${"\0".repeat(512)}{"type":"custom","id":"n"}`));
  odd("byte-order-mark", 3, `\ufeff${small().text()}`);
  odd(
    "invalid-utf-8",
    4,
    Buffer.concat([
      Buffer.from(small().text()),
      Buffer.from(
        '{"type":"message","id":"u","parentId":"c","timestamp":"2026-01-01T00:00:30.000Z","message":{"role":"user","content":"bad ',
      ),
      Buffer.from([0xff, 0xfe, 0x80]),
      Buffer.from(' bytes"}}\n'),
    ]),
  );
  odd(
    "lone-surrogate-bytes",
    4,
    Buffer.concat([
      Buffer.from(small().text()),
      Buffer.from('{"type":"message","id":"u","parentId":"c","timestamp":"2026-01-01T00:00:30.000Z","message":{"role":"user","content":"'),
      Buffer.from([0xed, 0xa0, 0x80]),
      Buffer.from('"}}\n'),
    ]),
  );
  odd("raw-control-characters", 3, between(`{"type":"message","id":"t","parentId":"a","message":{"role":"user","content":"tab\there"}}`));
  odd("single-quotes-and-trailing-commas", 3, between("{'type':'message'}", '{"type":"message",}', "{type:1}"));
  odd(
    "nested-100000-deep",
    3,
    between(
      `{"type":"custom","id":"deep","parentId":"a","timestamp":"2026-01-01T00:00:09.000Z","data":${"[".repeat(100_000)}${"]".repeat(100_000)}}`,
    ),
    { diagnostic: false },
  );
}

function entries(odd) {
  const after = (...raw) => {
    const d = small();
    for (const line of raw) d.raw(line);
    return d;
  };
  odd("entry-without-id", 4, after(entry({ parentId: "c" })));
  odd("entries-without-ids-in-the-middle", 6, after(entry({ parentId: "c" }), entry({ parentId: "c" }), entry({ id: "z", parentId: "c" })));
  odd("id-is-a-number", 5, after(entry({ id: 7, parentId: "c" }), entry({ id: "z", parentId: 7 })));
  odd("id-is-empty", 5, after(entry({ id: "", parentId: "c" }), entry({ id: "z", parentId: "" })));
  odd("id-is-null", 4, after(entry({ id: null, parentId: "c" })));
  odd(
    "message-entry-without-message",
    5,
    after(
      '{"type":"message","id":"m","parentId":"c","timestamp":"2026-01-01T00:00:09.000Z"}',
      '{"type":"message","id":"n","parentId":"m","timestamp":"2026-01-01T00:00:10.000Z","message":null}',
    ),
  );
  odd(
    "context-edit-without-replacement",
    4,
    after('{"type":"context_edit","id":"e","parentId":"c","timestamp":"2026-01-01T00:00:09.000Z","targetId":"a"}'),
    { diagnostic: false },
  );
  odd(
    "no-type",
    5,
    after(
      '{"id":"t","parentId":"c","timestamp":"2026-01-01T00:00:09.000Z"}',
      '{"type":5,"id":"t2","parentId":"t","timestamp":"2026-01-01T00:00:09.000Z"}',
    ),
  );
  odd("empty-object", 4, after("{}"));
  odd(
    "session-name-is-a-number",
    4,
    after('{"type":"session_info","id":"s","parentId":"c","timestamp":"2026-01-01T00:00:09.000Z","name":5}'),
    { diagnostic: false },
  );
  odd(
    "label-is-a-number",
    5,
    after(
      '{"type":"label","id":"l","parentId":"c","timestamp":"2026-01-01T00:00:09.000Z","targetId":"a","label":5}',
      '{"type":"label","id":"l2","parentId":"l","timestamp":"2026-01-01T00:00:09.000Z"}',
    ),
    { diagnostic: false },
  );
  odd(
    "content-block-is-null",
    5,
    after(
      entry({ id: "n", parentId: "c", message: { role: "user", content: [null, 5, { type: "text" }] } }),
      entry({ id: "o", parentId: "n", message: { role: "assistant", content: null } }),
    ),
    { diagnostic: false },
  );
  odd("ttsr-without-rules", 4, after('{"type":"ttsr_injection","id":"r","parentId":"c","timestamp":"2026-01-01T00:00:09.000Z"}'), {
    diagnostic: false,
  });
  odd(
    "children-with-mixed-times",
    9,
    (() => {
      const d = small();
      for (const [i, at] of ["09", "05", "junk", "01", "xx", "00"].entries())
        d.raw(entry({ id: `k${i}`, parentId: "a", timestamp: `2026-01-01T00:00:${at}.000Z` }));
      return d;
    })(),
    { diagnostic: false },
  );

  const old = new Draft({ version: undefined });
  old.old("message", { message: { role: "user", content: "kept" } });
  old.old("compaction", { summary: "S", firstKeptEntryIndex: 0, tokensBefore: 1 });
  old.old("message", { message: { role: "user", content: "after" } });
  odd("v1-index-zero", 3, old, { diagnostic: false });
  odd(
    "version-99",
    3,
    (() => {
      const d = small();
      d.lines[0] = d.lines[0].replace('"version":3', '"version":99');
      return d;
    })(),
  );
  odd(
    "version-is-text",
    3,
    (() => {
      const d = small();
      d.lines[0] = d.lines[0].replace('"version":3', '"version":"three"');
      return d;
    })(),
  );

  const wide = new Draft();
  wide.user("root", { id: "root" });
  for (let i = 0; i < 150_000; i++)
    wide.raw(`{"type":"custom","id":"w${i}","parentId":"root","timestamp":"2026-01-01T00:00:01.000Z","customType":"x"}`);
  odd("wide-150000", 150_001, wide, { diagnostic: false, contexts: 3 });
  const early = new Draft();
  const kept = early.user("a");
  early.compaction(kept);
  for (let i = 0; i < 150_000; i++) early.add("custom", { customType: "x" });
  odd("compaction-then-150000", 150_002, early, { diagnostic: false, contexts: 3, nested: false });
}

function refusals(refuse) {
  refuse("markdown", "# Notes\n\nnot a session\n");
  refuse("no-header", small().lines.slice(1).join("\n") + "\n");
  refuse(
    "header-not-first",
    (() => {
      const [header, first, ...rest] = small().lines;
      return [first, header, ...rest].join("\n") + "\n";
    })(),
  );
  refuse("header-without-id", new Draft({ id: undefined }).text());
  refuse("header-id-is-a-number", new Draft({ id: 5 }).text());
  refuse("header-malformed", `${new Draft().text().slice(0, -4)}\n${small().lines[1]}\n`);
  refuse("json-array", '[{"type":"session","id":"x"}]\n');
  refuse("binary", Buffer.from(Array.from({ length: 600 }, (_, i) => (i * 37) % 256)));
}

export function oddFiles() {
  const shelf = new Shelf({ set: "odd", peers: [] });
  const odd = (name, count, body, { diagnostic = true, contexts = 40, nested = true } = {}) =>
    shelf.put(name, { entries: count, diagnostic, contexts, nested }, body);
  loops(odd);
  lines(odd);
  entries(odd);
  refusals((name, body) => shelf.put(`refused-${name}`, { refused: true }, body));
  return shelf.files;
}
