// Asynchronous calls to offshoot and its own to us that are open: who waits for what, who may cancel it, and in which event it was made.
import { AsyncLocalStorage } from "node:async_hooks";
import { send } from "./channel.mjs";

const open = new Map();
const dispatch = new AsyncLocalStorage();
let nextCall = 1;

/** Runs `work` as the dispatch `id` of offshoot: calls that it makes name it, and `signal` is the one that `cancel` aborts. */
export function within(id, work) {
  return dispatch.run({ id, abort: new AbortController() }, work);
}

export function currentDispatch() {
  return dispatch.getStore();
}

/** Calls offshoot; `signal` cancels the call, `onProgress` gets what comes before the answer. */
export function call(method, params, /** @type {any} */ { signal, onProgress, closures } = {}) {
  const id = nextCall++;
  return new Promise((resolve, reject) => {
    const cancel = () => send({ t: "cancelCall", id });
    open.set(id, {
      onProgress,
      closures,
      settle(record) {
        open.delete(id);
        signal?.removeEventListener("abort", cancel);
        if (record.error) reject(new Error(record.error.message));
        else resolve(record.ok ?? undefined);
      },
    });
    try {
      send({ t: "call", id, for: dispatch.getStore()?.id ?? null, method, params });
    } catch (error) {
      open.delete(id);
      reject(error);
      return;
    }
    if (signal?.aborted) cancel();
    else signal?.addEventListener("abort", cancel, { once: true });
  });
}

export function note(method, params) {
  send({ t: "note", method, params, for: dispatch.getStore()?.id ?? null });
}

/** An `answer` or `callProgress` from offshoot. Late ones are ignored. */
export function answered(record) {
  const waiting = open.get(record.id);
  if (!waiting) return;
  if (record.t === "callProgress") waiting.onProgress?.(record.update);
  else waiting.settle(record);
}

/** The function that was given with an open call: `setup` and `withSession`. */
export function closureOf(id, name) {
  const closure = open.get(id)?.closures?.[name];
  if (!closure) throw new Error(`call ${id} has no ${name}`);
  return closure;
}
