// Call an MCP tool by hand: a form from its schema, the policy's decision first, then the result.
import { html, style, useEffect, useState } from '../lib/ui.js'
import { act } from '../lib/connection.js'
import { seconds, shown, truncate } from '../lib/format.js'
import { Answer, Pictures } from '../transcript/output.js'
import { Dialog } from '../widgets/page-frame.js'
import { Labelled } from '../widgets/form.js'
import { useUnsent } from '../widgets/use-draft.js'

const PLAIN = new Set(['string', 'number', 'integer', 'boolean'])
const MOST = 40

/** A field's schema without its null alternative. */
function dropNull(schema) {
  if (!schema || typeof schema !== 'object') return {}
  const ways = (schema.anyOf ?? schema.oneOf ?? []).filter((one) => one?.type !== 'null')
  const type = Array.isArray(schema.type) ? schema.type.filter((one) => one !== 'null') : schema.type
  if (ways.length === 1) return { ...schema, ...ways[0] }
  return { ...schema, type: Array.isArray(type) && type.length === 1 ? type[0] : type }
}

/** The fields of a tool: {name, kind, required, about, choices, start}. Other values are typed as JSON. Pure. */
export function fieldsOf(schema) {
  const required = new Set(Array.isArray(schema?.required) ? schema.required : [])
  return Object.entries(schema?.properties ?? {})
    .slice(0, MOST)
    .map(([name, raw]) => {
      const one = dropNull(raw)
      const choices = Array.isArray(one.enum) ? one.enum : one.type === 'boolean' ? [true, false] : null
      const kind = choices ? 'choice' : PLAIN.has(one.type) ? one.type : 'json'
      const start =
        one.default === undefined || one.default === null
          ? ''
          : choices || kind === 'json'
            ? JSON.stringify(one.default)
            : String(one.default)
      return {
        name,
        kind,
        required: required.has(name),
        about: [one.title, one.description].filter(Boolean).join(': '),
        choices,
        start,
      }
    })
}

/** The arguments of a form: {arguments, problems: {field: why}}. Empty fields are omitted. Pure. */
export function argumentsOf(fields, given) {
  const found = {}
  const problems = {}
  for (const { name, kind, required } of fields) {
    const text = given[name] ?? ''
    if (text.trim() === '' && !(kind === 'string' && required && text)) {
      if (required && kind !== 'string') problems[name] = 'Required.'
      else if (required) found[name] = ''
      continue
    }
    if (kind === 'string') found[name] = text
    else if (kind === 'number' || kind === 'integer') {
      found[name] = Number(text)
      if (!Number.isFinite(found[name]) || (kind === 'integer' && !Number.isInteger(found[name])))
        problems[name] = kind === 'integer' ? 'Enter a whole number.' : 'Enter a number.'
    } else
      try {
        found[name] = JSON.parse(text)
      } catch (error) {
        problems[name] = `Invalid JSON: ${error.message}`
      }
  }
  return { arguments: found, problems }
}

function Field({ field, value, problem, put }) {
  const id = `try-${field.name}`
  const label = html`
    <span class="mono">${shown(field.name)}</span>
    ${field.required ? '' : html` <span class="soft tiny">optional</span>`}
    ${field.kind === 'json' ? html` <span class="soft tiny">as JSON</span>` : ''}
  `
  const own = {
    id,
    value,
    class: 'field',
    'aria-required': field.required,
    'aria-invalid': Boolean(problem),
    'aria-describedby': field.about ? `${id}-note` : null,
    onInput: (e) => put(e.currentTarget.value),
  }
  const box = field.choices
    ? html`<select ...${own}>
      ${(!field.required || value === '') && html`<option value="">${field.required ? 'choose' : 'default'}</option>`}
      ${field.choices.map(
        (one) => html`<option key=${String(one)} value=${JSON.stringify(one)}>${shown(String(one))}</option>`,
      )}
    </select>`
    : field.kind === 'number' || field.kind === 'integer'
      ? html`<input ...${own} inputmode="decimal" autocomplete="off" />`
      : html`<textarea
        ...${own}
        rows=${field.kind === 'json' ? 3 : Math.min(8, 1 + value.split('\n').length)}
        spellcheck="false"
      ></textarea>`
  return html`<${Labelled}
    id=${id}
    label=${label}
    note=${field.about && truncate(shown(field.about), 600)}
    error=${problem}
  >
    ${box}
  </${Labelled}>`
}

const pictures = (content) => content.filter((part) => part.type === 'image')
const words = (content) =>
  content
    .filter((part) => part.type === 'text')
    .map((part) => part.text)
    .join('\n\n')

function Outcome({ of }) {
  if (of.error)
    return html`<div class="pane-card error-card" role="alert">
      <strong>${shown(of.error.split('\n')[0])}</strong>
      ${
        of.error.includes('\n') &&
        html`<pre class="tail-box" tabindex="0">${shown(of.error.split('\n').slice(1).join('\n'))}</pre>`
      }
      ${of.seconds > 0 && html`<p class="soft tiny">after ${seconds(of.seconds)}</p>`}
    </div>`
  return html`<section aria-label="Result" class="card">
    <p class="good tiny pad" role="status">Done in ${seconds(of.seconds)}.</p>
    ${words(of.content) && html`<${Answer} text=${words(of.content)} />`}
    ${pictures(of.content).length > 0 && html`<${Pictures} images=${pictures(of.content)} />`}
  </section>`
}

export default function Try({ of, at, onClose }) {
  const fields = fieldsOf(of.schema)
  const usual = Object.fromEntries(fields.map((field) => [field.name, field.start]))
  const [given, setGiven] = useUnsent(`try ${at.name} ${of.tool}`, usual)
  const [shownProblems, setProblems] = useState({})
  const [asks, setAsks] = useState('')
  const [busy, setBusy] = useState(false)
  const [outcome, setOutcome] = useState(null)
  useEffect(() => void style('static/js/transcript/transcript.css'), [])
  async function call(agreed) {
    const { arguments: found, problems } = argumentsOf(fields, given)
    setProblems(problems)
    const [wrong] = Object.keys(problems)
    if (wrong) return document.getElementById(`try-${wrong}`)?.focus()
    setBusy(true)
    setOutcome(null)
    try {
      const came = await act('mcp_call', { ...at, tool: of.tool, arguments: found, agreed })
      setAsks(came.asks)
      if (!came.asks) setOutcome(came)
    } catch (error) {
      setAsks('')
      setOutcome({
        error: [error.text ?? error.message, error.hint].filter(Boolean).join('\n'),
        content: [],
        seconds: 0,
      })
    } finally {
      setBusy(false)
    }
  }
  const put = (name) => (text) => (setAsks(''), setGiven({ ...given, [name]: text }))
  return html`<${Dialog} title=${`Try ${of.tool}`} wide onClose=${onClose}>
    <form class="stack" onSubmit=${(e) => (e.preventDefault(), call(Boolean(asks)))} novalidate>
      <p class="soft small">
        Starts ${shown(at.name)} for one real call, with real effects, then stops it.
      </p>
      ${fields.length === 0 && html`<p class="soft">No arguments.</p>`}
      ${fields.map(
        (field) => html`<${Field}
          key=${field.name}
          field=${field}
          value=${given[field.name]}
          problem=${shownProblems[field.name]}
          put=${put(field.name)}
        />`,
      )}
      ${asks && html`<p class="blind" role="alert">Needs approval, as it would for the agent: ${shown(asks)}.</p>`}
      <div class="row">
        <button class="button primary" data-first=${fields.length === 0 ? '' : null} disabled=${busy}>
          ${busy ? 'Calling…' : asks ? 'Call once' : 'Call'}
        </button>
        ${asks && html`<button class="button" type="button" onClick=${() => setAsks('')}>Cancel</button>`}
      </div>
    </form>
    <div aria-live="polite">${outcome && html`<${Outcome} of=${outcome} />`}</div>
  </${Dialog}>`
}
