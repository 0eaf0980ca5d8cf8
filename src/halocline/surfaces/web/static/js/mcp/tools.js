// The tools of an MCP server: description, token cost and permission.
import { html, useState } from '../lib/ui.js'
import { act } from '../lib/connection.js'
import { complain } from '../state/store.js'
import { count, shown, tokens, truncate } from '../lib/format.js'
import { Lazy } from '../widgets/lazy.js'
import { Badge, Switch } from '../widgets/form.js'
import { Filter, fits } from '../widgets/page-frame.js'
import { definePart } from '../lib/parts.js'

const loadTry = definePart(() => import('./try-tool.js'))
const MANY = 8
const WAYS = [
  ['allow', 'Allow'],
  ['ask', 'Ask'],
  ['deny', 'Disabled'],
]

/** Your choice for a tool; empty: the policy decides. */
function setFor(tool, config) {
  if (config.disabledTools?.includes(tool)) return 'deny'
  return config.autoApprove?.some((one) => one === tool || one === '*') ? 'allow' : ''
}

export function Tools({ of, at, ours, changed }) {
  const [words, setWords] = useState('')
  const [trying, setTrying] = useState(null)
  const { tools, config } = of
  if (!tools.length) return html`<h3>Tools</h3><p class="soft">Unknown. Test the server to list its tools.</p>`
  const set = (changes) => act('mcp_set', { ...at, changes }).then(changed, complain)
  const choose = (tool, way) => act('mcp_allow', { ...at, tool, way }).then(changed, complain)
  const list = tools.filter((one) => fits(words, one.tool, one.description ?? ''))
  return html`
    <h3>${count(tools.length, 'tool')}</h3>
    ${
      ours &&
      html`<${Switch}
        label="Allow all read-only tools"
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
            ${one.read_only && html`<${Badge} title="Declared by the server">read-only</${Badge}>`}
            <${Badge} title="Size of its definition in each request">~${tokens(one.tokens)} tokens</${Badge}>
            ${
              one.changed &&
              html`<${Badge} kind="warn" title="Its definition changed since you allowed it">changed</${Badge}>`
            }
            <select
              class="field"
              aria-label=${`Permission for ${one.tool}`}
              disabled=${!ours}
              value=${setFor(one.tool, config)}
              onChange=${(e) => choose(one.tool, e.target.value)}
            >
              <option value="">Follow the policy${one.decision ? `: ${one.decision}` : ''}</option>
              ${WAYS.filter(([way]) => way !== 'ask').map(
                ([way, text]) => html`<option key=${way} value=${way}>${text}</option>`,
              )}
            </select>
          </div>
          ${one.description && html`<p class="soft tiny">${truncate(shown(one.description.split('\n')[0]), 300)}</p>`}
          <div class="row">
            <button class="button small" aria-label=${`Try ${one.tool}`} onClick=${() => setTrying(one)}>Try…</button>
          </div>
          <details>
            <summary class="tiny">Definition for the model</summary>
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
