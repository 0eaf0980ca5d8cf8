// The rows of a transcript in chunks, of which only those near what is in view are drawn. Gaps as high as the others
// stand for them, and rows that are far away are forgotten and asked for again. So a long task costs what is seen,
// however much of it was scrolled by. What a person has used stays, so that nothing opened or typed is lost.
import { Component, html, useEffect, useLayoutEffect, useState } from '../lib/ui.js'
import { Card } from './row-cards.js'
import { PAGE } from '../state/task.js'
import { CHUNK } from './grouped-rows.js'

const NEAR = 1600 // pixels around what is in view in which chunks are drawn
const FAR = 2400 // … beyond which they are not
const SOON = 6000 // … in which rows are asked for
const KEPT = 40 // chunks around what is drawn that are not forgotten
const AT_ONCE = 1 // chunks drawn in a frame, so that none is long
const ROWS = 2 // … and rows of them in a task
/** The height of a row that was never drawn. */
const GUESS = 72

/** What waits for the person, so it can be looked for in the page. */
const waits = ({ row }) =>
  (row.approval && !row.approval.decision && !row.status) || (row.type === 'question_row' && !row.by)

// Reading the selection forces layout, so it is read when it changes, not at each new line.
let selecting = false
document.addEventListener('selectionchange', () => (selecting = !(getSelection()?.isCollapsed ?? true)))
export const isSelecting = () => selecting

/** True where the browser keeps what is in view in its place when something above it changes. Safari does not. */
const KEEPS_PLACE = CSS.supports('overflow-anchor', 'auto')

/** The first row in view, if one is drawn there. */
export function rowInView(box) {
  const view = box.getBoundingClientRect()
  const isIn = (one) => {
    const { top, bottom } = one.getBoundingClientRect()
    return bottom > view.top && top < view.bottom
  }
  return [...([...box.querySelectorAll('.chunk')].find(isIn)?.children ?? [])].find(isIn)
}

const cardsOfPrompts = (box) => [...box.querySelectorAll(':scope > [data-prompt]')]

/** Which chunks of a task are drawn; `begin` is one that is from the first. */
export class Drawn {
  /** @param {number} [begin] */
  constructor(task, log, begin) {
    this.task = task
    this.log = log
    this.near = new Set(begin === undefined ? [] : [begin])
    this.used = new Set()
    /** The items of each chunk. */
    this.chunks = new Map()
    this.frame = 0
    this.tidied = 0
    this.kept = null
    this.redraw = () => {}
  }

  begin() {
    const log = this.log.current
    const look = () => this.look()
    const observer = new ResizeObserver(look)
    observer.observe(log)
    observer.observe(log.querySelector('.log-inside'))
    log.addEventListener('scroll', look, { passive: true })
    this.end = () => {
      cancelAnimationFrame(this.frame)
      observer.disconnect()
      log.removeEventListener('scroll', look)
    }
  }

  /** Look at what is in view with the next frame: layout is computed for it anyway. */
  look() {
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0
      if (this.log.current) this.arrange()
    })
  }

  /** All rows of a chunk are here. */
  isHere(number) {
    return this.task.has(number * CHUNK, (number + 1) * CHUNK)
  }

  height(number) {
    const items = this.chunks.get(number)
    if (!items && this.isHere(number)) return 0
    return this.task.heights[number] ?? (items?.length ?? CHUNK) * GUESS
  }

  draw(number) {
    this.near.add(number)
    this.changed()
  }

  changed() {
    const row = KEEPS_PLACE ? null : rowInView(this.log.current)
    this.kept = row && { row, top: row.getBoundingClientRect().top }
    this.redraw()
  }

  /** Put what was in view back to its place. */
  keepPlace() {
    if (this.kept?.row.isConnected)
      this.log.current.scrollTop += this.kept.row.getBoundingClientRect().top - this.kept.top
    this.kept = null
  }

  /** Where a chunk begins, drawn or not. */
  topOf(number) {
    for (const [other, top] of this.places()) if (other >= number) return top
    return 0
  }

  promptsIn(number) {
    return this.chunks.get(number)?.filter(({ row }) => row.type === 'prompt_row') ?? []
  }

  /** The row number of a prompt's card. */
  numberOf(card) {
    const { chunk } = card.parentElement.dataset
    return this.promptsIn(Number(chunk))[cardsOfPrompts(card.parentElement).indexOf(card)]?.at
  }

  /** The card of the prompt at a row number. */
  cardOf(at) {
    const number = Math.floor(at / CHUNK)
    const box = this.log.current.querySelector(`[data-chunk="${number}"]`)
    return box && cardsOfPrompts(box)[this.promptsIn(number).findIndex((one) => one.at === at)]
  }

  arrange() {
    const view = this.log.current.getBoundingClientRect()
    const wanted = [] // [distance, chunk, above what is in view]
    let changes = false
    for (const [number, top, bottom, box] of this.places()) {
      const distance = Math.max(0, view.top - bottom, top - view.bottom)
      if (box) {
        this.task.heights[number] = bottom - top
        if (distance >= FAR && !this.isUsed(number, box)) changes = this.near.delete(number) || changes
      }
      if (distance < SOON && bottom > top) wanted.push([distance, number, bottom <= view.top])
    }
    wanted.sort(([one], [other]) => one - other)
    const absent = wanted.find(([, number]) => !this.isHere(number))
    if (absent) this.ask(...absent)
    const next = wanted.filter(
      ([distance, number]) => distance < NEAR && this.chunks.has(number) && !this.near.has(number),
    )
    for (const [, number] of next.slice(0, AT_ONCE)) this.near.add(number)
    changes = this.tidy(wanted.map(([, number]) => number)) || next.length > 0 || changes
    if (changes) setTimeout(() => this.log.current && this.changed()) // in another task than layout and painting
  }

  /** [chunk, top, bottom, box] of all chunks; those within gaps have no box, and are as high as they were. */
  *places() {
    for (const box of this.log.current.querySelector('.log-inside').children) {
      const { chunk, gap } = box.dataset
      if (!chunk && !gap) continue
      const { top, bottom } = box.getBoundingClientRect()
      if (chunk) yield [Number(chunk), top, bottom, box]
      const [from, until] = gap?.split(' ').map(Number) ?? [0, 0]
      for (let number = from, y = top; number < until; number++) yield [number, y, (y += this.height(number)), null]
    }
  }

  /** Ask for the rows of a chunk and its neighbors in the direction in which it was found. */
  ask(distance, number, isAbove) {
    const page = number * CHUNK - (isAbove ? PAGE - CHUNK : distance ? 0 : PAGE / 2)
    this.task.askPage(page)
  }

  isUsed(number, box) {
    return this.used.has(number) || selecting || box?.contains(document.activeElement)
  }

  /** Forget the rows of chunks that are far from these. Returns whether there were any. */
  tidy(numbers) {
    const [first, last] = [Math.min(...numbers), Math.max(...numbers)]
    const isClose = Math.abs(first - this.tidied) < KEPT / 4
    if (!numbers.length || this.task.holders || selecting || isClose) return false
    this.tidied = first
    let dropped = false
    for (const [number, items] of this.chunks) {
      const isNear = number > first - KEPT && number < last + KEPT
      if (isNear || this.near.has(number) || this.used.has(number) || items.some(waits)) continue
      dropped = this.task.drop(items[0].begin, items.at(-1).end) || dropped
    }
    return dropped
  }
}

/** Its items from the last on, two more in each task, so that none is long. */
class Chunk extends Component {
  state = { count: KEEPS_PLACE ? ROWS : CHUNK }
  componentDidMount() {
    this.drawMore()
  }
  componentDidUpdate() {
    this.drawMore()
  }
  componentWillUnmount() {
    clearTimeout(this.timer)
  }
  drawMore() {
    clearTimeout(this.timer)
    if (this.state.count < this.props.items.length)
      this.timer = setTimeout(() => this.setState(({ count }) => ({ count: count + ROWS })))
  }
  shouldComponentUpdate({ items, task, all }, { count }) {
    const old = this.props.items
    return (
      task !== this.props.task ||
      all !== this.props.all ||
      count !== this.state.count ||
      items.length !== old.length ||
      items.some(({ at, row }, n) => row !== old[n].row || at !== old[n].at)
    )
  }
  render({ number, items, task, drawn, all }, { count }) {
    const use = () => drawn.used.add(number)
    return html`<div class="chunk" data-chunk=${number} onClick=${use} onInput=${use}>
      ${items.slice(all ? 0 : -count).map(({ at, row }) => html`<${Card} key=${at} row=${row} task=${task} />`)}
    </div>`
  }
}

const Gap = ({ from, until, height }) =>
  height > 0 && html`<div class="gap" data-gap=${`${from} ${until}`} style=${`height: ${height}px`}></div>`

/** All chunks; `all` draws each of them. */
export function Chunks({ chunks, task, drawn, all }) {
  const [, again] = useState(0)
  useEffect(() => {
    drawn.redraw = () => again((n) => n + 1)
    drawn.begin()
    return () => drawn.end()
  }, [])
  useEffect(() => drawn.look())
  useLayoutEffect(() => drawn.keepPlace())
  drawn.chunks = chunks
  const count = Math.ceil(task.rows.length / CHUNK)
  const parts = []
  let from = 0
  let height = 0
  const gap = (until) => parts.push(html`<${Gap} key=${`gap ${from}`} from=${from} until=${until} height=${height} />`)
  const last = [...chunks.keys()].at(-1)
  for (let number = 0; number < count; number++) {
    const items = chunks.get(number)
    if (items && (all || number === last || drawn.near.has(number) || items.some(waits))) {
      if (all) drawn.near.add(number)
      gap(number)
      parts.push(
        html`<${Chunk} key=${number} number=${number} items=${items} task=${task} drawn=${drawn} all=${all} />`,
      )
      from = number + 1
      height = 0
    } else height += drawn.height(number)
  }
  gap(count)
  return parts
}
