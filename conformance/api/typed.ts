// A program against the types of the package for JavaScript. It is compiled, not run.
import { OffshootAgent, OffshootError, OffshootSessions, type ApiMethods, type Session } from "offshoot";

export async function grow(): Promise<string> {
  const offshoot = await OffshootSessions.start({ program: "offshoot", timeout: 1000 });
  const session: Session = await offshoot.create({ cwd: "/" });
  const { id } = await session.appendMessage({ message: { role: "user", content: "hello" } }, { timeout: 5 });
  const tree = await session.getTree();
  const label: string | undefined = tree[0]?.label;
  const count: number = await session.getEntryCount();
  const raw: ApiMethods["compare"]["result"] = await offshoot.call("compare", { session: 1, a: "@", b: "@-" });
  const other = await session.newSession({});
  await session.close();
  const { exitCode } = await offshoot.close();
  return `${id} ${label} ${count} ${raw.ancestorId} ${other.sessionFile} ${exitCode}`;
}

export async function ask(): Promise<number> {
  const agent = await OffshootAgent.start({ args: ["--no-session"] });
  for await (const event of agent.prompt("hi")) {
    if (event.type === "message_update" && event.assistantMessageEvent.type === "text_delta") console.log(event.assistantMessageEvent.delta);
  }
  const stop = agent.listen((event) => console.log(event.type));
  stop();
  await agent.call("abort");
  const state = await agent.call("get_state", {}, { timeout: 10 });
  await agent.call("set_model", { provider: "p", modelId: "m" });
  return state.messageCount;
}

export const kindOf = (error: unknown): string => (error instanceof OffshootError ? error.kind : "");

export async function wrong(offshoot: OffshootSessions, session: Session, agent: OffshootAgent): Promise<void> {
  // @ts-expect-error a message has a role
  await session.appendMessage({ message: { content: "x" } });
  // @ts-expect-error there is no such argument
  await session.getLeafId({ more: 1 });
  // @ts-expect-error a path is needed
  await offshoot.open({});
  // @ts-expect-error there is no such method
  await offshoot.call("getTitle", {});
  // @ts-expect-error a model has an id
  await agent.call("set_model", { provider: "p" });
}
