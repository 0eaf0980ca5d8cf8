// A task in this page: its rows and facts, as the server sends them, and a signal to redraw. The server folds; the page
// only puts each row in its place.
import { signal } from '../lib/ui.js'
import { knownCost, money } from '../lib/format.js'
import { board, query, send, showRows, unwatch, watch } from '../lib/connection.js'
/** @import { AnyCommand, CallRow, Grown, RowUpsert, TaskChanged, TaskFacts } from '../../../types/protocol' */

const DOUBT = 1500 // milliseconds in which a task run by another process is joined
const HIDDEN_EVERY = 250
/** Rows to ask for at a time; as many are kept at the end. */
export const PAGE = 200

/**
 * What is known before the server has said anything.
 * @returns {TaskFacts & { cutOff: boolean }}
 */
const noFacts = () => ({
  cutOff: false, // its process ended in the middle of a turn
  seq: 0,
  title: '',
  name: '',
  parent: '',
  workspace: '',
  model: '',
  mode: 'act',
  approvals: 'ask',
  switches: {},
  unasked: {},
  usage: {},
  cost: 0,
  spent: 0,
  context: 0,
  window: 0,
  roots: [],
  todos: [],
  waiting: [],
  queue: [],
  decided: [],
  prompts: [],
  turns: [],
  checkpoints: [],
  rewinds: [],
  changed: [],
  jobs: [],
  left: [],
})

/** True if a turn takes steering: it runs, or it is a sub-agent's only one, which may be about to start. */
export const takesSteering = (f) => f.running || Boolean(f.parent && !f.last)

/** What a task has cost, at least; its first turn has no tokens while it runs. */
export const describeCost = (f) =>
  f.cost == null && f.spent
    ? `at least ${money(f.spent)}`
    : money(
        knownCost({
          cost: f.cost,
          tokens: Object.values(f.usage).some(Boolean),
          steps: f.running ? 0 : f.turns.length,
        }),
      )

/** The time at which something that was just sent will have waited so many seconds. */
const addDeadline = (one) => one && { ...one, until: Date.now() + one.wait * 1000 }

export class Task {
  constructor(id) {
    this.id = id
    /** The rows; undefined where they are not here. A row is replaced, never changed, so a view redraws by identity. */
    this.rows = []
    this.facts = noFacts()
    /** Grows with every change; views that read it redraw. */
    this.version = signal(0)
    /** True once the last rows have arrived. */
    this.ready = signal(false)
    this.refused = signal(null)
    this.view = ''
    this.revision = 0
    /** @type {[number, number] | null} The rows that were asked for and are not all here. */
    this.asked = null
    this.waits = []
    /** How many views need all rows. */
    this.holders = 0
    this.runs = false
    this.isCut = false
    this.wholes = new Map() // call → all of its arguments
    this.timer = 0
    /** Where its transcript was scrolled to when it was left; null at the end. */
    this.leftAt = null
    /** Heights of its chunks of rows, as they were last drawn. */
    this.heights = []
  }

  /** The key of what the page keeps about a request, or anything else that is named only in its task. */
  keyOf(name) {
    return `${this.id}/${name}`
  }

  /** The newest event that the page knows of. */
  get seq() {
    return this.facts.seq
  }

  watch() {
    watch(this.id, this)
  }

  leave() {
    unwatch(this.id)
  }

  /** What the server need not send again; what was asked for is asked for again. */
  known() {
    queueMicrotask(() => this.asked && this.ask(...this.asked))
    return this.view ? { view: this.view, revision: this.revision } : {}
  }

  refuse(refusal) {
    this.refused.value = refusal
  }

  /** @param {TaskChanged} frame */
  take({ view, revision, count, is_new: isNew, rows = [], grown = [], facts = {}, lists = {} }) {
    if (isNew) this.rows = []
    Object.assign(this, { view, revision })
    while (this.rows.length < count) this.rows.push(undefined)
    this.rows.length = count
    for (const one of rows) this.put(one)
    for (const one of grown) this.grow(one)
    this.learn(facts, lists)
    if (rows.length || lists.left) this.markLeft()
    this.look()
    if (!this.ready.value) {
      this.ready.value = true
      this.stands(board.value[this.id])
    }
    this.changed()
  }

  /** More of the last row. @param {Grown} frame */
  extend({ revision, text }) {
    if (revision !== this.revision + 1) return
    this.revision = revision
    this.grow({ at: this.rows.length - 1, field: 'text', text })
    this.changed()
  }

  /** @param {RowUpsert} one */
  put({ at, row, cut, seq, nth = 0 }) {
    const more = cut ? { cut, origin: { seq, nth } } : {}
    this.rows[at] = { ...(row.type === 'retry_row' ? addDeadline(row) : row), ...more }
  }

  grow({ at, field, text, keep = 0 }) {
    const row = this.rows[at]
    if (row) this.rows[at] = { ...row, [field]: ((row[field] ?? '') + text).slice(-keep) }
  }

  learn(facts, lists) {
    const f = this.facts
    if (facts.begun !== undefined && facts.begun !== f.begun) this.isCut = false
    Object.assign(f, facts)
    if (facts.retry) f.retry = addDeadline(facts.retry)
    for (const [name, { keep, items }] of Object.entries(lists)) f[name] = [...f[name].slice(0, keep), ...items]
    if (facts.running !== undefined) this.runs = facts.running
    this.settleRunning()
  }

  settleRunning() {
    Object.assign(this.facts, { running: this.runs && !this.isCut, cutOff: this.runs && this.isCut })
  }

  /** Mark the rows that rewinds left behind. */
  markLeft() {
    const isLeft = (number) => this.facts.left.some(([from, to]) => number >= from && number < to)
    this.rows.forEach((row, number) => {
      const left = isLeft(number)
      if (row && Boolean(row.left) !== left) this.rows[number] = { ...row, left }
    })
  }

  /** True if all of these rows are here. */
  has(first, until) {
    for (let number = Math.max(0, first); number < Math.min(until, this.rows.length); number++)
      if (!this.rows[number]) return false
    return true
  }

  /** Ask for rows, instead of others that are on their way. */
  ask(first, until) {
    this.asked = [first, until]
    showRows(this.id, first, until)
  }

  /** Ask for a page of rows from about number `first` on, unless others are on their way. */
  askPage(first) {
    if (this.asked) return
    const begin = Math.max(0, Math.min(first, this.rows.length - PAGE))
    this.ask(begin, Math.min(this.rows.length, begin + PAGE))
  }

  /** See whether what was asked for is here. */
  look() {
    if (!this.asked || !this.has(...this.asked)) return
    this.asked = null
    this.waits.splice(0).forEach((go) => go())
  }

  /** Resolves once the rows that are on their way are here. */
  settled() {
    return this.asked ? new Promise((resolve) => this.waits.push(() => resolve(undefined))) : Promise.resolve()
  }

  /** Get all rows, and keep them until what is returned is called. */
  holdAll() {
    this.holders++
    if (!this.has(0, Infinity)) this.ask(0, this.rows.length)
    return () => void this.holders--
  }

  /** Forget rows, which can be asked for again; not the last ones, and none that is asked for. Returns whether it did. */
  drop(first, until) {
    const [begin, end] = this.asked ?? [0, 0]
    if (until > this.rows.length - PAGE || (first < end && until > begin)) return false
    for (let number = first; number < until; number++) {
      this.wholes.delete(this.rows[number]?.call)
      this.rows[number] = undefined
    }
    return true
  }

  /** The last row for which `test` is true, of those that are here. */
  findLast(test) {
    return this.rows.findLast((row) => row && test(row))
  }

  /** The latest row of a tool call. */
  call(id) {
    return this.findLast((row) => row.type === 'call_row' && row.call === id)
  }

  /** True if a call stopped without an end, because its turn was cut off. */
  isCutOff(row) {
    if (row.type !== 'call_row' || row.status) return false
    if (row.own) return this.ready.value && !board.peek()[this.id]
    return !this.facts.running || row.seq < this.facts.turns.at(-1)?.seq
  }

  /** All of a row that was sent without the middle of its texts. */
  fetchWhole({ call, origin }) {
    return query('row', { task: this.id, ...(call ? { call } : origin) })
  }

  /** A call's row with its full arguments; with none while they are loading. */
  whole(row) {
    if (!row.cut?.includes('arguments')) return row
    if (!this.wholes.has(row.call)) {
      this.wholes.set(row.call, {})
      this.fetchWhole(row).then(
        (whole) => {
          this.wholes.set(row.call, /** @type {CallRow} */ (whole).arguments ?? {})
          this.changed()
        },
        () => this.wholes.delete(row.call),
      )
    }
    return { ...row, arguments: this.wholes.get(row.call) }
  }

  /** Update from the server's state (`asks`, `runs`, `rests`; undefined: not open, so no turn is running). */
  stands(how) {
    clearTimeout(this.doubt)
    const cut = (is) => {
      this.isCut = is
      this.settleRunning()
      this.changed()
    }
    if (how && how !== 'rests' && this.isCut) cut(false)
    else if (!how && this.facts.running && this.ready.value)
      this.doubt = setTimeout(() => this.facts.running && cut(true), DOUBT)
  }

  /** Redraw: at once, or a few times a second while the page is hidden. */
  changed() {
    if (!document.hidden) {
      clearTimeout(this.timer)
      this.timer = 0
      this.version.value++
    } else this.timer ||= setTimeout(() => ((this.timer = 0), this.version.value++), HIDDEN_EVERY)
  }

  /**
   * Send a command to this task. Resolves to false if it came too late. An interrupt is of the turn that runs here now.
   * @template {AnyCommand['type']} N
   * @param {N} type
   * @param {Omit<Extract<AnyCommand, { type: N }>, 'type' | 'task'> & { task?: string }} [command]
   */
  send(type, command) {
    const turn = type === 'interrupt' && !command?.task ? this.facts.turns.at(-1) : null
    const own = turn && !turn.end ? { turn: turn.seq } : {}
    return send(type, /** @type {any} */ ({ task: this.id, ...own, ...command }))
  }
}
