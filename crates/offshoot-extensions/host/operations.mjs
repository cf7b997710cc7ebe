// Operations that a `user_bash` handler hands out: offshoot runs the person's command through them.
import { send } from "./channel.mjs";

const kept = new Map();
let next = 1;

/** The handler's answer, its functions replaced by a handle. */
export function keepOperations(value) {
  if (!value?.operations) return value ?? null;
  const handle = next++;
  kept.set(handle, value.operations);
  return { operations: { handle } };
}

export const invocations = {
  async "bashOperations.exec"(load, { id, handle, command, cwd, timeout, env }, { abort }) {
    const operations = kept.get(handle);
    if (!operations) throw new Error(`there are no operations ${handle}`);
    const onData = (data) => send({ t: "progress", id, update: { data: data.toString() } });
    return operations.exec(command, cwd, { onData, signal: abort.signal, timeout, env });
  },
};
