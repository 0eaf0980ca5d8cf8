// A client made of the official TypeScript SDK: starts an agent, sends one prompt, loads the session again, and prints
// what it got as JSON.
import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { Readable, Writable } from "node:stream";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [modules, folder, text, ...agent] = process.argv.slice(2);
const entry = createRequire(`${modules}/`).resolve("@agentclientprotocol/sdk");
const acp = await import(pathToFileURL(entry));

const { methods } = acp;
const updates = [];
const asked = [];
const written = [];

const child = spawn(agent[0], agent.slice(1), { stdio: ["pipe", "pipe", "inherit"] });
const stream = acp.ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout));
const app = acp
  .client({ name: "test" })
  .onNotification(methods.client.session.update, ({ params }) => void updates.push(params.update))
  .onRequest(methods.client.session.requestPermission, ({ params }) => {
    asked.push({ title: params.toolCall.title, kinds: params.options.map((one) => one.kind) });
    const chosen = params.options.find((one) => one.kind === "allow_once");
    return { outcome: { outcome: "selected", optionId: chosen.optionId } };
  })
  .onRequest(methods.client.fs.readTextFile, ({ params }) => ({ content: readFileSync(params.path, "utf8") }))
  .onRequest(methods.client.fs.writeTextFile, ({ params }) => {
    written.push(params.path);
    writeFileSync(params.path, params.content);
    return {};
  });

await app.connectWith(stream, async (context) => {
  const ready = await context.request(methods.agent.initialize, {
    protocolVersion: 1,
    clientCapabilities: { fs: { readTextFile: true, writeTextFile: true } },
  });
  const session = await context.request(methods.agent.session.new, { cwd: folder, mcpServers: [] });
  const content = [{ type: "text", text }];
  const ended = await context.request(methods.agent.session.prompt, { sessionId: session.sessionId, prompt: content });
  const live = updates.splice(0);
  await context.request(methods.agent.session.load, { sessionId: session.sessionId, cwd: folder, mcpServers: [] });
  console.log(JSON.stringify({ ready, session, ended, updates: live, loaded: updates, asked, written }));
});
child.stdin.end();
