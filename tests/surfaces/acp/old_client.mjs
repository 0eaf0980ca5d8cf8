// A client made of the TypeScript SDK of 2025, whose schema marimo still has: it drops what that schema does not know,
// with a word on stderr. Sends one prompt, approves everything, and prints what it got as JSON.
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { Readable, Writable } from "node:stream";
import { pathToFileURL } from "node:url";

const [modules, folder, text, ...agent] = process.argv.slice(2);
const entry = createRequire(`${modules}/`).resolve("@zed-industries/agent-client-protocol");
const acp = await import(pathToFileURL(entry));

const updates = [];
const asked = [];
const client = {
  async sessionUpdate({ update }) {
    updates.push(update);
  },
  async requestPermission({ toolCall, options }) {
    asked.push({ toolCall, options });
    return { outcome: { outcome: "selected", optionId: options[0].optionId } };
  },
};

const child = spawn(agent[0], agent.slice(1), { stdio: ["pipe", "pipe", "inherit"] });
const stream = acp.ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout));
const connection = new acp.ClientSideConnection(() => client, stream);
await connection.initialize({ protocolVersion: 1, clientCapabilities: {} });
const session = await connection.newSession({ cwd: folder, mcpServers: [] });
const ended = await connection.prompt({ sessionId: session.sessionId, prompt: [{ type: "text", text }] });
console.log(JSON.stringify({ session, ended, updates, asked }));
child.stdin.end();
