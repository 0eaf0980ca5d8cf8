// One setting as a field of its kind. Saved on blur or choice; errors appear next to it and keep the typed text. A
// setting decided elsewhere is read-only and says why.
import { html, useEffect, useState } from '../lib/ui.js'
import { act } from '../lib/connection.js'
import { announcement } from '../state/store.js'
import { shown } from '../lib/format.js'
import { Badge, Switch } from '../widgets/form.js'
import { Value } from './value-fields.js'

const TITLES = { mcp: 'MCP', 'mcp.enabled': 'MCP servers', ca_file: 'CA file', words_off: 'Disabled slash commands' }

/** A setting's display name. */
export function titleOf(name) {
  const words = name
    .split('.')
    .map((part) => TITLES[part] ?? part.replaceAll('_', ' '))
    .join(': ')
  return TITLES[name] ?? words[0].toUpperCase() + words.slice(1).replace(/\burl\b/, 'URL')
}

/** Why a setting cannot be changed here; empty if it can. */
export function isLocked({ source, hidden }) {
  if (source.startsWith('profile ')) return `Set by ${shown(source)}. Change that profile or choose another.`
  if (source.startsWith('set by your administrator'))
    return `${shown(source[0].toUpperCase() + source.slice(1))}. You cannot change it.`
  if (source && source !== 'settings.toml')
    return `Set by the environment variable ${source}. Change it where Halocline is started.`
  if (hidden) return 'Contains a key, which is hidden. Change it in settings.toml.'
  return ''
}

const SOURCES = { '': ['default', ''], 'settings.toml': ['settings.toml', 'good'] }
const same = (a, b) => JSON.stringify(a) === JSON.stringify(b)
const plainly = (value) => {
  if (value == null || value === '') return 'none'
  if (value === true) return 'on'
  if (value === false) return 'off'
  if (Array.isArray(value)) return value.length ? value.join(', ') : 'none'
  return typeof value === 'object' ? (Object.keys(value).length ? JSON.stringify(value) : 'none') : String(value)
}

export function Field({ of, changed, section, inTable }) {
  const [error, setError] = useState(null)
  const [saved, setSaved] = useState(false)
  const [turn, setTurn] = useState(0)
  const id = `setting-${of.name}`
  const why = isLocked(of)
  const switches = of.kind === 'switch' && !of.optional
  const name = inTable ? titleOf(of.name.split('.').slice(1).join('.')) : titleOf(of.name)
  useEffect(() => {
    if (!saved) return undefined
    const timer = setTimeout(() => setSaved(false), 4000)
    return () => clearTimeout(timer)
  }, [saved])
  async function run(action) {
    setError(null)
    try {
      await action()
      setSaved(true)
      announcement.value = `${titleOf(of.name)}: saved`
      changed()
    } catch (failure) {
      setError(failure)
      setSaved(false)
    }
  }
  const save = (value) => {
    if (same(value, of.value)) return void setError(null)
    const none = value === null || (value === '' && of.kind !== 'text')
    return run(() => (none ? act('reset_setting', { name: of.name }) : act('set_setting', { name: of.name, value })))
  }
  const reset = () => run(() => act('reset_setting', { name: of.name })).then(() => setTurn((n) => n + 1))
  const [source, kind] = SOURCES[of.source] ?? [of.source, 'warn']
  const described = `${id}-about${error ? ` ${id}-error` : ''}`
  return html`<div class="setting">
    <div class="setting-head">
      ${
        switches &&
        html`<span id=${id} tabindex="-1">
          <${Switch} on=${Boolean(of.value)} label=${name} hideLabel disabled=${Boolean(why)} onChange=${save} />
        </span>`
      }
      ${
        switches || (of.kind === 'list' && of.choices.length)
          ? html`<span class="label">${name}</span>`
          : html`<label for=${id}>${name}</label>`
      }
      <code class="soft tiny">${of.name}</code>
      <${Badge} kind=${kind} title="Source of the value">${shown(source)}</${Badge}>
      ${section && html`<${Badge}>${section}</${Badge}>`}
      <span class="grow"></span>
      ${
        of.source === 'settings.toml' &&
        !why &&
        html`<button class="button small quiet" onClick=${reset} title=${`Reset to ${plainly(of.default)}`}>
          Reset
          <span class="hidden-text"> ${titleOf(of.name)}</span>
        </button>`
      }
    </div>
    ${of.doc && !inTable && html`<p class="soft tiny" id=${`${id}-about`}><${Doc} text=${of.doc} /></p>`}
    ${
      !switches &&
      html`<${Value}
        key=${`${turn} ${JSON.stringify(of.value)}`}
        of=${of}
        id=${id}
        described=${described}
        disabled=${Boolean(why)}
        save=${save}
        fail=${setError}
      />`
    }
    ${why && html`<p class="warn tiny">${why}</p>`}
    ${
      error &&
      html`<p class="bad tiny" role="alert" id=${`${id}-error`}>
        ${shown(error.text ?? error.message)} ${shown(error.hint ?? '')}
      </p>`
    }
    <p class="soft tiny said-of">
      ${
        saved
          ? html`<span class="good">Saved.</span> Applies to new tasks.`
          : of.source
            ? html`Default: ${shown(plainly(of.default))}`
            : ''
      }
    </p>
  </div>`
}

/** A description, with `names` as code. */
export const Doc = ({ text }) =>
  text.split('`').map((part, at) => (at % 2 ? html`<code key=${at}>${part}</code>` : part))
