// A plan as a document: approve it, which switches to act mode, or send comments on its parts.
import { html, useState } from '../lib/ui.js'
import { complain } from '../state/store.js'
import { shown, truncate } from '../lib/format.js'
import { Icon } from '../lib/icons.js'
import { Markdown } from '../lib/markdown.js'
import { CopyButton } from '../lib/code.js'
import { Words } from './hunks.js'

const GO = 'The plan is approved. Carry it out.'
/** The approval modes to go on in, the safest first. */
const MODES = { ask: 'and ask before changes', 'accept-edits': 'and accept edits', auto: 'in auto mode' }
/** True for an answer to a plan with choices that approves it. */
export const approvesPlan = (option) => Object.values(MODES).some((words) => option === `Approve the plan, ${words}`)
const sendPrompt = (task, text) => task.send('submit_prompt', { content: [{ type: 'text', text }] })

/** The headings of a plan, which comments can refer to. Pure. */
function partsOf(text) {
  let fence = false
  const found = []
  for (const line of text.split('\n')) {
    if (/^\s*(```|~~~)/.test(line)) fence = !fence
    const heading = fence ? null : /^#{1,6}\s+(.+?)\s*#*$/.exec(line)
    if (heading) found.push(heading[1].replace(/[*`_]/g, ''))
  }
  return [...new Set(found)]
}

/** Comments as one prompt. Pure. */
const writePrompt = (remarks) =>
  `Change the plan:\n\n${remarks.map(({ about, text }) => (about ? `About “${about}”: ${text}` : text)).join('\n\n')}`

export function Plan({ row, task }) {
  const text = row.arguments.response
  const asks = row.ends_turn
  return html`<article class="card completion plan" data-card data-call=${row.call} tabindex="-1" aria-label="Plan">
    <div class="completion-head">
      <${Icon} name="list" size="16" />
      <strong class="grow">${asks ? 'Plan' : 'Notes on the plan'}</strong>
      <${CopyButton} text=${text} label="Copy plan" />
    </div>
    <${Markdown} text=${text} />
    ${asks && html`<${PlanActions} row=${row} task=${task} />`}
  </article>`
}

/** Shown only while the plan waits: it is the last message, in plan mode. */
function PlanActions({ row, task }) {
  task.version.value
  const [remarks, setRemarks] = useState([])
  const [form, setForm] = useState(null)
  const [approvals, setApprovals] = useState('ask')
  const last = task.findLast((one) => one.type === 'call_row' || one.type === 'prompt_row')
  if (last !== row || task.facts.running || task.facts.mode !== 'plan') return null
  const parts = partsOf(row.arguments.response)
  const approvePlan = () =>
    task
      .send('set_policy', { approval_mode: approvals })
      .then(() => task.send('set_mode', { mode: 'act' }))
      .then(() => sendPrompt(task, GO))
      .catch(complain)
  const sendRemarks = () => sendPrompt(task, writePrompt(remarks)).then(() => setRemarks([]), complain)
  const openForm = () => {
    const chosen = getSelection()?.toString().trim() ?? ''
    setForm({ about: row.arguments.response.includes(chosen) ? chosen : '' })
  }
  return html`<div class="plan-actions">
    ${remarks.map(
      (one, at) => html`<div key=${at} class="comment">
        <span class="tiny soft cut">${one.about || 'The whole plan'}</span> <span class="grow">${shown(one.text)}</span>
        <button class="link tiny" onClick=${() => setRemarks(remarks.filter((other) => other !== one))}>Remove</button>
      </div>`,
    )}
    ${
      form &&
      html`<div class="words-about">
        <label class="tiny soft" for=${`about-${row.call}`}>About</label>
        <select
          id=${`about-${row.call}`}
          class="field"
          value=${form.about}
          onChange=${(e) => setForm({ about: e.target.value })}
        >
          <option value="">The whole plan</option>
          ${
            form.about &&
            !parts.includes(form.about) &&
            html`<option value=${form.about}>“${shown(truncate(form.about, 80))}”</option>`
          }
          ${parts.map((part) => html`<option key=${part} value=${part}>${shown(part)}</option>`)}
        </select>
        <${Words}
          label="What to change"
          done="Add comment"
          onBack=${() => setForm(null)}
          onDone=${(text) => (text.trim() && setRemarks([...remarks, { about: form.about, text: text.trim() }]), setForm(null))}
        />
      </div>`
    }
    ${
      !form &&
      html`<div class="row">
        ${
          remarks.length > 0 &&
          html`<button class="button primary" onClick=${sendRemarks}>
            Send ${remarks.length === 1 ? 'comment' : `${remarks.length} comments`}
          </button>`
        }
        <button class=${`button ${remarks.length ? '' : 'primary'}`} onClick=${approvePlan}>Approve and act</button>
        <select
          class="field"
          aria-label="How to go on"
          value=${approvals}
          onChange=${(e) => setApprovals(e.target.value)}
        >
          ${Object.entries(MODES).map(([mode, name]) => html`<option key=${mode} value=${mode}>${name}</option>`)}
        </select>
        <button class="button" onClick=${openForm}>${remarks.length ? 'Add comment…' : 'Revise…'}</button>
      </div>`
    }
  </div>`
}
