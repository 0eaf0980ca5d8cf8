// First visit: connect a model, start with one of three tasks for the folder.
import { classes, html, useEffect, useState } from '../lib/ui.js'
import { act, query } from '../lib/connection.js'
import { loadModels } from '../state/usable-models.js'
import { choice, complain, go, openSheet, usual } from '../state/store.js'
import { count, shown } from '../lib/format.js'
import { Icon } from '../lib/icons.js'
import { Starters } from './starters.js'
import { Labelled } from '../widgets/form.js'
import { ModelList } from '../models/model-list.js'

const OWN_SERVER = 'openai-compatible'
const USUAL = ['anthropic', 'openai', 'gemini', 'google', 'openrouter', OWN_SERVER, 'deepseek', 'mistral', 'xai']
/** How many providers have a tile; the others are in a list. */
const TILES = 5

/** The providers that can be connected here, the usual ones first, once they are known. */
function useProviders(onFound) {
  const [all, setAll] = useState([])
  useEffect(() => {
    query('providers').then((found) => {
      const rankUsual = (one) => USUAL.indexOf(one.name) + 1 || 99
      const sorted = found
        .filter((one) => !one.searches)
        .sort((a, b) => rankUsual(a) - rankUsual(b) || a.label.localeCompare(b.label))
      setAll(sorted)
      onFound(sorted)
    }, complain)
  }, [])
  return all
}

function Connect({ done }) {
  const [name, setName] = useState('')
  const [key, setKey] = useState('')
  const [base, setBase] = useState('')
  const [say, setSay] = useState('')
  const [busy, setBusy] = useState(false)
  const [served, setServed] = useState(null) // the models of a server that was just connected
  const all = useProviders((found) => setName(found[0]?.name ?? ''))
  const chosen = all.find((one) => one.name === name)
  const isServer = Boolean(chosen?.needs_address)
  async function connect(event) {
    event.preventDefault()
    if (isServer && !base.trim()) return setSay('Enter the base URL of the server.')
    if (!isServer && !key.trim()) return setSay('Enter an API key.')
    setBusy(true)
    setSay(isServer ? 'Testing the connection…' : 'Checking the key…')
    try {
      const tried = isServer
        ? await act('connect_server', { provider: name, key: key.trim(), base_url: base.trim() })
        : await act('login', { provider: name, key: key.trim() })
      const problem = `${tried.failure || 'The key was rejected.'} ${tried.hint ?? ''}`
      if (tried.accepted === false || (isServer && tried.failure)) return setSay(problem)
      if (tried.failure) return setSay(`The key is stored, but could not be tested. ${problem}`)
      setSay('')
      setKey('')
      const found = await loadModels(true)
      if (isServer) setServed(found.filter((one) => one.name.startsWith(`${name}/`)))
      else done(found)
    } catch (error) {
      setSay([error.text ?? error.message, error.hint].filter(Boolean).join(' '))
    } finally {
      setBusy(false)
    }
  }
  if (served)
    return html`<div class="connect pile">
      <p class="soft">${count(served.length, 'model')} found. Choose one for new tasks:
        <button type="button" class="link" onClick=${() => setServed(null)}>Change server</button>
      </p>
      <${ModelList}
        of=${chosen}
        models=${{ value: served }}
        again=${() => done(served, true)}
      />
    </div>`
  return html`<form class="connect" onSubmit=${connect}>
    <${Choice} all=${all} name=${name} setName=${(one) => (setName(one), setSay(''))} />
    ${
      isServer &&
      html`<${Labelled} id="first-base" label="Base URL, such as http://127.0.0.1:8000/v1">
        <input
          id="first-base"
          class="field"
          inputmode="url"
          autocomplete="off"
          value=${base}
          onInput=${(e) => (setBase(e.target.value), setSay(''))}
        />
      </${Labelled}>`
    }
    <${Labelled} id="first-key" label=${isServer ? 'API key (if it needs one)' : 'API key'}>
      <div class="row nowrap">
        <input
          id="first-key"
          class="field grow"
          type="password"
          autocomplete="off"
          value=${key}
          onInput=${(e) => (setKey(e.target.value), setSay(''))}
        />
        <button class="button primary" type="submit" disabled=${busy || !name}>Connect</button>
      </div>
    </${Labelled}>
    <${Notes} of=${chosen} isServer=${isServer} say=${say} />
  </form>`
}

/** The provider: a tile for each of the usual ones, and a list of the others. */
function Choice({ all, name, setName }) {
  const others = all.slice(TILES)
  const isOther = others.some((one) => one.name === name)
  return html`<fieldset class="tiles">
    <legend class="hidden-text">Provider</legend>
    ${all.slice(0, TILES).map(
      (one, at) => html`<label key=${one.name} class=${classes('chip tile', one.name === name && 'on')}>
        <input
          id=${at === 0 ? 'first-provider' : null}
          type="radio"
          name="provider"
          checked=${one.name === name}
          onChange=${() => setName(one.name)}
        />
        ${one.name === OWN_SERVER ? 'Own server' : one.label}
      </label>`,
    )}
    <select
      class=${classes('field tile', isOther && 'on')}
      aria-label="Other provider"
      disabled=${!others.length}
      value=${isOther ? name : ''}
      onChange=${({ target }) => setName(target.value)}
    >
      <option value="" disabled>${others.length} others…</option>
      ${others.map((one) => html`<option key=${one.name} value=${one.name}>${one.label}</option>`)}
    </select>
  </fieldset>`
}

/** What happens, or where the key goes and how to get one; what else can be connected. */
const Notes = ({ of, isServer, say }) => html`
  <p class="tiny soft" role="status">
    ${
      say
        ? html`<span class="warn">${shown(say)}</span>`
        : html`${isServer ? 'Any OpenAI-compatible server. ' : ''}The key is stored on this machine and sent only to ${isServer ? 'this server' : (of?.label ?? 'its provider')}.`
    }
    ${of?.keys_page && html` <a href=${of.keys_page} target="_blank" rel="noopener noreferrer">Get an API key</a>`}
  </p>
  <p class="tiny soft">
    Local models (Ollama, LM Studio and others) are detected while their server runs. <button
      type="button"
      class="link"
      onClick=${() => go('providers')}
    >
      All providers
    </button>
  </p>
`

const TEST = /(^|\/)(test_[^/]*\.py|[^/]*_test\.(py|go)|[^/]*\.(test|spec)\.[jt]sx?)$/
const SOURCE = /\.(py|[jt]sx?|go|rs|java|rb|c|cpp|cs)$/
/** @type {[RegExp, (file: string) => string][]} */
const MARKS = [
  [TEST, (file) => `Run the tests, including ${file}, and fix what fails`],
  [/^readme(\.[a-z]+)?$/i, (file) => `Find where ${file} no longer matches the code`],
  [
    /^(pyproject\.toml|package\.json|go\.mod|Cargo\.toml|pom\.xml)$/,
    (file) => `Explain how this project is built and run, starting with ${file}`,
  ],
  [SOURCE, (file) => `Explain what ${file} does and suggest one simplification`],
]

/** Three tasks that name files in the folder. */
function tasksFor(files) {
  const found = []
  for (const [mark, words] of MARKS) {
    const hits = files.filter(
      (file) => mark.test(file) && !file.endsWith('__init__.py') && !(mark === SOURCE && TEST.test(file)),
    )
    if (hits.length) found.push(words(hits[Math.floor(hits.length / 2)]))
  }
  return [
    ...found,
    'Explain how this folder is laid out',
    'Find a small improvement and make it',
    'Write a README for this folder',
  ].slice(0, 3)
}

function Tasks({ here }) {
  const [files, setFiles] = useState(null)
  useEffect(() => {
    setFiles(null)
    query('mentionable', { workspace: here }).then(
      (found) => setFiles(found.files ?? []),
      () => setFiles([]),
    )
  }, [here])
  if (!files) return html`<p class="soft tiny">Reading the folder…</p>`
  return html`<${Starters} of=${tasksFor(files)} />`
}

function Step({ number, title, done, children }) {
  return html`<li class="step">
    <span class=${done ? 'step-number done' : 'step-number'} aria-hidden="true">
      ${done ? html`<${Icon} name="check" size="15" />` : number}
    </span>
    <div class="grow"><h2>${title}${done && html`<span class="hidden-text">, done</span>`}</h2>${children}</div>
  </li>`
}

export default function First({ here, again }) {
  const [served, setServed] = useState([])
  const connected = served.length > 0
  const choose = () => openSheet('models', { choice })
  const took = (all, isChosen = false) => {
    setServed(all)
    again()
    if (!isChosen) choose()
  }
  const model = connected && (choice.value.model || usual.value.model)
  const isListed = served.some((one) => one.name === model && !one.unlisted)
  return html`<ol class="steps">
    <${Step} number="1" title="Connect a model" done=${isListed}>
      ${
        connected
          ? html`<p class="soft">
              ${model ? html`New tasks use <span class="mono">${shown(model)}</span>${isListed ? '' : ', which the server does not list'}. ` : 'Connected. '}
              <button type="button" class="link" onClick=${choose}>Choose a model</button>
            </p>`
          : html`<${Connect} done=${took} />`
      }
    </${Step}>
    <${Step} number="2" title="Take one of these into the text below, or write your own" done=${false}>
      <${Tasks} here=${here} />
    </${Step}>
  </ol>`
}
