// What extensions of oh-my-pi import from its pi-ai: a system prompt there is a list of texts.
export * from "./pi-ai.mjs";
import * as pi from "./pi-ai.mjs";

const asPi = (context) => ({ ...context, ...(Array.isArray(context.systemPrompt) ? { systemPrompt: context.systemPrompt.join("\n\n") } : {}) });

export const complete = (model, context, options) => pi.complete(model, asPi(context), options);
export const stream = (model, context, options) => pi.stream(model, asPi(context), options);
export const completeSimple = complete;
export const streamSimple = stream;
