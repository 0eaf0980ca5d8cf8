// The page: tasks on the left, the view in the middle, changes on the right, sheets on top.
import { html, classes, style, useEffect, useState } from '../lib/ui.js'
import { isNewer, lostSince, standing, tryNow } from '../lib/connection.js'
import { armed } from '../state/shortcut-keys.js'
import { reviewWidth, sidebarWidth } from '../lib/preferences.js'
import {
  announcement,
  besideOf,
  closeBeside,
  closeSheet,
  current,
  dismiss,
  finding,
  isRoomy,
  reviewOpen,
  route,
  sheet,
  sidebarOpen,
  toasts,
} from '../state/store.js'
import { Icon } from '../lib/icons.js'
import { Resizer } from '../widgets/resizer.js'
import { useStage } from '../widgets/use-stage.js'
import { Sidebar } from './sidebar.js'
import { Boundary } from '../widgets/boundary.js'
import { Lazy } from '../widgets/lazy.js'
import { Home } from './home.js'
import { definePart } from '../lib/parts.js'

// Lazily loaded views, by the first word of the address or the name of a sheet.
const PAGES = {
  board: definePart(() => import('../board/board.js')),
  history: definePart(() => import('../history/history.js')),
  settings: definePart(() => import('../settings/settings.js')),
  providers: definePart(() => import('../models/providers.js')),
  mcp: definePart(() => import('../mcp/servers.js')),
  rules: definePart(() => import('../instructions/instructions.js')),
}
const SHEETS = {
  palette: definePart(() => import('./palette.js')),
  shortcuts: definePart(() => import('./shortcut-sheet.js')),
  restore: definePart(() => import('../review/restore.js')),
  models: definePart(() => import('../models/model-picker.js')),
  policy: definePart(() => import('../decisions/approvals.js')),
  context: definePart(() => import('./context-sheet.js')),
  status: definePart(() => import('./status-sheet.js')),
  answer: definePart(() => import('./slash-answer.js')),
  trust: definePart(() => import('../instructions/trust-sheet.js')),
  folders: definePart(() => import('./folder-picker.js')),
  recall: definePart(() => import('../composer/prompt-search.js')),
  commit: definePart(() => import('../review/commit.js')),
  worktree: definePart(() => import('../review/worktree.js')),
  push: definePart(() => import('../review/push.js')),
  file: definePart(() => import('../files/viewer.js')),
  terminal: definePart(() => import('../files/terminal.js')),
  'config-file': definePart(() => import('../files/config-editor.js')),
  conflict: definePart(() => import('../transcript/failed-edit.js')),
}

function Middle() {
  const [word, ...rest] = route.value
  if (word === 'task' && current.value && standing.value === 'lost' && !current.value.ready.value && !current.value.seq)
    return html`<${Lazy} key=${'offline' + current.value.id} load=${loadOffline} task=${current.value} />`
  if (word === 'task' && current.value)
    return html`<${Lazy} key=${current.value.id} load=${loadTask} task=${current.value} />`
  if (PAGES[word]) return html`<${Lazy} key=${word} load=${PAGES[word]} path=${rest} />`
  return html`<${Boundary} what="view"><${Home} /><//>`
}

function Lost() {
  const [, again] = useState(0)
  useEffect(() => {
    const timer = setInterval(() => again((n) => n + 1), 1000)
    return () => clearInterval(timer)
  }, [])
  const seconds = Math.round((Date.now() - lostSince.value) / 1000)
  if (seconds < 1) return null
  return html`<div class="banner warn" role="status">
    <span class="grow">
      No connection to the server${seconds > 2 ? ` for ${seconds} s` : ''}. Reconnecting…
      Messages are sent once you are back online.
      ${
        seconds > 10 && !window.early.isEditor // an editor starts it again by itself
          ? html` If the server stopped, start it again with <code>halo web</code> in the same folder and with the same
            port.
          `
          : ''
      }
    </span>
    <button class="button small" onClick=${tryNow}>Try now</button>
  </div>`
}

const Toasts = () => html`<div
  class="toasts"
  style=${{ '--review': toPixels(reviewWidth.value) }}
  role=${toasts.value.length ? 'region' : null}
  aria-label=${toasts.value.length ? 'Notifications' : null}
>
  ${toasts.value.map(
    (one) => html`<div class=${classes('toast', one.kind)} key=${one.key}>
      <span class="grow">${one.text}</span>
      ${one.undo && html`<button class="button small" onClick=${() => (dismiss(one), one.undo())}>Undo</button>`}
      <button class="icon-button" aria-label="Dismiss" onClick=${() => dismiss(one)}>
        <${Icon} name="close" size="14" />
      </button>
    </div>`,
  )}
</div>`

/** The hint what pressing Esc again does. */
const Armed = () => armed.value && html`<div class="armed" aria-hidden="true">${armed.value}</div>`

const Newer = () => html`<div class="banner warn" role="status">
  <span class="grow">Halocline was updated. Reload to get the new version; your drafts are kept.</span>
  <button class="button small" onClick=${window.early.reload ?? (() => location.reload())}>Reload</button>
</div>`

const LEAST_REVIEW = 340
const toPixels = (width) => (width ? `${width}px` : null)

export const Shell = () => html`<${Boundary} what="view"><${Frame} /><//>`

function Frame() {
  if (standing.value === 'out') return html`<${Lazy} load=${loadOut} />`
  const task = current.value
  const review = reviewOpen.value && task
  const docked = !review && task && besideOf(task)
  const hasColumn = review || (docked && isRoomy.value)
  const open = sheet.value
  const stage = useStage()
  const load = open && SHEETS[open.name]
  return html`
    <div
      class=${classes('shell', hasColumn && 'with-review', sidebarOpen.value && 'with-sidebar')}
      data-ready=${standing.value}
      style=${{ '--sidebar': toPixels(sidebarWidth.value), '--review': toPixels(reviewWidth.value) }}
    >
      <a
        class="skip"
        href="#middle"
        onClick=${(e) => (e.preventDefault(), (document.querySelector('.composer textarea') ?? document.querySelector('#middle h1'))?.focus())}
      >
        Skip to content
      </a>
      <${Boundary}>${stage ? html`<${Sidebar} />` : html`<nav class="sidebar"></nav>`}<//>
      ${sidebarOpen.value && html`<div class="scrim" onClick=${() => (sidebarOpen.value = false)}></div>`}
      <main class="middle" id="middle">
        <${Resizer} label="Width of the task list" side="left" width=${sidebarWidth} least=${200} most=${() => 480} />
        ${
          hasColumn &&
          html`<${Resizer}
            label="Width of the column on the right"
            side="right"
            width=${reviewWidth}
            least=${LEAST_REVIEW}
            most=${() => Math.max(LEAST_REVIEW, 0.6 * innerWidth)}
          />`
        }
        ${standing.value === 'lost' && html`<${Lost} />`}
        ${isNewer.value && html`<${Newer} />`}
        ${finding.value && task && html`<${Lazy} key=${'find' + task.id} load=${loadFind} task=${task} />`}
        <${Middle} />
      </main>
      ${review && html`<${Lazy} key=${'review' + task.id} load=${loadReview} task=${task} />`}
      ${docked && html`<${Lazy} key=${[task.id, docked.name, docked.path, docked.line].join('\n')} load=${SHEETS[docked.name]} close=${closeBeside} ...${docked} docks />`}
    </div>
    ${load && html`<${Lazy} key=${open.name} load=${load} close=${closeSheet} ...${open} />`}
    <${Armed} />
    <${Toasts} />
    <div class="hidden-text" role="status" aria-live="polite">${announcement.value}</div>
  `
}

const loadOut = definePart(() => import('./signed-out.js'))
const loadReview = definePart(() => import('../review/review.js'))
const withStyle = async (load) => (await Promise.all([load(), style('static/js/transcript/transcript.css')]))[0]
const loadTaskView = definePart(() => import('../transcript/task-view.js'))
const loadOfflineTask = definePart(() => import('../transcript/offline-task.js'))
const loadTask = () => withStyle(loadTaskView)
const loadOffline = () => withStyle(loadOfflineTask)
const loadFind = definePart(() => import('../transcript/find.js'))
