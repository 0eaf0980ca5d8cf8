// The transcript: grouped rows, redrawn only where one changed, scrolled to the end while you are there.
import { html, useEffect, useLayoutEffect, useMemo, useRef, useState } from '../lib/ui.js'
import { finding } from '../state/store.js'
import { on } from '../state/shortcut-keys.js'
import { Chunks, Drawn, isSelecting, rowInView } from './chunks.js'
import { CHUNK, groupRows, inChunks } from './grouped-rows.js'
import { PAGE } from '../state/task.js'
import { compose, QuoteButton, formatQuote } from '../composer/quote.js'
import { Now } from './checkpoints.js'

const SETTLES = 1500 // milliseconds in which a place is looked for again: rows get their heights once they are drawn
const OWN = ['wheel', 'touchstart', 'pointerdown', 'keydown']

/** The place in view: the first row, by its chunk and place there, and how far it is scrolled out. */
function placeIn(box) {
  const row = rowInView(box)
  if (!row) return null
  const { parentElement: chunk } = row
  const out = box.getBoundingClientRect().top - row.getBoundingClientRect().top
  return { chunk: Number(chunk.dataset.chunk), nth: [...chunk.children].indexOf(row), out }
}

/** Scroll to a place; to where its chunk will be, if that is not drawn. */
function showPlace(box, drawn, { chunk, nth, out }) {
  const row = box.querySelector(`[data-chunk="${chunk}"]`)?.children[nth]
  const top = row ? row.getBoundingClientRect().top + out : drawn.topOf(chunk)
  box.scrollTop += top - box.getBoundingClientRect().top
}

/** Where a card of several edits begins, if it is higher than the box: it is read from there, not from its end. */
function findStartOf(box, card) {
  const top = card && card.offsetHeight > box.clientHeight ? card.getBoundingClientRect().top : null
  return top === null ? null : box.scrollTop + top - box.getBoundingClientRect().top
}

const isAtEnd = (box) => box.scrollHeight - box.scrollTop - box.clientHeight < 24

/** Keep the end in view while you are there; never move what you look at or select. Returning to a task shows the same
 *  place. */
function useFollowing(task, log, inside, drawn) {
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
    let read = null // the card that was scrolled by hand
    const cardOf = () => box.querySelector('.card.asks:has(.edits-ahead)')
    const forgetPlace = () => ((place = null), (read = cardOf()))
    const timer = setTimeout(() => (place = null), SETTLES)
    const settle = () => {
      if (place) showPlace(box, drawn, place)
      else if (state.current.following && !isSelecting()) {
        const card = cardOf()
        const start = card === read ? null : findStartOf(box, card)
        box.scrollTop = start ?? box.scrollHeight
        if (start !== null) state.current.top = box.scrollTop
      } else if (!state.current.following && isAtEnd(box)) follow(true) // rows went: there is nothing to jump to
    }
    const handleScroll = () => {
      if (place) return void (state.current.top = box.scrollTop)
      const atEnd = isAtEnd(box)
      if (box.scrollTop < state.current.top - 2 && !atEnd) follow(false)
      else if (atEnd && !state.current.following) follow(true)
      state.current.top = box.scrollTop
    }
    const observer = new ResizeObserver(settle)
    observer.observe(inside.current)
    observer.observe(box)
    box.addEventListener('scroll', handleScroll, { passive: true })
    for (const kind of OWN) box.addEventListener(kind, forgetPlace, { passive: true })
    settle()
    return () => {
      clearTimeout(timer)
      task.leftAt = state.current.following ? null : (place ?? placeIn(box))
      observer.disconnect()
      box.removeEventListener('scroll', handleScroll)
    }
  }, [])
  return [following, follow]
}

/** The number of the next prompt before or after a row; of the last row that is here, if others come first. */
function findPrompt(rows, from, by) {
  let at = from + by
  while (rows[at] && (rows[at].type !== 'prompt_row' || rows[at].left)) at += by
  return at
}

/** Move the focus to a prompt before or after, which may be far away. */
async function stepPrompt(task, drawn, by) {
  const here = document.activeElement?.closest?.('.chunk > [data-prompt]')
  const from = here ? drawn.numberOf(here) : by > 0 ? -1 : task.rows.length
  let at = findPrompt(task.rows, from, by)
  while (at >= 0 && at < task.rows.length && !task.rows[at]) {
    task.askPage(by > 0 ? at : at + 1 - PAGE)
    await task.settled()
    at = findPrompt(task.rows, from, by)
  }
  if (!task.rows[at]) return
  drawn.draw(Math.floor(at / CHUNK))
  requestAnimationFrame(() => {
    const prompt = drawn.cardOf(at)
    prompt?.focus({ preventScroll: true })
    prompt?.scrollIntoView({ block: 'nearest' })
  })
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
  const drawn = useMemo(() => new Drawn(task, log, task.leftAt?.chunk), [])
  const [following, follow] = useFollowing(task, log, inside, drawn)
  useEffect(() => void (sent && follow(true)), [sent])
  const rows = task.rows.length
  const seen = useRef(rows)
  if (following) seen.current = rows
  const chunks = inChunks(groupRows(task.rows))
  const pending = useRef('')
  const toTop = () => (log.current.scrollTop = 0)
  useEffect(() => on('top', toTop), [task])
  function handleKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest('input, textarea, select')) return
    const moves = {
      j: () => step(log.current, '[data-card]', 1),
      k: () => step(log.current, '[data-card]', -1),
      ArrowDown: () => event.target.matches('[data-card]') && step(log.current, '[data-card]', 1),
      ArrowUp: () => event.target.matches('[data-card]') && step(log.current, '[data-card]', -1),
      ']': () => stepPrompt(task, drawn, 1),
      '[': () => stepPrompt(task, drawn, -1),
      G: () => follow(true),
      c: () => !getSelection().isCollapsed && compose(formatQuote(getSelection().toString())),
      g: () => pending.current === 'g' && toTop(),
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
      onKeyDown=${handleKey}
      data-seq=${task.seq}
      data-following=${following ? 'yes' : 'no'}
      data-told=${task.ready.value ? 'yes' : 'no'}
    >
      <div class="log-inside" ref=${inside}>
        <h2 class="hidden-text">Transcript</h2>
        ${
          !task.ready.value &&
          chunks.size === 0 &&
          html`<div class="skeleton" aria-hidden="true"><i></i><i></i><i></i></div>`
        }
        <${Chunks} chunks=${chunks} task=${task} drawn=${drawn} all=${finding.value} />
        <${Now} task=${task} />
      </div>
    </div>
    <${QuoteButton} log=${log} />
    ${
      !following &&
      html`<button class="button small to-end" onClick=${() => follow(true)}>
        ↓ ${rows > seen.current ? `${rows - seen.current} new` : 'Jump to end'}
      </button>`
    }
  </div>`
}
