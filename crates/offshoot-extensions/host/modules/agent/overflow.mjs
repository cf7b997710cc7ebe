// Whether an answer failed because the context is too long, by what servers say. Knows no session.

/** What servers say; `#` stands for a number, `*` for anything. */
const TOO_LONG = [
  "prompt is too long",
  "prompt too long",
  "prompt exceeds max length",
  "request_too_large",
  "input is too long for requested model",
  "exceeds the context window",
  "exceeds the maximum context length of #",
  "exceeds the maximum context length (#",
  "exceeds maximum context length of #",
  "exceeds maximum context length (#",
  "exceeds model's maximum context length",
  "exceeds the model's maximum context length",
  "input token count*exceeds the maximum",
  "maximum prompt length is #",
  "reduce the length of the messages",
  "maximum context length is # tokens",
  "exceeds the maximum allowed input length of #",
  "exceeds maximum allowed input length of #",
  "tokens) is longer than the model*s context length",
  "exceeds the limit of #",
  "exceeds the available context size",
  "greater than the context length",
  "context window exceeds limit",
  "context window exceeded",
  "exceeded model token limit",
  "too large for model with # maximum context length",
  "prompt has # token*but the configured context size is #",
  "model_context_window_exceeded",
  "range of input length should be",
  "context_length_exceeded",
  "context length exceeded",
  "too many tokens",
  "token limit exceeded",
];
/** These are about a rate, whatever else they say. */
const THROTTLED = /^(?:throttling error|service unavailable):|rate limit|too many requests/;
/** The status 413, which is about the size of a request. */
const TOO_LARGE = /^(?:[\w -]+ api error \(413\):|413(?:\s|:|$))/;

const pattern = (words) => new RegExp(words.replace(/[.*+?^${}()|[\]\\#]/g, (sign) => ({ "#": "[\\d,]+", "*": ".*" })[sign] ?? `\\${sign}`));
const patterns = TOO_LONG.map(pattern);

/** Of a failed answer its words decide; of another one whether what was read fills the window. */
export function isContextOverflow({ stopReason, errorMessage, provider, usage }, contextWindow) {
  if (stopReason === "error") {
    const words = (errorMessage ?? "").toLowerCase();
    if (!words || THROTTLED.test(words)) return false;
    return TOO_LARGE.test(words) || patterns.some((known) => known.test(words)) || (provider === "cerebras" && /^4(?:00|13)\s*(?:status code)?\s*\(no body\)/.test(words));
  }
  if (!contextWindow) return false;
  const read = usage.input + usage.cacheRead;
  if (stopReason === "stop") return read > contextWindow;
  return stopReason === "length" && usage.output === 0 && read >= contextWindow * 0.99;
}

/** Whether an answer was cut before the limit that it was asked for. */
export const isRecoverableLength = ({ stopReason, usage }, limit) => stopReason === "length" && limit > 0 && usage.output < limit;
