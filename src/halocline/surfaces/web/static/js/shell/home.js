// The home view: the composer, the folder and recent tasks. On a first visit, setup comes first.
import { classes, html, signal, useEffect } from '../lib/ui.js'
import { query, standing, welcome } from '../lib/connection.js'
import { post } from '../state/outbox.js'
import { choice, go, history, openSheet, usual } from '../state/store.js'
import { chooseFolder, folderNow, lookAtFolder, seen } from '../state/folder.js'
import { base, count, shorten, shown, when } from '../lib/format.js'
import { TITLES, dotOf, listed } from '../state/board.js'
import { keepValue, remember } from '../lib/preferences.js'
import { Icon } from '../lib/icons.js'
import { MenuButton } from '../widgets/menu-button.js'
import { Composer } from '../composer/composer.js'
import { Starters } from './starters.js'
import { useStage } from '../widgets/use-stage.js'
import { Lazy } from '../widgets/lazy.js'
import { definePart } from '../lib/parts.js'

/** Folders picked here, the latest first. */
const picked = keepValue('folders', [])

const STARTERS = [
  'Explain how this project is laid out',
  'Run the tests and fix what fails',
  'Find something that could be simpler and simplify it',
]
/** True on a first visit: no model was there. */
const isFirst = signal(false)
const loadFirst = definePart(() => import('./first-visit.js'))

/** Ask whether to trust a folder's own programs, if you have not decided yet. Returns null for "not now". */
async function askTrust(workspace) {
  const found = await query('trust', { workspace })
  if (!found.needs) return false
  return new Promise((decided) => openSheet('trust', { workspace, found, decided }))
}

/** Start a task with this content; `isKept` is called once the text is stored. */
async function beginTask(content, isKept = () => {}) {
  const { model, mode, approval_mode, effort } = choice.value
  const workspace = folderNow()
  if (isFirst.value && !model && (await hasNoModel())) {
    const first = document.getElementById('first-provider')
    first?.focus()
    first?.scrollIntoView({ block: 'center' }) // below the message
    throw Object.assign(new Error('No model.'), { text: 'Connect a model first. Your text is still here.' })
  }
  const yes = await askTrust(workspace)
  if (yes === null)
    throw Object.assign(new Error('Not started.'), { text: 'The task was not started. Your text is still here.' })
  const posted = post('new', {
    type: 'begin',
    workspace,
    content,
    model: model || null,
    mode: mode || null,
    approval_mode: approval_mode || null,
    effort: effort || null,
    trusted: yes,
  })
  isKept()
  const task = await posted
  go('task', task)
  return task
}

/** What was seen of the chosen folder; looked at again when the window is come back to. */
function useSeen(workspace) {
  useEffect(() => {
    lookAtFolder()
    addEventListener('focus', lookAtFolder)
    return () => removeEventListener('focus', lookAtFolder)
  }, [workspace, standing.value])
  return seen.value.workspace === workspace ? seen.value : {}
}

/** Warnings about the chosen folder, and its git state. */
function Standing({ known }) {
  const { problem, read_only, checkpoints_off: off, git } = known
  const warning = problem
    ? `${problem} Choose another folder.`
    : read_only
      ? 'This folder is read-only: the agent can read it, but edits and checkpoints fail.'
      : off && `No checkpoints: ${off}. Choose a project’s folder.`
  if (warning) return html`<p class="standing warn tiny" role="status"><${Icon} name="warn" size="14" /> ${warning}</p>`
  if (!git) return html`<p class="standing tiny"> </p>`
  if (!git.branch)
    return html`<p class="standing soft tiny" role="status">
      Not a git repository: you can review changes but not commit. To create one, run <code>git init</code>.
    </p>`
  return html`<p class="standing soft tiny">
    <${Icon} name="branch" size="13" /> ${git.branch}
    ${git.dirty ? ` · ${count(git.dirty, 'uncommitted file')}` : ' · no uncommitted changes'}
  </p>`
}

async function askUsual() {
  const settings = await query('settings')
  const value = (name) => settings.find((one) => one.name === name)?.value ?? ''
  const model = value('model') || (await query('usual_model').catch(() => ''))
  usual.value = { model, mode: value('mode') || 'act', approval_mode: value('approval_mode') }
}

/** True without any model: none in the settings, no key, no local server. */
const hasNoModel = async () => !usual.value.model && !(await query('models')).length

const NEW = '\n'

function FolderChoice({ here, isGone }) {
  const folders = welcome.value?.workspaces ?? []
  const known = [...new Set([here, ...folders, ...picked.value, ...history.value.map((info) => info.workspace)])]
    .filter(Boolean)
    .slice(0, 14)
  const choose = (event) => {
    if (event.target.value === NEW) {
      event.target.value = here
      openSheet('folders')
    } else chooseFolder(event.target.value)
  }
  useEffect(() => {
    if (here && !folders.includes(here))
      picked.value = [here, ...picked.value.filter((one) => one !== here)].slice(0, 8)
  }, [here])
  return html`<div class="home-folder row">
    <label class="soft tiny" for="folder">in</label>
    <select id="folder" class="field folder" value=${here} title=${here} aria-invalid=${isGone} onChange=${choose}>
      ${known.map(
        (folder) =>
          html`<option key=${folder} value=${folder}>${folder}${isGone && folder === here ? ' (unavailable)' : ''}</option>`,
      )}
      <option value=${NEW}>Another folder…</option>
    </select>
  </div>`
}

const NEEDS = 'needs you'

/** The tasks that need you, then the latest others. */
function Recent() {
  const rows = listed.value?.rows ?? []
  const groups = [
    [TITLES[NEEDS], rows.filter((row) => row.group === NEEDS)],
    ['Recent', rows.filter((row) => row.group !== NEEDS).sort((a, b) => b.changed_at - a.changed_at)],
  ]
  return groups.map(
    ([title, all]) =>
      all.length > 0 &&
      html`<section class="recent" key=${title} aria-label=${`${title}: tasks`}>
        <h2 class="group-title">${title}</h2>
        <ul class="task-list">
          ${all.slice(0, 5).map(
            (row) => html`<li key=${row.task}>
              <a class="task-link" href=${`#/task/${row.task}`}>
                <span class=${classes('dot', dotOf(row))} aria-hidden="true"></span>
                <span class="grow cut">${shorten(shown(row.title))}</span>
                <span class="soft tiny">${base(row.folder)} · ${when(row.changed_at)}</span>
              </a>
            </li>`,
          )}
        </ul>
      </section>`,
  )
}

export function Home() {
  const here = folderNow()
  const known = useSeen(here)
  const stage = useStage()
  useEffect(() => {
    if (stage && matchMedia('(pointer: fine)').matches) document.querySelector('.composer textarea')?.focus()
  }, [stage])
  // Models are loaded only if no model is chosen yet.
  const connected = standing.value === 'open'
  useEffect(() => {
    if (connected)
      askUsual().then(
        () => !choice.peek().model && hasNoModel().then((none) => (isFirst.value = none)),
        () => {},
      )
  }, [connected])
  const startTask = (content, isKept) => {
    if (content.length)
      remember(
        content
          .filter((part) => part.type === 'text')
          .map((part) => part.text)
          .join('\n'),
      )
    return beginTask(content, isKept).finally(lookAtFolder)
  }
  return html`<div class="home">
    <div class="home-bar"><${MenuButton} /></div>
    <div class="home-middle">
      <h1 class="home-title">
        ${isFirst.value ? (history.value.length ? 'Connect a model' : 'Welcome to Halocline') : 'What do you want to do?'}
      </h1>
      ${isFirst.value && html`<${Lazy} load=${loadFirst} here=${here} again=${askUsual} />`}
      <${FolderChoice} here=${here} isGone=${Boolean(known.problem)} />
      <${Standing} known=${known} />
      <${Composer}
        placeholder="Describe a task, or type / or @"
        onSend=${startTask}
        choice=${choice}
        usual=${usual.value}
        workspace=${here}
      />
      ${stage > 0 && !isFirst.value && (history.value.length ? html`<${Recent} />` : html`<${Starters} of=${STARTERS} />`)}
    </div>
  </div>`
}
