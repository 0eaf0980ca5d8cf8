// Renders terminal output: SGR colors as classes, other sequences dropped, lines overwritten by a carriage return in
// their final state.
import { html } from './ui.js'
import { shown } from './format.js'
import { FileName, placesIn } from './file-name.js'

const SEQUENCE = /\u001b(?:\[([0-9;:?]*)([@-~])|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[()][A-Za-z0-9]|[@-Z\\^_=>])/g

/** Runs of text with the same look: [{text, look}]. Pure. */
export function runs(text) {
  const found = []
  /** @type {any} */
  let state = {}
  let at = 0
  const put = (piece) => {
    if (!piece) return
    const look = lookOf(state)
    const last = found.at(-1)
    if (last && last.look === look) last.text += piece
    else found.push({ text: piece, look })
  }
  const flat = applyOverwrites(text)
  for (const match of flat.matchAll(SEQUENCE)) {
    put(flat.slice(at, match.index))
    at = match.index + match[0].length
    if (match[2] === 'm') state = applyCodes(state, match[1])
  }
  put(flat.slice(at))
  return found
}

/** A carriage return restarts its line. */
const applyOverwrites = (text) =>
  text.includes('\r')
    ? text
        .replace(/\r+\n/g, '\n')
        .split('\n')
        .map((line) => (line.includes('\r') ? line.replace(/\r+$/, '').split('\r').at(-1) : line))
        .join('\n')
    : text

const lookOf = ({ fg, bg, bold, dim, italic, underline, inverse }) =>
  [
    fg && `fg-${fg}`,
    bg && `bg-${bg}`,
    bold && 'bold',
    dim && 'dim',
    italic && 'italic',
    underline && 'underline',
    inverse && 'inverse',
  ]
    .filter(Boolean)
    .join(' ')

const NAMES = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white']

function applyCodes(state, codes) {
  const next = { ...state }
  const numbers = codes.split(/[;:]/).map((code) => Number(code || 0))
  for (let n = 0; n < numbers.length; n++) {
    const code = numbers[n]
    if (code === 0) for (const key of Object.keys(next)) delete next[key]
    else if (code === 1) next.bold = true
    else if (code === 2) next.dim = true
    else if (code === 3) next.italic = true
    else if (code === 4) next.underline = true
    else if (code === 7) next.inverse = true
    else if (code === 22) next.bold = next.dim = false
    else if (code === 23) next.italic = false
    else if (code === 24) next.underline = false
    else if (code === 27) next.inverse = false
    else if (code >= 30 && code <= 37) next.fg = NAMES[code - 30]
    else if (code >= 90 && code <= 97) next.fg = NAMES[code - 90]
    else if (code >= 40 && code <= 47) next.bg = NAMES[code - 40]
    else if (code >= 100 && code <= 107) next.bg = NAMES[code - 100]
    else if (code === 39) next.fg = ''
    else if (code === 49) next.bg = ''
    else if (code === 38 || code === 48) {
      const named = numbers[n + 1] === 5 && numbers[n + 2] < 16 ? NAMES[numbers[n + 2] % 8] : ''
      next[code === 38 ? 'fg' : 'bg'] = named
      n += numbers[n + 1] === 5 ? 2 : 4
    }
  }
  return next
}

/** Text of a program, with names of files and lines as links. */
const draw = (text) =>
  placesIn(text).map((part, at) =>
    typeof part === 'string' ? shown(part) : html`<${FileName} key=${at} ...${part} />`,
  )

export const Ansi = ({ text }) =>
  html`
    ${runs(text).map((run, at) =>
      run.look ? html`<span key=${at} class=${run.look}>${draw(run.text)}</span>` : draw(run.text),
    )}
  `
