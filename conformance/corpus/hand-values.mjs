// Hand-made files, pi's dialect: text, numbers, white space and field values at the edge of what JSON and the format allow.
// All of them are read as valid by the peers named with each file.
import { CWD, Draft, EPOCH, Shelf, text, toolCall } from "./draft.mjs";

const HEADER = `{"type":"session","version":3,"id":"5e551000-0000-7000-8000-000000000002","timestamp":"2026-01-01T00:00:00.000Z","cwd":"${CWD}"}`;
const line = (id, parent, body) =>
  `{"type":"message","id":"${id}","parentId":${parent === null ? "null" : `"${parent}"`},"timestamp":"2026-01-01T00:00:0${id.length}.000Z",${body}}`;
const small = () => {
  const d = new Draft();
  d.user("a");
  d.assistant("b");
  d.user("c");
  return d;
};

function layout(shelf) {
  shelf.put("crlf", { plain: true }, small().text({ eol: "\r\n" }));
  shelf.put("no-final-line-feed", { plain: true }, small().text({ open: true }));
  shelf.put("no-final-line-feed-header-only", { plain: true }, new Draft().text({ open: true }));
  const d = small();
  d.lines.splice(1, 0, "", "   ", "\t \t");
  d.lines.push("", "  ");
  shelf.put("blank-lines", { plain: true }, d);
  shelf.put("garbage-before-the-header", { plain: true }, `\n  \nnot json at all\n{"type":"ses\n${small().text()}`);
  const g = small();
  g.lines.splice(2, 0, "{{{ broken", "plain words", '{"type":"message","id":"cut');
  shelf.put("garbage-between-lines", { plain: true }, g);
  shelf.put(
    "header-100-kb",
    { plain: true },
    (() => {
      const h = new Draft({ extra: "x".repeat(100_000), cwd: `${CWD}/${"deep/".repeat(200)}` });
      h.user("a");
      h.assistant("b");
      return h;
    })(),
  );
  shelf.put(
    "header-over-1-mb",
    { plain: true },
    (() => {
      const h = new Draft({ extra: "é".repeat(600_000) });
      h.user("a");
      h.assistant("b");
      return h;
    })(),
  );

  shelf.put(
    "white-space-inside-lines",
    { plain: true },
    [
      `  ${HEADER.replaceAll(",", " ,\t").replaceAll('":', '" : ')}  `,
      '\t{ "type" : "message" , "id" : "a" , "parentId" : null , "timestamp" : "2026-01-01T00:00:01.000Z" , "message" : { "role" : "user" , "content" : "spaced" } }\t',
      ' {"message":{"content":[ { "text" : "yes" , "type" : "text" } ],"model":"m","provider":"p","role":"assistant"},"timestamp":"2026-01-01T00:00:02.000Z","parentId":"a","id":"b","type":"message"} ',
    ].join("\n") + "\n",
  );
  shelf.put(
    "escaped-keys-and-types",
    { plain: true },
    [
      HEADER.replace('"type"', '"ty\\u0070e"').replace('"session"', '"\\u0073ession"'),
      '{"typ\\u0065":"mess\\u0061ge","\\u0069d":"\\u0061","parent\\u0049d":null,"timestamp":"2026-01-01T00:00:01.000Z","m\\u0065ssage":{"rol\\u0065":"us\\u0065r","content":"x"}}',
      '{"type":"message","id":"b","parentId":"\\u0061","timestamp":"2026-01-01T00:00:02\\u002e000Z","message":{"role":"assistant","content":[{"type":"te\\u0078t","text":"y"}],"provider":"p","model":"m"}}',
      '{"type":"label","id":"c","parentId":"b","timestamp":"2026-01-01T00:00:03.000Z","targetId":"\\u0061","label":"\\u006Cabel"}',
    ].join("\n") + "\n",
  );
  shelf.put(
    "repeated-keys",
    { plain: true },
    [
      HEADER,
      '{"type":"label","type":"message","id":"old","id":"a","parentId":"zzz","parentId":null,"timestamp":"junk","timestamp":"2026-01-01T00:00:01.000Z","message":5,"message":{"role":"tool","role":"user","content":"first","content":"last"}}',
      line(
        "b",
        "a",
        '"message":{"role":"assistant","content":[{"type":"text","text":"no","text":"yes"}],"provider":"x","provider":"p","model":"m"}',
      ),
    ].join("\n") + "\n",
  );
  shelf.put(
    "misleading-keys-inside-values",
    { plain: true },
    [
      HEADER,
      line("a", null, '"message":{"role":"user","content":"{\\"type\\":\\"label\\",\\"id\\":\\"zz\\",\\"parentId\\":\\"b\\"}"}'),
      '{"details":{"type":"compaction","id":"zz","parentId":"yy","targetId":"a","message":{"role":"system"}},"type":"message","message":{"id":"inner","type":"x","role":"assistant","content":[],"provider":"p","model":"m","timestamp":"t"},"timestamp":"2026-01-01T00:00:02.000Z","id":"b","parentId":"a"}',
    ].join("\n") + "\n",
  );

  const orders = new Draft();
  orders.raw('{"type":"custom","customType":"todo","data":{"n":1},"id":"a","parentId":null,"timestamp":"2026-01-01T00:00:01.000Z"}');
  orders.raw(
    '{"timestamp":"2026-01-01T00:00:02.000Z","message":{"timestamp":1,"content":"payload first","role":"user"},"type":"message","id":"b","parentId":"a"}',
  );
  orders.raw(
    '{"type":"message","timestamp":"2026-01-01T00:00:03.000Z","message":{"role":"assistant","content":[],"provider":"p","model":"m"},"id":"c","parentId":"b"}',
  );
  orders.raw(
    '{"summary":"S","tokensBefore":1,"firstKeptEntryId":"b","parentId":"c","id":"d","timestamp":"2026-01-01T00:00:04.000Z","type":"compaction"}',
  );
  shelf.put("key-order", { plain: true }, orders);
}

function characters(shelf) {
  const d = new Draft();
  d.user("line\u2028separator and\u2029paragraph, next\u0085line, nbsp\u00a0, bom\ufeff inside");
  d.assistant('emoji 😀👩‍👩‍👧, \u0000 escaped nul, \u001b[31mred\u001b[0m, del \u007f, tab\t, \b\f\v, \\ " / </script>');
  d.raw(
    '{"type":"message","id":"lone","parentId":"a0000022","timestamp":"2026-01-01T00:00:09.000Z","message":{"role":"user","content":"high \\ud83d alone, low \\ude00 alone, swapped \\ude00\\ud83d, pair \\ud83d\\ude00, slash \\/"}}',
  );
  d.at("lone").label("lone", "\u2028\ud83d\ude00");
  d.add("custom", { customType: "\u202eright to left", data: { "key with \u0000 and \u2028": "\uffff\ufffe" } });
  d.add("branch_summary", { fromId: "lone", summary: "\ufeff" });
  shelf.put("characters", { plain: true }, d);

  const long = new Draft();
  long.user(`${"é€😀".repeat(130_000)}x`);
  long.assistant("y".repeat(1_048_576));
  long.user("after the long lines");
  shelf.put("lines-over-1-mb", { plain: true }, long);
}

function numbers(shelf) {
  const data =
    '{"a":1e5,"b":1.0,"c":-0,"d":12345678901234567890,"e":0.1e-7,"f":1E+2,"g":-1.50,"h":9007199254740993,"i":5e-324,"j":1e21,"k":100000000000000000000000,"l":-0.0,"m":0.30000000000000004,"n":123456789012345680000}';
  const d = new Draft();
  d.raw(`{"type":"custom","id":"a","parentId":null,"timestamp":"2026-01-01T00:00:01.000Z","customType":"n","data":${data}}`);
  d.raw(
    `{"type":"message","id":"b","parentId":"a","timestamp":"2026-01-01T00:00:02.000Z","message":{"role":"user","content":"n","timestamp":1.7672256e12,"extra":${data}}}`,
  );
  d.raw(
    `{"type":"message","id":"c","parentId":"b","timestamp":"2026-01-01T00:00:03.000Z","message":{"role":"assistant","content":[{"type":"toolCall","id":"x","name":"t","arguments":${data}}],"provider":"p","model":"m","timestamp":1767225603000.0}}`,
  );
  d.raw(
    `{"type":"custom_message","id":"d","parentId":"c","timestamp":"2026-01-01T00:00:04.000Z","customType":"t","content":"c","display":true,"details":${data}}`,
  );
  d.raw(
    '{"type":"compaction","id":"e","parentId":"d","timestamp":"2026-01-01T00:00:05.000Z","summary":"S","firstKeptEntryId":"b","tokensBefore":1.0e5}',
  );
  d.raw('{"type":"thinking_level_change","id":"f","parentId":"e","timestamp":"2026-01-01T00:00:06.000Z","thinkingLevel":"low","n":-0}');
  shelf.put("numbers", {}, d);

  const over = new Draft();
  over.raw('{"type":"custom","id":"a","parentId":null,"timestamp":"2026-01-01T00:00:01.000Z","customType":"n","data":1e400}');
  over.raw(
    '{"type":"message","id":"b","parentId":"a","timestamp":"2026-01-01T00:00:02.000Z","message":{"role":"user","content":"n","extra":[-1e400,1e-400]}}',
  );
  shelf.put("numbers-out-of-range", {}, over);

  let nested = '"core"';
  for (let i = 0; i < 200; i++) nested = i % 2 ? `[${nested}]` : `{"k":${nested}}`;
  const deep = new Draft();
  deep.raw(`{"type":"custom","id":"a","parentId":null,"timestamp":"2026-01-01T00:00:01.000Z","customType":"n","data":${nested}}`);
  deep.raw(
    `{"type":"message","id":"b","parentId":"a","timestamp":"2026-01-01T00:00:02.000Z","message":{"role":"assistant","content":[{"type":"toolCall","id":"x","name":"t","arguments":${nested}}],"provider":"p","model":"m"}}`,
  );
  deep.raw(
    `{"type":"custom_message","id":"c","parentId":"b","timestamp":"2026-01-01T00:00:03.000Z","customType":"t","content":"c","display":true,"details":${nested}}`,
  );
  shelf.put("nested-200-deep", {}, deep);
}

function fields(shelf) {
  let d = new Draft();
  d.user("plain string");
  d.message({ role: "assistant", content: "assistant as a string", provider: "p", model: "m", timestamp: EPOCH });
  d.user([]);
  d.user([{ type: "block_of_tomorrow", x: 1 }]);
  d.user("");
  d.message({ role: "toolResult", toolCallId: "c", content: "result as a string" });
  shelf.put("content-forms", {}, d);

  d = new Draft();
  d.user(null);
  d.assistant("between");
  d.message({ role: "assistant", content: null, provider: "p", model: "m" });
  d.message({ role: "assistant", provider: "p", model: "m" });
  d.message({ role: "user" });
  d.message({ role: "toolResult", toolCallId: "x", content: null });
  d.message({ role: "system", content: null });
  d.message({ role: "system" });
  d.message({ role: "bashExecution", command: "x", content: null });
  d.message({ role: "custom", content: null });
  d.message({ content: "no role" });
  d.message({});
  shelf.put("content-null-or-absent", {}, d);

  d = new Draft();
  d.user("a");
  d.message("a string");
  d.message(7);
  d.message([1]);
  d.message(true);
  d.user("b");
  shelf.put("message-is-not-an-object", {}, d);

  d = new Draft();
  d.add("custom_message", { customType: "t", content: null });
  d.add("custom_message", { customType: "t" });
  d.add("custom_message", { content: 5, display: "yes", details: null });
  d.add("custom_message", { customType: null, content: [], display: null, attribution: "user" });
  d.add("branch_summary", { summary: "no from" });
  d.add("branch_summary", { fromId: null, summary: 5 });
  d.add("branch_summary", { fromId: "x" });
  d.add("branch_summary", { summary: { a: 1 }, fromId: "y" });
  d.add("branch_summary", { summary: 0 });
  shelf.put("synthesised-from-odd-fields", {}, d);

  d = new Draft();
  const times = [
    "junk",
    null,
    undefined,
    1700000000000.7,
    -1,
    true,
    "2026-01-01",
    "2026-01-01T10:00:00+02:00",
    "2026-01-01T10:00:00",
    "2026-01-01T00:00:00.1234567Z",
    "+020260-01-01T00:00:00.000Z",
    "1700000000000",
    "2026-01-01t00:00:00z",
    "",
    "1969-12-31T23:59:59.999Z",
    "2026-01-01T24:00:00.000Z",
    "2026-01-01T00:00Z",
    "2026",
  ];
  for (const timestamp of times) d.add("branch_summary", { fromId: "x", summary: `at ${timestamp}`, timestamp });
  shelf.put("timestamps", {}, d);

  d = new Draft();
  d.user("a");
  d.add("thinking_level_change", {});
  d.add("model_change", { provider: "p" });
  d.add("model_change", { modelId: "m" });
  d.add("thinking_level_change", { thinkingLevel: null });
  d.add("model_change", {});
  d.add("thinking_level_change", { thinkingLevel: "level-of-tomorrow" });
  d.message({ role: "assistant", content: [] });
  d.message({ role: "assistant", content: [], model: "only" });
  d.add("model_change", { provider: null, modelId: null });
  d.add("thinking_level_change", { thinkingLevel: "off" });
  shelf.put("settings-with-odd-fields", {}, d);

  d = new Draft();
  d.user([...text("two"), ...text("blocks"), { type: "image", data: "", mimeType: "image/png" }]);
  d.assistant([toolCall("c")], { stopReason: "aborted", errorMessage: "Interrupted" });
  d.assistant("partial", { stopReason: "error", errorMessage: "overloaded" });
  d.assistant([], { stopReason: "error" });
  d.assistant("cut", { stopReason: "length" });
  d.result("never-called");
  shelf.put("failed-turns-and-loose-calls", {}, d);
}

function lists(shelf) {
  let d = new Draft({ cwd: `${CWD}/.` });
  d.add("session_info", { name: "first" });
  d.user("  untrimmed question  ");
  d.assistant("answer");
  d.add("session_info", { name: " second\t" });
  d.at(null).user("another root");
  shelf.put("list-name-last-wins", {}, d);
  d = new Draft();
  d.add("session_info", { name: "set" });
  d.user("q");
  d.add("session_info", { name: "  " });
  shelf.put("list-name-cleared", {}, d);
  d = new Draft();
  d.add("session_info", { name: "set" });
  d.add("session_info", {});
  d.assistant("only an assistant");
  shelf.put("list-name-absent", {}, d);
  d = new Draft({ cwd: "/other/place", timestamp: "2025-01-01T00:00:00.000Z", parentSession: "/p.jsonl" });
  d.user("elsewhere");
  shelf.put("list-other-folder", {}, d);
  d = new Draft({ timestamp: "not a time", cwd: 5 });
  d.message({ role: "toolResult", toolCallId: "x", content: text("no activity"), timestamp: EPOCH * 2 });
  shelf.put("list-header-time-unusable", { peers: ["pi"] }, d);
  d = new Draft({ timestamp: undefined, cwd: undefined });
  d.message({ role: "user", content: "no own time" }, { timestamp: "2026-03-01T00:00:00.000Z" });
  shelf.put("list-header-without-time", {}, d);
  d = new Draft();
  d.message({ role: "user", content: "text time", timestamp: "2030-01-01T00:00:00.000Z" });
  d.message({ role: "assistant", content: [{ type: "text" }, ...text("q")], timestamp: EPOCH + 5_000_000.9 });
  d.message({ role: "user", content: "past", timestamp: -5 });
  d.message({ role: "user", content: "junk entry time" }, { timestamp: "junk" });
  shelf.put("list-message-times", {}, d);
  d = new Draft();
  d.user("");
  d.user([{ type: "image", data: "", mimeType: "a" }]);
  d.message({ role: "user" });
  d.assistant("first words are not a user's");
  d.message({ role: "system", content: "unheard" });
  d.add("custom_message", { customType: "t", content: "unheard too" });
  shelf.put("list-no-user-text", {}, d);
}

export function valueFiles() {
  const shelf = new Shelf({ set: "hand" });
  layout(shelf);
  characters(shelf);
  numbers(shelf);
  fields(shelf);
  lists(shelf);
  return shelf.files;
}
