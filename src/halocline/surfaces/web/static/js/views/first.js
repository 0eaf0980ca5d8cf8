// The first time: connect a model, pick a folder, begin with one of three tasks that fit this folder.
import { html, useEffect, useState } from '../ui.js'
import { act, query } from '../line.js'
import { offered } from '../models.js'
import { complain, go, openSheet } from '../store.js'
import { shown } from '../format.js'
import { Icon } from '../icons.js'
import { choice, start } from './home.js'

const USUAL = ['anthropic', 'openai', 'gemini', 'google', 'openrouter', 'deepseek', 'mistral', 'xai']

function Connect({ done }) {
  const [all, setAll] = useState([])
  const [name, setName] = useState('')
  const [key, setKey] = useState('')
  const [say, setSay] = useState('')
  const [busy, setBusy] = useState(false)
  useEffect(() => {
    query('providers').then((found) => {
      const rank = (one) => USUAL.indexOf(one.name) + 1 || 99
      const sorted = [...found].sort((a, b) => rank(a) - rank(b) || a.label.localeCompare(b.label))
      setAll(sorted)
      setName(sorted[0]?.name ?? '')
    }, complain)
  }, [])
  const chosen = all.find((one) => one.name === name)
  async function connect(event) {
    event.preventDefault()
    if (!key.trim()) return setSay('Paste a key first.')
    setBusy(true)
    setSay('Trying the key…')
    try {
      const answer = await act('login', { provider: name, key: key.trim() })
      const tried = answer.connection ?? answer
      setKey('')
      if (tried.accepted === false) return setSay(`${tried.failure || 'The key was not accepted.'} ${tried.hint ?? ''}`)
      setSay('')
      done(await offered(true))
    } catch (error) {
      setSay([error.text ?? error.message, error.hint].filter(Boolean).join(' '))
    } finally {
      setBusy(false)
    }
  }
  return html`<form class="connect" onSubmit=${connect}>
    <div class="row nowrap">
      <label class="hidden-text" for="first-provider">Provider</label>
      <select id="first-provider" class="field" value=${name} onChange=${(e) => setName(e.target.value)}>
        ${all.map((one) => html`<option key=${one.name} value=${one.name}>${one.label}</option>`)}
      </select>
      <label class="hidden-text" for="first-key">Key</label>
      <input
        id="first-key"
        class="field grow"
        type="password"
        autocomplete="off"
        placeholder="API key"
        value=${key}
        onInput=${(e) => setKey(e.target.value)}
      />
      <button class="button primary" type="submit" disabled=${busy || !name}>Connect</button>
    </div>
    <p class="tiny soft" role="status">
      ${
        say
          ? html`<span class="warn">${shown(say)}</span>`
          : html`The key goes to the store of this machine and to ${chosen?.label ?? 'its provider'}, nowhere else.`
      }
      ${chosen?.keys_page && html` <a href=${chosen.keys_page} target="_blank" rel="noopener noreferrer">Get a key</a>`}
    </p>
    <p class="tiny soft">
      A model on this machine (Ollama, LM Studio and others) is found by itself when its server runs. <button
        type="button"
        class="link"
        onClick=${() => go('providers')}
      >
        All providers
      </button>
    </p>
  </form>`
}

const TEST = /(^|\/)(test_[^/]*\.py|[^/]*_test\.(py|go)|[^/]*\.(test|spec)\.[jt]sx?)$/
const SOURCE = /\.(py|[jt]sx?|go|rs|java|rb|c|cpp|cs)$/
const MARKS = [
  [TEST, (file) => `Run the tests, ${file} among them, and repair what fails`],
  [/^readme(\.[a-z]+)?$/i, (file) => `Read ${file} and say where it no longer fits the code`],
  [
    /^(pyproject\.toml|package\.json|go\.mod|Cargo\.toml|pom\.xml)$/,
    (file) => `Explain how this project is built and run, beginning with ${file}`,
  ],
  [SOURCE, (file) => `Explain what ${file} is for, and find one thing in it that could be simpler`],
]

/** Three tasks that name what is really in the folder. */
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
    'Find a small thing that could be better, and make it so',
    'Write a README for what is here',
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
  if (!files) return html`<p class="soft tiny">Looking at what is in the folder…</p>`
  return html`<div class="starters first-tasks">
    ${tasksFor(files).map(
      (text) => html`<button key=${text} class="chip" onClick=${() => start([{ type: 'text', text }]).catch(complain)}>
        ${text}
      </button>`,
    )}
  </div>`
}

function Step({ number, title, done, children }) {
  return html`<li class="step">
    <span class=${done ? 'step-number done' : 'step-number'} aria-hidden="true">
      ${done ? html`<${Icon} name="check" size="15" />` : number}
    </span>
    <div class="grow"><h2>${title}${done && html`<span class="hidden-text">, done</span>`}</h2>${children}</div>
  </li>`
}

export default function First({ here }) {
  const [connected, setConnected] = useState(null)
  const took = (all) => {
    setConnected(all)
    openSheet('models', { choice })
  }
  return html`<ol class="steps">
    <${Step} number="1" title="Connect a model" done=${Boolean(connected?.length)}><${Connect} done=${took} /></${Step}>
    <${Step} number="2" title="Pick a folder" done=${false}>
      <p class="tiny">
        <code>${shown(here)}</code>
        ${' '}
        <button class="button small" onClick=${() => openSheet('folders', { choice })}>Another…</button>
      </p>
    </${Step}>
    <${Step} number="3" title="Try one of these, or write your own below" done=${false}>
      <${Tasks} here=${here} />
    </${Step}>
  </ol>`
}
