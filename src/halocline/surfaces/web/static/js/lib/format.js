// Numbers, times and names as people read them.

export function tokens(number) {
  if (!number) return '0'
  if (number < 1000) return String(number)
  if (number < 100_000) return `${(number / 1000).toFixed(1).replace(/\.0$/, '')}k`
  if (number < 1_000_000) return `${Math.round(number / 1000)}k`
  return `${(number / 1_000_000).toFixed(1).replace(/\.0$/, '')}M`
}

export function money(dollars) {
  if (dollars == null) return 'price unknown'
  if (!dollars) return '$0'
  return dollars < 0.01 ? '<$0.01' : `$${dollars.toFixed(2)}`
}

/** A cost to show: unknown, too, where requests were made and none was counted, as after an interrupt. */
export const knownCost = ({ cost = 0, tokens, steps }) => (cost || tokens || !steps ? cost : null)

export function seconds(number) {
  if (number == null) return ''
  if (number < 9.95) return `${number.toFixed(1)} s`
  const whole = Math.round(number)
  const [of, unit, part] = whole < 3600 ? [whole, 's', 'min'] : [Math.round(whole / 60), 'min', 'h']
  if (whole < 60) return `${whole} s`
  return `${Math.floor(of / 60)} ${part}${of % 60 ? ` ${of % 60} ${unit}` : ''}`
}

export function size(bytes) {
  if (bytes < 1000) return `${bytes} B`
  if (bytes < 1e6) return `${Math.round(bytes / 1000)} kB`
  if (bytes < 1e9) return `${(bytes / 1e6).toFixed(1)} MB`
  return `${(bytes / 1e9).toFixed(1)} GB`
}

// By hand, and as in the terminal: the browser's own formatter takes tens of milliseconds to create.
const twoDigits = (number) => String(number).padStart(2, '0')

export function clock(at) {
  const then = new Date(at * 1000)
  return `${twoDigits(then.getHours())}:${twoDigits(then.getMinutes())}`
}

export const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']
export const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

export function when(at) {
  const then = new Date(at * 1000)
  const days = Math.floor((new Date().setHours(0, 0, 0, 0) - new Date(at * 1000).setHours(0, 0, 0, 0)) / 86_400_000)
  if (days <= 0) return clock(at)
  if (days === 1) return 'yesterday'
  if (days < 7) return DAYS[then.getDay()]
  return day(then)
}

const day = (then) => `${then.getDate()} ${MONTHS[then.getMonth()]} ${then.getFullYear()}`

/** The day and the time to the second. */
export function formatTime(at) {
  const then = new Date(at * 1000)
  return `${day(then)}, ${clock(at)}:${twoDigits(then.getSeconds())}`
}

export const thousands = (number) => String(number).replace(/\B(?=(\d{3})+$)/g, ',')

export const count = (number, one, many = `${one}s`) => `${thousands(number)} ${number === 1 ? one : many}`

/** A text of at most so many characters, which says that it was cut. */
export const truncate = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text)

const TITLE = 48

/** The first sentence of a title, cut at a word. Pure. */
export function shorten(title) {
  const sentence = title.match(/^.{12,}?[.!?:](?=\s)/)?.[0].replace(/[.:]$/, '') ?? title
  return sentence.length <= TITLE ? sentence : `${sentence.slice(0, TITLE).replace(/\s+\S*$/, '')}…`
}

export const base = (path) => path.replace(/\/+$/, '').split('/').at(-1) || path

/** A model's name without its provider. */
export const short = (model) =>
  model.startsWith('scripted/') ? 'scripted' : model.split('/').slice(1).join('/') || model

// Characters that show nothing, change how others are shown, or move a terminal's cursor: those of
// `surfaces/sanitize.py`. Escaped, not interpreted.
const UNSEEN =
  /\u034f|\ufe00|[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\ud800-\udfff\u{e0000}-\u{e0fff}]|(?<=[\u0021-\u007e])(?:\u200c|\u200d|[\u{fe01}-\u{fe0f}])(?!\u20e3)|(?:\u200c|\u200d)(?=[\u0021-\u007e])/gu

/** Untrusted text with nothing hidden: control and direction characters become their code points. */
export const shown = (text) =>
  text
    .replaceAll('\r\n', '\n')
    .replace(UNSEEN, (char) => `⟨${char.codePointAt(0).toString(16).toUpperCase().padStart(4, '0')}⟩`)

// Letters of other scripts, of which many look like Latin ones.
const OTHERS = /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}\p{Script=Lisu}]/u
const LATIN = /[a-z]/i

/** Characters that look like ASCII and are not: letters of other scripts in a word with Latin ones, and wide or styled
 *  forms. */
export function lookalikes(text) {
  const found = new Set()
  for (const [word] of text.matchAll(/[\p{L}\p{N}]+/gu))
    for (const char of word) {
      const isForm = char > '\u007f' && /^[!-~]$/.test(char.normalize('NFKC'))
      if (isForm || (LATIN.test(word) && OTHERS.test(char))) found.add(char)
    }
  return [...found]
}

const EFFECTS = {
  read_only: 'read-only',
  writes_inside: 'writes in the workspace',
  writes_outside: 'writes outside the workspace',
  network: 'uses the network',
  destructive: 'destructive',
  unknown: 'could change anything',
}

/** The most that a part of a command can do, in words. Pure. */
export const nameEffect = (effect) => EFFECTS[effect] ?? ''

/** A reason of the gate as a sentence. Pure. */
export const asSentence = (text) => text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?…]$/.test(text) ? '' : '.')
