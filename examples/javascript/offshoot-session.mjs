// Sessions of terminal coding agents from JavaScript, through `offshoot api`. Needs nothing but Node.js.
//
//     const offshoot = await Offshoot.start();
//     const session = await offshoot.create({ cwd: "/home/ada/engine" });
//     const { id } = await session.appendMessage({ role: "user", content: "hello", timestamp: 1 });
//     await session.branch(id);
//     await offshoot.stop();
//
// Methods are those of docs/api.md. A session's methods take their arguments in the order given there, as pi's
// `SessionManager` does, and need no `session`; those of `Offshoot` take one object. Answers that open a session are
// session objects; errors are `OffshootError`. Knows nothing of what sessions hold, and no method by name.

import { spawn } from "node:child_process";

/** An error that offshoot answered: `code`, and `kind` for what a program may want to tell apart. */
export class OffshootError extends Error {
	constructor({ code, message, data }) {
		super(message);
		this.name = "OffshootError";
		this.code = code;
		this.data = data ?? {};
		this.kind = this.data.kind;
	}
}

/** Makes an object of which every unknown property is a method; `then` is none, so that the object can be awaited. */
function withMethods(target, run) {
	return new Proxy(target, {
		get(object, name) {
			if (!(name in object) && typeof name === "string" && name !== "then") return run(name);
			return typeof object[name] === "function" ? object[name].bind(object) : object[name];
		},
	});
}

/** A running `offshoot api`. */
export class Offshoot {
	#process;
	#closed;
	#waiting = new Map();
	#lastId = 0;
	#params = new Map();

	/** Starts the program. */
	static async start(command = "offshoot", args = ["api"]) {
		const offshoot = new Offshoot(spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] }));
		const { methods } = await offshoot.call("rpc.discover");
		for (const { name, params } of methods) offshoot.#params.set(name, params.map((param) => param.name));
		return withMethods(offshoot, (name) => (params) => offshoot.#open(name, params));
	}

	constructor(process) {
		this.#process = process;
		process.stdout.on("data", this.#reader());
		process.on("error", (error) => this.#fail(error));
		this.#closed = new Promise((resolve) => process.on("close", resolve));
		this.#closed.then((code) => this.#fail(new Error(`offshoot ended (exit code ${code})`)));
		process.stdin.on("error", () => {}); // the end of the program says more
	}

	/** Carries out one method. Several may be under way; they are carried out in the order of the calls. */
	call(method, params = {}) {
		const id = ++this.#lastId;
		return new Promise((resolve, reject) => {
			this.#waiting.set(id, { resolve, reject });
			this.#process.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
		});
	}

	/** Ends the program. All that was answered is on disk already. */
	async stop() {
		this.#process.stdin.end();
		await this.#closed;
	}

	async #open(method, params) {
		const result = await this.call(method, params);
		return result?.sessionId === undefined ? result : this.#session(result);
	}

	#session({ session: number, sessionId, sessionFile }) {
		const session = { number, sessionId, sessionFile };
		const proxy = withMethods(session, (method) => async (...given) => {
			const names = this.#params.get(method);
			if (!names) throw new TypeError(`offshoot has no method ${method}`);
			const others = names.filter((name) => name !== "session");
			if (given.length > others.length) throw new TypeError(`${method} takes ${others.join(", ")}`);
			const params = Object.fromEntries(given.map((value, at) => [others[at], value]));
			const result = await this.call(method, { ...params, session: number });
			if (result?.sessionId === undefined) return result;
			session.sessionId = result.sessionId; // newSession
			session.sessionFile = result.sessionFile;
			return proxy;
		});
		return proxy;
	}

	/** Takes bytes and cuts them at LF only: node's readline knows more line ends than JSON Lines has. */
	#reader() {
		let parts = [];
		return (bytes) => {
			let start = 0;
			for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, start)) {
				this.#take(Buffer.concat([...parts, bytes.subarray(start, end)]).toString("utf8"));
				parts = [];
				start = end + 1;
			}
			parts.push(bytes.subarray(start));
		};
	}

	#take(line) {
		const { id, result, error } = JSON.parse(line);
		const { resolve, reject } = this.#waiting.get(id);
		this.#waiting.delete(id);
		if (error) reject(new OffshootError(error));
		else resolve(result);
	}

	#fail(error) {
		for (const { reject } of this.#waiting.values()) reject(error);
		this.#waiting.clear();
	}
}
