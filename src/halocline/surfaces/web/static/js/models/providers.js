// The Models and keys page: connect a provider, test it, choose a model. A key is sent once and never shown.
import { html, signal, useState } from '../lib/ui.js'
import { query } from '../lib/connection.js'
import { shown } from '../lib/format.js'
import {
  Answer,
  Cleared,
  Filter,
  Links,
  Page,
  Panes,
  fits,
  intoList,
  useAction,
  useQuery,
} from '../widgets/page-frame.js'
import { Connect } from './connect-provider.js'
import { Stages } from './connection-test.js'
import { ModelList } from './model-list.js'

const words = signal('')

/** The state of a provider's key. */
function keyOf(one) {
  if (one.keyless) return 'no key needed'
  if (one.local) return one.models == null ? 'not responding' : `${one.models} models`
  if (one.variable) return `key from ${one.variable}`
  if (one.stored) return `key in ${one.stored === 'keyring' ? 'the keyring' : 'a file'}`
  if (one.elsewhere?.length) return `key for ${one.elsewhere.join(', ')}`
  return 'no key'
}

const isEngine = (one) => one.searches
const isOfModels = (one) => !one.searches
const isThere = (one) => one.has_key || one.local

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
    return { ...one, keyless, has_key: Boolean(keyless || one.variable || one.stored) }
  })
  const all = [...keyed, ...local.filter((one) => !known.has(one.name))]
  return [...all.filter(isThere), ...all.filter((one) => !isThere(one))]
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
            ${!list.length && html`<${Cleared} words=${words.value} clear=${() => (words.value = '')} />`}
            <${Entries} list=${list} here=${name} model=${model} />
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

/** What is connected, what can be, and search engines. */
function Entries({ list, here, model }) {
  const entry = (one) => ({
    key: one.name,
    href: `#/providers/${one.name}`,
    title: shown(one.label),
    text: keyOf(one),
    dot: one.has_key ? 'done' : '',
    badge: model?.value.startsWith(`${one.name}/`) ? 'in use' : '',
  })
  const connected = list.filter((one) => isOfModels(one) && isThere(one))
  const others = list.filter((one) => isOfModels(one) && !isThere(one))
  const opens = !connected.length || Boolean(words.value) || others.some((one) => one.name === here)
  return html`
    ${connected.length > 0 && html`<${Links} label="Connected" here=${here} entries=${connected.map(entry)} />`}
    ${
      others.length > 0 &&
      html`<details class="add-provider" open=${opens}>
        <summary>Add a provider</summary>
        <${Links} label="Providers" here=${here} entries=${others.map((one) => ({ ...entry(one), text: '', dot: null }))} />
      </details>`
    }
    ${
      list.some(isEngine) &&
      html`<h2 class="group-title">Web search</h2>
        <${Links} label="Search engines" here=${here} entries=${list.filter(isEngine).map(entry)} />`
    }
  `
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

/** A connection test to one of the provider's models, by stage. */
function Test({ of, models, setting }) {
  const mine = (models.value ?? []).filter((one) => one.name.startsWith(`${of.name}/`))
  const usual = setting?.value.startsWith(`${of.name}/`) ? setting.value : ''
  const [model, setModel] = useState('')
  const named = model.trim() || usual || mine[0]?.name || ''
  const [connection, setConnection] = useState(null)
  const [test, busy, error] = useAction(async () => {
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
