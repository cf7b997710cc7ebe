// pi's AgentSession over a running `offshoot --mode rpc`. What pi has at once and a process only after a while is remembered.

import { notHere, withoutMethods } from "./missing.mjs";

export class AgentSession {
  #agent;
  #files;
  #listeners = new Set();
  #facts = {};
  #tools = [];
  #messages = [];
  #isStreaming = false;
  #stats;
  #bindings = {};
  #isDisposed = false;
  #endListening;

  /** Use `createAgentSession`. `files` are removed with the session. */
  constructor(agent, files) {
    this.#agent = agent;
    this.#files = files;
    this.#endListening = agent.listen((event) => this.#take(event));
  }

  /** Asks the program what pi's session knows from its start. */
  async refresh() {
    const [facts, stats, window, { messages }] = await Promise.all([
      this.#agent.call("get_state"),
      this.#agent.call("get_session_stats"),
      this.#agent.call("context", { window: true }),
      this.#agent.call("get_messages"),
    ]);
    this.#facts = facts;
    this.#stats = stats;
    this.#tools = window.estimates.tools.map(({ name }) => name);
    this.#messages = messages;
  }

  get sessionFile() {
    return this.#facts.sessionFile;
  }

  get sessionId() {
    return this.#facts.sessionId;
  }

  get sessionName() {
    return this.#facts.sessionName;
  }

  get model() {
    return this.#facts.model;
  }

  get thinkingLevel() {
    return this.#facts.thinkingLevel;
  }

  get isStreaming() {
    return this.#isStreaming;
  }

  get messages() {
    return this.#messages;
  }

  get state() {
    const { model, thinkingLevel } = this.#facts;
    return { model, thinkingLevel, messages: this.#messages, isStreaming: this.#isStreaming, tools: this.#tools.map((name) => ({ name })) };
  }

  getActiveToolNames() {
    return [...this.#tools];
  }

  getLastAssistantText() {
    const last = this.#messages.findLast((message) => message.role === "assistant");
    const parts = last?.content.filter((part) => part.type === "text").map((part) => part.text) ?? [];
    return parts.join("") || undefined;
  }

  /** Calls `listener` with every event; returns a function that ends this. */
  subscribe(listener) {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Sends a prompt, and waits until nothing goes on by itself. */
  async prompt(text, { images, streamingBehavior } = {}) {
    const members = { ...(images && { images }), ...(streamingBehavior && { streamingBehavior }) };
    if (streamingBehavior !== undefined && this.#isStreaming) return void (await this.#agent.call("prompt", { ...members, message: text }));
    for await (const event of this.#agent.prompt(text, members)) void event;
    await this.refresh();
  }

  async sendUserMessage(content, options) {
    return this.prompt(typeof content === "string" ? content : content.map((part) => part.text ?? "").join(""), options);
  }

  async steer(text, images) {
    await this.#agent.call("steer", { message: text, ...(images && { images }) });
  }

  async followUp(text, images) {
    await this.#agent.call("follow_up", { message: text, ...(images && { images }) });
  }

  async abort() {
    await this.#agent.call("abort");
  }

  async setModel({ provider, id }) {
    await this.#agent.call("set_model", { provider, modelId: id });
    await this.refresh();
  }

  async setThinkingLevel(level) {
    await this.#agent.call("set_thinking_level", { level });
    await this.refresh();
  }

  async compact(customInstructions) {
    const result = await this.#agent.call("compact", customInstructions === undefined ? {} : { customInstructions });
    await this.refresh();
    return result;
  }

  async setSessionName(name) {
    await this.#agent.call("set_session_name", { name });
    await this.refresh();
  }

  /** As of the last prompt's end. */
  getSessionStats() {
    return this.#stats;
  }

  async executeBash(command) {
    return this.#agent.call("bash", { command });
  }

  async exportToHtml(outputPath) {
    return (await this.#agent.call("export_html", outputPath === undefined ? {} : { outputPath })).path;
  }

  /** The extensions run in offshoot's process, from the start: what they ask goes to `uiContext`, what fails in them to `onError`. */
  async bindExtensions({ uiContext, onError, ...others } = {}) {
    for (const [name, value] of Object.entries(others)) {
      if (value !== undefined) throw notHere(`bindExtensions: ${name}`, "the extensions run in offshoot's process, where functions of this one cannot be");
    }
    this.#bindings = { ...this.#bindings, ...(uiContext && { uiContext }), ...(onError && { onError }) };
    await this.refresh();
  }

  /** Ends the program. pi's returns nothing; this promise is fulfilled when the program has ended. */
  async dispose() {
    if (this.#isDisposed) return;
    this.#isDisposed = true;
    this.#listeners.clear();
    this.#endListening();
    await this.#agent.close();
    this.#files.remove();
  }

  /** A question that nobody answers is cancelled: its extension waits for it. */
  async #answer({ id, method, title, message, options, placeholder, prefill, notifyType }) {
    const { uiContext } = this.#bindings;
    if (method === "notify") return void uiContext?.notify(message, notifyType);
    const ask = {
      select: async () => ({ value: await uiContext.select(title, options) }),
      confirm: async () => ({ confirmed: await uiContext.confirm(title, message) }),
      input: async () => ({ value: await uiContext.input(title, placeholder) }),
      editor: async () => ({ value: await uiContext.editor(title, prefill) }),
    }[method];
    if (ask === undefined) return;
    const answer = uiContext === undefined ? {} : await ask().catch(() => ({}));
    const isAnswered = answer.value !== undefined || answer.confirmed !== undefined;
    if (!this.#isDisposed) this.#agent.send({ type: "extension_ui_response", id, ...(isAnswered ? answer : { cancelled: true }) });
  }

  #take(event) {
    if (event.type === "extension_ui_request") void this.#answer(event);
    if (event.type === "extension_error") this.#bindings.onError?.({ extensionPath: event.extensionPath, event: event.event, error: event.error });
    if (event.type === "agent_start") this.#isStreaming = true;
    if (event.type === "agent_settled") this.#isStreaming = false;
    if (event.type === "message_end") this.#messages = [...this.#messages, event.message];
    for (const listener of [...this.#listeners]) listener(event);
  }
}

withoutMethods(
  AgentSession.prototype,
  "AgentSession",
  ["setActiveToolsByName", "getAllTools", "getToolDefinition", "navigateTree", "setScopedModels", "cycleModel", "cycleThinkingLevel", "reload"],
  "it cannot be changed from outside the program; OffshootAgent has the commands of docs/rpc.md",
);
