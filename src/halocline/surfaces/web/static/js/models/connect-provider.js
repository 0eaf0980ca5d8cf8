// Connect a provider: its key, and the address of your own server. A key is sent once and never shown.
import { html, useState } from '../lib/ui.js'
import { act } from '../lib/connection.js'
import { toast } from '../state/store.js'
import { shown } from '../lib/format.js'
import { useAction } from '../widgets/page-frame.js'
import { Badge, Labelled } from '../widgets/form.js'
import { Carry } from '../widgets/sign-in-steps.js'
import { Stages } from './connection-test.js'

const PLACES = { file: 'a file that only you can read', keyring: 'the system keyring' }

/** The key and the address of a provider: show, replace or remove them. */
export function Connect({ of, address, again }) {
  const [asking, setAsking] = useState(!of.has_key)
  const [key, setKey] = useState('')
  const [typed, setTyped] = useState(null)
  const [connection, setConnection] = useState(null)
  const [logout, leaving, error] = useAction(async () => {
    await act('logout', { provider: of.name })
    setConnection(null)
    setAsking(true)
    toast(`Stored key for ${of.label} removed.`)
    again()
  })
  const showConnected = (found) => (setConnection(found), setAsking(false), again())
  return html`
    <${KeyState} of=${of} />
    ${
      asking
        ? html`<${KeyForm}
          of=${of}
          address=${address}
          entered=${{ key, setKey, typed, setTyped }}
          onTried=${setConnection}
          done=${showConnected}
          onCancel=${() => setAsking(false)}
        />`
        : html`<div class="row">
          <button class="button" onClick=${() => setAsking(true)}>
            ${of.needs_address ? 'Change…' : of.stored ? 'Replace key…' : 'Add key…'}
          </button>
          ${
            (of.stored || of.elsewhere?.length > 0) &&
            html`<button class="button danger" disabled=${leaving} onClick=${logout}>Remove stored key</button>`
          }
        </div>`
    }
    ${of.signs_in && html`<${SignIn} of=${of} done=${showConnected} />`}
    ${connection && html`<${Stages} of=${connection} />`}
    ${error && html`<p class="bad" role="alert">${shown(error.text)} ${shown(error.hint)}</p>`}
  `
}

/** Where the key comes from. */
const KeyState = ({ of }) => html`<p>
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
  ${of.elsewhere?.length > 0 && html` <span class="soft">${of.variable || of.stored ? 'Also' : 'A key is stored'} for ${of.elsewhere.map(shown).join(', ')}.</span>`}
</p>`

/** Asks for a key, an address or both. What was tried goes to `onTried`, and to `done` if it works. */
function KeyForm({ of, address, entered, onTried, done, onCancel }) {
  const { key, setKey, typed, setTyped } = entered
  const base = (typed ?? (of.needs_address ? address : '')).trim()
  const [login, busy, error] = useAction(async () => {
    const found = base
      ? await act('connect_server', { provider: of.name, key, base_url: base })
      : await act('login', { provider: of.name, key })
    onTried(found)
    if (found.accepted === false || (base && found.failure)) return
    toast(key ? `Key for ${of.label} saved.` : `${of.label} connected.`)
    setKey('')
    done(found)
  })
  const complete = of.needs_address ? base : key
  const addressField = (note) => html`<${Labelled} id="base" label="Base URL" note=${note}>
    <input
      class="field mono"
      id="base"
      inputmode="url"
      placeholder="https://…"
      autocomplete="off"
      value=${typed ?? base}
      onInput=${(e) => setTyped(e.target.value)}
    />
  </${Labelled}>`
  return html`<form class="pile" onSubmit=${(e) => (e.preventDefault(), complete && login())} autocomplete="off">
    ${of.needs_address && addressField('The address of the server, such as http://127.0.0.1:8000/v1. Its models are listed below.')}
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
        ${addressField('Only if another server hosts its models. Requests go there from then on.')}
      </details>`
    }
    <div class="row">
      <button class="button primary" type="submit" disabled=${busy || !complete}>
        ${busy ? 'Testing…' : of.needs_address ? 'Test and save' : 'Test and save key'}
      </button>
      ${of.has_key && html`<button class="button quiet" type="button" onClick=${onCancel}>Cancel</button>`}
    </div>
    ${error && html`<p class="bad" role="alert">${shown(error.text)} ${shown(error.hint)}</p>`}
  </form>`
}

/** Sign in with the browser to get a key, if the provider supports it. */
function SignIn({ of, done }) {
  const [begun, setBegun] = useState(null)
  const [begin, busy, error] = useAction(async () => {
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
