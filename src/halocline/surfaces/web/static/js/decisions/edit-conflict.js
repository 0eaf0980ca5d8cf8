// An edit conflict: the file of a pending edit changed on disk. Shows what the edit would do now, and resolves it.
import { html } from '../lib/ui.js'
import { shown } from '../lib/format.js'
import { DiffText } from '../lib/diff.js'

export default function EditConflict({ of, docked, tells, busy, decide }) {
  const { diffs, problem, whole, merged, seen } = of
  const names = [...new Set(diffs.map((diff) => diff.path))]
  const named = names.length
    ? names.map((name) => html`<code key=${name}>${shown(name)}</code> `)
    : 'A file of this edit '
  const keepFile = () =>
    decide('reject_once', {
      note: `${names.join(', ') || 'A file of this edit'} changed on disk while this edit waited for approval. Keep the version on disk: read it again before you continue.`,
    })
  const applyEdit = (more = {}) => decide('allow_once', { seen, ...more })
  return html`<div class="edit-conflict">
    <p role=${tells ? 'alert' : null}>
      <strong>${named}changed on disk.</strong>
      ${problem ? ' The edit no longer applies.' : whole ? ' The edit was made for the older version; now it would also overwrite the other changes:' : ' The edit still applies and would now do this:'}
    </p>
    ${problem && html`<pre class="detail" tabindex="0">${shown(problem)}</pre>`}
    ${
      !docked &&
      !problem &&
      diffs.map((diff, at) => html`<${DiffText} key=${at} diff=${diff} named=${diffs.length > 1} most=${60} />`)
    }
    ${docked && !problem && html`<p class="tiny soft">See its card above.</p>`}
    ${
      whole &&
      !merged &&
      !problem &&
      html`<p class="tiny soft">Both change the same lines, so they cannot be merged.</p>`
    }
    <div class="row">
      <button class="button primary" disabled=${busy} onClick=${keepFile}>Keep the file</button>
      ${
        !problem &&
        whole &&
        merged &&
        html`<button class="button" disabled=${busy} onClick=${() => applyEdit({ arguments: merged })}>
          Merge both
        </button>`
      }
      ${
        !problem &&
        html`<button class="button" disabled=${busy} onClick=${() => applyEdit()}>
          ${whole ? 'Overwrite with the edit' : 'Apply the edit'}
        </button>`
      }
    </div>
  </div>`
}
