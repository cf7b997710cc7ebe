// The one error of the clients. Knows nothing of processes and protocols.

/**
 * Why a call has no answer. `kind` is for programs, `message` for people.
 *
 * Kinds of the client: `startFailed`, `ended` (the program has ended), `closed` (the client was closed), `timeout`,
 * `protocol` (the program wrote something else than its protocol), `tooLong`, `backlog` (too much waits to be sent),
 * `refused` (a command of the agent). Kinds of the program are those of docs/api.md, or `request` if the request is wrong.
 */
export class OffshootError extends Error {
  constructor(kind, message, { code, data, exitCode, signal, stderr, cause } = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "OffshootError";
    this.kind = kind;
    /** The number of a JSON-RPC error, and its data. */
    this.code = code;
    this.data = data ?? {};
    /** How the program ended, and the end of what it wrote to standard error. */
    this.exitCode = exitCode;
    this.signal = signal;
    this.stderr = stderr;
  }
}
