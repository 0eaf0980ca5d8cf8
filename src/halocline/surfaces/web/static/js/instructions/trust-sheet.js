// The trust dialog, before the first task in a folder that has its own programs: lists them and asks to run them.
import { html } from '../lib/ui.js'
import { act } from '../lib/connection.js'
import { closeSheet, complain } from '../state/store.js'
import { base, shown } from '../lib/format.js'
import { Sheet } from '../widgets/sheet.js'

const KINDS = { hook: 'Hook', mcp: 'MCP server', setting: 'Setting' }

/** `found` is the answer of the query `trust`; `decided(trusted)` starts the task, `null` means not now. */
export default function Trust({ workspace, found, decided }) {
  const closeWith = (trusted) => {
    closeSheet()
    decided(trusted)
  }
  const trust = () => act('trust', { workspace, yes: true }).then(() => closeWith(false), complain)
  const refuse = () => act('trust', { workspace, yes: false }).then(() => closeWith(false), complain)
  const foot = html`
    <button class="button primary" onClick=${trust}>Trust</button>
    <button class="button" onClick=${() => closeWith(true)}>Trust once</button>
    <button class="button" data-first onClick=${refuse}>Don’t trust</button>
    <span class="grow"></span>
    <button class="button quiet" onClick=${() => closeWith(null)}>Not now</button>
  `
  return html`<${Sheet} title=${`Trust ${base(workspace)}?`} foot=${foot} onClose=${() => closeWith(null)}>
    <p>
      ${found.standing === 'changed' ? 'This folder changed since you trusted it.' : 'This folder has its own programs or settings.'}
      Programs run on your machine as you, and settings apply, while you work in <code>${shown(workspace)}</code>.
    </p>
    <ul class="plain-list trust-list">
      ${found.what.map(
        (one, at) => html`<li key=${at}>
          <strong>${KINDS[one.kind] ?? one.kind}</strong> ${shown(one.name)}
          <code class="block">${shown(one.runs)}</code>
          <span class="soft tiny">${shown(one.file)}${one.hash ? ` · ${one.hash.slice(0, 12)}` : ''}</span>
        </li>`,
      )}
    </ul>
    <p class="soft tiny">
      You are asked again when one of these files changes. Without trust, everything else still works.
    </p>
  </${Sheet}>`
}
