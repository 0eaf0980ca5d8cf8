// A task in this page: the state folded from its events, and a signal to redraw.
import { signal } from './ui.js'
import { facts, learn } from './facts.js'
import { board, query, send, unwatch, watch } from './line.js'
import { fold, forgetTransient, transcript } from './rows.js'
/** @import { AnyCommand, AssistantMessageCompleted, ToolCall } from '../../types/protocol' */

const DOUBT = 1500 // milliseconds in which a task run by another process is joined
const HIDDEN_EVERY = 250

/** The rewinds in force: those that a later rewind skipped do not count. Pure. */
function gaps(restores) {
  const found = []
  let at = Infinity
  for (const one of [...restores].reverse())
    if (one.seq <= at) {
      found.push(one)
      at = one.to
    }
  return found
}

export class Task {
  constructor(id) {
    this.id = id
    this.seq = 0
    this.transcript = transcript()
    this.facts = facts()
    /** Grows with every batch of events; views that read it redraw. */
    this.version = signal(0)
    /** True once the history has arrived. */
    this.ready = signal(false)
    this.refused = signal(null)
    this.previews = new Map() // call → {type: 'preview_row', preview}: a call being written
    this.pages = new Map() // call → the console output of a browser page, which rows do not hold
    /** Extras of rows: a prompt's parts, a turn's changes, a compaction's summary. */
    this.about = new WeakMap()
    /** Calls whose arguments (call → event) or output (call → characters) arrived without their middle. */
    this.cutArguments = new Map()
    this.cutOutputs = new Map()
    this.arguments = new Map()
    this.born = new WeakMap()
    this.calls = new Map()
    this.restores = [] // {seq, to}: rewinds of the conversation
    this.timer = 0
    /** Where its transcript was scrolled to when it was left; null at the end. */
    this.leftAt = null
  }

  watch() {
    watch(this.id, this)
  }

  leave() {
    unwatch(this.id)
  }

  after() {
    return this.seq
  }

  refuse(refusal) {
    this.refused.value = refusal
  }

  take({ fresh, live, events }) {
    if (fresh) forgetTransient(this.transcript)
    for (const event of events) {
      if (event.seq) {
        if (event.seq <= this.seq) continue
        if (event.seq !== this.seq + 1) return this.watch() // a gap: watch again from here
        this.seq = event.seq
      }
      const before = this.transcript.rows.length
      fold(this.transcript, event)
      learn(this.facts, event)
      this.note(event, before)
    }
    if (live && !this.ready.value) {
      this.ready.value = true
      this.stands(board.value[this.id])
    }
    if (this.ready.value) this.changed() // the history is drawn once, when all of it has arrived
  }

  /** Keep the extras of an event, which added the rows from `before` on. */
  note(event, before) {
    const row = this.transcript.rows[before]
    switch (event.type) {
      case 'edit_previewed':
        this.previews.set(event.call, { type: 'preview_row', preview: event })
        break
      case 'assistant_message_completed':
        this.previews.clear()
        for (const part of event.message.content ?? [])
          if (part.type === 'tool_call') this.calls.set(part.id, event.seq)
        if (event.cut) this.noteCut(event)
        break
      case 'step_started':
      case 'step_retried':
      case 'turn_ended':
        this.previews.clear()
        break
      case 'tool_call_ended':
        if (event.cut) this.cutOutputs.set(event.call, event.cut)
        if (event.name === 'browser_action') this.pages.set(event.call, event.result.content?.[1]?.text ?? '')
    }
    if (event.type === 'conversation_restored') this.leaveBehind(event)
    if (!row) return
    for (const one of this.transcript.rows.slice(before)) this.born.set(one, event.seq)
    if (row.type === 'prompt_row') this.about.set(row, { content: event.content ?? [], at: event.at })
    else if (row.type === 'checkpoint_row' || row.type === 'start_row' || row.type === 'restored_row')
      this.about.set(row, { seq: event.seq, at: event.at })
    else if (row.type === 'compaction_row')
      this.about.set(row, { summary: event.summary ?? '', focus: event.focus ?? '' })
    else if (row.type === 'retry_row') this.about.set(row, { until: Date.now() + event.wait * 1000 })
    else if (event.type === 'turn_ended')
      this.about.set(this.transcript.rows.at(-1), {
        ...this.facts.turns.at(-1),
        seq: event.seq,
        at: event.at,
        error: this.facts.error,
      })
  }

  /** Mark the rows that the model no longer sees after a rewind, and unmark the others. */
  leaveBehind({ seq, to }) {
    this.restores.push({ seq, to })
    this.restoreBoth(seq)
    const gone = gaps(this.restores)
    const { rows } = this.transcript
    let born = 0 // a replaced row, or one that is not in the log, goes with the one before it
    rows.forEach((row, at) => {
      born = this.bornOf(row) || born
      const left = row.type !== 'restored_row' && gone.some((gap) => born > gap.to && born < gap.seq)
      if (Boolean(row.left) === left) return
      rows[at] = { ...row, left }
      this.born.set(rows[at], born)
      if (this.about.has(row)) this.about.set(rows[at], this.about.get(row))
    })
  }

  /** If files were restored by the event before, they and the conversation went back together: one undo is for both. */
  restoreBoth(seq) {
    const { rows } = this.transcript
    const at = rows.findLastIndex((row) => row.type === 'restored_row')
    const about = this.about.get(rows[at])
    if (about?.seq !== seq - 1) return
    rows[at] = { ...rows[at] }
    this.about.set(rows[at], { ...about, both: true })
    this.born.set(rows[at], about.seq)
  }

  /** The event that a row came with. Calls are found by id, as their rows are replaced. */
  bornOf(row) {
    return (row.type === 'call_row' ? this.calls.get(row.call) : this.born.get(row)) ?? 0
  }

  /** True if a call stopped without an end, because its turn was cut off. */
  isCutOff(row) {
    if (row.type !== 'call_row' || row.status) return false
    if (row.own) return this.ready.value && !board.peek()[this.id]
    return !this.facts.running || this.calls.get(row.call) < this.facts.turns.at(-1)?.seq
  }

  /** Remember a reply that was too long to be sent whole. */
  noteCut(event) {
    for (const part of event.message.content ?? [])
      if (part.type === 'tool_call') this.cutArguments.set(part.id, event.seq)
    for (const row of this.transcript.rows.slice(-20))
      if (row.type === 'reply_row' && !this.about.has(row)) this.about.set(row, { cut: event.seq })
  }

  /** A call's row with its full arguments; with none while they are loading. */
  whole(row) {
    const seq = this.cutArguments.get(row.call)
    if (!seq) return row
    if (!this.arguments.has(row.call)) {
      this.arguments.set(row.call, {})
      query('event', { task: this.id, seq }).then(
        (event) => {
          const { message } = /** @type {AssistantMessageCompleted} */ (event)
          const call = message.content.find((part) => part.type === 'tool_call' && part.id === row.call)
          this.arguments.set(row.call, /** @type {ToolCall} */ (call)?.arguments ?? {})
          this.changed()
        },
        () => this.arguments.delete(row.call),
      )
    }
    return { ...row, arguments: this.arguments.get(row.call) }
  }

  /** Update from the server's state (`asks`, `runs`, `rests`; undefined: not open, so no turn is running). */
  stands(how) {
    clearTimeout(this.doubt)
    const f = this.facts
    if (how && how !== 'rests' && f.cutOff) {
      Object.assign(f, { cutOff: false, running: true })
      this.changed()
    } else if (!how && f.running && this.ready.value) {
      this.doubt = setTimeout(() => {
        if (!f.running) return
        Object.assign(f, { cutOff: true, running: false })
        this.changed()
      }, DOUBT)
    }
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
