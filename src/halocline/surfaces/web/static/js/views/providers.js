// The Models and keys page: connect a provider, test it, choose a model. A key is sent once and never shown.
import { html, signal, useState } from '../ui.js'
import { act, query } from '../line.js'
import { toast } from '../store.js'
import { shown } from '../format.js'
import { Answer, Cleared, Filter, Links, Page, Panes, fits, intoList, useDeed, useQuery } from './pages/frame.js'
import { Badge, Labelled } from './pages/form.js'
import { Carry } from './pages/carry.js'
import { Stages } from './pages/stages.js'
import { ModelList } from './pages/modellist.js'

const words = signal('')
const PLACES = { file: 'a file that only you can read', keyring: 'the system keyring' }

/** The state of a provider's key. */
function keyOf(one) {
  if (one.keyless) return 'no key needed'
  if (one.local) return one.models == null ? 'not responding' : `${one.models} models`
  if (one.variable) return `key from ${one.variable}`
  if (one.elsewhere?.length && !one.stored) return `key for ${one.elsewhere.join(', ')}`
  if (one.stored) return `key in ${one.stored === 'keyring' ? 'the keyring' : 'a file'}`
  return 'no key'
}

const isEngine = (one) => one.searches
const isOfModels = (one) => !one.searches

/** Providers with keys, and the servers on this machine. */
function together(providers, models, table) {
  const known = new Set(providers.map((one) => one.name))
  const servers = new Map()
  for (const model of models ?? []) {
    const name = model.name.split('/')[0]
    if (!known.has(name) && name !== 'scripted' && model.usable) servers.set(name, (servers.get(name) ?? 0) + 1)
  }
  const local = [...servers].map(([name, number]) => ({
    name,
    label: name,
    local: true,
    models: number,
    has_key: true,
  }))
  const keyed = providers.map((one) => {
    const keyless = Boolean(table?.value[one.name]?.local)
    return { ...one, keyless, has_key: keyless || one.has_key || one.elsewhere?.length > 0 }
  })
  const all = [...keyed, ...local.filter((one) => !known.has(one.name))]
  return [...all.filter((one) => one.has_key || one.local), ...all.filter((one) => !one.has_key && !one.local)]
}

export default function Providers({ path }) {
  const providers = useQuery('providers')
  const models = useQuery('models', { all: true })
  const settings = useQuery('settings')
  const [name = ''] = path
  const row = (which) => settings.value?.find((one) => one.name === which)
  const model = row('model')
  const again = () => (providers.again(), models.again(), settings.again())
  return html`<${Page} title="Models and keys">
    <${Answer} of=${providers} what="the providers">
      ${(found) => {
        const all = together(found, models.value, row('providers'))
        const here = all.find((one) => one.name === name)
        const list = all.filter((one) => fits(words.value, one.name, one.label, keyOf(one)))
        const entry = (one) => ({
          key: one.name,
          href: `#/providers/${one.name}`,
          title: shown(one.label),
          text: keyOf(one),
          dot: one.has_key ? 'done' : '',
          badge: model?.value.startsWith(`${one.name}/`) ? 'in use' : '',
        })
        return html`<${Panes}
          label="Providers"
          back="#/providers"
          rest="Select a provider to add a key, test it and choose a model."
          list=${html`
            <${InUse} model=${model} />
            <${Filter}
              label="Filter providers"
              value=${words.value}
              onInput=${(text) => (words.value = text)}
              onKeyDown=${intoList}
            />
            ${
              list.length
                ? html`<${Links} label="Providers" here=${name} entries=${list.filter(isOfModels).map(entry)} />`
                : html`<${Cleared} words=${words.value} clear=${() => (words.value = '')} />`
            }
            ${
              list.some(isEngine) &&
              html`<h2 class="group-title">Web search</h2>
                <${Links} label="Search engines" here=${name} entries=${list.filter(isEngine).map(entry)} />`
            }
            ${
              !all.some((one) => one.local) &&
              html`<p class="soft tiny">
                No local model server found. Start one, such as Ollama or LM Studio,
                and <button class="link" onClick=${again}>refresh</button>.
              </p>`
            }
          `}
          detail=${
            here &&
            html`<${Provider}
              key=${here.name}
              of=${here}
              models=${models}
              setting=${model}
              table=${row('providers')}
              again=${again}
            />`
          }
        />`
      }}
    </${Answer}>
  </${Page}>`
}

const InUse = ({ model }) => html`<div class="pane-card">
  <span class="soft tiny">New tasks use</span>
  <strong class="mono">${model?.value ? shown(model.value) : 'the first model with a key'}</strong>
</div>`

function Provider({ of, models, setting, table, again }) {
  const base = table?.value[of.name]?.base_url ?? ''
  return html`<div class="pile">
    <div><h2>${shown(of.label)}</h2><p class="soft tiny mono">${of.name}${base ? ` · ${shown(base)}` : ''}</p></div>
    <ol class="way-steps">
      <li class="way-step">
        <h3>Connect</h3>
        ${
          of.local
            ? html`<p class="soft">A local server. No key needed.</p>`
            : html`<${Connect} of=${of} address=${base} again=${again} />`
        }
      </li>
      ${
        !of.searches &&
        html`<li class="way-step"><h3>Test</h3><${Test} of=${of} models=${models} setting=${setting} /></li>
          <li class="way-step">
            <h3>Choose a model</h3>
            <${ModelList} of=${of} models=${models} setting=${setting} again=${again} />
          </li>`
      }
    </ol>
  </div>`
}

/** The key and the address of a provider: show, replace or remove them. */
function Connect({ of, address, again }) {
  const [asking, setAsking] = useState(!of.has_key)
  const [key, setKey] = useState('')
  const [typed, setBase] = useState(null)
  const base = (typed ?? (of.needs_address ? address : '')).trim()
  const [connection, setConnection] = useState(null)
  const [login, busy, error] = useDeed(async () => {
    const given = key
    setKey('')
    const answer = base
      ? await act('connect_server', { provider: of.name, key: given, base_url: base })
      : await act('login', { provider: of.name, key: given })
    const found = answer.connection ?? answer
    setConnection(found)
    if (found.accepted === false || (base && found.failure)) return
    setAsking(false)
    toast(given ? `Key for ${of.label} saved.` : `${of.label} connected.`)
    again()
  })
  const [logout, leaving, problem] = useDeed(async () => {
    await act('logout', { provider: of.name })
    setConnection(null)
    setAsking(true)
    toast(`Stored key for ${of.label} removed.`)
    again()
  })
  const complete = of.needs_address ? base : key
  const field = html`<input
    class="field mono"
    id="base"
    type="url"
    placeholder="https://…"
    autocomplete="off"
    value=${typed ?? base}
    onInput=${(e) => setBase(e.target.value)}
  />`
  return html`
    <p>
      ${
        of.variable
          ? html`
            Key from the environment variable <code>${of.variable}</code>
            ${of.tail ? html`, ending in <code>${of.tail}</code>` : ''}. It overrides a stored key.
          `
          : of.stored
            ? html`
              Key stored in ${PLACES[of.stored] ?? of.stored}
              ${of.tail ? html`, ending in <code>${of.tail}</code>` : ''}.
            `
            : of.keyless
              ? 'Connected without a key.'
              : of.needs_address
                ? 'Not connected.'
                : 'No key yet.'
      }
      ${of.elsewhere?.length > 0 && html` <span class="soft">Also for ${of.elsewhere.map(shown).join(', ')}.</span>`}
    </p>
    ${
      asking
        ? html`<form class="pile" onSubmit=${(e) => (e.preventDefault(), complete && login())} autocomplete="off">
          ${
            of.needs_address &&
            html`<${Labelled}
              id="base"
              label="Base URL"
              note="The address of the server, such as http://127.0.0.1:8000/v1. Its models are listed below."
            >
              ${field}
            </${Labelled}>`
          }
          <${Labelled}
            id="key"
            label=${of.needs_address ? 'API key (if it needs one)' : 'API key'}
            note=${
              of.keys_page
                ? html`
                  Get one at <a href=${of.keys_page} target="_blank" rel="noreferrer noopener">
                    ${of.keys_page.replace(/^https:\/\//, '')}
                  </a>. The key is stored on this machine and sent only to the provider.
                `
                : 'The key is stored on this machine and sent only to the provider.'
            }
          >
            <input
              class="field mono"
              id="key"
              type="password"
              autocomplete="off"
              spellcheck=${false}
              aria-describedby="key-note"
              value=${key}
              onInput=${(e) => setKey(e.target.value)}
            />
          </${Labelled}>
          ${
            !of.searches &&
            !of.needs_address &&
            html`<details>
              <summary>Custom server</summary>
              <${Labelled}
                id="base"
                label="Base URL"
                note="Only if another server hosts its models. Requests go there from then on."
              >
                ${field}
              </${Labelled}>
            </details>`
          }
          <div class="row">
            <button class="button primary" type="submit" disabled=${busy || !complete}>
              ${busy ? 'Testing…' : of.needs_address ? 'Test and save' : 'Test and save key'}
            </button>
            ${
              of.has_key &&
              html`<button class="button quiet" type="button" onClick=${() => setAsking(false)}>Cancel</button>`
            }
          </div>
        </form>`
        : html`<div class="row">
          <button class="button" onClick=${() => setAsking(true)}>
            ${of.needs_address ? 'Change…' : of.stored ? 'Replace key…' : 'Add key…'}
          </button>
          ${
            of.stored &&
            html`<button class="button danger" disabled=${leaving} onClick=${logout}>Remove stored key</button>`
          }
        </div>`
    }
    ${of.signs_in && html`<${SignIn} of=${of} done=${(found) => (setConnection(found), setAsking(false), again())} />`}
    ${connection && html`<${Stages} of=${connection} />`}
    ${[error, problem].map((one) => one && html`<p class="bad" role="alert">${shown(one.text)} ${shown(one.hint)}</p>`)}
  `
}

/** Sign in with the browser to get a key, if the provider supports it. */
function SignIn({ of, done }) {
  const [begun, setBegun] = useState(null)
  const [begin, busy, error] = useDeed(async () => {
    const page = window.open('', '_blank')
    try {
      const sign = await act('sign_in', { provider: of.name })
      setBegun(sign)
      if (page) page.location.href = sign.url
      done(await act('sign_in_wait', { id: sign.id }))
    } catch (failure) {
      page?.close()
      throw failure
    } finally {
      setBegun(null)
    }
  })
  return html`
    <div class="row">
      <button class="button" disabled=${busy} onClick=${begin}>
        ${busy ? 'Waiting for the browser…' : `Sign in to ${of.label}`}
      </button>
      <${Badge}>no copying needed</${Badge}>
    </div>
    ${begun && html`<${Carry} begun=${begun} />`}
    ${error && html`<p class="bad" role="alert">${shown(error.text)} ${shown(error.hint)}</p>`}
  `
}

/** A connection test to one of the provider's models, by stage. */
function Test({ of, models, setting }) {
  const mine = (models.value ?? []).filter((one) => one.name.startsWith(`${of.name}/`))
  const usual = setting?.value.startsWith(`${of.name}/`) ? setting.value : ''
  const [model, setModel] = useState('')
  const named = model.trim() || usual || mine[0]?.name || ''
  const [connection, setConnection] = useState(null)
  const [test, busy, error] = useDeed(async () => {
    setConnection(null)
    setConnection(await query('connection', { model: named }))
  })
  return html`
    <form class="row" onSubmit=${(e) => (e.preventDefault(), test())}>
      <label class="hidden-text" for="test-model">Model to test</label>
      <input
        class="field mono grow test-model"
        id="test-model"
        list="test-models"
        placeholder=${named || `${of.name}/MODEL`}
        value=${model}
        onInput=${(e) => setModel(e.target.value)}
        spellcheck=${false}
      />
      <datalist id="test-models">${mine.map((one) => html`<option key=${one.name} value=${one.name} />`)}</datalist>
      <button class="button" type="submit" disabled=${busy || !named || (!of.has_key && !of.local)}>
        ${busy ? 'Testing…' : 'Test connection'}
      </button>
    </form>
    ${!of.has_key && !of.local && html`<p class="soft tiny">Connect the provider first.</p>`}
    ${connection && html`<${Stages} of=${connection} />`}
    ${error && html`<p class="bad" role="alert">${shown(error.text)} ${shown(error.hint)}</p>`}
  `
}
