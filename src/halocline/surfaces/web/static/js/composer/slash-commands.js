// The slash commands that the page handles itself; the rest goes to the server as typed.
import { act } from '../lib/connection.js'
import { complain, go, openSheet, reviewOpen, toast } from '../state/store.js'
import { count } from '../lib/format.js'
import { usedModel } from '../lib/preferences.js'
import { definePart } from '../lib/parts.js'

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
  if (!MODES.includes(rest)) return toast('Choose plan or act: /mode plan', { kind: 'error' })
  return task ? task.send('set_mode', { mode: rest }) : (choice.value = { ...choice.value, mode: rest })
}

function effort({ task, choice }, rest) {
  if (!rest)
    return toast(
      `Effort: ${(task ? (task.facts.effort ?? task.facts.budget) : choice.value.effort) || 'from the settings'}. Change it with /effort low or the menu next to the model.`,
    )
  const budget = /^\d{1,6}$/.test(rest) ? Number(rest) : null
  const level = budget != null || rest === 'default' ? null : rest
  if (task) return task.send('set_effort', { effort: level, budget })
  return budget != null
    ? toast('A token budget needs a started task. Use a level: /effort low', { kind: 'error' })
    : (choice.value = { ...choice.value, effort: level })
}

function approvals({ task, choice }, rest) {
  return openSheet('policy', { task, choice, wanted: APPROVALS.includes(rest) ? rest : '' })
}

function compact({ task }, rest) {
  toast(rest === 'undo' ? 'Undoing the last compaction…' : 'Compacting the conversation…')
  return task.send('compact', rest === 'undo' ? { undo: true } : { focus: rest })
}

async function fork({ task }, rest) {
  go('task', await act('fork', { task: task.id, at: Number(rest) || 0 }))
  toast('Forked. The original task is unchanged; both use the same files.')
}

const loadFetching = definePart(() => import('../lib/fetch-files.js'))
const exportTask = ({ task }) => loadFetching().then(({ saveExport }) => saveExport(task.id, 'md'))

function jobs({ task }, rest) {
  const [verb, name] = rest.split(/\s+/)
  if (verb === 'stop' && name) return task.send('stop_job', { job: name })
  const all = task.facts.jobs
  return toast(
    all.length
      ? `${count(all.length, 'command')} in the background: ${all.map((job) => `${job.job} ${job.command}`).join('; ')}. Stop one with /jobs stop ID`
      : 'No background commands.',
  )
}

const folders = ({ task }, rest) =>
  toast(
    rest
      ? `Add a folder in a terminal while the task is idle: halo --resume ${task.id} --add-dir ${rest}`
      : `Folders of this task: ${[task.facts.workspace, ...task.facts.roots].join(', ')}`,
  )
const todos = ({ task }) =>
  task.facts.todos.length ? document.querySelector('.todos-line')?.click() : toast('No to-do list yet.')
const resume = (_, rest) => (rest ? go('task', rest) : openSheet('palette', { only: 'tasks' }))
const settings = () => go('settings')
const status = ({ task }) => openSheet('status', { task })

async function copy({ task }, rest) {
  const reply = task.findLast((row) => row.type === 'reply_row')?.text
  const code = [...(reply ?? '').matchAll(/^\s*(`{3,}|~{3,})[^\n]*\n([^]*?)^\s*\1/gm)].at(-1)?.[2]
  const text = rest === 'code' ? code : reply
  if (!text) return toast(rest === 'code' ? 'The last reply has no code block.' : 'There is no reply to copy yet.')
  await navigator.clipboard.writeText(text)
  return toast(rest === 'code' ? 'Copied the last code block.' : 'Copied the last reply.')
}

const restore = ({ task }) => openSheet('restore', { task })

const showAnswer = ({ task }, rest, name) => openSheet('answer', { task, text: `/${name} ${rest}`.trim() })
const context = (where, rest, name) =>
  rest ? showAnswer(where, rest, name) : openSheet('context', { task: where.task })

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
  'auto-approve': (where) => openSheet('policy', where),
  permissions: approvals,
  leave: (where) => openSheet('policy', where),
  help: () => openSheet('shortcuts', { words: true }),
  mcp: () => go('mcp'),
  rules: () => go('rules'),
  skills: () => go('rules'),
  config: settings,
  settings,
}
const TASK = {
  compact,
  smol: compact,
  export: exportTask,
  fork,
  undo: restore,
  rewind: restore,
  checkpoint: restore,
  checkpoints: restore,
  cost: context,
  usage: context,
  context,
  todos,
  jobs,
  status,
  copy,
  btw: showAnswer,
  agents: showAnswer,
  hooks: showAnswer,
  worktrees: showAnswer,
  diff: () => (reviewOpen.value = true),
  'add-dir': folders,
}

/** Handle a slash command of the page. Returns false if it is for the server. `where` is {task, choice}. */
export function answerCommand(text, where) {
  const found = /^\/([\w-]+)(?:\s+([^\n]*))?$/.exec(text.trim())
  const name = found?.[1]
  const action = PAGE[name] ?? TASK[name]
  if (!action) return false
  if (TASK[name] && !where.task) toast(`/${name} needs a task. Start one first.`, { kind: 'error' })
  else Promise.resolve(action(where, (found[2] ?? '').trim(), name)).catch(complain)
  return true
}
