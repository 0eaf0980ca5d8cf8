// An edit that waits while its file changed on the disk: what it would do now, and which of the two shall hold.
import { html } from '../ui.js'
import { shown } from '../format.js'
import { DiffText } from '../diff.js'

export default function Meanwhile({ of, docked, busy, decide }) {
  const { diffs, problem, whole, merged, seen } = of
  const names = [...new Set(diffs.map((diff) => diff.path))]
  const named = names.length
    ? names.map((name) => html`<code key=${name}>${shown(name)}</code> `)
    : 'A file of this edit '
  const keep = () =>
    decide('reject_once', {
      note: `${names.join(', ') || 'A file of this edit'} was changed on the disk while this edit waited. I keep it as it is there now: read it again before you go on.`,
    })
  const agree = (more = {}) => decide('allow_once', { seen, ...more })
  return html`<div class="meanwhile">
    <p role=${docked ? 'alert' : null}>
      <strong>${named}changed on the disk meanwhile.</strong>
      ${problem ? ' The edit does not fit any more.' : whole ? ' The edit was made for the file as it was: written now, it would do this, and undo what somebody else did.' : ' The edit fits there as well, and would do this now:'}
    </p>
    ${problem && html`<pre class="detail" tabindex="0">${shown(problem)}</pre>`}
    ${
      !docked &&
      !problem &&
      diffs.map((diff, at) => html`<${DiffText} key=${at} diff=${diff} named=${diffs.length > 1} most=${60} />`)
    }
    ${docked && !problem && html`<p class="tiny soft">Its card above shows that.</p>`}
    ${
      whole &&
      !merged &&
      !problem &&
      html`<p class="tiny soft">The two cannot be put together: they change the same lines.</p>`
    }
    <div class="row">
      <button class="button primary" disabled=${busy} onClick=${keep}>Keep what is there</button>
      ${
        !problem &&
        whole &&
        merged &&
        html`<button class="button" disabled=${busy} onClick=${() => agree({ arguments: merged })}>
          Merge: keep both
        </button>`
      }
      ${
        !problem &&
        html`<button class="button" disabled=${busy} onClick=${() => agree()}>
          ${whole ? 'Take the agent’s' : 'Merge: make the edit there'}
        </button>`
      }
    </div>
  </div>`
}
