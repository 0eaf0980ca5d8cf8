// The approval of a call: approve, always allow, edit or reject. Keys and buttons work only after the whole card was on
// screen for a quiet moment, so that input meant for something else cannot approve. Choices in the diff are part of it.
import { html, classes, useEffect, useLayoutEffect, useRef, useState } from '../lib/ui.js'
import { isDeliberate, useArmed } from '../lib/deliberate-input.js'
import { query } from '../lib/connection.js'
import { shown } from '../lib/format.js'
import { choicesOf, isDivisible } from './edit-choices.js'
import { Lazy } from '../widgets/lazy.js'
import {
  approveCall,
  labelApprove,
  conflictOf,
  setConflict,
  setDraft,
  draftOf,
  findEditable,
  judgeApproval,
  openForm,
  sendDecision,
} from './approve.js'
import { approveAll, editsOf, labelAll, useEdits } from './approve-ahead.js'
import { EditsAhead } from './edits-ahead.js'
import { Foot, Why } from './decision-foot.js'
import { Explanation, gradeOf, isGrave } from './explanation.js'
import { useFocusAfter } from './focus-after.js'
import { isSeen } from './whole-call.js'
import { InView, isInView } from './in-view.js'
import { definePart } from '../lib/parts.js'

const SCOPES = [
  ['task', 'In this task'],
  ['project', 'In this project'],
  ['everywhere', 'Everywhere'],
]

export const grantText = (grant) =>
  grant?.argv?.length ? `${grant.argv.join(' ')} …` : grant?.mcp || grant?.subject || grant?.kind || ''

const LOOK_EVERY = 3000
const loadConflict = definePart(() => import('./edit-conflict.js'))
/** Changes on disk since the edit was made. Looked for only where it is decided; the other place reads the result. */
function useConflict(task, row, looks) {
  const { request, diffs } = row.approval
  const wanted = looks && diffs?.length > 0
  useEffect(() => {
    if (!wanted) return undefined
    const look = () =>
      !document.hidden &&
      query('meanwhile', { task: task.id, request }).then(
        (found) => {
          if (found.changed || conflictOf(task, request)) setConflict(task, request, found.changed ? found : null)
        },
        () => {},
      )
    const timer = setInterval(look, LOOK_EVERY)
    document.addEventListener('visibilitychange', look)
    return () => (clearInterval(timer), document.removeEventListener('visibilitychange', look))
  }, [task.keyOf(request), wanted])
  return conflictOf(task, request)
}

/** Buttons and keys of one approval. */
export function Decision({ task, row, docked = false }) {
  if (row.cut) task.version.value // redraw once the rest is loaded
  const complete = task.whole(row)
  const field = findEditable(complete)
  const canEdit = field || (isDivisible(row) && row.approval.diffs?.length > 0)
  const effect = judgeApproval(task, row)
  const { request, grant } = row.approval
  const key = task.keyOf(request)
  const { form: requested, note } = draftOf(task, request)
  const setForm = (form) => setDraft(task, request, { form })
  const box = useRef()
  useFocusAfter(box)
  /** It is decided here: the dock shows only while the card is out of view. */
  const isHere = docked || isInView(task, request)
  const [word] = gradeOf(row.approval)
  const isFirst = task.facts.waiting[0]?.request === request
  const isPlace = isFirst && isHere && !docked // the dock is a region itself
  // "Always" applies to the call as it came, so it is not offered once the diff was changed.
  const canGrant = grant && effect.verdict === 'as it is'
  const form = requested === 'always' && !canGrant ? '' : requested
  const conflict = useConflict(task, row, isHere)
  const edits = useEdits(task, row)
  const armed = useArmed(key + (conflict?.seen ?? ''))
  const [busy, setBusy] = useState(false)
  const runOnce = (action) => {
    if (busy) return
    setBusy(true)
    action().finally(() => setBusy(false))
  }
  const decide = (decision, more) => runOnce(() => sendDecision(task, request, decision, more))
  const runDeliberate = (action) => armed && isDeliberate() && action()
  const openEdit = () => openForm(task, row, 'edit')
  const closed = useRef('')
  useLayoutEffect(() => {
    if (form && isHere) box.current?.querySelector('input, textarea')?.focus()
    else if (closed.current) box.current?.querySelector(`[data-opens=${closed.current}]`)?.focus()
    closed.current = ''
  }, [form, isHere])
  function handleKey(e) {
    if (e.defaultPrevented || e.ctrlKey || e.metaKey || e.altKey || !armed || !isDeliberate()) return
    if (e.target.closest('input, textarea')) return
    const actions = {
      a: () => grant && isSeen(task, row) && setForm('always'),
      r: () => setForm('reject'),
      e: () => canEdit && openEdit(),
    }
    if (!actions[e.key]) return
    e.preventDefault()
    actions[e.key]()
  }
  const close = () => ((closed.current = form), setDraft(task, request, { form: '', text: null }))
  const closeOnEscape = (e) => e.key === 'Escape' && (e.stopPropagation(), e.preventDefault(), close())
  const shared = { task, row, effect, decide, close, closeOnEscape, id: `${key}-${docked}` }
  return html`<div
    class=${classes('decision', docked && 'docked')}
    ref=${box}
    onKeyDown=${handleKey}
    role=${isPlace ? 'region' : 'group'}
    aria-label=${[isPlace ? 'Approval needed' : `Approve: ${row.title}`, word].filter(Boolean).join('. ')}
  >
    <div class="explanation" tabindex=${docked ? 0 : null} role="group" aria-label="What it does">
      <${Explanation} task=${task} row=${row} why=${html`<${Why} task=${task} row=${row} />`} />
    </div>
    <${Excluded} task=${task} request=${request} effect=${effect} />
    ${!docked && html`<${EditsAhead} task=${task} row=${row} edits=${edits} />`}
    ${
      form === '' &&
      conflict &&
      html`<${Lazy} load=${loadConflict} of=${conflict} docked=${docked} tells=${isHere} busy=${busy || !armed} decide=${(...given) => runDeliberate(() => decide(...given))} />`
    }
    ${
      form === '' &&
      !conflict &&
      html`<${Buttons}
        task=${task}
        row=${row}
        isFirst=${isFirst}
        busy=${busy}
        armed=${armed}
        onApprove=${() => runDeliberate(() => runOnce(() => approveCall(task, row)))}
        onAll=${edits.ahead.length > 0 && (() => runDeliberate(() => runOnce(() => approveAll(task, row))))}
        onAlways=${canGrant && (() => isSeen(task, row) && setForm('always'))}
        onEdit=${canEdit && openEdit}
        onReject=${() => setForm('reject')}
      />`
    }
    ${form === 'reject' && html`<${RejectForm} ...${shared} note=${note} />`}
    ${form === 'edit' && !field && html`<p class="small soft" role="status">Loading…</p>`}
    ${form === 'edit' && field && html`<${EditForm} ...${shared} complete=${complete} field=${field} />`}
    ${form === 'always' && html`<${Always} ...${shared} />`}
    <${Foot} task=${task} isFirst=${isFirst} />
    ${!docked && html`<${InView} task=${task} request=${request} />`}
  </div>`
}

/** Why a partial choice is a rejection. */
const Excluded = ({ task, request, effect }) =>
  effect.verdict === 'rejected' &&
  effect.total > 0 &&
  effect.accepted === 0 &&
  html`<p class="small soft">
    ${Object.keys(choicesOf(task, request).value.rejected).length === effect.total ? 'You excluded every change: the edit is rejected with your comments.' : 'These choices cannot be applied exactly, so nothing is written and the agent gets your choices.'}
  </p>`

function Buttons({ task, row, isFirst, busy, armed, onApprove, onAll, onAlways, onEdit, onReject }) {
  const grave = isGrave(row.approval)
  const all = onAll && labelAll(task, row.approval.request)
  return html`<div class="row">
    <button class=${classes('button', 'approves', !grave && 'primary')} disabled=${busy || !armed} onClick=${onApprove}>
      ${labelApprove(task, row)} ${isFirst && !grave && html`<kbd class="key-here" aria-hidden="true">⏎</kbd>`}
    </button>
    ${
      all &&
      html`<button class="button" disabled=${busy || !armed} onClick=${onAll}>
        ${all} ${isFirst && html`<kbd class="key-tip" aria-hidden="true">S</kbd>`}
      </button>`
    }
    ${
      onAlways &&
      html`<button class="button" data-opens="always" disabled=${!armed} onClick=${onAlways}>
        Always allow… ${isFirst && html`<kbd class="key-tip" aria-hidden="true">A</kbd>`}
      </button>`
    }
    ${
      onEdit &&
      html`<button class="button" data-opens="edit" onClick=${onEdit}>Edit… ${isFirst && html`<kbd class="key-tip" aria-hidden="true">E</kbd>`}</button>`
    }
    <button class="button danger" data-opens="reject" onClick=${onReject}>
      Reject… ${isFirst && html`<kbd class="key-tip" aria-hidden="true">R</kbd>`}
    </button>
  </div>`
}

function RejectForm({ task, row, effect, note, id, decide, close, closeOnEscape }) {
  const { ahead } = editsOf(task, row.approval.request)
  const goes_on = ahead.some((one) => one.decision)
  const reject = () => decide('reject_once', { note: [note, effect.note].filter(Boolean).join('\n\n'), goes_on })
  return html`<form class="decision-form" onKeyDown=${closeOnEscape} onSubmit=${(e) => (e.preventDefault(), reject())}>
    <label class="hidden-text" for=${`note-${id}`}>Reason</label>
    <input
      class="field grow"
      id=${`note-${id}`}
      placeholder="What should the agent do instead? (optional)"
      value=${note}
      onInput=${(e) => setDraft(task, row.approval.request, { note: e.target.value })}
    />
    <button class="button danger" type="submit">
      ${ahead.length && !goes_on ? `Reject, skip ${ahead.length === 1 ? 'the next edit' : `the next ${ahead.length}`}` : 'Reject'}
    </button>
    <button class="button quiet" type="button" onClick=${close}>Back</button>
  </form>`
}

/** Edits one argument as a whole; `field` is [name, label, button]. */
function EditForm({ task, row, complete, effect, field, id, decide, close, closeOnEscape }) {
  const [name, label, button] = field
  const { request } = row.approval
  const text = draftOf(task, request).text ?? (effect.arguments ?? complete.arguments)[name]
  const allow = () => decide('allow_once', { note: effect.note, arguments: { ...complete.arguments, [name]: text } })
  return html`<form class="decision-form" onKeyDown=${closeOnEscape} onSubmit=${(e) => (e.preventDefault(), allow())}>
    <label class="hidden-text" for=${`edit-${id}`}>${label}</label>
    <textarea
      class="field mono grow"
      id=${`edit-${id}`}
      rows=${Math.min(16, Math.max(2, text.split('\n').length))}
      value=${text}
      onInput=${(e) => setDraft(task, request, { text: e.target.value })}
      spellcheck="false"
    ></textarea>
    <button class=${classes('button', !isGrave(row.approval) && 'primary')} type="submit">${button}</button>
    <button class="button quiet" type="button" onClick=${close}>Back</button>
  </form>`
}

function Always({ task, row, decide, close, closeOnEscape }) {
  const { request, grant, wider: more } = row.approval
  const grave = isGrave(row.approval) // then Enter in a field does not allow it
  const armed = useArmed(task.keyOf(request))
  const [scope, setScope] = useState('task')
  const [wider, setWider] = useState(false)
  const allow = () => armed && isDeliberate() && decide('allow_always', { scope, wider })
  const offers = [[false, grant], ...(more ? [[true, more]] : [])]
  return html`<form
    class="decision-form column"
    onKeyDown=${closeOnEscape}
    onSubmit=${(e) => (e.preventDefault(), !grave && allow())}
  >
    <fieldset>
      <legend>Always allow</legend>
      ${offers.map(
        ([is, offer]) => html`<label key=${String(is)} class="choice">
          <input type="radio" name="what" checked=${wider === is} onChange=${() => setWider(is)} />
          ${' '}
          <code>${shown(grantText(offer))}</code>
        </label>`,
      )}
    </fieldset>
    <div class="row">
      ${SCOPES.map(
        ([value, text]) => html`<label key=${value} class="choice">
          <input type="radio" name="scope" checked=${scope === value} onChange=${() => setScope(value)} /> ${text}
        </label>`,
      )}
    </div>
    <div class="row">
      <button
        class=${classes('button', !grave && 'primary')}
        disabled=${!armed}
        type=${grave ? 'button' : 'submit'}
        onClick=${() => grave && allow()}
      >
        Allow
      </button>
      <button class="button quiet" type="button" onClick=${close}>Back</button>
    </div>
  </form>`
}
