// Registers providers of models: one that answers itself, one at an address, one for a while.
import { createAssistantMessageEventStream } from "@earendil-works/pi-ai";
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

const limits = { reasoning: false, input: ["text"] as ("text" | "image")[], cost: { input: 1, output: 2, cacheRead: 0, cacheWrite: 0 }, contextWindow: 100000, maxTokens: 1000 };

export default function (pi: ExtensionAPI) {
  pi.registerProvider("echo", {
    baseUrl: "http://127.0.0.1:1",
    apiKey: "echo-key-1234567890",
    api: "echo-api",
    models: [{ id: "e1", name: "Echo 1", ...limits }],
    streamSimple(model: any, context: any, options: any) {
      const stream = createAssistantMessageEventStream();
      const last = context.messages.at(-1);
      const said = typeof last.content === "string" ? last.content : last.content.map((part: any) => part.text).join("");
      const roles = context.messages.filter((message: any) => message.role !== "system").map((message: any) => message.role).join(" ");
      const usage = { input: 3, output: 4, cacheRead: 0, cacheWrite: 0, totalTokens: 7, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 } };
      const message: any = { role: "assistant", content: [], api: model.api, provider: model.provider, model: model.id, usage, stopReason: "stop", timestamp: Date.now() };
      (async () => {
        if (said === "fail") {
          message.stopReason = "error";
          message.errorMessage = "the echo is broken";
          stream.push({ type: "error", reason: "error", error: message });
          return stream.end();
        }
        const payload: any = (await options.onPayload?.({ said }, model)) ?? { said };
        await options.onResponse?.({ status: 201, headers: { "x-echo": "yes" } }, model);
        stream.push({ type: "start", partial: message });
        message.content.push({ type: "text", text: "" });
        stream.push({ type: "text_start", contentIndex: 0, partial: message });
        for (const delta of [`${payload.said} `, `(${roles}) ${options.apiKey?.length}`]) {
          message.content[0].text += delta;
          stream.push({ type: "text_delta", contentIndex: 0, delta, partial: message });
        }
        stream.push({ type: "text_end", contentIndex: 0, content: message.content[0].text, partial: message });
        if (said === "call") {
          const call = { type: "toolCall", id: "t1", name: "read", arguments: { path: "a.txt" } };
          message.content.push({ ...call, arguments: {} });
          stream.push({ type: "toolcall_start", contentIndex: 1, partial: message });
          stream.push({ type: "toolcall_delta", contentIndex: 1, delta: JSON.stringify(call.arguments), partial: message });
          message.content[1] = call;
          stream.push({ type: "toolcall_end", contentIndex: 1, toolCall: call, partial: message } as any);
          message.stopReason = "toolUse";
        }
        stream.push({ type: "done", reason: message.stopReason, message });
        stream.end();
      })();
      return stream;
    },
  });
  pi.registerProvider("there", { baseUrl: process.env.PROBE_URL, apiKey: "there-key-1234567890", api: "anthropic-messages", headers: { "x-there": "yes" }, models: [{ id: "t1", name: "There", ...limits }] });
  pi.on("before_provider_request", (event: any) => (event.payload.said === "one" ? { said: "another" } : undefined));
  pi.on("after_provider_response", (event, ctx) => ctx.ui.notify(`${event.status} ${event.headers["x-echo"] ?? event.headers["x-test"]}`, "info"));
  const known = (ctx: any) => ctx.modelRegistry.getAvailable().map((model: any) => `${model.provider}/${model.id}`).filter((name: string) => !name.startsWith("test/")).sort().join(" ");
  pi.registerCommand("known", { handler: async (args, ctx) => ctx.ui.notify(known(ctx), "info") });
  pi.registerCommand("more", {
    handler: async (args, ctx) => {
      pi.registerProvider("later", { baseUrl: process.env.PROBE_URL, apiKey: "later-key-1234567890", api: "anthropic-messages", models: [{ id: "l1", name: "Later", ...limits }] });
      ctx.ui.notify(known(ctx), "info");
      ctx.ui.notify(String(await pi.setModel(ctx.modelRegistry.find("later", "l1") as any)), "info");
    },
  });
  pi.registerCommand("fewer", {
    handler: async (args, ctx) => {
      pi.unregisterProvider("later");
      ctx.ui.notify(known(ctx), "info");
    },
  });
  pi.registerCommand("scoped", { handler: async (args, ctx) => ctx.ui.notify(JSON.stringify((ctx as any).scopedModels.map(({ model, thinkingLevel }: any) => [model.id, thinkingLevel ?? null])), "info") });
}
