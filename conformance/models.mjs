#!/usr/bin/env node
// Prints the model facts of an installed @earendil-works/pi-ai as one JSON object; `cargo xtask models FOLDER` reads it.
//
//   node models.mjs FOLDER
//
// The providers are asked through the package's own factories, before any remote catalogue and any models.json. No network
// is used. The variables of a provider are those that its resolver looks up, in that order.
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const folder = resolve(process.argv[2] ?? "node_modules/pi-1.6/node_modules/@earendil-works/pi-ai");
const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
const { builtinProviders, getBuiltinModelDataGeneratedAt } = await import(
  pathToFileURL(join(folder, "dist/providers/all.js")).href
);

/** The variables that a provider looks up: first with none set, then with each of those set alone. */
async function variables(provider) {
  const asked = [];
  const ask = async (set) => {
    const env = async (name) => {
      asked.push(name);
      return set === name ? "x" : undefined;
    };
    const ctx = { env, fileExists: async () => true };
    try {
      await provider.auth.apiKey?.resolve({ ctx, credential: undefined, signal: new AbortController().signal });
    } catch {
      // What it needs beside a key is not of interest here.
    }
  };
  await ask(undefined);
  for (const name of new Set(asked)) await ask(name);
  return [...new Set(asked)];
}

const providers = [];
const models = [];
for (const provider of builtinProviders()) {
  providers.push({ id: provider.id, name: provider.name, env: await variables(provider) });
  models.push(...provider.getModels());
}
const when = getBuiltinModelDataGeneratedAt?.();
const generatedAt = when === undefined ? undefined : new Date(when).toISOString();
console.log(JSON.stringify({ source: `${manifest.name} ${manifest.version}`, generatedAt, providers, models }));
