// Folds events into transcript rows exactly like surfaces/rows.py: same events, same rows. Rows are replaced, never
// changed, so a view redraws by identity. The list itself is changed in place, as copying it for each word of a reply
// would cost more with every row. Fields with default values are omitted, as the server omits them from events.

import { thousands } from './format.js'
/** @import { EventHandlers, LogRepaired, Row } from '../../types/protocol' */

const LIVE_OUTPUT = 16384
const SANDBOXED =
  'Commands run in a sandbox: they can write only to the workspace and /tmp, and cannot use the network unless the ' +
  'settings allow it. To disable it, set sandbox = "off".'
const LONG_HOOK = 1
const SEPARATOR = '__' // in the names of MCP servers' tools
const MOST_NAMES = 20 // as protocol/state/file_knowledge.py
const SPOKEN_ALONG = ['workflow', 'command', 'skill', 'mcp_prompt']

export const transcript = () => ({ rows: [], draft: [], mode: 'act', todos: [], turn: totals(0) })

const totals = (at) => ({ at, steps: 0, usage: {}, cost: 0, planned: false })

/** Apply an event; returns the same object. */
export function fold(t, event) {
  FOLDS[event.type]?.(t, event)
  return t
}

/** Events that produce rows. */
export const folded = () => Object.keys(FOLDS)

/** All rows, with those being written at the end. */
export const visible = (t) => (t.draft.length ? [...t.rows, ...t.draft] : t.rows)

/** Drop what is not in the log and is about to be sent again. */
export function forgetTransient(t) {
  t.draft = []
  if (t.rows.at(-1)?.type === 'retry_row') t.rows.pop()
  for (let at = t.rows.length - 1, now = true; at >= 0; at--) {
    const row = t.rows[at]
    now &&= row.type !== 'turn_end_row' // your own commands outlive turns
    if (row.type === 'call_row' && !row.status && row.output && (now || row.own)) t.rows[at] = { ...row, output: '' }
  }
}

function isSettled(row) {
  if (row.type === 'call_row') return Boolean(row.status)
  if (row.type === 'question_row') return Boolean(row.by)
  return !row.draft
}

/** @param {LogRepaired} event */
function describeRepair({ bytes_cut: cut, put_aside: aside }) {
  if (!aside) return `The log was repaired after a crash: ${cut} bytes removed.`
  return `The log was damaged: its last ${cut} bytes were removed. The original is in ${aside}`
}

/** @type {(t: any, ...rows: Row[]) => void} */
const add = (t, ...rows) => t.rows.push(...rows)
/** @returns {Row} */
const notice = (text) => ({ type: 'notice_row', text })

function change(t, call, how) {
  for (let at = t.rows.length - 1; at >= 0; at--) {
    const row = t.rows[at]
    if (row.type === 'call_row' && row.call === call) {
      t.rows[at] = how(row)
      return
    }
  }
}

function changeLane(t, { call, child }, how) {
  const lanes = (row) => row.lanes?.map((lane) => (lane.child === child ? { ...lane, ...how(lane) } : lane))
  change(t, call, (row) => ({ ...row, lanes: lanes(row) }))
}

/** The latest row of a tool call. */
export const callRow = (t, call) => t.rows.findLast((row) => row.type === 'call_row' && row.call === call)

function spoken(content = []) {
  const words = content.filter((part) => part.type === 'text').map((part) => part.text)
  const notes = content.filter((part) => part.type === 'note')
  const pictures = notes.filter((note) => note.source === 'picture').map((note) => note.text)
  const piped = notes.filter((note) => note.source === 'piped').map((note) => `[piped in: ${lines(note.text)}]`)
  const unnamed = content.filter((part) => part.type === 'image').length - pictures.length
  return [...words, ...piped, ...pictures, ...Array(Math.max(0, unnamed)).fill('[image]')].join('\n')
}

function lines(text) {
  const number = text.split('\n').length
  return `${thousands(number)} line${number === 1 ? '' : 's'}`
}

const firstLine = (text) => text.split('\n', 1)[0]
const wordsOf = (content = []) =>
  content.filter((p) => p.type === 'note' && SPOKEN_ALONG.includes(p.source)).map((p) => notice(firstLine(p.text)))

function leftOpen(todos) {
  const step = atWork(todos)
  if (!step) return []
  const done = todos.filter((todo) => todo.status === 'completed').length
  return [notice(`The plan is not finished: ${done} of ${todos.length} done, next: ${step.text}`)]
}

/** The current or next step. */
export const atWork = (todos) =>
  todos.find((todo) => todo.status === 'in_progress') ?? todos.find((todo) => (todo.status ?? 'pending') === 'pending')

function wanted(call) {
  const said = Object.values(call.arguments ?? {}).find((value) => typeof value === 'string') ?? ''
  return firstLine(`${call.name} ${said}`.trim())
}

const ANSWER = /^\[exit code 1: ([^,\]]+)/
const FAILURE = /^\[(?:exit code (-?[1-9]\d*)\b(?!: )|killed by (\w+)|(stopped): it was still running)/

/** How a command failed, by the last line of its result. */
function commandFailure(output) {
  const found = FAILURE.exec(output.trimEnd().split('\n').at(-1))
  if (!found) return undefined
  return found[1] ? `exit ${found[1]}` : (found[2] ?? 'timed out')
}

/** The meaning of exit code 1 of a command that did not fail, such as grep or diff. */
const commandAnswer = (output) => ANSWER.exec(output.trimEnd().split('\n').at(-1))?.[1]

const textOf = (result) => (result.content ?? []).find((part) => part.type === 'text')?.text ?? ''

function pictures(content = []) {
  const images = content.filter((part) => part.type === 'image')
  return images.length ? images : undefined
}

function found(content = []) {
  const rows = []
  for (const part of content) {
    if (part.type !== 'note') continue
    if (part.source === 'diagnostics' || part.source === 'problems') rows.push(notice(part.text))
    else if (part.source === 'formatter') rows.push(notice(firstLine(part.text).replace(/:+$/, '') + '.'))
  }
  return rows
}

function mentioned(content = []) {
  const notes = content.filter((part) => part.type === 'note')
  const apart = (note) => note.source === 'problems' || note.source === 'not_given'
  const labels = notes
    .filter((note) => !apart(note))
    .map((note) => firstLine(note.text).replace(' (data, not instructions)', ''))
  const along = labels.length ? [notice(`Included: ${labels.join('; ')}`)] : []
  return [...along, ...notes.filter(apart).map((note) => notice(note.text))]
}

function listed(names) {
  const more = names.length - MOST_NAMES
  const shown = names.slice(0, MOST_NAMES).join(', ')
  return more > 0 ? `${shown} and ${more} more` : shown
}

function delta(type) {
  return (t, e) => {
    const last = t.draft.at(-1)
    if (last?.type === type && !e.apart) t.draft[t.draft.length - 1] = { ...last, text: last.text + e.text }
    else t.draft.push({ type, text: e.text, draft: true })
  }
}

const allTokens = ({ input = 0, output = 0, cache_read = 0, cache_write = 0 } = {}) =>
  input + output + cache_read + cache_write

const sum = (a, b) => {
  const all = { ...a }
  for (const [name, number] of Object.entries(b)) all[name] = (all[name] ?? 0) + number
  return all
}

/** @type {EventHandlers<any>} */
const FOLDS = {
  task_started: (t, e) => {
    t.mode = e.mode
    const origin = e.origin ? `imported from ${e.origin.tool}` : ''
    add(t, {
      type: 'start_row',
      workspace: e.workspace,
      model: e.model || origin,
      mode: e.mode,
      approval_mode: e.approval_mode,
      roots: e.roots,
    })
  },
  roots_changed: (t, e) => {
    const many = `This task also works in: ${(e.roots ?? []).join(', ')}`
    add(t, notice(e.roots?.length ? many : 'This task works in one folder again.'))
  },
  imported: (t, e) => {
    const lost = e.lost?.length ? ` Not imported: ${e.lost.join(', ')}.` : ''
    add(t, notice(`Imported from ${e.origin.tool} up to here.${lost}`))
  },
  task_adopted: (t, e) => {
    t.mode = e.mode
    add(t, notice(`Continued here with ${e.model}`))
  },
  log_repaired: (t, e) => add(t, notice(describeRepair(e))),
  turn_started: (t, e) => {
    t.draft = []
    t.turn = totals(e.at)
    add(t, { type: 'prompt_row', text: spoken(e.content), seq: e.seq }, ...wordsOf(e.content))
  },
  turn_resumed: (t) => {
    t.rows = t.rows.filter((row) => row.type !== 'question_row' || row.by)
    const open = t.rows.findIndex((row) => !isSettled(row))
    const text = 'Halocline was stopped here. Open questions are asked again.'
    t.rows.splice(open < 0 ? t.rows.length : open, 0, notice(text))
    t.draft = []
  },
  steering_received: (t, e) => {
    const text = spoken(e.content)
    if (text) add(t, { type: 'prompt_row', text, seq: e.seq, steering: true })
    add(t, ...wordsOf(e.content))
  },
  turn_ended: (t, e) => {
    t.draft = []
    const acted = e.reason === 'end_turn' && t.mode === 'act'
    if (t.turn.planned && acted) add(t, ...leftOpen(t.todos))
    const { usage, cost, steps, at } = t.turn
    const seconds = Math.max(0, e.at - at)
    add(t, { type: 'turn_end_row', reason: e.reason, limit: e.limit, text: e.text, usage, cost, steps, seconds })
  },
  step_started: (t) => {
    t.draft = []
    t.turn = { ...t.turn, steps: t.turn.steps + 1 }
  },
  step_retried: (t, e) => {
    t.draft = []
    const last = t.rows.at(-1)
    if (
      !e.wait &&
      last?.type === 'retry_row' &&
      last.attempt === e.attempt &&
      last.cause === e.cause &&
      last.model === e.model
    )
      t.rows.pop() // a wait was ended
    add(t, { type: 'retry_row', attempt: e.attempt, wait: e.wait, cause: e.cause, model: e.model, most: e.most })
  },
  usage_reported: (t, e) => {
    const cost = e.cost == null || t.turn.cost == null ? null : t.turn.cost + e.cost
    t.turn = { ...t.turn, usage: sum(t.turn.usage, e.usage), cost }
  },
  mcp_sampled: (t, e) => {
    const cost = e.cost == null || t.turn.cost == null ? null : t.turn.cost + e.cost
    t.turn = { ...t.turn, usage: sum(t.turn.usage, e.usage ?? {}), cost }
    add(t, notice(`${e.model} answered the MCP server ${e.server}: ${thousands(allTokens(e.usage))} tokens.`))
  },
  side_question_answered: (t, e) => {
    const cost = e.cost == null || t.turn.cost == null ? null : t.turn.cost + e.cost
    t.turn = { ...t.turn, usage: sum(t.turn.usage, e.usage ?? {}), cost }
  },
  subagent_started: (t, e) => {
    const { child, name, prompt, agent, model, remarks } = e
    const lane = { child, name, prompt, agent, model, remarks, started_at: e.at }
    change(t, e.call, (row) => ({ ...row, lanes: [...(row.lanes ?? []), lane] }))
  },
  subagent_progressed: (t, e) => {
    const { doing, steps, calls, tokens, cost } = e
    changeLane(t, e, () => ({ doing, steps, calls, tokens, cost }))
  },
  subagent_ended: (t, e) => {
    const cost = e.cost === null || t.turn.cost == null ? null : t.turn.cost + (e.cost ?? 0)
    t.turn = { ...t.turn, usage: sum(t.turn.usage, e.usage ?? {}), cost }
    const { end, steps, calls, report, problem } = e
    const said = { end, doing: undefined, steps, calls, tokens: allTokens(e.usage), cost: e.cost, report, problem }
    changeLane(t, e, (lane) => ({ ...said, seconds: Math.max(0, e.at - lane.started_at) }))
  },
  text_delta: delta('reply_row'),
  thinking_delta: delta('thought_row'),
  assistant_message_completed: (t, e) => {
    t.draft = []
    for (const part of e.message.content ?? []) {
      if (part.type === 'thinking' && part.text?.trim()) add(t, { type: 'thought_row', text: part.text })
      else if (part.type === 'text' && part.text.trim()) add(t, { type: 'reply_row', text: part.text })
      else if (part.type === 'tool_call')
        add(t, { type: 'call_row', call: part.id, name: part.name, title: wanted(part), arguments: part.arguments })
    }
  },
  tool_call_started: (t, e) =>
    change(t, e.call, (row) => ({
      ...row,
      title: e.title,
      kind: e.kind,
      locations: e.locations,
      started_at: e.at,
      foreign: e.name.includes(SEPARATOR),
    })),
  tool_call_progressed: (t, e) =>
    change(t, e.call, (row) => ({ ...row, output: ((row.output ?? '') + e.text).slice(-LIVE_OUTPUT) })),
  tool_call_ended: (t, e) => {
    change(t, e.call, (row) => ({
      ...row,
      status: e.status,
      output: textOf(e.result),
      diffs: e.diffs,
      images: pictures(e.result.content),
      seconds: row.started_at == null ? undefined : Math.max(0, e.at - row.started_at),
      ends_turn: e.ends_turn,
      failure: e.name === 'execute_command' ? commandFailure(textOf(e.result)) : undefined,
      answer: e.name === 'execute_command' ? commandAnswer(textOf(e.result)) : undefined,
    }))
    add(t, ...found(e.result.content))
  },
  own_command_started: (t, e) =>
    add(t, {
      type: 'call_row',
      call: e.run,
      name: 'execute_command',
      title: e.command,
      kind: 'execute',
      arguments: { command: e.command },
      started_at: e.at,
      own: true,
    }),
  own_command_ended: (t, e) => {
    const answer = commandAnswer(`[${e.said ?? ''}`)
    const isWell = e.exit_code === 0 || answer || (e.exit_code == null && e.job)
    change(t, e.run, (row) => ({
      ...row,
      status: e.stopped ? 'cancelled' : isWell ? 'completed' : 'failed',
      output: `${(e.output ?? '').replace(/\n+$/, '') || '[no output]'}\n[${e.said ?? ''}]`,
      failure: commandFailure(`[${e.said ?? ''}`),
      answer,
      seconds: row.started_at == null ? undefined : Math.max(0, e.at - row.started_at),
    }))
  },
  approval_requested: (t, e) => {
    const { request, reason, detail, diffs, grant, place, parts, sandbox } = e
    const approval = { request, reason, detail, diffs, grant, place, parts, sandbox }
    change(t, e.call, (row) => ({ ...row, title: e.title, kind: e.kind, approval }))
  },
  approval_resolved: (t, e) =>
    change(t, e.call, (row) => {
      const approval = row.approval ?? { request: e.request, reason: '' }
      const { decision, by, client, at, note, scope } = e
      const decided = { ...approval, decision, by, client, at, note, scope }
      if (!e.arguments) return { ...row, approval: decided }
      const title = (row.kind === 'execute' && e.arguments.command) || row.title
      return { ...row, approval: { ...decided, edited: true }, arguments: e.arguments, title: String(title) }
    }),
  question_asked: (t, e) =>
    add(t, { type: 'question_row', request: e.request, question: e.question, options: e.options, call: e.call }),
  question_answered: (t, e) => {
    t.rows.forEach((row, at) => {
      if (row.type === 'question_row' && row.request === e.request) t.rows[at] = { ...row, answer: e.answer, by: e.by }
    })
  },
  answer_refused: (t, e) => add(t, notice(`The answer does not match the schema. ${(e.problems ?? []).join(' ')}`)),
  completion_questioned: (t) => add(t, notice('The model is asked to check its work once more.')),
  todos_changed: (t, e) => {
    t.todos = e.todos ?? []
    t.turn = { ...t.turn, planned: true }
    add(t, { type: 'todos_row', todos: e.todos, by: e.by })
  },
  mode_changed: (t, e) => {
    t.mode = e.mode
    add(t, notice(`Mode: ${e.mode}`))
  },
  model_changed: (t, e) => add(t, notice(`Model: ${e.model}`)),
  grant_taken_back: (t, { client, grant }) => {
    const what = grant.argv?.length ? `${grant.argv.join(' ')} …` : grant.mcp || grant.subject || grant.kind
    add(t, notice(`Permission revoked${client ? '' : ' (its rule was removed)'}: ${what}`))
  },
  effort_changed: (t, e) => {
    const tokens = e.budget == null ? 'from the settings' : `${e.budget.toLocaleString('en-US')} tokens`
    add(t, notice(`Effort: ${e.effort ?? tokens}`))
  },
  approval_switched: (t, e) =>
    add(
      t,
      notice(
        `Auto-approve ${e.switch.replace(/_/g, ' ')}: ` +
          (e.on == null ? 'by approval mode' : e.on ? 'on' : 'always ask') +
          (e.client ? `, set by ${e.client}` : ''),
      ),
    ),
  policy_changed: (t, e) => add(t, notice(`Approvals: ${e.approval_mode}${e.client ? `, set by ${e.client}` : ''}`)),
  checkpoint_failed: (t, e) => add(t, notice(e.text)),
  checkpoint_taken: (t, e) => {
    if (!e.root) add(t, { type: 'checkpoint_row', checkpoint: e.checkpoint, label: e.label })
  },
  conversation_restored: (t, e) =>
    add(t, notice(`Rewound to event ${e.to}. The model no longer sees what came after it.`)),
  task_forked: (t, e) => add(t, notice(`Forked to task ${e.to} after event ${e.point}.`)),
  checkpoint_restored: (t, e) =>
    add(t, { type: 'restored_row', checkpoint: e.checkpoint, undo: e.undo, changed: e.changed }),
  job_ended: (t, e) =>
    add(t, { type: 'job_end_row', job: e.job, command: e.command, exit_code: e.exit_code, stopped: e.stopped }),
  files_changed_outside: (t, e) => {
    const names = (e.files ?? []).filter((f) => !f.by).map((f) => (f.content == null ? `${f.path} (deleted)` : f.path))
    if (names.length) add(t, notice(`Changed outside this task: ${listed(names)}`))
  },
  diagnostics_reported: (t, e) => add(t, ...found(e.content)),
  instructions_loaded: (t, e) => add(t, { type: 'rules_row', files: e.files, gone: e.gone }),
  mentions_resolved: (t, e) => add(t, ...mentioned(e.content)),
  compacted: (t, e) => add(t, { type: 'compaction_row', cause: e.cause, before: e.before, after: e.after }),
  compaction_undone: (t) => add(t, { type: 'compaction_row' }),
  hook_ran: (t, e) => {
    const quiet = e.status === 'completed' && e.decision !== 'block'
    if (quiet && (e.seconds ?? 0) <= LONG_HOOK) return
    const { hook, moment, status, decision, said, seconds } = e
    add(t, { type: 'hook_row', hook, moment, status, decision, said, seconds })
  },
  sandbox_checked: (t, e) => {
    if (e.standing === 'full') add(t, notice(SANDBOXED))
  },
  noticed: (t, e) => add(t, notice(e.text)),
  error_raised: (t, e) => add(t, { type: 'error_row', code: e.code, text: e.text, hint: e.hint }),
}
