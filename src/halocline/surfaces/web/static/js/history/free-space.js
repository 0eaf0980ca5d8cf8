// Free disk space: shows what can be deleted, and deletes it only after confirmation.
import { html, useEffect, useRef, useState } from '../lib/ui.js'
import { act } from '../lib/connection.js'
import { announcement } from '../state/store.js'
import { count, shown, size } from '../lib/format.js'
import { Answer, Dialog, Failed, useAction, useQuery } from '../widgets/page-frame.js'
import { Labelled } from '../widgets/form.js'
import { useWork, Working } from '../widgets/job-progress.js'

const MOST = 12

/** A number of 1 or more; null if empty, NaN if invalid. */
function numberOf(text) {
  if (!text.trim()) return null
  return /^\d{1,5}$/.test(text.trim()) && Number(text) > 0 ? Number(text) : NaN
}

/** The text after a pause in typing. */
function useRested(text) {
  const [rested, setRested] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setRested(text), 400)
    return () => clearTimeout(timer)
  }, [text])
  return rested
}

const Whole = ({ id, label, value, onInput }) => html`<${Labelled}
  id=${id}
  label=${label}
  error=${Number.isNaN(numberOf(value)) && 'Enter a whole number or leave it empty.'}
>
  <input
    class="field"
    id=${id}
    inputmode="numeric"
    autocomplete="off"
    value=${value}
    onInput=${(e) => onInput(e.currentTarget.value)}
  />
</${Labelled}>`

function Planned({ plan }) {
  const [all, setAll] = useState(false)
  const { checkpoints, damaged } = plan
  const rows = all ? checkpoints : checkpoints.slice(0, MOST)
  return html`
    <ul class="items lines">
      ${
        plan.blobs > 0 &&
        html`<li class="row entry">
          <span class="grow">Unused contents</span>
          <span class="figure">${size(plan.blob_bytes)}</span>
        </li>`
      }
      ${damaged.map(
        (one, at) => html`<li key=${at} class="row entry">
          <span class="grow">
            Damaged checkpoints of <span class="mono tiny">${shown(one.workspace || 'a folder')}</span>
          </span>
          <span class="figure">${size(one.size)}</span>
        </li>`,
      )}
      ${rows.map(
        (one, at) => html`<li key=${at} class="row entry">
          <span class="grow">
            ${count(one.count, 'checkpoint')}
            ${' '}
            <span class="soft tiny">${one.task === 'by-hand' ? '' : shown(one.task)} · ${shown(one.why)}</span>
            <span class="soft tiny block mono cut">${shown(one.workspace)}</span>
          </span>
        </li>`,
      )}
    </ul>
    ${
      rows.length < checkpoints.length &&
      html`<button class="link tiny" onClick=${() => setAll(true)}>Show all ${checkpoints.length}</button>`
    }
    ${
      checkpoints.length > 0 &&
      html`<p class="soft tiny">The size of checkpoints is known only after deletion, as they share data.</p>`
    }
  `
}

export function Freeing({ onFreed }) {
  const [days, setDays] = useState('')
  const [keep, setKeep] = useState('')
  const [sure, setSure] = useState(false)
  const told = useRef()
  const [older, most] = [numberOf(useRested(days)), numberOf(useRested(keep))]
  const wrong = Number.isNaN(older) || Number.isNaN(most)
  const wish = { older, keep: most }
  const plan = useQuery(wrong ? '' : 'prune_plan', wish)
  const [work, look] = useWork('prune', (over) => {
    plan.again()
    onFreed()
    if (over.value) announcement.value = `Freed ${size(over.value.freed)}`
    requestAnimationFrame(() => told.current?.focus())
  })
  const [free, , refused] = useAction(async () => {
    setSure(false)
    await act('prune', wish)
    look()
  })
  const works = work && !work.over
  return html`
    <h2>Free space</h2>
    <p class="soft">
      Deletes data that no task needs. Tasks, and data that running tasks may use, are kept.
    </p>
    <details>
      <summary>Delete more</summary>
      <div class="free-more">
        <${Whole}
          id="free-days"
          label="Checkpoints of tasks idle for more than … days"
          value=${days}
          onInput=${setDays}
        />
        <${Whole}
          id="free-keep"
          label="All but the latest … checkpoints of each task"
          value=${keep}
          onInput=${setKeep}
        />
        <p class="soft tiny">Files cannot be restored to a deleted checkpoint.</p>
      </div>
    </details>
    ${
      !wrong &&
      html`<${Answer} of=${plan} what="what can be deleted">
        ${(found) =>
          found.blobs || found.damaged.length || found.checkpoints.length
            ? html`
              <${Planned} plan=${found} />
              <div class="row">
                <button class="button" disabled=${works || plan.asking} onClick=${() => setSure(true)}>Free space…</button>
              </div>
            `
            : html`<p role="status">Nothing to free.</p>`}
      </${Answer}>`
    }
    ${works && html`<${Working} of=${work} />`}
    ${refused && html`<${Failed} error=${refused} />`}
    ${
      work?.over &&
      html`<div class="pane-card" ref=${told} tabindex="-1" role="status">
        ${
          work.error
            ? html`<strong class="bad">${shown(work.error)}</strong><p>${shown(work.hint)}</p>`
            : work.value
              ? html`
                <strong class="good">Freed ${size(work.value.freed)}.</strong>
                ${(work.value.problems ?? []).map((text, at) => html`<p key=${at}>${shown(text)}</p>`)}
              `
              : html`<p>Stopped.</p>`
        }
      </div>`
    }
    ${
      sure &&
      html`<${Dialog}
        title="Free space?"
        onClose=${() => setSure(false)}
        foot=${html`
          <button class="button danger" onClick=${free}>Free space</button>
          <button class="button" data-first onClick=${() => setSure(false)}>Cancel</button>
        `}
      >
        <p>This cannot be undone. Your project files and tasks are not changed.</p>
      </${Dialog}>`
    }
  `
}
