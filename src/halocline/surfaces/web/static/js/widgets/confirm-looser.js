// Confirmation of a looser approval setting.
import { html, classes, style, useEffect, useRef } from '../lib/ui.js'

/** True if `on` asks less than `than`; order: always ask, follow the mode, auto-approve. */
export const allowsMore = (on, than) => [false, null, true].indexOf(on) > [false, null, true].indexOf(than)
/** Switches that, once on, run any code. */
export const RISKY = ['all_commands', 'project_code']

export function Confirm({ title, about, yes, risky, onYes, onNo }) {
  const box = useRef()
  useEffect(() => box.current.querySelector('.quiet').focus(), [title])
  useEffect(() => void style('static/js/widgets/sheets.css'), [])
  return html`<div
    class=${risky ? 'banner-bad confirm' : 'banner warn confirm'}
    ref=${box}
    role="alertdialog"
    aria-label=${title}
    aria-describedby="looser"
    onKeyDown=${(e) => e.key === 'Escape' && (e.preventDefault(), e.stopPropagation(), onNo())}
  >
    <p id="looser"><strong>${title}</strong> ${about}</p>
    <div class="row">
      <button class=${classes('button', risky && 'danger')} onClick=${onYes}>${yes}</button>
      <button class="button quiet" onClick=${onNo}>Cancel</button>
    </div>
  </div>`
}
