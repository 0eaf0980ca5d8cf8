// Parses a unified diff into hunks and numbered lines, and shows it. The caller brings the actions of a hunk (accept,
// reject, comment): `head` goes into the hunk's line, `below` under it, and `focus` ({key, label}) makes it focusable.
import { html, classes, useMemo, useState } from './ui.js'
import { shown, thousands } from './format.js'
import { Above, Around, useAround } from './diff-around.js'
import { Lines } from './diff-lines.js'

const LONG = 400

/** [{header, oldStart, newStart, oldCount, newCount, lines: [{sign, text, old, new}], whole, bare}]. Pure.
 *  `whole` is false if the text was cut off in it, `bare` is true if its last line has no line end. */
export function hunksOf(text) {
  const hunks = []
  let hunk = null
  let left = null // lines of each side still to come
  for (const line of (text ?? '').split('\n')) {
    const header = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@(.*)$/.exec(line)
    if (header && !(left && (left.old || left.new))) {
      hunk = {
        header: header[5].trim(),
        oldStart: Number(header[1]),
        newStart: Number(header[3]),
        oldCount: Number(header[2] ?? 1),
        newCount: Number(header[4] ?? 1),
        lines: [],
        whole: false,
        bare: false,
      }
      left = { old: hunk.oldCount, new: hunk.newCount }
      hunks.push(hunk)
    } else if (!hunk) continue
    else if (line.startsWith('\\')) hunk.bare = true
    else take(hunk, left, line)
    if (hunk) hunk.whole = !left.old && !left.new
  }
  return hunks
}

function take(hunk, left, line) {
  const sign = line[0] === '+' || line[0] === '-' ? line[0] : ' '
  if ((sign !== '+' && !left.old) || (sign !== '-' && !left.new)) return
  if (sign === ' ' && line[0] !== ' ' && line !== '') return // our note about what was cut
  const one = { sign, text: line.slice(1) }
  if (sign !== '+') one.old = hunk.oldStart + hunk.oldCount - left.old--
  if (sign !== '-') one.new = hunk.newStart + hunk.newCount - left.new--
  hunk.lines.push(one)
}

/** The lines of one side: `old` or `new`. */
export const side = (hunk, which) =>
  hunk.lines.filter((line) => line.sign !== (which === 'old' ? '+' : '-')).map((line) => line.text)

/** The first changed line, numbered in the new file if it is there. */
export function firstChange(hunk) {
  const line = hunk.lines.find((one) => one.sign !== ' ') ?? hunk.lines[0]
  return line?.new ?? line?.old ?? hunk.newStart
}

/** Numbers of added and removed lines. */
const counts = (hunk) => ({
  added: hunk.lines.filter((line) => line.sign === '+').length,
  removed: hunk.lines.filter((line) => line.sign === '-').length,
})

/** A hunk as diff text again. */
export const hunkText = (hunk) =>
  `@@ -${hunk.oldStart},${hunk.oldCount} +${hunk.newStart},${hunk.newCount} @@\n` +
  hunk.lines.map((line) => line.sign + line.text).join('\n') +
  (hunk.bare ? '\n\\ No newline at end of file' : '')

function Hunk({
  hunk,
  path,
  remarks = [],
  head = null,
  below = null,
  onLine = null,
  look = '',
  closed = false,
  focus = null,
  above = null,
}) {
  const [open, setOpen] = useState(null)
  const isOpen = open ?? !closed
  const { added, removed } = counts(hunk)
  const own = focus && { 'data-hunk': focus.key, tabindex: 0, role: 'group', 'aria-label': focus.label }
  return html`<div class=${classes('hunk', look)} ...${own}>
    <div class="hunk-head">
      <button class="hunk-fold" aria-expanded=${isOpen} onClick=${() => setOpen(!isOpen)}>
        <span aria-hidden="true">${isOpen ? '▾' : '▸'}</span> line ${firstChange(hunk)}
        ${' '}
        <span class="cut">${shown(hunk.header)}</span>
        ${' '}
        ${!isOpen && html`<${Stat} added=${added} removed=${removed} />`}
      </button>
      ${above} ${head}
    </div>
    ${
      isOpen &&
      html`<div class="hunk-lines">
        <${Lines}
          lines=${hunk.lines}
          path=${path}
          onLine=${onLine}
          remarkOf=${(line) => line.new && remarks.find((one) => one.line === line.new)?.text}
        />
      </div>`
    }
    ${below}
  </div>`
}

export const Stat = ({ added = 0, removed = 0 }) =>
  html`<span class="stat mono tiny">
    <span class="good">+${added ?? 0}</span> <span class="bad">−${removed ?? 0}</span>
  </span>`

/** 'new' or 'deleted', else empty. */
export function fate(diff) {
  const text = diff.text ?? ''
  if (/^--- \/dev\/null$/m.test(text.slice(0, 2000))) return 'new'
  if (/^\+\+\+ \/dev\/null$/m.test(text.slice(0, 2000))) return 'deleted'
  return ''
}

/** @type {[RegExp, (found: RegExpExecArray) => string][]} */
const UNLINED = [
  [/^Binary files /m, () => 'A binary file: its content is not shown.'],
  [/^new file mode/m, () => 'A new file without lines.'],
  [/^deleted file mode/m, () => 'A file without lines, deleted.'],
  [/^old mode (\d+)\nnew mode (\d+)/m, ([, old, now]) => `Its mode changed from ${old} to ${now}.`],
  [/^rename from (.*)$/m, ([, from]) => `Renamed from ${shown(from)}, unchanged.`],
]

/** What a diff without lines says. Pure. */
function describeUnlined(text) {
  for (const [form, describe] of UNLINED) {
    const found = form.exec(text)
    if (found) return describe(found)
  }
  return shown(text) || 'No line changed.'
}

/** The first hunks with at most so many lines in all. */
function takeLines(hunks, room) {
  const taken = []
  for (const hunk of hunks) {
    if (room <= 0) break
    taken.push(hunk.lines.length > room ? { ...hunk, lines: hunk.lines.slice(0, room) } : hunk)
    room -= hunk.lines.length
  }
  return taken
}

/**
 * A diff. `each(hunk, at)` gives the other props of `Hunk`. A long one is cut until expanded, and has its `tail` only
 * then. `around` reads more lines of the file: see `useAround`.
 * @param {{
 *   diff: any, each?: (hunk: any, at: number) => object, named?: boolean, most?: number, tail?: any,
 *   tools?: any, around?: import('./diff-around.js').Source
 * }} of
 */
export function DiffText({
  diff,
  each = () => ({}),
  named = false,
  most = LONG,
  tail = null,
  tools = null,
  around = null,
}) {
  const [all, setAll] = useState(false)
  const hunks = useMemo(() => hunksOf(diff.text), [diff.text])
  const total = hunks.reduce((n, hunk) => n + hunk.lines.length, 0)
  const isCut = !all && total > most * 1.25
  const drawn = useMemo(() => (isCut ? takeLines(hunks, most) : hunks), [hunks, isCut, most])
  const more = useAround(hunks, around && !isCut && !fate(diff) ? around : null)
  const cut = /\n… (.*)\n?$/.exec(diff.text ?? '')
  return html`<div class="diff mono" role="group" aria-label=${`Changes of ${diff.path}`}>
    ${
      named &&
      html`<div class="diff-name">
        <span class="cut">${shown(diff.path)}</span>
        ${fate(diff) && html`<span class="badge">${fate(diff)}</span>`}
        <${Stat} added=${diff.added} removed=${diff.removed} />
        ${tools}
      </div>`
    }
    ${drawn.map(
      (hunk, at) => html`
        <${Around} key=${`above ${at}`} of=${more} at=${at} path=${diff.path} />
        <${Hunk} key=${at} hunk=${hunk} path=${diff.path} remarks=${diff.remarks} above=${at === 0 && html`<${Above} of=${more} />`} ...${each(hunks[at], at)} />
      `,
    )}
    <${Around} of=${more} at=${hunks.length} path=${diff.path} />
    ${hunks.length === 0 && html`<p class="pad soft">${describeUnlined(diff.text ?? '')}</p>`}
    ${
      isCut &&
      html`<button class="link tiny pad" onClick=${() => setAll(true)}>Show all ${thousands(total)} lines</button>`
    }
    ${!isCut && cut && hunks.length > 0 && html`<p class="soft tiny pad">… ${shown(cut[1])}</p>`}
    ${!isCut && tail}
  </div>`
}
