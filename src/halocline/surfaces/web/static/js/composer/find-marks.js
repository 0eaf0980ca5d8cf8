// Highlights in your text: mentions, a leading slash command, pasted texts. The rules are those of
// context/user_files/mentions.py; ambiguous ones (`@property`) count only if `known`.
const MENTION =
  /(?<![\p{L}\p{N}_@./\\`-])@(?:"[^"\n]{1,1000}"(?::\d{1,7}(?:-\d{1,7})?)?|https?:\/\/[^\s<>"`，。；！？、）】」]{1,2000}|(?:\\.|[^\s"'`<>|\\，。；！？、）】」]){1,1000})/gu
const WORD = /^\/[a-z][\w.:-]*(?=\s|$)/i
const PASTED = /\[pasted [^\]\n]+\]/g
const CERTAIN = /^@(?:"|https?:\/\/.|(?:problems|terminal|git-changes)$|(?:task|symbol):.|.*[/~]|.*[^.]\.\w)/
/** Letters from which nothing is marked. */
export const LONGEST = 20_000
const PAIRS = { ')': '(', ']': '[', '}': '{' }

/** Strip the punctuation of the surrounding sentence. */
function trimMark(text) {
  let end = text.length
  const countSurplus = (close) => text.slice(0, end).split(close).length > text.slice(0, end).split(PAIRS[close]).length
  while (end && !/\\.$|(?:^|[/@])\.\.$/.test(text.slice(0, end))) {
    const last = text[end - 1]
    if (PAIRS[last] ? !countSurplus(last) : !".,;:!?…*'".includes(last)) break
    end--
  }
  return text.slice(0, end)
}

/** The text with code replaced by backticks of the same length. */
function withoutCode(text) {
  if (!text.includes('`') && !text.includes('~~~')) return text
  let fence = ''
  return text
    .split('\n')
    .map((line) => {
      const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)
      if (!fence && !mark) return line.replace(/(?<!`)(`+)(?!`)(.*?[^`])\1(?!`)/g, (span) => '`'.repeat(span.length))
      if (!fence) fence = mark[1]
      else if (mark?.[1].startsWith(fence) && !line.slice(mark[0].length).trim()) fence = ''
      return '`'.repeat(line.length)
    })
    .join('\n')
}

/** The text in pieces: {text, kind}, where kind is '' for plain text. Pure. */
export function splitPieces(text, known = []) {
  if (text.length > LONGEST) return [{ text, kind: '' }]
  const found = []
  const word = WORD.exec(text)
  if (word) found.push([0, word[0], 'word'])
  for (const match of withoutCode(text).matchAll(MENTION)) {
    const name = match[0].startsWith('@"') ? match[0] : trimMark(match[0])
    if (name.length > 1 && (CERTAIN.test(name) || known.includes(name))) found.push([match.index, name, 'mention'])
  }
  for (const match of text.matchAll(PASTED)) found.push([match.index, match[0], 'pasted'])
  return cut(
    text,
    found.sort((one, other) => one[0] - other[0]),
  )
}

function cut(text, found) {
  const all = []
  let at = 0
  for (const [from, name, kind] of found) {
    if (from < at) continue
    if (from > at) all.push({ text: text.slice(at, from), kind: '' })
    all.push({ text: name, kind })
    at = from + name.length
  }
  if (at < text.length) all.push({ text: text.slice(at), kind: '' })
  return all
}
