// The types of the package. Those of values are generated; see types/.
import type { ApiMethods, Opened } from "./types/api.d.ts";
import type { Event, RpcLines, RpcRequest, RpcResponses, UiRequest } from "./types/rpc.d.ts";

export type * from "./types/api.d.ts";
export type { RpcLines, RpcRequest, RpcResponses } from "./types/rpc.d.ts";

export interface StartOptions {
  /** A path, or a name on `PATH`. Without it: `OFFSHOOT_BIN`, the package of the platform, then `offshoot` on `PATH`. */
  program?: string | undefined;
  cwd?: string;
  env?: Record<string, string | undefined>;
  /** The time-out of each call in milliseconds; none by default. */
  timeout?: number;
  /** 30 s by default. */
  startTimeout?: number;
  /** How long `close` waits before it ends the program by SIGTERM, and then by SIGKILL; 5 s each by default. */
  closeGrace?: number;
  onStderr?: (bytes: Uint8Array) => void;
}

export interface CallOptions {
  /** In milliseconds. */
  timeout?: number;
}

/** How the program ended. */
export interface ProgramEnd {
  exitCode: number | null;
  signal: string | null;
}

/** Why a call has no answer. The README lists the kinds. */
export class OffshootError extends Error {
  readonly kind: string;
  readonly code?: number;
  readonly data: Record<string, unknown>;
  readonly exitCode?: number | null;
  readonly signal?: string | null;
  readonly stderr?: string;
}

/** The program that a client starts. */
export function findProgram(program?: string): string;

type Opening = "create" | "open" | "continueRecent" | "inMemory" | "forkFrom" | "newSession";
type Params<M extends keyof ApiMethods> = ApiMethods[M]["params"];
type Result<M extends keyof ApiMethods> = M extends Opening ? Session : ApiMethods[M]["result"];
type Run<P, R> = [keyof P] extends [never]
  ? (params?: Record<string, never>, options?: CallOptions) => Promise<R>
  : {} extends P
  ? (params?: P, options?: CallOptions) => Promise<R>
  : (params: P, options?: CallOptions) => Promise<R>;
type OfSession = { [M in keyof ApiMethods]: Params<M> extends { session?: unknown } ? ("session" extends keyof Params<M> ? M : never) : never }[keyof ApiMethods];
type OfProgram = Exclude<keyof ApiMethods, OfSession> | "buildSessionContext";
type ProgramMethods = { [M in OfProgram]: Run<Params<M>, Result<M>> };
type SessionMethods = { [M in OfSession]: Run<Omit<Params<M>, "session">, Result<M>> };

export interface OffshootSessions extends ProgramMethods {}

/** A running `offshoot api`. */
export class OffshootSessions {
  private constructor();
  static start(options?: StartOptions): Promise<OffshootSessions>;
  readonly pid: number | undefined;
  /** Carries out one method; the answer is as it came. */
  call<M extends keyof ApiMethods>(method: M, params?: Params<M>, options?: CallOptions): Promise<ApiMethods[M]["result"]>;
  close(): Promise<ProgramEnd>;
}

export interface Session extends SessionMethods {}

/** An open session. */
export class Session {
  private constructor();
  readonly number: Opened["session"];
  readonly sessionId: Opened["sessionId"];
  readonly sessionFile: Opened["sessionFile"];
  call(method: OfSession, params?: object, options?: CallOptions): Promise<unknown>;
}

type Command<T> = Extract<RpcRequest, { type: T }>;
type Members<T> = Omit<Command<T>, "id" | "type">;
type Data<T> = T extends keyof RpcResponses ? RpcResponses[T] : undefined;

/** A running `offshoot --mode rpc`. */
export class OffshootAgent {
  private constructor();
  static start(options?: StartOptions & { args?: string[] }): Promise<OffshootAgent>;
  readonly pid: number | undefined;
  /** Sends a command; the data of its response. */
  call<T extends RpcRequest["type"]>(
    type: T,
    ...given: {} extends Members<T> ? [members?: Members<T>, options?: CallOptions] : [members: Members<T>, options?: CallOptions]
  ): Promise<Data<T>>;
  /** Sends a record that has no response. */
  send(record: RpcLines["sent"]): void;
  /** Calls `listener` with every event from now on; returns a function that ends this. */
  listen(listener: (event: Event | UiRequest) => void): () => void;
  /** Sends a prompt; its events until nothing goes on by itself. */
  prompt(message: string, members?: Omit<Members<"prompt">, "message">, options?: CallOptions): AsyncGenerator<Event | UiRequest, void>;
  close(): Promise<ProgramEnd>;
}
