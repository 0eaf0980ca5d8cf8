// The slash commands that the page answers itself; the rest goes to the server as it was typed.
import { act } from './line.js'
import { complain, go, openSheet, toast } from './store.js'
import { count } from './format.js'
import { usedModel } from './prefs.js'

const MODES = ['plan', 'act']
const APPROVALS = ['ask', 'accept-edits', 'auto', 'yolo']

async function model({ task, choice }, rest) {
  if (!rest) return openSheet('models', { task, choice })
  if (task) await act('change_model', { task: task.id, model: rest })
  else choice.value = { ...choice.value, model: rest }
  usedModel(rest)
  return undefined
}

function mode({ task, choice }, rest) {
  if (!MODES.includes(rest)) return toast('The mode is plan or act: /mode plan', { kind: 'error' })
  return task ? task.send('set_mode', { mode: rest }) : (choice.value = { ...choice.value, mode: rest })
}

function effort({ task, choice }, rest) {
  if (!rest)
    return toast(
      `The effort is ${(task ? (task.facts.effort ?? task.facts.budget) : choice.value.effort) || 'as in the settings'}. Another one: /effort low, or the menu beside the model.`,
    )
  const budget = /^\d{1,6}$/.test(rest) ? Number(rest) : null
  const level = budget != null || rest === 'default' ? null : rest
  if (task) return task.send('set_effort', { effort: level, budget })
  return budget != null
    ? toast('Tokens are for a task that has begun: /effort low', { kind: 'error' })
    : (choice.value = { ...choice.value, effort: level })
}

function approvals({ task, choice }, rest) {
  return openSheet('policy', { task, choice, wanted: APPROVALS.includes(rest) ? rest : '' })
}

function compact({ task }, rest) {
  toast(rest === 'undo' ? 'The latest compaction is taken back.' : 'The conversation is being shortened.')
  return task.send('compact', rest === 'undo' ? { undo: true } : { focus: rest })
}

async function fork({ task }, rest) {
  go('task', await act('fork', { task: task.id, at: Number(rest) || 0 }))
  toast('This is the fork; the other task stays as it was. The files are the same.')
}

const exported = ({ task }) => import('./fetched.js').then(({ saveExport }) => saveExport(task.id, 'md'))

function jobs({ task }, rest) {
  const [verb, name] = rest.split(/\s+/)
  if (verb === 'stop' && name) return task.send('stop_job', { job: name })
  const all = [...task.facts.jobs.values()]
  return toast(
    all.length
      ? `${count(all.length, 'command')} in the background: ${all.map((job) => `${job.job} ${job.command}`).join('; ')}. To end one: /jobs stop ID`
      : 'No command goes on in the background.',
  )
}

const folders = ({ task }, rest) =>
  toast(
    rest
      ? `A folder is added in a terminal, once the task rests: halo --resume ${task.id} --add-dir ${rest}`
      : `This task works in ${[task.facts.workspace, ...task.facts.roots].join(', ')}.`,
  )
const todos = ({ task }) =>
  task.facts.todos.length ? document.querySelector('.todos-line')?.click() : toast('There is no list of steps yet.')
const resume = (_, rest) => (rest ? go('task', rest) : openSheet('palette', { only: 'tasks' }))
const context = ({ task }) => openSheet('context', { task })
const restore = ({ task }) => openSheet('restore', { task })

const PAGE = {
  clear: () => go('new'),
  new: () => go('new'),
  resume,
  history: resume,
  effort,
  quit: () => go(),
  exit: () => go(),
  model,
  mode,
  approvals,
  permissions: approvals,
  'auto-approve': (where) => openSheet('policy', where),
  leave: (where) => openSheet('policy', where),
  help: () => openSheet('shortcuts', { words: true }),
  mcp: () => go('mcp'),
  rules: () => go('rules'),
  skills: () => go('rules'),
}
const TASK = {
  compact,
  smol: compact,
  export: exported,
  fork,
  undo: restore,
  checkpoint: restore,
  checkpoints: restore,
  cost: context,
  usage: context,
  context,
  todos,
  jobs,
  'add-dir': folders,
}

/** Answer a prompt that is one of ours. False when it is for the server. `where` is {task, choice}. */
export function answered(text, where) {
  const found = /^\/([\w-]+)(?:\s+([^\n]*))?$/.exec(text.trim())
  const name = found?.[1]
  const deed = PAGE[name] ?? TASK[name]
  if (!deed) return false
  if (TASK[name] && !where.task) toast(`/${name} is about a task, and none has begun here.`, { kind: 'error' })
  else Promise.resolve(deed(where, (found[2] ?? '').trim())).catch(complain)
  return true
}
