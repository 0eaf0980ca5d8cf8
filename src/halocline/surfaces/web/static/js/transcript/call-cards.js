// Cards of tool calls: icon, verb, target, status, time. The content opens on demand, or while it matters.
import { html, classes, useState } from '../lib/ui.js'
import { allOpen, openSheet } from '../state/store.js'
import { clock, count, seconds, shown } from '../lib/format.js'
import { query } from '../lib/connection.js'
import { nameDecision, nameOther } from '../state/other-clients.js'
import { Icon } from '../lib/icons.js'
import { DiffText, fate, firstChange, hunksOf, Stat } from '../lib/diff.js'
import { openFile } from '../files/open-file.js'
import { Approvable } from '../decisions/hunks.js'
import { BrowserBody } from './browser-card.js'
import { Decision } from '../decisions/decision.js'
import { gradeOf } from '../decisions/explanation.js'
import { isInView } from '../decisions/in-view.js'
import { revealed, Whole, wholeOf } from '../decisions/whole-call.js'
import { CommandFoot, JobFoot } from './command-actions.js'
import { Boundary } from '../widgets/boundary.js'
import { Elapsed } from '../widgets/elapsed.js'
import { Lanes } from './subagent-lanes.js'
import { Lazy } from '../widgets/lazy.js'
import { Answer, Arguments, Output, Pictures } from './output.js'
import { definePart } from '../lib/parts.js'

const ICONS = {
  read: 'file',
  edit: 'edit',
  delete: 'trash',
  move: 'edit',
  search: 'search',
  execute: 'terminal',
  think: 'spark',
  fetch: 'globe',
  other: 'plug',
}
const SAID = {
  completed: ['✓', 'good', 'done'],
  failed: ['✕', 'bad', 'failed'],
  rejected: ['⊘', 'warn', 'rejected'],
  blocked: ['⊘', 'warn', 'blocked'],
  skipped: ['–', 'soft', 'skipped'],
  cancelled: ['■', 'warn', 'stopped'],
}

function Status({ row, cutOff }) {
  if (row.approval && !row.approval.decision && !row.status) {
    const [word, tone] = row.approval.diffs?.length ? gradeOf(row.approval) : [] // else the reason is the next line
    return html`<span class=${classes('state', word ? tone : 'warn')}>${word || 'needs approval'}</span>`
  }
  if (cutOff) return html`<span class="state warn"><span aria-hidden="true">■</span> interrupted</span>`
  if (!row.status)
    return html`<span class="state run">
      <span class="dot runs" aria-hidden="true"></span>
      ${row.started_at ? 'running' : 'waiting'}
    </span>`
  const [sign, look, word] = row.failure
    ? [...SAID.failed.slice(0, 2), row.failure]
    : row.answer
      ? ['✓', 'soft', row.answer]
      : (SAID[row.status === 'rejected' && !row.approval ? 'blocked' : row.status] ?? ['', '', row.status])
  return html`<span class=${classes('state', look)}>
    <span aria-hidden="true">${sign}</span>
    <span class=${row.status === 'completed' && !row.failure && !row.answer ? 'hidden-text' : ''}> ${shown((row.status === 'skipped' && row.for_person) || word)}</span>
  </span>`
}

/** What a person left out of an edit before it ran; empty if nothing. */
const nameLeftOut = (approval) => (approval.refused?.length ? `without ${shown(approval.refused.join(' and '))}` : '')

/** True for a call that was approved as it was, here or without a name: one word in its line says so. */
const isPlain = ({ approval, status }) =>
  approval?.decision === 'allow_once' &&
  !(approval.by === 'nobody' || approval.note || approval.edited || nameOther(approval.client)) &&
  status !== 'rejected'

function Decided({ row }) {
  const { approval, status } = row
  if (!approval?.decision || ['nobody', 'interrupt'].includes(approval.by) || isPlain(row)) return null
  if (approval.by === 'message') return html`<div class="decided soft tiny">Not run: you sent a message instead.</div>`
  const yes = approval.decision.startsWith('allow')
  const always = approval.decision.endsWith('always')
  const other = nameOther(approval.client)
  const whom = other && ` ${shown(other)}, ${clock(approval.at)}`
  return html`<div class="decided soft tiny">
    ${nameDecision(approval)}
    ${always ? ' always' : ''}${whom}${approval.edited ? `, ${nameLeftOut(approval) || 'edited first'}` : ''}${yes && status === 'rejected' ? '; then denied by a rule' : ''}
    ${approval.note ? html`: <q>${shown(approval.note)}</q>` : ''}
  </div>`
}

const isCommand = (row) =>
  row.name === 'execute_command' || (row.kind === 'execute' && typeof row.arguments?.command === 'string')

/** Tools that search for the place of an edit, and may not find it. */
const PARTIAL = new Set(['replace_in_file', 'apply_patch'])
const showConflict = (task, row) => openSheet('conflict', { task, row })

/**
 * Where the lines around a diff are: in the file as the edit left it, or as it is while the edit waits.
 * @returns {import('../lib/diff-around.js').Source}
 */
const readAround = (task, row, diff) => ({
  side: row.status === 'completed' ? 'new' : 'old',
  read: (first, last) => query('diff_lines', { task: task.id, call: row.call, path: diff.path, first, last }),
  open: () => openFile(task, diff.path, firstChange(hunksOf(diff.text)[0])),
})

/** How a call failed, in words for people; what the model read is below it, on demand. */
function Failure({ row, fetch }) {
  const said = row.for_person || row.output || ''
  return html`
    ${said && html`<${Output} text=${said} head />`}
    ${
      row.output &&
      row.output.trim() !== said &&
      html`<details class="tiny soft pad">
        <summary>What the model read</summary>
        <${Output} text=${row.output} head fetch=${fetch} />
      </details>`
    }
  `
}

function Inside({ row, task, asks, cutOff }) {
  if (asks && row.approval.diffs?.length)
    return html`<${Approvable} task=${task} row=${row} around=${(diff) => readAround(task, row, diff)} />`
  const fetch = row.cut?.includes('output') ? () => task.fetchWhole(row).then((whole) => whole.output) : null
  const diffs = row.diffs?.length ? row.diffs : (row.approval?.diffs ?? [])
  const failed = row.status === 'failed' || row.status === 'rejected'
  if (diffs.length)
    return html`
      ${diffs.map(
        (diff, at) => html`<${DiffText}
          key=${at}
          diff=${diff}
          named=${diffs.length > 1}
          most=${60}
          around=${readAround(task, row, diff)}
        />`,
      )}
      ${failed && html`<${Failure} row=${row} fetch=${fetch} />`}
    `
  if (row.name === 'browser_action' && !failed) return html`<${BrowserBody} row=${row} task=${task} />`
  if (row.status === 'failed' && PARTIAL.has(row.name))
    return html`
      <${Failure} row=${row} fetch=${fetch} />
      <div class="call-foot row">
        <button class="button small" onClick=${() => showConflict(task, row)}>Show conflict</button>
      </div>
    `
  if (row.server)
    return html`
      <${Arguments} value=${row.arguments} />
      ${
        row.output &&
        (row.status === 'completed'
          ? html`<${Answer} text=${row.output} fetch=${fetch} />`
          : html`<${Failure} row=${row} fetch=${fetch} />`)
      }
      ${row.images && html`<${Pictures} images=${row.images} />`}
    `
  if (row.images?.length)
    return html`${row.output && html`<${Output} text=${row.output} head />`}<${Pictures} images=${row.images} />`
  const url = row.name === 'web_fetch' && /^https?:\/\//.test(row.arguments?.url ?? '') ? row.arguments.url : ''
  if (url && row.output)
    return html`
      <p class="pad-line small cut"><a href=${url} target="_blank" rel="noreferrer noopener">${shown(url)}</a></p>
      <${Output} text=${row.output} head fetch=${fetch} />
    `
  if (row.lanes && !row.status) return null
  if (row.for_person) return html`<${Failure} row=${row} fetch=${fetch} />`
  if (row.output)
    return html`<${Output} text=${row.output} head=${!isCommand(row)} live=${!row.status && !cutOff} fetch=${fetch} />`
  if (cutOff)
    return html`<p class="soft tiny pad">
      ${row.started_at ? 'Interrupted: its effects are unknown. Check before you continue.' : 'Never started.'}
    </p>`
  return asks || row.status
    ? null
    : html`<p class="soft tiny pad">${row.started_at ? 'No output yet.' : 'Not started.'}</p>`
}

/** The title line of a call. */
function Title({ row }) {
  if (row.server)
    return html`<span class="call-title cut">
      ${shown(row.server)} · <strong>${shown(row.tool ?? '')}</strong>${' '}
      <span class="soft mono">${shown(row.subject ?? '')}</span>
    </span>`
  const command = isCommand(row)
  const isWhole = row.status !== 'completed' && !wholeOf(row) // short titles are not cut while they matter
  return html`<span class=${classes('call-title', isWhole ? 'wanted' : 'cut', command && 'mono')} title=${row.title}>
    ${command ? '$ ' : ''}${shown(row.title)}
  </span>`
}

const isInEditor = window.early.isEditor
const loadPlaces = definePart(() => import('./call-places.js'))

export function CallCard({ row, task }) {
  const asks = row.approval && !row.approval.decision && !row.status
  if (!row.status) task.version.value // no row says that the turn was cut off
  const cutOff = !asks && task.isCutOff(row)
  const runs = !row.status && !asks && !cutOff && row.started_at
  const command = isCommand(row)
  const shows = row.own || (row.status === 'completed' && row.images?.length > 0)
  const refused = row.status === 'rejected' && !row.approval?.decision?.startsWith('reject') // by a rule
  const matters = asks || (runs && command) || row.status === 'failed' || row.failure || refused || shows
  const [open, setOpen] = useState(null)
  const isOpen = (asks && revealed.value === task.keyOf(row.approval.request)) || (open ?? (allOpen.value || matters))
  const diffs = row.diffs?.length ? row.diffs : (row.approval?.diffs ?? [])
  const added = diffs.reduce((n, diff) => n + (diff.added ?? 0), 0)
  const removed = diffs.reduce((n, diff) => n + (diff.removed ?? 0), 0)
  const became = diffs.length === 1 ? fate(diffs[0]) : ''
  const toggle = () => setOpen(!isOpen)
  function handleKey(event) {
    if (event.target === event.currentTarget && event.key === 'Enter' && !asks) toggle()
  }
  return html`<article
    class=${classes('card call', `kind-${row.kind ?? 'other'}`, asks && 'asks', row.failure ? 'failed' : row.status)}
    data-card
    data-call=${row.call}
    data-decides=${(asks && isInView(task, row.approval.request)) || null}
    tabindex="-1"
    onKeyDown=${handleKey}
    aria-label=${row.title}
  >
    <button class="call-line" aria-expanded=${Boolean(isOpen)} onClick=${toggle}>
      <span class="call-icon" aria-hidden="true">
        <${Icon} name=${row.server ? 'plug' : row.lanes ? 'branch' : (ICONS[row.kind] ?? 'plug')} size="16" />
      </span>
      <${Title} row=${row} />
      ${row.own && html`<span class="badge">you</span>`}
      ${row.approval?.agent && html`<span class="badge">${shown(row.approval.agent)}</span>`}
      ${row.approval?.edited && html`<span class="badge">${nameLeftOut(row.approval) || 'edited by you'}</span>`}
      ${isPlain(row) && html`<span class="soft tiny">Approved</span>`}
      ${became && html`<span class="badge">${became}</span>`}
      ${(added || removed) > 0 && html`<${Stat} added=${added} removed=${removed} />`}
      ${
        runs
          ? html`<${Elapsed} since=${row.started_at} />`
          : html`<span class="tiny soft call-time">
            ${row.seconds == null || row.seconds < 0.05 ? '' : seconds(row.seconds)}
          </span>`
      }
      <${Status} row=${row} cutOff=${cutOff} />
    </button>
    ${row.lanes && html`<${Lanes} lanes=${row.lanes} task=${task} cutOff=${cutOff} />`}
    ${isOpen && !asks && command && html`<${Whole} task=${task} row=${row} />`}
    ${isOpen && html`<div class="call-body"><${Inside} row=${row} task=${task} asks=${asks} cutOff=${cutOff} /></div>`}
    ${command && (runs || (isOpen && row.status)) && html`<${CommandFoot} row=${row} task=${task} runs=${runs} />`}
    ${command && row.status && row.job && html`<${JobFoot} row=${row} task=${task} />`}
    ${isOpen && (isInEditor || !diffs.length) && html`<${Lazy} load=${loadPlaces} row=${row} task=${task} asks=${asks} />`}
    ${asks && html`<${Decision} task=${task} row=${row} />`}
    <${Decided} row=${row} />
  </article>`
}

export function GroupCard({ row, task }) {
  const [open, setOpen] = useState(false)
  const isOpen = open || allOpen.value
  const searches = row.rows.filter((one) => one.kind === 'search').length
  const reads = row.rows.length - searches
  const said = [reads && count(reads, 'file'), searches && count(searches, 'search', 'searches')]
    .filter(Boolean)
    .join(', ')
  const time = row.rows.reduce((sum, one) => sum + (one.seconds ?? 0), 0)
  const names = row.rows.map((one) => one.subject || one.title).join(' · ')
  return html`<article class="group" data-card tabindex="-1" aria-label=${`Explored ${said}`}>
    <button class="fold-line" aria-expanded=${isOpen} onClick=${() => setOpen(!isOpen)}>
      <span class=${classes('chevron', isOpen && 'open')} aria-hidden="true"><${Icon} name="chevron" size="14" /></span>
      <span class="soft">Explored ${said}</span>
      <span class="soft cut tiny grow">${shown(names)}</span>
      <span class="tiny soft">${time >= 0.05 ? seconds(time) : ''}</span>
      <span class="good" aria-hidden="true">✓</span>
    </button>
    ${
      isOpen &&
      html`<div class="fold-body">
        ${row.rows.map(
          (one) => html`<${Boundary} key=${one.call} what="row" of=${one}><${CallCard} row=${one} task=${task} /><//>`,
        )}
      </div>`
    }
  </article>`
}

/** An edit that the model is still writing: its latest lines. */
export function PreviewCard({ row: preview }) {
  return html`<article
    class="card call preview"
    data-card
    tabindex="-1"
    aria-label=${`Writing ${preview.path || 'an edit'}`}
  >
    <div class="call-line">
      <span class="call-icon" aria-hidden="true"><${Icon} name="edit" size="16" /></span>
      <span class="call-title cut">
        ${preview.path ? shown(preview.path) : 'An edit'}
        ${preview.line ? html` <span class="soft tiny">line ${preview.line}</span>` : ''}
      </span>
      <${Stat} added=${preview.added} removed=${preview.removed} />
      <span class="state run"><span class="dot runs" aria-hidden="true"></span>writing</span>
    </div>
    ${
      preview.lines?.length > 0 &&
      html`<div class="call-body diff mono">
        <div class="hunk-inside">
          ${preview.lines.map(
            (line, at) => html`<div
              key=${at}
              class=${classes('line', line[0] === '+' && 'added', line[0] === '-' && 'removed')}
            >
              <span class="no" aria-hidden="true"></span>
              <span class="sign">${line[0]}</span>
              <span class="code-text">${shown(line.slice(1)) || ' '}</span>
            </div>`,
          )}
        </div>
      </div>`
    }
  </article>`
}
