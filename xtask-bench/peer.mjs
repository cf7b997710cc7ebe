// One job for a peer's session manager, printed the way offshoot prints it.
//
//   RUNTIME peer.mjs MODULE JOB PATH
//
// MODULE exports `SessionManager` (pi's, under node; omp's, under bun). JOB is one of `jobs`. Owns only the asking and the printing: every walk here is iterative, so that a crash on a
// deep tree is the peer's own.

import { readFileSync, writeSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [modulePath, job, target] = process.argv.slice(2);

/** Writes to stdout in large pieces; one string for everything would meet the runtime's limit. */
class Printer {
	#pieces = [];
	#length = 0;

	write(text) {
		this.#pieces.push(text);
		this.#length += text.length;
		if (this.#length > 1 << 20) this.flush();
	}

	array(items, render = JSON.stringify) {
		this.write("[");
		items.forEach((item, at) => this.write((at > 0 ? "," : "") + render(item)));
		this.write("]");
	}

	flush() {
		let bytes = Buffer.from(this.#pieces.join(""), "utf8");
		while (bytes.length > 0) bytes = bytes.subarray(writeSync(1, bytes));
		this.#pieces = [];
		this.#length = 0;
	}
}

const out = new Printer();

const jobs = {
	async context(SessionManager) {
		const session = await SessionManager.open(target);
		const { messages, ...rest } = session.buildSessionContext();
		out.write('{"messages":');
		out.array(messages);
		for (const [key, value] of Object.entries(rest)) {
			if (value !== undefined) out.write(`,${JSON.stringify(key)}:${JSON.stringify(value)}`);
		}
		out.write("}\n");
	},

	async tree(SessionManager) {
		const session = await SessionManager.open(target);
		for (const { node, depth } of walk(session.getTree())) {
			const { id, type } = node.entry;
			out.write(`${depth} ${id} ${type}${node.label ? ` [${node.label}]` : ""}\n`);
		}
	},

	async branches(SessionManager) {
		const session = await SessionManager.open(target);
		const leaves = [];
		for (const { node, entries, tokens, cost } of walk(session.getTree())) {
			if (node.children.length === 0) leaves.push({ id: node.entry.id, entries, tokens, cost });
		}
		out.array(leaves);
		out.write("\n");
	},

	async latest(SessionManager) {
		const session = await SessionManager.continueRecent(process.cwd(), target);
		out.write('{"messages":');
		out.array(session.buildSessionContext().messages);
		out.write("}\n");
	},

	// A new session goes to the folder where we are, not beside the input.
	async fork(SessionManager) {
		const session = await SessionManager.open(target, process.cwd());
		out.write(`${await session.createBranchedSession(session.getLeafId())}\n`);
	},

	async "fork-all"(SessionManager) {
		const session = await SessionManager.forkFrom(target, process.cwd(), process.cwd());
		out.write(`${session.getSessionFile()}\n`);
	},

	// Opening an old file upgrades it.
	async migrate(SessionManager) {
		const session = await SessionManager.open(target);
		out.write(`${session.getEntries().length}\n`);
	},

	async append(SessionManager) {
		const session = SessionManager.create(process.cwd(), process.cwd());
		for (const line of readFileSync(target, "utf8").split("\n")) {
			const { message, params } = line ? JSON.parse(line) : {};
			const entry = message ?? params?.message;
			if (entry) out.write(`${await session.appendMessage(entry)}\n`);
			else if (line) out.write("created\n");
		}
	},

	async "list-all"(SessionManager) {
		out.array(await SessionManager.listAll());
		out.write("\n");
	},

	// What `/resume` does when somebody types: the list, and pi's own filter of it.
	async search(SessionManager) {
		const filter = new URL("../modes/interactive/components/session-selector-search.js", pathToFileURL(modulePath));
		const { filterAndSortSessions } = await import(filter.href);
		for (const session of filterAndSortSessions(await SessionManager.listAll(), target, "relevance")) {
			out.write(`${session.path}\n`);
		}
	},

	async list(SessionManager) {
		out.array(await SessionManager.list(process.cwd(), target));
		out.write("\n");
	},
};

/** Every node below the roots, parents first, with sums over its path. */
function* walk(roots) {
	const start = { depth: 0, entries: 0, tokens: 0, cost: 0 };
	const stack = [];
	const push = (nodes, above) => {
		for (let at = nodes.length - 1; at >= 0; at--) stack.push({ node: nodes[at], above });
	};
	push(roots, start);
	while (stack.length > 0) {
		const { node, above } = stack.pop();
		const usage = node.entry.message?.usage;
		const here = {
			depth: above.depth + 1,
			entries: above.entries + 1,
			tokens: above.tokens + (usage?.totalTokens ?? 0),
			cost: above.cost + (usage?.cost?.total ?? 0),
		};
		yield { node, ...here };
		push(node.children, here);
	}
}

if (!Object.hasOwn(jobs, job)) {
	console.error(`Error: no job ${job}`);
	process.exit(2);
}
const { SessionManager } = await import(pathToFileURL(modulePath).href);
await jobs[job](SessionManager);
out.flush();
// Peers may keep timers or watchers alive; the job is done.
process.exit(0);
