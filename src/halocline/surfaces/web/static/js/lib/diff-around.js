// The lines of a file around the hunks of its diff, read when a person asks for them.
import { html, useState } from './ui.js'
import { count } from './format.js'
import { Lines } from './diff-lines.js'
/** @import { FileLines } from '../../../types/protocol' */
/**
 * Reads lines of the file: of the text before the change (`old`) or after it (`new`), whose numbers they have.
 * `open` shows the file elsewhere.
 * @typedef {{ side: 'old' | 'new', read: (first: number, last: number) => Promise<FileLines>, open?: () => void }} Source
 */

const STEP = 20
const FEW = 40
const MOST = 2000
const CONTEXT = 3 // lines that a diff has below its last change, unless the file ends before

/** The first and the last line of a hunk on one side; an empty one ends before it begins. */
function rangeOf(hunk, side) {
  const [start, lines] = side === 'old' ? [hunk.oldStart, hunk.oldCount] : [hunk.newStart, hunk.newCount]
  const first = lines ? start : start + 1
  return [first, first + lines - 1]
}

/** How many lines the file has, if its last hunk reaches the end. Pure. */
function totalOf(hunk, side) {
  const below = hunk.lines.length - 1 - hunk.lines.findLastIndex((line) => line.sign !== ' ')
  return hunk.whole && below < CONTEXT ? rangeOf(hunk, side)[1] : Infinity
}

/** The lines between hunks: {first, last, shift}; `shift` is what their new numbers are higher by. Pure. */
export function gapsOf(hunks, side, total = totalOf(hunks.at(-1), side)) {
  let first = 1
  let shift = 0
  const gaps = hunks.map((hunk) => {
    const [begin, end] = rangeOf(hunk, side)
    const gap = { first, last: begin - 1, shift: rangeOf(hunk, 'new')[0] - rangeOf(hunk, 'old')[0] }
    first = end + 1
    shift = rangeOf(hunk, 'new')[1] - rangeOf(hunk, 'old')[1]
    return gap
  })
  return [...gaps, { first, last: total, shift }]
}

/** What was read so far of the lines around, and how to read more. Null without a `source`. */
export function useAround(hunks, source) {
  const [known, setKnown] = useState({ lines: new Map(), total: undefined, error: '', isRedacted: false })
  if (!source || !hunks.length) return null
  const read = (first, last) =>
    source.read(first, Math.min(last, first + MOST - 1)).then(
      (found) =>
        setKnown((old) => {
          const lines = new Map(old.lines)
          if (found.first === first) found.lines.forEach((text, at) => lines.set(first + at, text))
          return { lines, total: found.total, error: '', isRedacted: old.isRedacted || found.redacted }
        }),
      (error) => setKnown((old) => ({ ...old, error: [error.text ?? error.message, error.hint].join(' ').trim() })),
    )
  return { ...known, source, gaps: gapsOf(hunks, source.side, known.total), read, ends: hunks.length }
}

/** The runs of a gap: lines that are known, and holes, each as [first, last, is known]. Pure. */
export function runsOf({ first, last }, known) {
  const runs = []
  const numbers = [...known.keys()].filter((number) => number >= first && number <= last).sort((a, b) => a - b)
  let next = first
  for (const number of numbers) {
    if (number > next) runs.push([next, number - 1, false])
    const run = runs.at(-1)
    if (run?.[2] && run[1] === number - 1) run[1] = number
    else runs.push([number, number, true])
    next = number + 1
  }
  if (next <= last) runs.push([next, last, false])
  return runs
}

function Known({ first, last, gap, of, path }) {
  const lines = []
  for (let number = first; number <= last; number++) {
    const old = of.source.side === 'old' ? number : number - gap.shift
    lines.push({ sign: ' ', text: of.lines.get(number), old, new: old + gap.shift })
  }
  return html`<div class="around hunk-lines"><${Lines} lines=${lines} path=${path} /></div>`
}

/** Buttons that read a part of a hole: below what stands above it, above what stands below it, or all of it. */
function Hole({ first, last, of, isFirst, isLast }) {
  const size = last - first + 1
  const button = (text, from, to) => html`<button class="link" onClick=${() => of.read(from, to)}>${text}</button>`
  if (size <= FEW) return button(`Show ${count(size, 'line')}`, first, last)
  return html`
    ${!isFirst && button(last < Infinity ? `↓ ${STEP} more lines` : '↓ More lines', first, first + STEP - 1)}
    ${!isLast && button(`↑ ${STEP} more lines`, last - STEP + 1, last)}
    ${size <= MOST && button(`All ${count(size, 'line')}`, first, last)}
  `
}

/** What reads lines above the first hunk, for its head, while none is read. */
export function Above({ of }) {
  const runs = of ? runsOf(of.gaps[0], of.lines) : []
  if (runs.length !== 1 || runs[0][2]) return null
  const [first, last] = runs[0]
  return html`<span class="above"><${Hole} first=${first} last=${last} of=${of} isFirst isLast=${false} /></span>`
}

/** What is between the hunk before number `at` and that one; lines above the first once some are read. */
export function Around({ of, at, path }) {
  if (!of) return null
  const gap = of.gaps[at]
  const runs = runsOf(gap, of.lines)
  const isEnd = at === of.ends
  if (at === 0 && runs.length === 1 && !runs[0][2]) return null
  const [first, last] = isEnd && runs.at(-1)?.[2] === false ? runs.pop() : []
  return html`
    ${runs.map(([first, last, isKnown], n) =>
      isKnown
        ? html`<${Known} key=${first} first=${first} last=${last} gap=${gap} of=${of} path=${path} />`
        : html`<div key=${first} class="gap">
            <${Hole}
              first=${first}
              last=${last}
              of=${of}
              isFirst=${at === 0 && n === 0}
              isLast=${false}
            />
          </div>`,
    )}
    ${
      isEnd &&
      html`<div class="gap">
        ${first && html`<${Hole} first=${first} last=${last} of=${of} isFirst=${false} isLast />`}
        <button class="link" onClick=${() => of.read(1, MOST)}>Whole file</button>
        ${of.source.open && html`<button class="link" onClick=${of.source.open}>Open file</button>`}
        ${of.isRedacted && html`<span>Keys in these lines are hidden.</span>`}
        ${of.error && html`<span class="bad" role="alert">${of.error}</span>`}
      </div>`
    }
  `
}
