// What extensions import from pi-ai, where the user has no pi. Requests go through offshoot's providers and keys.
import { randomBytes } from "node:crypto";
import { ask } from "../channel.mjs";
import { complete, stream } from "../models.mjs";
import { AssistantStream, EventStream } from "../stream.mjs";
import { StringEnum, Type } from "./typebox.mjs";
import { Check, Errors } from "./schema.mjs";

export * from "./agent/overflow.mjs";
export { EventStream, AssistantStream as AssistantMessageEventStream, StringEnum, Type, complete, stream };
export const streamSimple = stream;
export const completeSimple = complete;
export const createAssistantMessageEventStream = () => new AssistantStream();

export const getModels = (provider) => ask("models.getAll").filter((model) => model.provider === provider);
export const getProviders = () => [...new Set(ask("models.getAll").map(({ provider }) => provider))];
export const getModel = (provider, id) => ask("models.find", { provider, id });

/** A UUID that grows with time. */
export function uuidv7() {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(Date.now(), 0, 6);
  bytes[6] = (bytes[6] & 0x0f) | 0x70;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

/** Prices are per million tokens. */
export function calculateCost({ cost }, usage) {
  const parts = Object.fromEntries(["input", "output", "cacheRead", "cacheWrite"].map((name) => [name, ((cost[name] ?? 0) / 1_000_000) * (usage[name] ?? 0)]));
  usage.cost = { ...parts, total: parts.input + parts.output + parts.cacheRead + parts.cacheWrite };
  return usage.cost;
}

export const contentText = (content) => (typeof content === "string" ? content : content.filter(({ type }) => type === "text").map(({ text }) => text).join(""));
export const getSystemMessageText = ({ content }) => contentText(content);

/** The prompt and the tools that hold at the end of a transcript with system messages. */
export const getCurrentSystemPrompt = (messages) => messages.filter(({ role }) => role === "system").map(getSystemMessageText).at(-1);
export const getCurrentTools = (messages) => messages.filter(({ role, tools }) => role === "system" && tools).at(-1)?.tools ?? [];
export function collapseSystemMessages(context) {
  const prompt = context.systemPrompt ?? getCurrentSystemPrompt(context.messages);
  const rest = context.messages.filter(({ role }) => role !== "system");
  return { ...context, messages: prompt === undefined ? rest : [{ role: "system", content: prompt, timestamp: 0 }, ...rest] };
}

const LEVELS = ["off", "minimal", "low", "medium", "high", "xhigh", "max"];
export const getSupportedThinkingLevels = (model) => (model.reasoning ? LEVELS.filter((level) => model.thinkingLevelMap?.[level] !== null && (LEVELS.indexOf(level) < 5 || model.thinkingLevelMap?.[level])) : ["off"]);
export const clampThinkingLevel = (model, level) => {
  const levels = getSupportedThinkingLevels(model);
  return levels.includes(level) ? level : (levels.filter((each) => LEVELS.indexOf(each) <= LEVELS.indexOf(level)).at(-1) ?? levels[0]);
};

export function validateToolArguments({ name, parameters }, { arguments: given }) {
  const problems = Check(parameters, given) ? [] : Errors(parameters, given);
  if (problems.length) throw new Error(`the arguments of ${name} are wrong: ${problems.map(({ path, message }) => `${path || "/"} ${message}`).join("; ")}`);
  return given;
}

const providers = new Map();
export const registerApiProvider = (provider) => void providers.set(provider.api, provider);
export const getApiProvider = (api) => providers.get(api);
export const getApiProviders = () => [...providers.values()];
/** Streams in pi's own formats go through offshoot as well. */
const api = () => ({ stream, streamSimple: stream });
export const anthropicMessagesApi = api;
export const openAIResponsesApi = api;
export const openAICompletionsApi = api;
export const googleGenerativeAIApi = api;
