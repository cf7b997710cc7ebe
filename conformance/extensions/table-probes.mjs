// Extensions of our own, one for each part of the interface that no example of pi uses, within pi and within offshoot: the script of each.

import { call, prompt, say } from "./script-parts.mjs";

export const PROBES = {
  requests: { about: "`before_provider_request`, `before_provider_headers`, `after_provider_response`", script: async (run) => {
    await run.prompt("one");
    return run.server.requests.map(({ headers, body }) => [headers["x-probe"], headers["x-of-model"] ?? null, body.metadata]);
  } },
  messages: { about: "`message_end`, `tool_result`", storesPrompt: true, files: { "a.txt": "one\n" }, replies: [call("read", { path: "a.txt" }), say("done")], script: prompt("go") },
  boundaries: { about: "`turn_end` and `agent_before_settle` with entries and `continue`", files: { "a.txt": "one\n" }, replies: [call("read", { path: "a.txt" }), say("two"), say("three"), say("four"), say("five"), say("six")], script: prompt("go") },
  order: { about: "the order and the members of all events of a run, as in pi 1.6", isNewest: true, storesPrompt: true, files: { "a.txt": "one\n" }, replies: [call("read", { path: "a.txt" }), say("done"), say("again")], script: prompt("go", "on") },
  shell: { about: "`user_bash`, a compaction that fails", script: async (run) => {
    const results = [];
    for (const command of ["given", "far away", "echo near"]) results.push((await run.ask({ type: "bash", command })).data);
    return [...results, (await run.ask({ type: "compact" })).success];
  } },
  providers: { about: "`registerProvider` with and without `streamSimple`, scoped models", files: { "a.txt": "in a\n" }, model: ["echo", "e1"], args: ["--models", "test/m1,echo/e1"], env: ({ url }) => ({ PROBE_URL: url }), script: async (run) => {
    const results = [...(await prompt("/known", "/scoped", "one", "call", "fail")(run))];
    results.push((await run.ask({ type: "set_model", provider: "there", modelId: "t1" })).success, await run.prompt("two"));
    results.push(run.server.requests.map(({ headers }) => [headers["x-there"], headers["x-api-key"]]));
    return [...results, ...(await prompt("/more", "three", "/fewer")(run))];
  } },
};
