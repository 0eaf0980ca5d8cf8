// One MCP server: state, tools and their cost, permissions, output.
import { html, signal, useState } from '../lib/ui.js'
import { act } from '../lib/connection.js'
import { go, toast } from '../state/store.js'
import { count, seconds, shown, tokens } from '../lib/format.js'
import { Answer, Dialog, useAction, useQuery } from '../widgets/page-frame.js'
import { Badge, Facts, Labelled, Switch, Trouble } from '../widgets/form.js'
import { ServerForm } from './server-form.js'
import { Tools } from './tools.js'
import { ServerSignIn } from './server-sign-in.js'

/** Servers, by name, whose last test in this page failed. */
export const failedTests = signal({})

const STATES = { on: ['good', 'on'], off: ['', 'off'], problem: ['bad', 'error'] }
const OWNERS = {
  user: 'yours, in all folders',
  project: 'the project’s',
  cline: 'configured in Cline',
  managed: 'the administrator’s',
  plugin: 'of a plug-in',
}

export function Server({ of, workspace, changed }) {
  const at = { workspace, name: of.name }
  const [dialog, setDialog] = useState('')
  const detail = useQuery('mcp_server', at)
  const again = () => (changed(), detail.again())
  const { tried, setTried, test, toggle, remove, error } = useServerActions(of, at, again)
  const known = detail.value
  const ours = known ? known.can_change : of.owner === 'user' || of.owner === 'project'
  const failed = of.problem || (tried && !tried.ok && tried.error)
  return html`<article>
    <${Head} of=${of} ours=${ours} known=${known} test=${test} toggle=${toggle} openDialog=${setDialog} />
    <${Trouble} error=${error} />
    ${test.busy && html`<p class="soft" role="status">Starting ${shown(of.name)} and listing its tools…</p>`}
    ${
      tried?.ok &&
      html`<p class="good" role="status">
        Works: ${count(tried.tools.length, 'tool')}, about ${tokens(tried.tokens)} tokens,
        protocol ${shown(tried.protocol)}, ${seconds(tried.seconds)}.
      </p>`
    }
    ${failed && html`<${Failure} text=${failed} turnOff=${ours && (() => toggle.run(false))} />`}
    ${
      of.transport !== 'stdio' &&
      html`<${ServerSignIn} at=${at} signed=${known?.signed_in} done=${(found) => (setTried(found), again())} />`
    }
    <${Facts} of=${listFacts(of)} />
    <${Answer} of=${detail} what="the server">
      ${(whole) => html`
        <${Tools} of=${whole} at=${at} ours=${ours} changed=${again} />
        ${
          whole.prompts?.length > 0 &&
          html`
            <h3>Prompts</h3>
            <ul class="plain">
              ${whole.prompts.map((prompt) => html`<li key=${prompt}><code>/${shown(prompt)}</code></li>`)}
            </ul>
          `
        }
        ${whole.resources && html`<p class="soft">Offers resources.</p>`}
        ${ours && html`<${Timeout} of=${whole.config} at=${at} changed=${again} />`}
      `}
    </${Answer}>
    <${Printed} at=${at} open=${Boolean(failed)} turn=${tried} />
    ${
      dialog === 'edit' &&
      html`<${Dialog} title=${`Edit ${of.name}`} wide onClose=${() => setDialog('')}>
        <${ServerForm}
          workspace=${workspace}
          name=${of.name}
          config=${known.config}
          done=${() => (setDialog(''), again())}
        />
      </${Dialog}>`
    }
    ${
      dialog === 'remove' &&
      html`<${Removal} of=${of} remove=${() => (setDialog(''), remove(changed))} onClose=${() => setDialog('')} />`
    }
  </article>`
}

/** Test, turn on or off, remove: what each does, whether it runs, and the latest error. */
function useServerActions(of, at, again) {
  const [tried, setTried] = useState(null)
  const [test, testing, untested] = useAction(async () => {
    setTried(null)
    const answer = await act('mcp_test', at)
    failedTests.value = { ...failedTests.value, [of.name]: !answer.ok }
    setTried(answer)
    again()
  })
  const [toggle, toggling, untoggled] = useAction(async (on) => {
    await act(on ? 'mcp_enable' : 'mcp_disable', at)
    again()
  })
  const [remove, , unremoved] = useAction(async (changed) => {
    await act('mcp_remove', at)
    toast(`Removed ${of.name} from ${of.file}.`)
    changed()
    go('mcp')
  })
  return {
    tried,
    setTried,
    test: { run: test, busy: testing },
    toggle: { run: toggle, busy: toggling },
    remove,
    error: untested ?? untoggled ?? unremoved,
  }
}

/** The server's name, state and command, and what can be done with it. */
function Head({ of, ours, known, test, toggle, openDialog }) {
  const [kind, state] = STATES[of.state] ?? ['', of.state]
  return html`
    <div class="row">
      <h2>${shown(of.name)}</h2>
      <${Badge} kind=${kind}>${state}</${Badge}>
      <${Badge}>${of.transport}</${Badge}>
    </div>
    <code class="run-line">${shown(of.runs) || 'No command or URL configured.'}</code>
    <div class="row">
      <${Switch}
        label=${of.state === 'off' ? 'Off' : 'On'}
        on=${of.state !== 'off'}
        disabled=${toggle.busy || !ours}
        onChange=${toggle.run}
      />
      <button class="button" disabled=${test.busy || of.state === 'off'} onClick=${test.run}>
        ${test.busy ? 'Testing…' : 'Test'}
      </button>
      ${
        ours &&
        html`
          <button class="button" onClick=${() => openDialog('edit')} disabled=${!known}>Edit…</button>
          <button class="button danger" onClick=${() => openDialog('remove')}>Remove…</button>
        `
      }
    </div>
    ${
      !ours &&
      html`<p class="soft tiny">This server is ${OWNERS[of.owner] ?? of.owner}. Change it in <code>${shown(of.file)}</code>.</p>`
    }
  `
}

/** Why it does not work: the first line of the error, then the end of its output. */
function Failure({ text, turnOff }) {
  const [first, ...rest] = text.split('\n')
  return html`<div class="pane-card error-card" role="alert">
    <strong>${shown(first)}</strong>
    ${rest.length > 0 && html`<pre class="tail-box" tabindex="0">${shown(rest.join('\n'))}</pre>`}
    ${turnOff && html`<div class="row"><button class="button small" onClick=${turnOff}>Turn off</button></div>`}
  </div>`
}

const listFacts = (of) => [
  ['Owner', OWNERS[of.owner] ?? of.owner],
  ['File', html`<span class="mono tiny">${shown(of.file)}</span>`],
  [
    'Variables',
    of.variables?.length
      ? html`
        <span class="mono tiny">${of.variables.map(shown).join(', ')}</span>
        ${' '}
        <span class="soft tiny">(values hidden)</span>
      `
      : '',
  ],
  [
    'Tools',
    of.tools == null ? 'unknown, test the server' : `${of.tools}, about ${tokens(of.tokens)} tokens per request`,
  ],
]

const Removal = ({ of, remove, onClose }) => html`<${Dialog}
  title=${`Remove ${of.name}?`}
  onClose=${onClose}
  foot=${html`
    <button class="button danger" onClick=${remove}>Remove</button>
    <button class="button" data-first onClick=${onClose}>Cancel</button>
  `}
>
  <p>
    This removes it from <code>${shown(of.file)}</code>, including the values of its variables. To keep it, turn
    it off instead.
  </p>
</${Dialog}>`

function Timeout({ of, at, changed }) {
  const [text, setText] = useState(String(of.timeout))
  const [save, , error] = useAction(async () => {
    if (Number(text) === of.timeout) return
    await act('mcp_set', { ...at, changes: { timeout: Number(text) } })
    toast(`Call timeout of ${at.name}: ${text} seconds.`)
    changed()
  })
  return html`<${Labelled}
    id="timeout"
    label="Call timeout (seconds)"
    error=${error && `${error.text} ${error.hint}`}
  >
    <input
      class="field test-model"
      id="timeout"
      inputmode="numeric"
      value=${text}
      onInput=${(e) => setText(e.target.value)}
      onBlur=${save}
      onKeyDown=${(e) => e.key === 'Enter' && e.target.blur()}
    />
  </${Labelled}>`
}

/** The end of the server's output, loaded when opened. */
function Printed({ at, open, turn }) {
  const [shownNow, setShown] = useState(open)
  return html`<details open=${open || shownNow} onToggle=${(e) => setShown(e.target.open)}>
    <summary>Server output</summary>
    ${(open || shownNow) && html`<${Log} key=${String(Boolean(turn))} at=${at} />`}
  </details>`
}

function Log({ at }) {
  const log = useQuery('mcp_log', at)
  if (log.error) return html`<p class="soft tiny">${shown(log.error.text)} ${shown(log.error.hint)}</p>`
  return html`<${Answer} of=${log} what="the log">
    ${(text) =>
      text.trim()
        ? html`
          <pre class="tail-box" tabindex="0" aria-label="Server output">${shown(text)}</pre>
          <button class="button small" onClick=${log.again}>Refresh</button>
        `
        : html`<p class="soft tiny">No output.</p>`}
  </${Answer}>`
}
