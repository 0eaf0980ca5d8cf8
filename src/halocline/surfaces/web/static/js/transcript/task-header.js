// The header above the transcript: the task's title, progress and cost.
import { html, classes, useEffect, useState } from '../lib/ui.js'
import { standing } from '../lib/connection.js'
import { rowOf } from '../state/board.js'
import { history, openSheet, reviewOpen } from '../state/store.js'
import { count, money, seconds, shorten, shown, tokens } from '../lib/format.js'
import { Icon } from '../lib/icons.js'
import { openFile, openTerminal } from '../files/open-file.js'
import { keyOf } from '../state/shortcut-keys.js'
import { describeCost } from '../state/task.js'
import { definePart } from '../lib/parts.js'
import { Lazy } from '../widgets/lazy.js'
import { MenuButton } from '../widgets/menu-button.js'

const loadMenu = definePart(() => import('../files/task-menu.js'))
const STALL = 20
/** The share of the window from which the header shows how full it is. */
const RINGS_FROM = 0.5

const ENDS = { error: 'Failed', cancelled: 'Stopped' }
const describeDone = ({ failed }) => (failed.length ? `Done, but ${failed.join(' and ')} failed` : 'Done')

/** State, subject and time, never a bare spinner. Without a connection, progress is unknown. */
function activity(f, now) {
  if (f.running && standing.value !== 'open') return 'Disconnected: progress unknown'
  if (f.waiting.length) return f.waiting[0].kind === 'question' ? 'Has a question' : 'Needs your approval'
  if (f.cutOff) return 'Interrupted when its process ended. Send a message to continue.'
  if (!f.running) return f.last ? (ENDS[f.last.reason] ?? describeDone(f.last)) : f.rewinds.length ? 'Rewound' : 'New'
  const lasted = Math.max(0, Math.round(now - (f.activity_since || f.since)))
  if (f.activity === 'tool') return `${f.tool.kind === 'execute' ? 'Running ' : ''}${f.tool.title} · ${lasted} s`
  if (f.activity === 'retry') {
    const left = `${Math.max(0, Math.round((f.retry.until - Date.now()) / 1000))} s`
    return f.retry.attempt ? `Retrying in ${left}: ${f.retry.cause}` : `${f.retry.cause}: ${left}`
  }
  if (f.activity === 'thinking') return `Thinking · ${lasted} s`
  if (f.activity === 'writing') return 'Writing'
  return `Waiting for the model · ${lasted} s`
}

const dot = (f) =>
  f.waiting.length
    ? 'asks'
    : f.running
      ? 'runs'
      : f.last?.reason === 'error'
        ? 'failed'
        : f.last?.reason === 'end_turn' && !f.last.failed.length
          ? 'done'
          : ''

function Todos({ todos, step }) {
  const [open, setOpen] = useState(false)
  const done = todos.filter((todo) => todo.status === 'completed').length
  return html`<div class="todos">
    <button class="todos-line" aria-expanded=${open} onClick=${() => setOpen(!open)}>
      <span class="bar" aria-hidden="true"><i style=${{ width: `${(100 * done) / todos.length}%` }}></i></span>
      <span class="mono tiny">${done}/${todos.length}</span>
      <span class="cut soft">${step || 'All done'}</span>
    </button>
    ${
      open &&
      html`<ul class="todo-list">
        ${todos.map(
          (todo, at) => html`<li key=${at} class=${todo.status ?? 'pending'}>
            <span aria-hidden="true">
              ${todo.status === 'completed' ? '✓' : todo.status === 'in_progress' ? '▸' : '○'}
            </span>
            <span class="hidden-text">
              ${todo.status === 'completed' ? 'done: ' : todo.status === 'in_progress' ? 'now: ' : 'to do: '}
            </span>
            ${todo.text}
          </li>`,
        )}
      </ul>`
    }
  </div>`
}

/** The state of the task's worktree, which opens its sheet. */
function Worktree({ id }) {
  const work = rowOf(id)?.work
  return (
    work &&
    html`<button class="link tiny cut" title=${`Worktree ${work.name}`} onClick=${() => openSheet('worktree', { id })}>
      <${Icon} name="branch" size="12" /> ${shown(work.text)}
    </button>`
  )
}

/** What one rarely does with a task: rename, print, export, delete. */
function More({ task, title }) {
  const [place, setPlace] = useState(null)
  const open = ({ currentTarget: from }) => {
    const { left: x, bottom: y } = from.getBoundingClientRect()
    setPlace({ from, x, y })
  }
  const info = { task: task.id, title, favourite: task.facts.favourite }
  return html`<button
      class="icon-button"
      aria-haspopup="menu"
      aria-expanded=${Boolean(place)}
      aria-label="More actions for this task"
      title="Rename, print, export…"
      onClick=${open}
    >
      <${Icon} name="more" />
    </button>
    ${place && html`<${Lazy} load=${loadMenu} info=${info} ...${place} onClose=${() => setPlace(null)} />`}`
}

export function Header({ task }) {
  task.version.value
  const f = task.facts
  const [, tick] = useState(0)
  useEffect(() => {
    if (!f.running) return undefined
    const timer = setInterval(() => tick((n) => n + 1), 1000)
    return () => clearInterval(timer)
  }, [f.running])
  const now = Date.now() / 1000
  const share = f.window ? Math.min(1, f.context / f.window) : 0
  const isKnown = standing.value === 'open'
  const filled = f.window ? `${Math.round(share * 100)} %` : `${tokens(f.context)} tokens, unknown window`
  const stalled =
    f.running && isKnown && f.activity === 'model' && !f.waiting.length && now - (f.activity_since || f.since) > STALL
  const listed = history.value.find((one) => one.task === task.id) // known before the task is loaded
  const cost = describeCost(f)
  const isPriced = cost !== money(null)
  const title = shown(f.name || f.title || listed?.name || listed?.title || 'New task')
  return html`<header class="task-head">
    <div class="task-line">
      <${MenuButton} />
      <span class=${classes('dot', (isKnown || !f.running) && dot(f))} aria-hidden="true"></span>
      <h1 class="task-title cut" title=${title}>${shorten(title)}</h1>
      <div class="task-sub soft tiny">
        ${
          f.parent &&
          html`<a
            class="to-parent"
            href=${`#/task/${f.parent}`}
            title="Sub-agent: back to its parent task"
          >
            ← <span class="hidden-text">back to </span>
            parent task
          </a>`
        }
        <span class="cut">${activity(f, now)}</span>
        <${Worktree} id=${task.id} />
        ${f.running && isKnown && f.since > 0 && html`<span class="wide-only">turn ${seconds(now - f.since)}</span>`}
      </div>
      <button
        class="chip meter"
        onClick=${() => openSheet('context', { task })}
        title="Context and cost"
        aria-label=${`Context ${filled}${isPriced ? `, cost ${cost}` : ''}`}
      >
        ${
          share >= RINGS_FROM &&
          html`<span class=${classes('ring', share > 0.8 && 'full')} style=${{ '--share': share }} aria-hidden="true"></span>
            ${filled}`
        }
        ${isPriced ? html`<span class=${classes(share >= RINGS_FROM && 'wide-only')}>${cost}</span>` : share < RINGS_FROM && `${tokens(f.context)} tokens`}
      </button>
      <button
        class=${classes('icon-button', reviewOpen.value && 'pressed')}
        aria-pressed=${reviewOpen.value}
        aria-label=${`Changes: ${count(f.changed.length, 'file')}`}
        title=${`Changes (${keyOf('review')})`}
        onClick=${() => (reviewOpen.value = !reviewOpen.value)}
      >
        <${Icon} name="diff" />
      </button>
      <button
        class="icon-button wide-only"
        aria-label="Files"
        title="Files"
        onClick=${() => openFile(task, '', undefined, true)}
      >
        <${Icon} name="file" />
      </button>
      <button
        class="icon-button wide-only"
        aria-label="Terminal"
        title="Terminal"
        onClick=${() => openTerminal(task)}
      >
        <${Icon} name="terminal" />
      </button>
      <button
        class="icon-button"
        aria-label="Rewind"
        title="Undo: rewind to an earlier point"
        onClick=${() => openSheet('restore', { task })}
      >
        <${Icon} name="undo" />
      </button>
      <${More} task=${task} title=${title} />
    </div>
    ${f.todos.length > 0 && html`<${Todos} todos=${f.todos} step=${f.step} />`}
    ${
      stalled &&
      html`<div class="banner warn" role="status">
        <span class="grow">No response from the model for ${Math.round(now - (f.activity_since || f.since))} s.</span>
        <button class="button small" onClick=${() => task.send('interrupt')}>Stop</button>
      </div>`
    }
  </header>`
}
