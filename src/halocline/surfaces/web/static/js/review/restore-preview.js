// What a rewind would do, in words and as differences, before anything is done.
import { html, style, useEffect, useState } from '../lib/ui.js'
import { query } from '../lib/connection.js'
import { count, shown } from '../lib/format.js'
import { DiffText, Stat } from '../lib/diff.js'

style('static/js/review/review.css')

/** A query's result, {value, error}, fetched again when one of `of` changes. */
export function useQuery(name, given, of) {
  const [found, setFound] = useState({})
  useEffect(() => {
    let here = true
    query(name, given).then(
      (value) => here && setFound({ value }),
      (error) => here && setFound({ error }),
    )
    return () => (here = false)
  }, of)
  return found
}

export const Refusal = ({ error }) =>
  html`<div role="alert">
    <p class="bad">${error.text ?? error.message}</p>
    ${error.hint && html`<p class="soft">${error.hint}</p>`}
  </div>`

const List = ({ names, children }) =>
  names.length > 0 &&
  html`<div>
    <strong>${children}</strong>
    <ul>${names.slice(0, 200).map((name, at) => html`<li key=${at}><code>${shown(name)}</code></li>`)}</ul>
  </div>`

const nameEach = (left) => left.map((one) => `${one.path}: ${one.why}`)

/** How many files a restore would change. Pure. */
export const countChanges = (plan) =>
  plan.creates.length + plan.overwrites.length + plan.deletes.length + plan.merges.length

/** The restore preview in words. */
export function Will({ plan, way, overwrite = false }) {
  const files = way !== 'chat'
  const changes = countChanges(plan)
  const own = plan.left_out.filter((one) => one.kept)
  const gone = plan.left_out.filter((one) => !one.kept)
  return html`<div class="will" aria-live="polite">
    ${files && plan.unsaved && html`<p class="warn">${plan.unsaved}</p>`}
    ${files && changes > 0 && !overwrite && !plan.assumed.length && html`<p>Takes back what the task changed; your own changes stay.</p>`}
    ${files && !plan.unsaved && changes === 0 && html`<p>No file changes.</p>`}
    ${
      files &&
      html`
        <${List} names=${plan.overwrites}>Revert ${count(plan.overwrites.length, 'file')}</${List}>
        <${List} names=${plan.creates}>Recreate ${count(plan.creates.length, 'file')}</${List}>
        <${List} names=${plan.deletes}>Delete ${count(plan.deletes.length, 'file')}</${List}>
        <${List} names=${plan.merges}>
          Revert ${count(plan.merges.length, 'file')}, keeping your own changes
        </${List}>
        <${List} names=${plan.late}>Saved late; changes made while these files were being read stay:</${List}>
        <${List} names=${plan.kept}>
          Leave ${count(plan.kept.length, 'file')} that cannot be written or removed
        </${List}>
        <${List} names=${nameEach(own)}>
          Keep ${count(own.length, 'file')} as your own
        </${List}>
        <${List} names=${nameEach(gone)}>
          ${count(gone.length, 'file')} cannot be restored, because no checkpoint holds ${gone.length === 1 ? 'it' : 'them'}
        </${List}>
        <${List} names=${plan.assumed}>
          Changed while a command ran, so attributed to it (if you edited one yourself, copy it first):
        </${List}>
      `
    }
    ${
      way !== 'files' &&
      html`<p>
        ${plan.messages ? `The model no longer sees ${count(plan.messages, 'message')} sent since then. The transcript keeps them.` : 'No messages since then.'}
      </p>`
    }
    ${
      plan.commands.length > 0 &&
      html`<${List} names=${plan.commands}>
        ${plan.commands.length === 1 ? '1 command ran since; its effects outside these files stay' : `${plan.commands.length} commands ran since; their effects outside these files stay`}
      </${List}>`
    }
  </div>`
}

/** The changes since a point, loaded when opened. */
export function Compared({ task, to, only = null, label }) {
  const [open, setOpen] = useState(false)
  return html`<details class="compared" onToggle=${(e) => setOpen(e.currentTarget.open)}>
    <summary>${label}</summary>
    ${open && html`<${Comparison} task=${task} to=${to} only=${only} />`}
  </details>`
}

function Comparison({ task, to, only }) {
  const { value, error } = useQuery('compare', { task: task.id, old: to }, [task.id, to])
  if (error) return html`<div class="pad"><${Refusal} error=${error} /></div>`
  if (!value) return html`<p class="soft pad" role="status">Comparing…</p>`
  const files = value.files.filter((file) => !only || only.includes(file.path))
  if (!files.length) return html`<p class="soft pad">No differences.</p>`
  return files.map(
    (file) =>
      html`<div key=${file.path}>
        <div class="diff-name">
          <span class="cut mono">${shown(file.path)}</span>
          ${file.status !== 'changed' && html`<span class="badge">${file.status}</span>`}
          <${Stat} added=${file.added} removed=${file.removed} />
        </div>
        <${DiffText} diff=${{ path: file.path, text: file.diff }} />
      </div>`,
  )
}

/** A preview without any change. */
export const NOTHING = {
  creates: [],
  overwrites: [],
  deletes: [],
  merges: [],
  kept: [],
  yours: [],
  conflicts: [],
  others: [],
  doubtful: [],
  assumed: [],
  left_out: [],
  commands: [],
  messages: 0,
  unsaved: '',
}
