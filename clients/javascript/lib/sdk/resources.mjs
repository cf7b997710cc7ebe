// What a session has of prompts, skills, templates and context files, as the program finds them and as overrides change them.

import { existsSync, mkdtempSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";

import { OffshootAgent } from "../agent.mjs";
import { refuse, warn } from "./missing.mjs";
import { environment, getAgentDir } from "./places.mjs";

const FUNCTIONS = "functions of this process cannot run in offshoot's; write a file and name it in additionalExtensionPaths";

export function createSyntheticSourceInfo(path, { source, scope = "temporary", origin = "top-level", baseDir } = {}) {
  return { path, source, scope, origin, ...(baseDir === undefined ? {} : { baseDir }) };
}

export class DefaultResourceLoader {
  #options;
  #found = { skills: [], prompts: [], agentsFiles: [] };

  constructor(options = {}) {
    const reasons = { extensionFactories: FUNCTIONS, extensionsOverride: FUNCTIONS, themesOverride: "a session over RPC draws nothing" };
    refuse("DefaultResourceLoader", options, reasons);
    this.#options = { cwd: process.cwd(), agentDir: getAgentDir(), ...options };
  }

  /** Asks the program what it finds, without a session. */
  async reload() {
    const { cwd, agentDir } = this.#options;
    const args = ["--no-session", ...this.#paths(), "--no-extensions"];
    const agent = await OffshootAgent.start({ args, cwd, env: environment(agentDir) });
    try {
      const [{ commands }, window] = await Promise.all([agent.call("get_commands"), agent.call("context", { window: true })]);
      this.#found = {
        skills: commands.filter((command) => command.source === "skill").map(skill),
        prompts: commands.filter((command) => command.source === "prompt").map(template),
        agentsFiles: window.estimates.contextFiles.map(({ name }) => contextFile(cwd, agentDir, name)).filter(Boolean),
      };
    } finally {
      await agent.close();
    }
  }

  getSkills() {
    const current = { skills: this.#found.skills, diagnostics: [] };
    return this.#options.skillsOverride?.(current) ?? current;
  }

  getPrompts() {
    const current = { prompts: this.#found.prompts, diagnostics: [] };
    return this.#options.promptsOverride?.(current) ?? current;
  }

  getAgentsFiles() {
    const current = { agentsFiles: this.#found.agentsFiles };
    return this.#options.agentsFilesOverride?.(current) ?? current;
  }

  getThemes() {
    return { themes: [], diagnostics: [] };
  }

  getExtensions() {
    return { extensions: [], errors: [], runtime: {} };
  }

  getSystemPrompt() {
    const own = this.#options.systemPrompt ?? text(join(this.#options.agentDir, "SYSTEM.md"));
    return this.#options.systemPromptOverride ? this.#options.systemPromptOverride(own) : own;
  }

  getAppendSystemPrompt() {
    const file = text(join(this.#options.agentDir, "APPEND_SYSTEM.md"));
    const own = this.#options.appendSystemPrompt ?? (file === undefined ? [] : [file]);
    return this.#options.appendSystemPromptOverride ? this.#options.appendSystemPromptOverride(own) : own;
  }

  #paths() {
    const { additionalExtensionPaths = [], additionalSkillPaths = [], additionalPromptTemplatePaths = [] } = this.#options;
    const named = (option, paths) => paths.flatMap((path) => [option, resolve(this.#options.cwd, path)]);
    return [
      ...named("--extension", additionalExtensionPaths),
      ...named("--skill", additionalSkillPaths),
      ...named("--prompt-template", additionalPromptTemplatePaths),
    ];
  }

  /** The arguments that give a session all of it. Files that do not exist are made in `folder`. */
  args(folder) {
    const { skillsOverride, promptsOverride, agentsFilesOverride, systemPromptOverride, appendSystemPromptOverride } = this.#options;
    const { noExtensions, noSkills, noPromptTemplates, noContextFiles } = this.#options;
    const isAppended = appendSystemPromptOverride !== undefined || this.#options.appendSystemPrompt !== undefined;
    const isReplaced = systemPromptOverride !== undefined || this.#options.systemPrompt !== undefined;
    return [
      ...this.#paths(),
      ...(noExtensions ? ["--no-extensions"] : []),
      ...(noSkills ? ["--no-skills"] : []),
      ...(noPromptTemplates ? ["--no-prompt-templates"] : []),
      ...(noContextFiles ? ["--no-context-files"] : []),
      ...argsOf(
        {
          skills: skillsOverride && this.getSkills().skills,
          prompts: promptsOverride && this.getPrompts().prompts,
          agentsFiles: agentsFilesOverride && this.getAgentsFiles().agentsFiles,
          systemPrompt: isReplaced ? this.getSystemPrompt() : undefined,
          append: isAppended ? this.getAppendSystemPrompt() : undefined,
        },
        folder,
      ),
    ];
  }
}

/** The arguments of any loader: pi's interface `ResourceLoader`. */
export function loaderArgs(loader, folder) {
  if (loader === undefined) return [];
  if (loader instanceof DefaultResourceLoader) return loader.args(folder);
  const { extensions } = loader.getExtensions();
  if (extensions.length > 0) refuse("resourceLoader", { extensions }, { extensions: FUNCTIONS });
  const all = {
    skills: loader.getSkills().skills,
    prompts: loader.getPrompts().prompts,
    agentsFiles: loader.getAgentsFiles().agentsFiles,
    systemPrompt: loader.getSystemPrompt(),
    append: loader.getAppendSystemPrompt(),
  };
  return ["--no-extensions", ...argsOf(all, folder)];
}

/** A folder for files that exist only while a session runs. */
export class SessionFiles {
  #folder;

  write(name, content) {
    this.#folder ??= mkdtempSync(join(tmpdir(), "offshoot-sdk-"));
    const file = join(this.#folder, name);
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(file, content, { mode: 0o600 });
    return file;
  }

  remove() {
    if (this.#folder !== undefined) rmSync(this.#folder, { recursive: true, force: true });
    this.#folder = undefined;
  }
}

function argsOf({ skills, prompts, agentsFiles, systemPrompt, append }, folder) {
  const args = [];
  if (systemPrompt !== undefined) args.push("--system-prompt", folder.write("SYSTEM.md", systemPrompt));
  // A list replaces the user's own file.
  (append ?? []).forEach((part, nth) => args.push("--append-system-prompt", folder.write(`append-${nth}.md`, part)));
  if (append?.length === 0) args.push("--append-system-prompt", "");
  if (skills !== undefined) {
    args.push("--no-skills", ...skills.flatMap((own) => ["--skill", skillFile(own, folder)]));
  }
  if (prompts !== undefined) {
    args.push("--no-prompt-templates", ...prompts.flatMap((own) => ["--prompt-template", templateFile(own, folder)]));
  }
  if (agentsFiles !== undefined) {
    args.push("--no-context-files");
    agentsFiles.forEach(({ path, content }, nth) => {
      args.push("--append-system-prompt", folder.write(`context-${nth}.md`, `# ${path}\n\n${content}\n`));
    });
  }
  return args;
}

/** A skill that is no file becomes one: its description is what the model reads. */
function skillFile({ name, description, filePath }, folder) {
  if (existsSync(filePath)) return filePath;
  warn(`the skill ${name} has no file ${filePath}: the model gets a temporary one with its description`);
  return folder.write(`skills/${plain(name)}/SKILL.md`, `---\nname: ${plain(name)}\ndescription: ${JSON.stringify(description)}\n---\n${description}\n`);
}

function templateFile({ name, description, content, filePath }, folder) {
  if (existsSync(filePath)) return filePath;
  return folder.write(`prompts/${plain(name)}.md`, `---\ndescription: ${JSON.stringify(description ?? name)}\n---\n${content}\n`);
}

/** A name that is no path. */
function plain(name) {
  return String(name).replace(/[^\w.-]+/g, "-").replace(/^\.+/, "");
}

function skill({ name, description, sourceInfo }) {
  const filePath = sourceInfo.path;
  return { name: name.replace(/^skill:/, ""), description, filePath, baseDir: dirname(filePath), sourceInfo, disableModelInvocation: false };
}

function template({ name, description, sourceInfo }) {
  return { name, description, filePath: sourceInfo.path, sourceInfo, content: text(sourceInfo.path)?.replace(/^---\n[^]*?\n---\n/, "") ?? "" };
}

/** The program names context files from the working folder. */
function contextFile(cwd, agentDir, name) {
  const places = [resolve(cwd, name.replace(/^~(?=\/)/, process.env.HOME ?? "~")), join(agentDir, name)];
  const path = places.find((place) => existsSync(place));
  return path && { path, content: text(path) };
}

function text(path) {
  return existsSync(path) ? readFileSync(path, "utf8") : undefined;
}
