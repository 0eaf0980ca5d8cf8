// Parses typed and pasted server configurations. Pure.

export const splitLines = (text) =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)

/** A word of a command for display, quoted if necessary. */
export const quoteWord = (text) => (/^[\w@%+=:,./~${}-]+$/.test(text) ? text : JSON.stringify(text))

/** The inverse of `said`. */
export function unquoteWord(text) {
  if (!/^".*"$/.test(text)) return text
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** A typed command as the program and its arguments: `python3 server.py` is both, a quoted text is one program. */
export function splitCommand(typed, args) {
  const [command = '', ...more] = (typed.match(/"(?:[^"\\]|\\.)*"|\S+/g) ?? []).map(unquoteWord)
  return { command, args: [...more, ...args] }
}

/** NAME=value or Name: value lines as an object. Lines without the sign are skipped. */
export function parsePairs(text, sign) {
  const found = {}
  for (const line of splitLines(text)) {
    const at = line.indexOf(sign)
    if (at > 0) found[line.slice(0, at).trim()] = sign === ':' ? line.slice(at + 1).trim() : line.slice(at + 1)
  }
  return found
}

const isServer = (value) =>
  Boolean(
    value &&
    typeof value === 'object' &&
    !Array.isArray(value) &&
    (typeof value.command === 'string' || value.url || value.serverUrl || value.httpUrl),
  )

/** Servers in pasted JSON: {servers by name, problem}. */
export function parsePasted(text, name) {
  let given
  try {
    given = JSON.parse(text.trim().startsWith('{') ? text : `{${text.trim().replace(/,$/, '')}}`)
  } catch (error) {
    return { servers: {}, problem: `Invalid JSON: ${error.message}.` }
  }
  const inside = given.mcpServers ?? given.servers ?? given.mcp?.servers ?? given
  if (isServer(inside))
    return name
      ? { servers: { [name]: inside }, problem: '' }
      : { servers: {}, problem: 'This server has no name. Enter one above.' }
  const found = Object.entries(inside).filter(([, value]) => isServer(value))
  if (!found.length) return { servers: {}, problem: 'No server found. A server has a command or a url.' }
  return { servers: Object.fromEntries(found), problem: '' }
}
