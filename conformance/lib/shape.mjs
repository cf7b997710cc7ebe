// A session file without what differs from run to run: entry ids, session ids, times of writing, paths.
// Two programs that did the same must leave files of the same shape. Knows the format's field names.
import { canon } from "./canon.mjs";

const HOUR = 3_600_000;
const ISO = /"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"/g;

/** Lines with `"#n"` for the id of entry n, `"#session"`, `"#parent"` and `"#time"`; times before `since` are kept. */
export function shapeOf(content, { since = Date.now() - HOUR, canonical = false } = {}) {
  const lines = content.toString().split("\n");
  if (lines.pop() !== "") lines.push("(the last line has no line feed)");
  const records = lines.map((line) => { try { return JSON.parse(line); } catch { return null; } });
  const names = new Map();
  let entries = 0;
  for (const record of records) {
    if (record?.type === "session" && typeof record.id === "string") names.set(record.id, "#session");
    else if (typeof record?.id === "string" && !names.has(record.id)) names.set(record.id, `#${entries++}`);
    if (record?.type === "session" && typeof record.parentSession === "string") names.set(record.parentSession, "#parent");
  }
  const written = (text) => (Date.parse(JSON.parse(text)) >= since ? '"#time"' : text);
  return lines.map((line, i) => {
    let text = canonical && records[i] ? canon(records[i]) : line;
    for (const [id, name] of names) text = text.replaceAll(JSON.stringify(id), JSON.stringify(name));
    text = text.replaceAll(ISO, written);
    return text.replaceAll(/"timestamp":(\d{13})\b/g, (all, ms) => (Number(ms) >= since ? '"timestamp":"#time"' : all));
  });
}
