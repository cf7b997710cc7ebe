// Cutting long output: the first or the last lines, within a number of lines and of bytes.
export const DEFAULT_MAX_LINES = 2000;
export const DEFAULT_MAX_BYTES = 50 * 1024;

export function formatSize(bytes) {
  if (bytes < 1024) return `${bytes}B`;
  return bytes < 1024 * 1024 ? `${(bytes / 1024).toFixed(1)}KB` : `${(bytes / 1024 / 1024).toFixed(1)}MB`;
}

const size = (text) => Buffer.byteLength(text, "utf8");
const linesOf = (text) => (text.endsWith("\n") ? text.slice(0, -1) : text).split("\n");

function report(content, kept, { text, lines, truncatedBy, maxLines, maxBytes }, more = {}) {
  const counts = { totalLines: lines.length, totalBytes: size(text), outputLines: kept, outputBytes: size(content) };
  return { content, truncated: truncatedBy !== null, truncatedBy, ...counts, lastLinePartial: false, firstLineExceedsLimit: false, ...more, maxLines, maxBytes };
}

/** Lines from one end, as many as both bounds allow. */
function take(text, lines, maxLines, maxBytes) {
  const kept = [];
  let bytes = 0;
  for (const line of lines) {
    if (kept.length === maxLines) return { kept, truncatedBy: "lines" };
    bytes += size(line) + (kept.length ? 1 : 0);
    if (bytes > maxBytes) return { kept, truncatedBy: "bytes" };
    kept.push(line);
  }
  return { kept, truncatedBy: null };
}

export function truncateHead(text, { maxLines = DEFAULT_MAX_LINES, maxBytes = DEFAULT_MAX_BYTES } = {}) {
  const lines = text === "" ? [] : linesOf(text);
  const fits = lines.length <= maxLines && size(text) <= maxBytes;
  const { kept, truncatedBy } = fits ? { kept: lines, truncatedBy: null } : take(text, lines, maxLines, maxBytes);
  const about = { text, lines, truncatedBy: fits ? null : (truncatedBy ?? "bytes"), maxLines, maxBytes };
  return report(fits ? text : kept.join("\n"), kept.length, about, { firstLineExceedsLimit: !fits && kept.length === 0 });
}

export function truncateTail(text, { maxLines = DEFAULT_MAX_LINES, maxBytes = DEFAULT_MAX_BYTES } = {}) {
  const lines = text === "" ? [] : linesOf(text);
  if (lines.length <= maxLines && size(text) <= maxBytes) return report(text, lines.length, { text, lines, truncatedBy: null, maxLines, maxBytes });
  const { kept, truncatedBy } = take(text, [...lines].reverse(), maxLines, maxBytes);
  const about = { text, lines, truncatedBy: truncatedBy ?? "bytes", maxLines, maxBytes };
  if (kept.length) return report([...kept].reverse().join("\n"), kept.length, about);
  const bytes = Buffer.from(lines.at(-1), "utf8");
  let start = bytes.length - maxBytes;
  while ((bytes[start] & 0xc0) === 0x80) start += 1;
  return report(bytes.subarray(start).toString("utf8"), 1, about, { lastLinePartial: true });
}

export function truncateLine(text, maxLength = 500) {
  return text.length <= maxLength ? { text, wasTruncated: false } : { text: `${text.slice(0, maxLength)}... [truncated]`, wasTruncated: true };
}
