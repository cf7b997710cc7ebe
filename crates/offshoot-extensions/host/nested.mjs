// Calls that a tool makes while it runs (`ctx.executeTool`), and the record of them on the result of the model's call.
import { call } from "./calls.mjs";

const { stringify } = JSON;
const MAX_CALLS = 256;
const MAX_ARGUMENTS = 8 * 1024;
const MAX_ALL_ARGUMENTS = 32 * 1024;
const MAX_ERROR = 500;

/** The calls below one call of the model: what of them is kept beside its result. */
class Recorder {
  #calls = [];
  #bytes = 0;
  #isComplete = true;

  /** The function that records the end of a call. */
  begin({ id, name, arguments: args }) {
    if (this.#calls.length >= MAX_CALLS) {
      this.#isComplete = false;
      return () => {};
    }
    const json = stringify(args);
    const bytes = Buffer.byteLength(json);
    const isKept = bytes <= MAX_ARGUMENTS && this.#bytes + bytes <= MAX_ALL_ARGUMENTS;
    if (isKept) this.#bytes += bytes;
    else this.#isComplete = false;
    /** @type {{ id: string, name: string, status: string, arguments?: any, argumentsBytes?: number, durationMs?: number, error?: string }} */
    const kept = { id, name, ...(isKept ? { arguments: JSON.parse(json) } : { argumentsBytes: bytes }), status: "unfinished" };
    this.#calls.push(kept);
    const began = performance.now();
    return ({ result, isError }) => {
      kept.status = isError ? "error" : "ok";
      kept.durationMs = Math.round(performance.now() - began);
      const text = result.content.filter(({ type }) => type === "text").map((block) => block.text).join("\n");
      if (isError && text) kept.error = text.slice(0, MAX_ERROR);
    };
  }

  get record() {
    if (this.#calls.length === 0) return undefined;
    return { calls: this.#calls.map((kept) => ({ ...kept })), complete: this.#isComplete && this.#calls.every(({ status }) => status !== "unfinished") };
  }
}

/** What a call comes to that is stopped: offshoot no longer answers it. */
function stopped(signal, toolCall) {
  const outcome = { toolCall, result: { content: [{ type: "text", text: "the call was stopped" }], details: {} }, isError: true };
  return new Promise((resolve) => {
    if (signal.aborted) resolve(outcome);
    else signal.addEventListener("abort", () => resolve(outcome), { once: true });
  });
}

/** By the id of the call, also for calls that are nested themselves. */
const recorders = new Map();
/** Calls of tools that run one at a time wait for each other, but not for the call that makes them. */
let turn = Promise.resolve();

/** Runs a tool with the context of its call, which can make calls itself. `isSequential` says it of a tool's name. */
export async function withNested(toolCallId, context, { signal, isSequential }, execute) {
  const isOutermost = !recorders.has(toolCallId);
  if (isOutermost) recorders.set(toolCallId, new Recorder());
  const recorder = recorders.get(toolCallId);
  let next = 1;
  /** @type {any} */
  const own = Object.defineProperties({}, Object.getOwnPropertyDescriptors(context));
  own.executeTool = async (name, args, /** @type {any} */ options = {}) => {
    // A context of a load that is over throws.
    void context.cwd;
    const made = { type: "toolCall", id: `${toolCallId}/${next++}`, name, arguments: args ?? {} };
    const ended = recorder.begin(made);
    const before = turn;
    let done = () => {};
    if (isOutermost && isSequential(name)) {
      turn = new Promise((resolve) => (done = resolve));
      await before;
    }
    recorders.set(made.id, recorder);
    const stop = options.signal ?? signal;
    try {
      const params = { parentToolCallId: toolCallId, toolCallId: made.id, name, args: made.arguments };
      const running = call("ctx.executeTool", params, { signal: stop, onProgress: options.onUpdate });
      const outcome = await Promise.race([running, ...(stop ? [stopped(stop, made)] : [])]);
      ended(outcome);
      return outcome;
    } finally {
      recorders.delete(made.id);
      done();
    }
  };
  try {
    const result = await execute(own);
    const { record } = recorder;
    return isOutermost && record ? { ...result, nestedCalls: record } : result;
  } catch (error) {
    const { record } = recorder;
    if (!isOutermost || !record) throw error;
    return { content: [{ type: "text", text: error?.message ?? String(error) }], details: {}, isError: true, nestedCalls: record };
  } finally {
    if (isOutermost) recorders.delete(toolCallId);
  }
}
