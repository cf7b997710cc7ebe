// A session file without what differs from run to run: entry ids, session ids, times of writing, paths.
// Two programs that did the same must leave files of the same shape. Knows the format's field names.
import { canon } from "./canon.mjs";

const HOUR = 3_600_000;
const STRING = /"(?:[^"\\]|\\.)*"/g;
const ISO = /^"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"$/;

/** Lines with `"#n"` for the id of entry n, `"#session"`, `"#parent"` and `"#time"`; times before `since` are kept. */
export function shapeOf(content, { since = Date.now() - HOUR, canonical = false } = {}) {
  const lines = content.toString().split("\n");
  if (lines.pop() !== "") lines.push("(the last line has no line feed)");
  const records = lines.map((line) => {
    try {
      return JSON.parse(line);
    } catch {
      return null;
    }
  });
  const names = new Map();
  let entries = 0;
  for (const record of records) {
    const name = (value, as) => typeof value === "string" && names.set(JSON.stringify(value), JSON.stringify(as));
    if (record?.type !== "session") {
      if (!names.has(JSON.stringify(record?.id))) name(record?.id, `#${entries++}`);
      continue;
    }
    name(record.id, "#session");
    name(record.parentSession, "#parent");
  }
  const renamed = (text) => names.get(text) ?? (ISO.test(text) && Date.parse(JSON.parse(text)) >= since ? '"#time"' : text);
  return lines.map((line, i) => {
    const text = canonical && records[i] ? canon(records[i]) : line;
    return text
      .replaceAll(STRING, renamed)
      .replaceAll(/"timestamp":(\d{13})\b/g, (all, ms) => (Number(ms) >= since ? '"timestamp":"#time"' : all));
  });
}
