// acp-factory, a library that others build their clients on: a turn with permissions and the client's files, another mode, a
// turn that is cancelled, a fork, and the session loaded by a second process. Prints what it got as JSON.
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [modules, folder, ...agent] = process.argv.slice(2);
const entry = createRequire(`${modules}/`).resolve("acp-factory").replace(/cjs$/, "js");
const { AgentFactory } = await import(pathToFileURL(entry));

const got = { asked: [], read: [], written: [] };
AgentFactory.register("halo", { command: agent[0], args: agent.slice(1), env: {} });
const start = () =>
  AgentFactory.spawn("halo", {
    permissionMode: "callback",
    onPermissionRequest: async ({ toolCall, options }) => {
      got.asked.push(toolCall.title);
      return { outcome: { outcome: "selected", optionId: options.find((one) => one.kind === "allow_once").optionId } };
    },
    onFileRead: async (path) => (got.read.push(path), readFileSync(path, "utf8")),
    onFileWrite: async (path, content) => (got.written.push(path), writeFileSync(path, content)),
  });

async function collect(updates, seen = () => {}) {
  const found = [];
  for await (const update of updates) {
    found.push(update);
    await seen(update);
  }
  return found;
}

const first = await start();
const session = await first.createSession(folder);
got.modes = session.modes;
got.turn = await collect(session.prompt("do it"));
await session.setMode("plan");
got.planned = await collect(session.prompt("plan it"));
await session.setMode("yolo");
got.cancelled = await collect(session.prompt("wait"), (update) =>
  update.sessionUpdate.startsWith("tool_call") && update.status === "in_progress" ? session.cancel() : undefined,
);
const fork = await first.forkSession(session.id, folder);
got.forked = await collect(fork.prompt("and here?"));
await first.close();
const second = await start();
const loaded = await second.loadSession(session.id, folder);
got.after = await collect(loaded.prompt("still there?"));
await second.close();
console.log(JSON.stringify(got));
process.exit(0);
