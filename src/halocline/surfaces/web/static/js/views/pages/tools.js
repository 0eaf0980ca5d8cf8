// The tools of an MCP server: what each says, what its definition costs, and whether it may be called.
import { html, useState } from '../../ui.js'
import { act } from '../../line.js'
import { complain } from '../../store.js'
import { count, shown, tokens } from '../../format.js'
import { Lazy } from '../lazy.js'
import { Badge, Switch } from './form.js'
import { Filter, fits } from './frame.js'

const loadTry = () => import('./trytool.js')
const MANY = 8
const WAYS = [
  ['allow', 'allow'],
  ['ask', 'ask'],
  ['deny', 'not offered'],
]

/** What a person set for a tool; else nothing: the policy decides. */
function setFor(tool, config) {
  if (config.disabledTools?.includes(tool)) return 'deny'
  return config.autoApprove?.some((one) => one === tool || one === '*') ? 'allow' : ''
}

export function Tools({ of, at, ours, changed }) {
  const [words, setWords] = useState('')
  const [trying, setTrying] = useState(null)
  const { tools, config } = of
  if (!tools.length) return html`<h3>Tools</h3><p class="soft">Not known yet. Test the server to see them.</p>`
  const set = (changes) => act('mcp_set', { ...at, changes }).then(changed, complain)
  const choose = (tool, way) => act('mcp_allow', { ...at, tool, way }).then(changed, complain)
  const list = tools.filter((one) => fits(words, one.tool, one.description ?? ''))
  return html`
    <h3>${count(tools.length, 'tool')}</h3>
    ${
      ours &&
      html`<${Switch}
        label="Allow all that say they only read"
        on=${Boolean(config.autoApproveReadOnly)}
        onChange=${(on) => set({ autoApproveReadOnly: on || null })}
      />`
    }
    ${tools.length > MANY && html`<${Filter} label="Filter tools" value=${words} onInput=${setWords} />`}
    <ul class="items">
      ${list.map(
        (one) => html`<li key=${one.tool} class="tool">
          <div class="row">
            <strong class="mono grow">${shown(one.tool)}</strong>
            ${one.read_only && html`<${Badge} title="So it says of itself">only reads</${Badge}>`}
            <${Badge} title="What its definition takes of each request">~${tokens(one.tokens)} tokens</${Badge}>
            ${
              one.changed &&
              html`<${Badge} kind="warn" title="It says something else than when you agreed to it">changed</${Badge}>`
            }
            <select
              class="field"
              aria-label=${`When the model calls ${one.tool}`}
              disabled=${!ours}
              value=${setFor(one.tool, config)}
              onChange=${(e) => choose(one.tool, e.target.value)}
            >
              <option value="">as the policy says${one.decision ? `: ${one.decision}` : ''}</option>
              ${WAYS.filter(([way]) => way !== 'ask').map(
                ([way, text]) => html`<option key=${way} value=${way}>${text}</option>`,
              )}
            </select>
          </div>
          ${one.description && html`<p class="soft tiny">${shown(one.description.split('\n')[0]).slice(0, 300)}</p>`}
          <div class="row">
            <button class="button small" aria-label=${`Try ${one.tool}`} onClick=${() => setTrying(one)}>Try…</button>
          </div>
          <details>
            <summary class="tiny">What the model is told</summary>
            <pre class="tail-box" tabindex="0">
              ${shown(one.description ?? '')}
              \n
              ${JSON.stringify(one.schema ?? {}, null, 2)}
            </pre>
          </details>
        </li>`,
      )}
    </ul>
    ${trying && html`<${Lazy} load=${loadTry} of=${trying} at=${at} onClose=${() => setTrying(null)} />`}
  `
}
