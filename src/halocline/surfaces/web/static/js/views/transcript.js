// The transcript: grouped rows, redrawn only where one changed, scrolled to the end while you are there.
import { Component, html, useEffect, useLayoutEffect, useRef, useState } from '../ui.js'
import { visible } from '../rows.js'
import { on } from '../keys.js'
import { Card } from './cards.js'
import { compose, QuoteButton, quotation } from './quote.js'
import { Now } from './timeline.js'

const CHUNK = 40
const QUIET = new Set(['read', 'search'])

/** Adjacent rows as one item. The same rows keep the same object. */
const known = new WeakMap()
function together(type, rows) {
  const old = known.get(rows[0])
  const same =
    old && old.type === type && old.rows.length === rows.length && old.rows.every((row, at) => row === rows[at])
  if (same) return old
  const item = { type, rows }
  known.set(rows[0], item)
  return item
}

const quiet = (row) =>
  row.type === 'call_row' && QUIET.has(row.kind) && row.status === 'completed' && !row.approval && !row.lanes

/** An accepted to-do list has a row of its own. */
const isTold = (row) => row.type === 'call_row' && row.name === 'update_todos' && row.status === 'completed'

/** Groups read-only calls into one line, and likewise rows that a rewind left behind. */
export function grouped(all) {
  const items = []
  const rows = all.filter((row) => !isTold(row))
  for (let at = 0; at < rows.length;) {
    const sort = rows[at].left ? 'left_row' : quiet(rows[at]) ? 'group_row' : ''
    let end = at + 1
    while (sort && end < rows.length && (sort === 'left_row' ? rows[end].left : quiet(rows[end]) && !rows[end].left))
      end++
    if (end - at > 1) items.push(together(sort, rows.slice(at, end)))
    else items.push(rows[at])
    at = end
  }
  return items
}

class Chunk extends Component {
  shouldComponentUpdate({ items, task }) {
    const old = this.props.items
    return task !== this.props.task || items.length !== old.length || items.some((item, at) => item !== old[at])
  }
  render({ items, task, from }) {
    return html`<div class="chunk">
      ${items.map((row, at) => html`<${Card} key=${from + at} row=${row} task=${task} />`)}
    </div>`
  }
}

// Reading the selection forces layout, so it is read when it changes, not at each new line.
let selecting = false
document.addEventListener('selectionchange', () => (selecting = !(getSelection()?.isCollapsed ?? true)))

const SETTLES = 1500 // milliseconds in which a place is looked for again: rows get their heights once they are drawn
const OWN = ['wheel', 'touchstart', 'pointerdown', 'keydown']

/** The place in view: the first row, by number, and how far it is scrolled out. */
function placeIn(box) {
  const top = box.getBoundingClientRect().top
  const rows = [...box.querySelectorAll('.chunk > *')]
  const at = rows.findIndex((row) => row.getBoundingClientRect().bottom > top)
  return at < 0 ? null : { at, out: top - rows[at].getBoundingClientRect().top }
}

function showPlace(box, { at, out }) {
  const row = box.querySelectorAll('.chunk > *')[at]
  if (row) box.scrollTop += row.getBoundingClientRect().top - box.getBoundingClientRect().top + out
}

/** Keep the end in view while you are there; never move what you look at or select. Returning to a task shows the same
 *  place. */
function useFollowing(task, log, inside) {
  const [following, setFollowing] = useState(!task.leftAt)
  const state = useRef({ following: !task.leftAt, top: 0 })
  const follow = (yes) => {
    state.current.following = yes
    setFollowing(yes)
    if (yes && log.current) log.current.scrollTop = log.current.scrollHeight
  }
  useLayoutEffect(() => {
    const box = log.current
    let place = task.leftAt
    const found = () => (place = null)
    const timer = setTimeout(found, SETTLES)
    const settle = () => {
      if (place) showPlace(box, place)
      else if (state.current.following && !selecting) box.scrollTop = box.scrollHeight
    }
    const scrolled = () => {
      if (place) return void (state.current.top = box.scrollTop)
      const atEnd = box.scrollHeight - box.scrollTop - box.clientHeight < 24
      if (box.scrollTop < state.current.top - 2 && !atEnd) follow(false)
      else if (atEnd && !state.current.following) follow(true)
      state.current.top = box.scrollTop
    }
    const observer = new ResizeObserver(settle)
    observer.observe(inside.current)
    observer.observe(box)
    box.addEventListener('scroll', scrolled, { passive: true })
    for (const kind of OWN) box.addEventListener(kind, found, { passive: true })
    settle()
    return () => {
      clearTimeout(timer)
      task.leftAt = state.current.following ? null : (place ?? placeIn(box))
      observer.disconnect()
      box.removeEventListener('scroll', scrolled)
    }
  }, [])
  return [following, follow]
}

function step(box, selector, by) {
  const all = [...box.querySelectorAll(selector)]
  const at = all.indexOf(document.activeElement?.closest?.(selector))
  const next = all[at < 0 ? (by > 0 ? 0 : all.length - 1) : Math.min(all.length - 1, Math.max(0, at + by))]
  next?.focus({ preventScroll: true })
  next?.scrollIntoView({ block: 'nearest' })
}

/** `sent` grows with every prompt of this page, which scrolls to the end. */
export function Transcript({ task, sent }) {
  task.version.value
  const log = useRef()
  const inside = useRef()
  const [following, follow] = useFollowing(task, log, inside)
  useEffect(() => void (sent && follow(true)), [sent])
  const rows = visible(task.transcript)
  const seen = useRef(rows.length)
  if (following) seen.current = rows.length
  const items = [...grouped(rows), ...task.previews.values()]
  const chunks = []
  for (let from = 0; from < items.length; from += CHUNK) chunks.push([from, items.slice(from, from + CHUNK)])
  const pending = useRef('')
  useEffect(() => on('top', () => (log.current.scrollTop = 0)), [])
  function pressed(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest('input, textarea, select')) return
    const moves = {
      j: () => step(log.current, '[data-card]', 1),
      k: () => step(log.current, '[data-card]', -1),
      ArrowDown: () => event.target.matches('[data-card]') && step(log.current, '[data-card]', 1),
      ArrowUp: () => event.target.matches('[data-card]') && step(log.current, '[data-card]', -1),
      ']': () => step(log.current, '[data-prompt]', 1),
      '[': () => step(log.current, '[data-prompt]', -1),
      G: () => follow(true),
      c: () => !getSelection().isCollapsed && compose(quotation(getSelection().toString())),
      g: () => pending.current === 'g' && (log.current.scrollTop = 0),
    }
    const move = moves[event.key]
    const again = pending.current === 'g' && event.key === 'g'
    pending.current = event.key === 'g' && !again ? 'g' : ''
    if (move && move() !== false) event.preventDefault()
  }
  return html`<div class="log-box">
    <div
      class="log"
      ref=${log}
      role="log"
      aria-live="off"
      aria-label="Transcript"
      tabindex="0"
      onKeyDown=${pressed}
      data-seq=${task.seq}
      data-told=${task.ready.value ? 'yes' : 'no'}
    >
      <div class="log-inside" ref=${inside}>
        <h2 class="hidden-text">Transcript</h2>
        ${
          !task.ready.value &&
          items.length === 0 &&
          html`<div class="skeleton" aria-hidden="true"><i></i><i></i><i></i></div>`
        }
        ${chunks.map(([from, part]) => html`<${Chunk} key=${from} from=${from} items=${part} task=${task} />`)}
        <${Now} task=${task} />
      </div>
    </div>
    <${QuoteButton} log=${log} />
    ${
      !following &&
      html`<button class="button small to-end" onClick=${() => follow(true)}>
        ↓ ${rows.length > seen.current ? `${rows.length - seen.current} new` : 'Jump to end'}
      </button>`
    }
  </div>`
}
