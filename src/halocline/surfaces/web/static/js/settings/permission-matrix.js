// The permissions of new tasks as one table: in the folder and outside, each as the approval mode says, or otherwise.
import { html, useState } from '../lib/ui.js'
import { act } from '../lib/connection.js'
import { announcement } from '../state/store.js'
import { shown } from '../lib/format.js'
import { ROWS } from '../state/permission-rows.js'
import { isLocked } from './setting.js'

export const TABLE = 'auto_approve'
const LOOKS = { true: 'good', false: 'warn', null: 'soft' }

/** One permission; `title` says which, for those who do not see the table. */
function Cell({ of, title, save }) {
  if (!of) return html`<td class="soft">–</td>`
  const why = isLocked(of)
  const value = String(of.value ?? null)
  return html`<td>
    <select
      id=${`setting-${of.name}`}
      class=${`field ${LOOKS[value]}`}
      aria-label=${title}
      title=${why || of.name}
      disabled=${Boolean(why)}
      value=${value}
      onChange=${(event) => save(of.name, event.target.value)}
    >
      <option value="null">By mode</option>
      <option value="true">Allow</option>
      <option value="false">Ask</option>
    </select>
  </td>`
}

export function Matrix({ all, changed }) {
  const [error, setError] = useState(null)
  const find = (name) => all.find((one) => one.name === `${TABLE}.${name}`)
  async function save(name, value) {
    try {
      await (value === 'null' ? act('reset_setting', { name }) : act('set_setting', { name, value: value === 'true' }))
      setError(null)
      announcement.value = 'Permissions: saved'
    } catch (failure) {
      setError(failure)
    }
    changed()
  }
  return html`<section class="setting">
    <table class="permissions">
      <caption class="hidden-text">Permissions of new tasks</caption>
      <thead>
        <tr><th scope="col">Without approval</th><th scope="col">In the folder</th><th scope="col">Outside</th></tr>
      </thead>
      <tbody>
        ${ROWS.map(
          ([title, inside, outside]) => html`<tr key=${inside}>
            <th scope="row">${title}</th>
            <${Cell} of=${find(inside)} title=${`${title}${outside && ', in the folder'}`} save=${save} />
            <${Cell} of=${find(outside)} title=${`${title}, outside`} save=${save} />
          </tr>`,
        )}
      </tbody>
    </table>
    <p class="soft tiny">Allowed builds and tests run all code of the project. Denials are never overridden.</p>
    ${error && html`<p class="bad tiny" role="alert">${shown(error.text ?? error.message)} ${shown(error.hint ?? '')}</p>`}
  </section>`
}
