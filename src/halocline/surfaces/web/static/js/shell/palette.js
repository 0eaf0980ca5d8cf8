// The command palette: commands, tasks, models, settings and slash commands by name.
import { html, useEffect, useState } from '../lib/ui.js'
import { act, query } from '../lib/connection.js'
import { models, loadModels } from '../state/usable-models.js'
import { KEYS, keysOf, label } from '../state/shortcut-keys.js'
import { notifying, sounding, theme, usedModel } from '../lib/preferences.js'
import { ask as askToNotify } from '../state/sounds.js'
import { rankAll } from '../lib/rank.js'
import {
  allOpen,
  choice,
  closeSheet,
  complain,
  current,
  finding,
  go,
  history,
  openSheet,
  reviewOpen,
  toast,
} from '../state/store.js'
import { base, short, shown, when } from '../lib/format.js'
import { answerCommand } from '../composer/slash-commands.js'
import { Icon } from '../lib/icons.js'
import { openFile, openTerminal } from '../files/open-file.js'
import { printTask } from '../files/print-task.js'
import { Picker } from '../widgets/picker.js'

const nameKeys = (id) => {
  const row = KEYS.find((one) => one.id === id)
  return row ? label(keysOf(row)) : ''
}

/** The commands of a task: [key, title, what it does, icon, shortcut?]. */
function listTaskCommands(task) {
  const f = task.facts
  const other = f.mode === 'plan' ? 'act' : 'plan'
  const run = (name) => () => answerCommand(`/${name}`, { task, choice })
  return [
    ['mode', `Switch to ${other} mode`, () => task.send('set_mode', { mode: other }).catch(complain), 'bolt', 'mode'],
    ['model', 'Change the model…', () => openSheet('models', { task }), 'spark'],
    ['policy', 'Approvals…', () => openSheet('policy', { task }), 'check'],
    f.running && ['stop', 'Stop the agent', () => task.send('interrupt'), 'stop'],
    ['compact', 'Compact the conversation', run('compact'), 'list'],
    ['context', 'Context and cost', run('context'), 'clock'],
    ['restore', 'Undo: rewind…', run('undo'), 'undo'],
    ['review', 'Review changes', () => (reviewOpen.value = !reviewOpen.value), 'diff', 'review'],
    ['terminal', 'Terminal', () => openTerminal(current.value), 'terminal'],
    ['files', 'Files of this task', () => openFile(current.value, '', undefined, true), 'file'],
    ['find', 'Find in this task', () => (finding.value = true), 'search', 'find'],
    ['print', 'Print this task', () => printTask(current.value.id), 'file'],
    [
      'details',
      allOpen.value ? 'Collapse all details' : 'Expand all details',
      () => (allOpen.value = !allOpen.value),
      'down',
      'details',
    ],
    ['fork', 'Fork into a new task', run('fork'), 'branch'],
    ['export', 'Export as Markdown', run('export'), 'file'],
    [
      'favourite',
      f.favourite ? 'Remove from favorites' : 'Add to favorites',
      () => task.send('label', { favourite: !f.favourite }).catch(complain),
      'star',
    ],
  ]
}

/** The commands of the page. */
function listPageCommands(task) {
  return [
    ['new', 'New task', () => go('new'), 'plus', 'new'],
    !task && ['model', 'Model for the next task…', () => openSheet('models', { choice }), 'spark'],
    ['history', 'History', () => go('history'), 'clock'],
    ['mcp', 'MCP servers', () => go('mcp'), 'plug'],
    ['board', 'Board: what needs you, runs, has ended', () => go('board'), 'list'],
    ['rules', 'Instructions: rules, skills, hooks', () => go('rules'), 'book'],
    ['providers', 'Models and keys', () => go('providers'), 'spark'],
    ['settings', 'Settings', () => go('settings'), 'gear'],
    ['folder', 'Open a folder…', () => openSheet('folders'), 'list'],
    ['shortcuts', 'Keyboard shortcuts', () => openSheet('shortcuts'), 'slash', 'shortcuts'],
    ...['system', 'light', 'dark']
      .filter((one) => one !== theme.value)
      .map((one) => [
        `theme ${one}`,
        `Theme: ${one === 'system' ? 'system' : one}`,
        () => (theme.value = one),
        'image',
      ]),
    [
      'notify',
      notifying.value ? 'Turn off notifications' : 'Notify me when a task needs me',
      () => (notifying.value ? (notifying.value = false) : askToNotify()),
      'question',
    ],
    [
      'sound',
      sounding.value ? 'Turn off sounds' : 'Play a sound when a task needs me',
      () => (sounding.value = !sounding.value),
      'question',
    ],
  ]
}

const listCommands = (task) =>
  [...(task ? listTaskCommands(task) : []), ...listPageCommands(task)]
    .filter(Boolean)
    .map((/** @type {any[]} */ [key, title, run, icon, id]) => ({
      key,
      title,
      icon,
      keys: id ? nameKeys(id) : '',
      choose: () => (closeSheet(), run()),
    }))

const taskItems = (here) =>
  history.value
    .filter((info) => info.task !== here)
    .map((info) => ({
      key: `task ${info.task}`,
      title: info.name || info.title || 'Untitled',
      about: `${base(info.workspace)} · ${when(info.changed_at)}`,
      icon: 'clock',
      choose: () => (closeSheet(), go('task', info.task)),
    }))

function useAnswer(name, args, wanted) {
  const [found, setFound] = useState([])
  useEffect(() => {
    if (wanted) query(name, args).then(setFound, () => {})
  }, [])
  return found
}

const Row = ({ title, about, icon, keys }) =>
  html`
    <${Icon} name=${icon} size="16" />
    <span class="cut grow">${shown(title)}</span>
    ${about && html`<span class="soft tiny cut pick-about">${shown(about)}</span>`}
    ${keys && html`<kbd>${keys}</kbd>`}
  `

export default function Palette({ only = '' }) {
  const task = current.value
  const settings = useAnswer('settings', {}, !only)
  useEffect(() => {
    if (!only) loadModels().catch(() => {})
  }, [])
  const useModel = async (name) => {
    closeSheet()
    usedModel(name)
    if (!task) choice.value = { ...choice.value, model: name }
    else await act('change_model', { task: task.id, model: name }).catch(complain)
    toast(`Model: ${short(name)}`)
  }
  const commands = only ? [] : listCommands(task)
  const tasks = taskItems(task?.id)
  function sections(words) {
    if (!words.trim())
      return only
        ? [{ title: 'Recent tasks', items: tasks.slice(0, 30) }]
        : [
            { title: task ? 'Commands' : 'Commands', items: commands },
            { title: 'Recent tasks', items: tasks.slice(0, 8) },
          ]
    const fit = (all, most) => rankAll(words, all, most, (one) => one.title)
    const ofModels = (models.value ?? []).map((model) => ({
      key: `model ${model.name}`,
      title: model.title || model.name,
      about: model.name,
      icon: 'spark',
      choose: () => useModel(model.name),
    }))
    const ofSettings = settings.map((one) => ({
      key: `setting ${one.name}`,
      title: one.name,
      about: one.doc,
      icon: 'gear',
      choose: () => (closeSheet(), go('settings', one.section || '', one.name)),
    }))
    return only
      ? [{ title: '', items: fit(tasks, 40) }]
      : [
          { title: 'Commands', items: fit(commands, 12) },
          { title: 'Tasks', items: fit(tasks, 8) },
          { title: 'Models', items: fit(ofModels, 8) },
          { title: 'Settings', items: fit(ofSettings, 8) },
        ]
  }
  return html`<${Picker}
    title=${only ? 'Recent tasks' : 'Commands, tasks and settings'}
    placeholder=${only ? 'Search tasks' : 'What do you want to do?'}
    sections=${sections}
    row=${Row}
    none=${(words) =>
      words
        ? html`
          No results for ‘${words}’. To search inside tasks, use the <button
            class="link"
            onClick=${() => (closeSheet(), go('history'))}
          >
            history
          </button>.
        `
        : 'No other tasks yet.'}
  />`
}
