// What the scripts of the tables have in common: replies of the scripted model, and prompts.

/** A reply with a text. */
export const say = (text) => ({ say: [{ text }] });
/** A reply that calls a tool. */
export const call = (name, given, id = "c1") => ({ say: [{ call: name, id, arguments: given }] });
/** A script that sends these messages, one after another. */
export const prompt = (...messages) => async (run) => {
  const results = [];
  for (const message of messages) results.push(await run.prompt(message));
  return results;
};
