// A task's state for the header, the dock and the composer: another fold of the same events as the rows.
/** @import { EventHandlers, Usage } from '../../types/protocol' */

export const facts = () => ({
  title: '',
  name: '',
  parent: '', // of a sub-agent: its parent task
  workspace: '',
  roots: [], // the folders beside the workspace
  model: '',
  mode: 'act',
  approvals: 'ask',
  switches: {}, // those set in this task: true allows, false asks, null follows the mode
  todos: [],
  usage: { input: 0, output: 0, cache_read: 0, cache_write: 0 },
  cost: 0,
  context: 0,
  window: 0,
  running: false,
  cutOff: false, // its process ended in the middle of a turn
  since: 0,
  activity: '',
  waiting: [], // pending decisions: {kind: approval | question, request, event}
  checkpoints: [], // {seq, at, checkpoint, label}
  prompts: [], // {seq, at, text}
  backs: [], // {seq, kind: files | chat, undo, changed}: rewinds
  compactions: 0,
  turns: [], // {seq, at, end, files: Set, cost, usage, finished}: finished when it ended with a completion
  changed: new Set(), // paths that edit tools wrote
  jobs: new Map(),
  favourite: false,
  tags: [],
  last: null, // the newest turn_ended
  asked: new Set(), // calls that needed approval
  unasked: {}, // calls without approval, by kind
  decided: [], // approvals decided here or elsewhere: {request, by, client, decision}
  handedOver: '',
  error: null,
  started: 0,
  at: 0,
})

const total = (usage) => (usage.input ?? 0) + (usage.output ?? 0) + (usage.cache_read ?? 0) + (usage.cache_write ?? 0)

const textOf = (content) =>
  (content ?? [])
    .filter((part) => part.type === 'text')
    .map((part) => part.text)
    .join('')
    .trim()

/** True if a turn takes steering: it runs, or it is a sub-agent's only one, which may be about to start. */
export const takesSteering = (f) => f.running || Boolean(f.parent && !f.last)

/** Apply an event; returns the same object. */
export function learn(f, event) {
  if (event.at) f.at = event.at
  FACTS[event.type]?.(f, event)
  return f
}

const settle = (f, request) => {
  f.waiting = f.waiting.filter((one) => one.request !== request)
}

/**
 * Count what something beside the turns has cost; null is unknown.
 * @param {any} f
 * @param {{ usage?: Usage, cost?: number | null }} spent
 */
function spend(f, { usage = {}, cost }) {
  for (const [name, number] of Object.entries(usage)) f.usage[name] = (f.usage[name] ?? 0) + number
  f.cost = cost == null || f.cost == null ? null : f.cost + cost
}

/** @type {EventHandlers<any>} */
const FACTS = {
  task_started(f, e) {
    Object.assign(f, { workspace: e.workspace, model: e.model, mode: e.mode, approvals: e.approval_mode })
    f.roots = e.roots ?? []
    f.started = e.at
    if (e.subtask) Object.assign(f, { parent: e.subtask.parent, title: e.subtask.name })
    if (e.window) f.window = e.window
  },
  roots_changed(f, e) {
    f.roots = e.roots ?? []
  },
  imported(f) {
    f.model = ''
  },
  grant_taken_back(f, e) {
    f.taken = e.seq
  },
  effort_changed(f, e) {
    Object.assign(f, { effort: e.effort ?? '', budget: e.budget })
  },
  task_adopted(f, e) {
    Object.assign(f, { model: e.model, mode: e.mode, approvals: e.approval_mode })
  },
  own_command_started(f, e) {
    f.title ||= `!${e.command}`.split('\n', 1)[0].slice(0, 120)
  },
  turn_started(f, e) {
    const text = textOf(e.content)
    if (!f.title || f.title[0] === '!') f.title = text.split('\n', 1)[0].slice(0, 120)
    f.prompts.push({ seq: e.seq, at: e.at, text })
    f.turns.push({ seq: e.seq, at: e.at, end: 0, files: new Set(), cost: 0, usage: {}, finished: false })
    Object.assign(f, { running: true, cutOff: false, since: e.at, activity: 'model', error: null })
  },
  turn_resumed(f) {
    Object.assign(f, { running: true, cutOff: false })
  },
  steering_received(f, e) {
    f.prompts.push({ seq: e.seq, at: e.at, text: textOf(e.content), steering: true })
  },
  step_started(f, e) {
    Object.assign(f, { activity: 'model', activitySince: e.at })
  },
  step_retried(f, e) {
    f.activity = 'retry'
    f.retry = { ...e, until: Date.now() + e.wait * 1000 }
  },
  text_delta(f) {
    f.activity = 'writing'
  },
  thinking_delta(f) {
    f.activity = 'thinking'
  },
  tool_call_started(f, e) {
    if (!f.asked.has(e.call)) f.unasked[e.kind] = (f.unasked[e.kind] ?? 0) + 1
    Object.assign(f, { activity: 'tool', tool: { name: e.name, title: e.title, kind: e.kind }, activitySince: e.at })
  },
  tool_call_ended(f, e) {
    f.activity = 'model'
    if (e.name === 'attempt_completion' && e.status === 'completed' && f.turns.length) f.turns.at(-1).finished = true
  },
  usage_reported(f, e) {
    for (const [name, number] of Object.entries(e.usage)) f.usage[name] = (f.usage[name] ?? 0) + number
    f.cost = e.cost == null || f.cost == null ? null : f.cost + e.cost
    f.context = total(e.usage)
    const turn = f.turns.at(-1)
    if (turn) {
      turn.cost = e.cost == null || turn.cost == null ? null : turn.cost + e.cost
      for (const [name, number] of Object.entries(e.usage)) turn.usage[name] = (turn.usage[name] ?? 0) + number
    }
    if (e.window) f.window = e.window
  },
  mcp_sampled: spend,
  side_question_answered: spend,
  subagent_ended: (f, e) => spend(f, { cost: 0, ...e }),
  turn_ended(f, e) {
    if (f.turns.length) f.turns.at(-1).end = e.seq
    Object.assign(f, { running: false, cutOff: false, activity: '', last: e, waiting: [] })
  },
  approval_requested(f, e) {
    f.asked.add(e.call)
    f.waiting = [...f.waiting, { kind: 'approval', request: e.request, event: e, arrived: Date.now() }]
  },
  approval_resolved(f, e) {
    settle(f, e.request)
    f.decided.push({ request: e.request, by: e.by, client: e.client ?? '', decision: e.decision, at: e.at })
  },
  question_asked(f, e) {
    f.waiting = [...f.waiting, { kind: 'question', request: e.request, event: e, arrived: Date.now() }]
  },
  question_answered(f, e) {
    settle(f, e.request)
  },
  todos_changed(f, e) {
    f.todos = e.todos ?? []
  },
  mode_changed(f, e) {
    f.mode = e.mode
  },
  model_changed(f, e) {
    f.model = e.model
    if (e.window) f.window = e.window
  },
  approval_switched(f, e) {
    f.taken = e.seq
    f.switches = { ...f.switches, [e.switch]: e.on ?? null }
  },
  policy_changed(f, e) {
    f.approvals = e.approval_mode
  },
  checkpoint_taken(f, e) {
    if (!e.root) f.checkpoints.push({ seq: e.seq, at: e.at, checkpoint: e.checkpoint, label: e.label })
  },
  file_changed(f, e) {
    f.changed.add(e.path)
    f.turns.at(-1)?.files.add(e.path)
  },
  job_started(f, e) {
    f.jobs.set(e.job, e)
  },
  own_command_ended(f, e) {
    if (e.job) f.jobs.set(e.job, { ...e, call: e.run })
  },
  job_ended(f, e) {
    f.jobs.delete(e.job)
  },
  task_labelled(f, e) {
    if (e.name != null) f.name = e.name
    if (e.tags != null) f.tags = e.tags
    if (e.favourite != null) f.favourite = e.favourite
  },
  checkpoint_restored(f, e) {
    f.backs.push({ seq: e.seq, kind: 'files', undo: e.undo, changed: e.changed?.length ?? 0 })
  },
  conversation_restored(f, e) {
    f.backs.push({ seq: e.seq, kind: 'chat' })
  },
  compacted(f, e) {
    f.compactions++
    f.context = e.after
  },
  handed_over(f, e) {
    f.handedOver = e.to
  },
  error_raised(f, e) {
    f.error = e
  },
}
