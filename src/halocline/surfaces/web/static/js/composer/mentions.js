// Writes mentions, and finds the mention or command before the cursor. The rules are those of
// context/user_files/mentions.py; where those are finer, a path is quoted, which always works.

const WORDS = ['problems', 'terminal', 'git-changes']
const PLAIN = /^[^\s"'`<>|\\，。；：！？、）】」()[\]{}]{1,1000}$/
const ODD = /^(https?:|task:|symbol:|[0-9a-f]{7,40}$)|:\d{1,7}(-\d{1,7})?$|[.,;:!?…*]$/

/** A path as a mention. */
export function asMention(path) {
  const plain = PLAIN.test(path) && !ODD.test(path) && !WORDS.includes(path)
  return plain || path.includes('"') ? `@${path}` : `@"${path}"`
}

const BEGUN = /(?<![\w@./\\`-])@(?:"([^"\n]*)|([^\s"'`<>|]*))$/u

/** The mention before the cursor: {from, query}, or null. */
function parseMention(before) {
  const line = before.slice(Math.max(before.lastIndexOf('\n') + 1, before.length - 300))
  const found = BEGUN.exec(line)
  if (!found || (line.slice(0, found.index).split('`').length - 1) % 2) return null
  const query = found[1] ?? found[2]
  if (/^https?:/.test(query)) return null
  return { kind: '@', from: before.length - (line.length - found.index), query }
}

/** The slash command before the cursor, or its argument: {from, query, word}. */
function parseWord(before) {
  const own = /^\/([^\s/]*)$/.exec(before)
  if (own) return { kind: '/', from: 0, query: own[1], word: '' }
  const behind = /^\/(\S+) (\S*)$/.exec(before)
  if (behind) return { kind: '/', from: before.length - behind[2].length, query: behind[2], word: behind[1] }
  const within = /(?:^|\s)\/([a-z][\w-]*)$/i.exec(before.slice(-100))
  return within && !before.includes('\n')
    ? { kind: '/', from: before.length - within[1].length - 1, query: within[1], word: '', within: true }
    : null
}

export const parseBegun = (before) => parseMention(before) ?? parseWord(before)

/** True for a note: one line after a hash. A heading with text below it is not one. */
export const isNote = (typed) => /^# +\S[^\n]*$/.test(typed.trim())
