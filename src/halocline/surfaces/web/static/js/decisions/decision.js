// The approval of a call: approve, always allow, edit or reject. Keys and buttons work only after the whole card was on
// screen for a quiet moment, so that input meant for something else cannot approve. Choices in the diff are part of it.
import { html, classes, useEffect, useLayoutEffect, useRef, useState } from '../lib/ui.js'
import { isMeant, useArmed } from '../lib/deliberate-input.js'
import { query } from '../lib/connection.js'
import { shown } from '../lib/format.js'
import { choicesOf, DIVISIBLE } from './edit-choices.js'
import { Lazy } from '../lib/lazy.js'
import { approve, approveWords, draft, draftOf, editable, openForm, others, send, standing } from './approve.js'
import { Foot } from './decision-foot.js'
import { Explanation, gradeOf, isGrave } from './explanation.js'
import { useFocusAfter } from './focus-after.js'
import { isSeen } from './whole-call.js'
import { InView, isInView } from './in-view.js'

const SCOPES = [
  ['task', 'In this task'],
  ['project', 'In this project'],
  ['everywhere', 'Everywhere'],
]

export const grantText = (grant) =>
  grant?.argv?.length ? `${grant.argv.join(' ')} …` : grant?.mcp || grant?.subject || grant?.kind || ''

const LOOK_EVERY = 3000
const loadMeanwhile = () => import('./edit-conflict.js')
/** Changes on disk since the edit was made. Looked for only where it is decided; the other place reads the result. */
function useMeanwhile(task, row, looks) {
  const { request, diffs } = row.approval
  const wanted = looks && diffs?.length > 0
  useEffect(() => {
    if (!wanted) return undefined
    const look = () =>
      !document.hidden &&
      query('meanwhile', { task: task.id, request }).then(
        (now) => {
          if (now.changed || others.value[request])
            others.value = { ...others.value, [request]: now.changed ? now : null }
        },
        () => {},
      )
    const timer = setInterval(look, LOOK_EVERY)
    document.addEventListener('visibilitychange', look)
    return () => (clearInterval(timer), document.removeEventListener('visibilitychange', look))
  }, [request, wanted])
  return others.value[request]
}

/** Buttons and keys of one approval. */
export function Decision({ task, row, docked = false }) {
  if (row.cut) task.version.value // redraw once the rest is loaded
  const complete = task.whole(row)
  const whole = editable(complete)
  const canEdit = whole || (DIVISIBLE.has(row.name) && row.approval.diffs?.length > 0)
  const now = standing(task, row)
  const { request, grant } = row.approval
  const { form: requested, note, text: written } = draftOf(request)
  const setForm = (form) => draft(request, { form })
  const text = written ?? (whole ? (now.arguments ?? complete.arguments)[whole[0]] : '')
  const box = useRef()
  useFocusAfter(box)
  /** It is decided here: the dock shows only while the card is out of view. */
  const isHere = docked || isInView(request)
  const grave = isGrave(row.approval)
  const [word] = gradeOf(row.approval)
  const isFirst = task.facts.waiting[0]?.request === request
  const isPlace = isFirst && isHere && !docked // the dock is a region itself
  // "Always" applies to the call as it came, so it is not offered once the diff was changed.
  const form = requested === 'always' && (!grant || now.verdict !== 'as it is') ? '' : requested
  const meanwhile = useMeanwhile(task, row, isHere)
  const armed = useArmed(request + (meanwhile?.seen ?? ''))
  const [busy, setBusy] = useState(false)
  const once = (deed) => {
    if (busy) return
    setBusy(true)
    deed().finally(() => setBusy(false))
  }
  const decide = (decision, more) => once(() => send(task, request, decision, more))
  const meant = (deed) => armed && isMeant() && deed()
  const edit = () => openForm(row, 'edit')
  useLayoutEffect(() => {
    if (form && isHere) box.current?.querySelector('input, textarea')?.focus()
  }, [form, isHere])
  function pressed(e) {
    if (e.defaultPrevented || e.ctrlKey || e.metaKey || e.altKey || !armed || !isMeant()) return
    if (e.target.closest('input, textarea')) return
    const deeds = {
      a: () => grant && isSeen(row) && setForm('always'),
      r: () => setForm('reject'),
      e: () => canEdit && edit(),
    }
    if (deeds[e.key]) {
      e.preventDefault()
      deeds[e.key]()
    }
  }
  const close = () => (
    draft(request, { form: '', text: null }),
    box.current?.querySelector('.primary, .danger')?.focus()
  )
  const onEscape = (e) => e.key === 'Escape' && (e.stopPropagation(), e.preventDefault(), close())
  const reject = () => decide('reject_once', { note: [note, now.note].filter(Boolean).join('\n\n') })
  return html`<div
    class=${classes('decision', docked && 'docked')}
    ref=${box}
    onKeyDown=${pressed}
    role=${isPlace ? 'region' : 'group'}
    aria-label=${[isPlace ? 'Approval needed' : `Approve: ${row.title}`, word].filter(Boolean).join('. ')}
  >
    <div class="explanation" tabindex=${docked ? 0 : null} role="group" aria-label="What it does">
      <${Explanation} row=${row} />
    </div>
    ${
      now.verdict === 'rejected' &&
      now.of > now.taken &&
      now.taken === 0 &&
      html`<p class="small soft">
        ${Object.keys(choicesOf(request).value.rejected).length === now.of ? 'You excluded every change: the edit is rejected with your comments.' : 'These choices cannot be applied exactly, so nothing is written and the agent gets your choices.'}
      </p>`
    }
    ${
      form === '' &&
      meanwhile &&
      html`<${Lazy} load=${loadMeanwhile} of=${meanwhile} docked=${docked} tells=${isHere} busy=${busy || !armed} decide=${(...given) => meant(() => decide(...given))} />`
    }
    ${
      form === '' &&
      !meanwhile &&
      html`<div class="row">
        <button
          class=${classes('button', 'approves', !grave && 'primary')}
          disabled=${busy || !armed}
          onClick=${() => meant(() => once(() => approve(task, row)))}
        >
          ${approveWords(task, row)} ${isFirst && !grave && html`<kbd class="key-here" aria-hidden="true">⏎</kbd>`}
        </button>
        ${
          grant &&
          now.verdict === 'as it is' &&
          html`<button class="button" disabled=${!armed} onClick=${() => isSeen(row) && setForm('always')}>
            Always allow… ${isFirst && html`<kbd class="key-tip" aria-hidden="true">A</kbd>`}
          </button>`
        }
        ${
          canEdit &&
          html`<button class="button" onClick=${edit}>Edit… ${isFirst && html`<kbd class="key-tip" aria-hidden="true">E</kbd>`}</button>`
        }
        <button class="button danger" onClick=${() => setForm('reject')}>
          Reject… ${isFirst && html`<kbd class="key-tip" aria-hidden="true">R</kbd>`}
        </button>
      </div>`
    }
    ${
      form === 'reject' &&
      html`<form class="decision-form" onKeyDown=${onEscape} onSubmit=${(e) => (e.preventDefault(), reject())}>
        <label class="hidden-text" for=${`note-${request}-${docked}`}>Reason</label>
        <input
          class="field grow"
          id=${`note-${request}-${docked}`}
          placeholder="What should the agent do instead? (optional)"
          value=${note}
          onInput=${(e) => draft(request, { note: e.target.value })}
        />
        <button class="button danger" type="submit">Reject</button>
        <button class="button quiet" type="button" onClick=${close}>Back</button>
      </form>`
    }
    ${form === 'edit' && !whole && html`<p class="small soft" role="status">Loading…</p>`}
    ${
      form === 'edit' &&
      whole &&
      html`<form
        class="decision-form"
        onKeyDown=${onEscape}
        onSubmit=${(e) => (e.preventDefault(), decide('allow_once', { note: now.note, arguments: { ...complete.arguments, [whole[0]]: text } }))}
      >
        <label class="hidden-text" for=${`edit-${request}-${docked}`}>${whole[1]}</label>
        <textarea
          class="field mono grow"
          id=${`edit-${request}-${docked}`}
          rows=${Math.min(16, Math.max(2, text.split('\n').length))}
          value=${text}
          onInput=${(e) => draft(request, { text: e.target.value })}
          spellcheck="false"
        ></textarea>
        <button class=${classes('button', !grave && 'primary')} type="submit">${whole[2]}</button>
        <button class="button quiet" type="button" onClick=${close}>Back</button>
      </form>`
    }
    ${
      form === 'always' &&
      html`<${Always} approval=${row.approval} decide=${decide} close=${close} onEscape=${onEscape} />`
    }
    <${Foot} task=${task} row=${row} isFirst=${isFirst} />
    ${!docked && html`<${InView} of=${request} />`}
  </div>`
}

function Always({ approval, decide, close, onEscape }) {
  const { request, grant, wider: more } = approval
  const grave = isGrave(approval) // then Enter in a field does not allow it
  const armed = useArmed(request)
  const [scope, setScope] = useState('task')
  const [wider, setWider] = useState(false)
  const allow = () => armed && isMeant() && decide('allow_always', { scope, wider })
  const offers = [[false, grant], ...(more ? [[true, more]] : [])]
  return html`<form
    class="decision-form column"
    onKeyDown=${onEscape}
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
