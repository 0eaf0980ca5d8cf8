// Finds formulas in text: `$$…$$`, `\[…\]`, `\(…\)` and `$…$`. Prices, shell variables and escaped brackets are left
// alone: text that does not look like mathematics is not a formula.
const LONGEST = 8000
const MARKED = /\\[a-zA-Z{|,;:!]|[\^_=]|[\d\w)\]]\s*[<>+*/-]\s*[\d\w(\\]/
const FUNCTIONS = 'log|ln|exp|sin|cos|tan|min|max|mod|gcd|det|dim|arg|lim|sup|inf|Pr'
const WORD = /[\p{L}]{2,}/gu
const KNOWN = new RegExp(`^(?:${FUNCTIONS})$`)
const NUMBER = /^[\d.,\s%–-]*[kKmMbB]?$/

/** Words of a sentence: not TeX commands, functions or text within a formula. */
function words(text) {
  const rest = text
    .replace(
      /\\(?:text|mathrm|mathbf|mathit|operatorname|textbf|textit|mbox|begin|end|label|tag)\*?\s*\{[^{}]*\}/g,
      ' ',
    )
    .replace(/\\[a-zA-Z]+/g, ' ')
  return (rest.match(WORD) ?? []).filter((word) => !KNOWN.test(word))
}

/** True if the text between the delimiters reads like mathematics. */
export function isFormula(text) {
  const inside = text.trim()
  if (!inside || inside.length > LONGEST || NUMBER.test(inside)) return false
  if (/\\[a-zA-Z]{2,}|[\^]|_[\w{\\]/.test(inside)) return true
  const long = words(inside).filter((word) => word.length > 2)
  return MARKED.test(inside) ? long.length === 0 : words(inside).length === 0 && /\p{L}/u.test(inside)
}

/** Single dollars need stronger evidence, as prices and shells use them too. */
function isDollarFormula(text) {
  if (/^\s|\s$/.test(text) || /^[{(]?[A-Z][A-Z_]+\b|^\{[\w.]*\}$/.test(text)) return false
  if (/^\d/.test(text) && !/[\\^_=]|^\d+[a-z]\b(?! )/.test(text)) return false
  return isFormula(text)
}

const DISPLAY = /^(?:\$\$((?:[^$]|\\\$)+?)\$\$|\\\[([\s\S]+?)\\\])/
const BLOCK = /^ {0,3}(?:\$\$((?:[^$]|\\\$)+?)\$\$|\\\[([\s\S]+?)\\\])[ \t]*(?:\n+|$)/
const ROUND = /^\\\(([\s\S]+?)\\\)/
const DOLLARS = /^\$((?:\\[\s\S]|[^$\\\n]|\n(?!\n))+?)\$(?![\p{L}\d])/u

const formula = (raw, text, display) => ({ type: 'formula', raw, text: text.trim(), display })

function parseDisplay(found) {
  const text = found && (found[1] ?? found[2])
  return text && isFormula(text) && formula(found[0], text, true)
}

function inline(source) {
  const wide = parseDisplay(DISPLAY.exec(source))
  if (wide) return wide
  const round = ROUND.exec(source)
  if (round && isFormula(round[1])) return formula(round[0], round[1], false)
  const dollars = DOLLARS.exec(source)
  if (dollars && isDollarFormula(dollars[1])) return formula(dollars[0], dollars[1], false)
  return undefined
}

const starts = (pattern) => (source) => {
  const at = source.search(pattern)
  return at < 0 ? undefined : at
}

/** Extensions of marked for block and inline formulas. */
export const FORMULAS = [
  {
    name: 'formula',
    level: 'block',
    start: starts(/^ {0,3}(?:\$\$|\\\[)/m),
    tokenizer: (source) => parseDisplay(BLOCK.exec(source)) || undefined,
  },
  { name: 'formula', level: 'inline', start: starts(/(?<![\p{L}\d\\$])\$|\\[([]/u), tokenizer: inline },
]
