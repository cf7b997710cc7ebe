// The types of offshoot/sdk: pi's names, as far as they exist here. docs/sdk.md says what differs.
import type { Event, Message } from "./types/rpc.d.ts";

export type ThinkingLevel = "off" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max";

export interface SdkModel {
  id: string;
  name: string;
  api: string;
  provider: string;
  reasoning: boolean;
  input: ("text" | "image")[];
  cost: { input: number; output: number; cacheRead: number; cacheWrite: number };
  contextWindow: number;
  maxTokens: number;
}

export interface Skill {
  name: string;
  description: string;
  filePath: string;
  baseDir: string;
  sourceInfo: object;
  disableModelInvocation: boolean;
}

export interface PromptTemplate {
  name: string;
  description: string;
  filePath: string;
  sourceInfo: object;
  content: string;
}

export interface ContextFile {
  path: string;
  content: string;
}

export interface ResourceLoader {
  getExtensions(): { extensions: unknown[]; errors: unknown[]; runtime: object };
  getSkills(): { skills: Skill[]; diagnostics: unknown[] };
  getPrompts(): { prompts: PromptTemplate[]; diagnostics: unknown[] };
  getThemes(): { themes: unknown[]; diagnostics: unknown[] };
  getAgentsFiles(): { agentsFiles: ContextFile[] };
  getSystemPrompt(): string | undefined;
  getAppendSystemPrompt(): string[];
  reload(): Promise<void>;
}

export interface ResourceLoaderOptions {
  cwd?: string;
  agentDir?: string;
  systemPrompt?: string;
  appendSystemPrompt?: string[];
  noExtensions?: boolean;
  noSkills?: boolean;
  noPromptTemplates?: boolean;
  noContextFiles?: boolean;
  additionalExtensionPaths?: string[];
  additionalSkillPaths?: string[];
  additionalPromptTemplatePaths?: string[];
  systemPromptOverride?: (base: string | undefined) => string | undefined;
  appendSystemPromptOverride?: (base: string[]) => string[];
  skillsOverride?: (current: { skills: Skill[]; diagnostics: unknown[] }) => { skills: Skill[]; diagnostics: unknown[] };
  promptsOverride?: (current: { prompts: PromptTemplate[]; diagnostics: unknown[] }) => { prompts: PromptTemplate[]; diagnostics: unknown[] };
  agentsFilesOverride?: (current: { agentsFiles: ContextFile[] }) => { agentsFiles: ContextFile[] };
}

export class DefaultResourceLoader implements ResourceLoader {
  constructor(options?: ResourceLoaderOptions);
  getExtensions: ResourceLoader["getExtensions"];
  getSkills: ResourceLoader["getSkills"];
  getPrompts: ResourceLoader["getPrompts"];
  getThemes: ResourceLoader["getThemes"];
  getAgentsFiles: ResourceLoader["getAgentsFiles"];
  getSystemPrompt: ResourceLoader["getSystemPrompt"];
  getAppendSystemPrompt: ResourceLoader["getAppendSystemPrompt"];
  reload: ResourceLoader["reload"];
}

export class ModelRuntime {
  private constructor();
  static create(options?: { authPath?: string; modelsPath?: string }): Promise<ModelRuntime>;
  getModel(provider: string, id: string): SdkModel | undefined;
  getModels(provider?: string): SdkModel[];
  getAvailable(): Promise<SdkModel[]>;
  setRuntimeApiKey(provider: string, key: string): Promise<void>;
  removeRuntimeApiKey(provider: string): Promise<void>;
}

export interface SessionInfo {
  path: string;
  id: string;
  cwd: string;
  name?: string;
  created: Date;
  modified: Date;
  messageCount: number;
  firstMessage: string;
}

export class SessionManager {
  private constructor();
  static inMemory(cwd?: string): SessionManager;
  static create(cwd: string, sessionDir?: string): SessionManager;
  static continueRecent(cwd: string, sessionDir?: string): SessionManager;
  static open(path: string, sessionDir?: string, cwd?: string): SessionManager;
  static list(cwd: string, sessionDir?: string): Promise<SessionInfo[]>;
  static listAll(): Promise<SessionInfo[]>;
  getCwd(): string;
  isPersisted(): boolean;
}

export class SettingsManager {
  private constructor();
  static create(cwd?: string, agentDir?: string): SettingsManager;
  static inMemory(settings?: Record<string, unknown>): SettingsManager;
  getGlobalSettings(): Record<string, unknown>;
  getProjectSettings(): Record<string, unknown>;
  applyOverrides(overrides: Record<string, unknown>): void;
  setDefaultThinkingLevel(level: ThinkingLevel): void;
  setDefaultModelAndProvider(provider: string, model: string): void;
  setDefaultProvider(provider: string): void;
  setDefaultModel(model: string): void;
  flush(): Promise<void>;
  reload(): Promise<void>;
  drainErrors(): { scope: string; error: Error }[];
}

/** Who answers what extensions ask, and who is told of their failures. */
export interface ExtensionBindings {
  uiContext?: {
    select(title: string, options: string[]): Promise<string | undefined>;
    confirm(title: string, message: string): Promise<boolean>;
    input(title: string, placeholder?: string): Promise<string | undefined>;
    editor(title: string, prefill?: string): Promise<string | undefined>;
    notify(message: string, type?: "info" | "warning" | "error"): void;
  };
  onError?: (failure: { extensionPath: string; event: string; error: string }) => void;
}

export interface AgentSession {
  readonly sessionFile: string | undefined;
  readonly sessionId: string;
  readonly sessionName: string | undefined;
  readonly model: SdkModel | undefined;
  readonly thinkingLevel: ThinkingLevel;
  readonly isStreaming: boolean;
  readonly messages: Message[];
  readonly state: { model: SdkModel | undefined; thinkingLevel: ThinkingLevel; messages: Message[]; isStreaming: boolean; tools: { name: string }[] };
  getActiveToolNames(): string[];
  getLastAssistantText(): string | undefined;
  subscribe(listener: (event: Event) => void): () => void;
  prompt(text: string, options?: { images?: object[]; streamingBehavior?: "steer" | "followUp" }): Promise<void>;
  sendUserMessage(content: string | { text?: string }[], options?: { streamingBehavior?: "steer" | "followUp" }): Promise<void>;
  steer(text: string, images?: object[]): Promise<void>;
  followUp(text: string, images?: object[]): Promise<void>;
  abort(): Promise<void>;
  setModel(model: { provider: string; id: string }): Promise<void>;
  setThinkingLevel(level: ThinkingLevel): Promise<void>;
  compact(customInstructions?: string): Promise<object>;
  setSessionName(name: string): Promise<void>;
  getSessionStats(): object;
  executeBash(command: string): Promise<object>;
  exportToHtml(outputPath?: string): Promise<string>;
  bindExtensions(bindings?: ExtensionBindings): Promise<void>;
  dispose(): Promise<void>;
}

export interface SessionOptions {
  cwd?: string;
  agentDir?: string;
  model?: { provider: string; id: string };
  thinkingLevel?: ThinkingLevel;
  scopedModels?: { model: { provider: string; id: string } }[];
  tools?: string[];
  excludeTools?: string[];
  noTools?: "all" | "builtin";
  modelRuntime?: ModelRuntime;
  resourceLoader?: ResourceLoader;
  sessionManager?: SessionManager;
  settingsManager?: SettingsManager;
}

export interface SessionResult {
  session: AgentSession;
  extensionsResult: object;
  modelFallbackMessage: string | undefined;
}

export interface SessionServices extends SessionOptions {
  cwd: string;
  diagnostics: unknown[];
}

export function createAgentSession(options?: SessionOptions): Promise<SessionResult>;
export function createAgentSessionServices(options: SessionOptions & { cwd: string }): Promise<SessionServices>;
export function createAgentSessionFromServices(options: SessionOptions & { services: SessionServices; sessionStartEvent?: object }): Promise<SessionResult>;

export interface RuntimeResult extends SessionResult {
  services: SessionServices;
  diagnostics: unknown[];
}

export type CreateAgentSessionRuntimeFactory = (place: {
  cwd: string;
  agentDir?: string;
  sessionManager: SessionManager;
  sessionStartEvent?: object;
}) => Promise<RuntimeResult>;

export interface AgentSessionRuntime {
  readonly session: AgentSession;
  readonly services: SessionServices;
  readonly cwd: string;
  readonly diagnostics: unknown[];
  newSession(): Promise<{ cancelled: boolean }>;
  switchSession(sessionPath: string): Promise<{ cancelled: boolean }>;
  dispose(): Promise<void>;
}

export function createAgentSessionRuntime(
  factory: CreateAgentSessionRuntimeFactory,
  place: { cwd: string; agentDir?: string; sessionManager: SessionManager },
): Promise<AgentSessionRuntime>;

export function getModel(provider: string, id: string): SdkModel | undefined;
export function getAgentDir(): string;
export function createSyntheticSourceInfo(path: string, options?: { source?: string; scope?: string; origin?: string; baseDir?: string }): object;
export function createExtensionRuntime(): object;
/** Throw: offshoot does not have them. */
export function createCodemodeExtension(options?: object): never;
export function createToolSearchExtension(): never;
export function createMcpExtension(): never;
