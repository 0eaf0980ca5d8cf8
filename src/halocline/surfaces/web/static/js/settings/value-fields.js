// Input fields for setting values: numbers, texts, choices, lists, tables.
import { html, useEffect, useState } from '../lib/ui.js'
import { useQuery } from '../widgets/page-frame.js'

const MODELS = /(^|\.)model$/

export function Value(props) {
  const { of } = props
  if (of.kind === 'switch') return html`<${Tristate} ...${props} />`
  if (of.kind === 'choice') return html`<${Choice} ...${props} />`
  if (of.kind === 'number') return html`<${Number_} ...${props} />`
  if (of.kind === 'list') return of.choices.length ? html`<${Some} ...${props} />` : html`<${Lines} ...${props} />`
  if (of.kind === 'table')
    return Object.values({ ...of.default, ...of.value }).every((one) => typeof one === 'string') &&
      of.name === 'formatters'
      ? html`<${Pairs} ...${props} />`
      : html`<${Table} ...${props} />`
  return html`<${Text} ...${props} />`
}

/** @param {any} more */
const common = ({ id, described, disabled }) => ({ id, disabled, 'aria-describedby': described })
const leaveField = (event) => event.key === 'Enter' && event.target.blur()

/** On, off, or unset. */
const Tristate = ({ of, save, ...more }) => html`<select
  class="field"
  ...${common(more)}
  value=${of.value == null ? '' : String(of.value)}
  onChange=${(e) => save(e.target.value ? e.target.value === 'true' : null)}
>
  <option value="">
    ${of.name.startsWith('auto_approve.') ? 'Follow the approval mode' : 'Not set'}
  </option>
  <option value="true">${of.name.startsWith('auto_approve.') ? 'Auto-approve' : 'On'}</option>
  <option value="false">${of.name.startsWith('auto_approve.') ? 'Always ask' : 'Off'}</option>
</select>`

const Choice = ({ of, save, ...more }) => html`<select
  class="field"
  ...${common(more)}
  value=${of.value ?? ''}
  onChange=${(e) => save(e.target.value || (of.optional ? null : ''))}
>
  ${
    of.optional && html`<option value="">${of.name.startsWith('plan.') ? 'Same as act mode' : 'Model default'}</option>`
  }
  ${of.value && !of.choices.includes(of.value) && html`<option value=${of.value}>${of.value} (not there)</option>`}
  ${of.choices.map((one) => html`<option key=${one} value=${one}>${one || 'none'}</option>`)}
</select>`

function Number_({ of, save, fail, ...more }) {
  const [text, setText] = useState(of.value == null ? '' : String(of.value))
  const finish = () => {
    if (!text.trim()) return save(null)
    const number = Number(text.replaceAll(',', ''))
    return Number.isFinite(number) ? save(number) : fail({ text: `‘${text}’ is not a number.`, hint: '' })
  }
  return html`<input
    class="field"
    inputmode="decimal"
    ...${common(more)}
    value=${text}
    placeholder=${of.optional ? 'Not set' : ''}
    onInput=${(e) => setText(e.target.value)}
    onBlur=${finish}
    onKeyDown=${leaveField}
  />`
}

function Text({ of, save, fail: _, ...more }) {
  const [text, setText] = useState(of.value ?? '')
  const models = useQuery(MODELS.test(of.name) ? 'models' : '')
  const known = models.value && `${more.id}-known`
  return html`
    <input
      class="field"
      ...${common(more)}
      list=${known}
      value=${text}
      placeholder=${of.default ? String(of.default) : 'Not set'}
      spellcheck=${false}
      autocomplete="off"
      onInput=${(e) => setText(e.target.value)}
      onBlur=${() => save(text.trim())}
      onKeyDown=${leaveField}
    />
    ${
      known &&
      html`<datalist id=${known}>
        ${models.value.map((one) => html`<option key=${one.name} value=${one.name} />`)}
      </datalist>`
    }
  `
}

/** Checkboxes of known values. A choice shows at once, even while it is being saved. */
function Some({ of, save, id, described, disabled }) {
  const [chosen, setChosen] = useState(of.value)
  useEffect(() => setChosen(of.value), [JSON.stringify(of.value)])
  const choose = (one, wanted) => {
    const now = of.choices.filter((other) => (other === one ? wanted : chosen.includes(other)))
    setChosen(now)
    save(now)
  }
  return html`<div
    class="pick-some"
    role="group"
    id=${id}
    tabindex="-1"
    aria-label=${of.name}
    aria-describedby=${described}
  >
    ${of.choices.map(
      (one) => html`<label key=${one} class="pick-one">
        <input
          type="checkbox"
          disabled=${disabled}
          checked=${chosen.includes(one)}
          onChange=${(e) => choose(one, e.target.checked)}
        />
        ${' '}${one}
      </label>`,
    )}
  </div>`
}

function Lines({ of, save, fail: _, ...more }) {
  const [text, setText] = useState((of.value ?? []).join('\n'))
  const finish = () =>
    save(
      text
        .split('\n')
        .map((line) => line.trim())
        .filter(Boolean),
    )
  return html`<textarea
    class="field mono"
    rows=${Math.max(2, text.split('\n').length)}
    placeholder="One per line"
    ...${common(more)}
    value=${text}
    spellcheck=${false}
    onInput=${(e) => setText(e.target.value)}
    onBlur=${finish}
  ></textarea>`
}

/** A table of texts: rows of two fields. */
function Pairs({ of, save, id, described, disabled }) {
  const [rows, setRows] = useState([...Object.entries(of.value ?? {}), ['', '']])
  const put = (at, part, text) => {
    const next = rows.map((row, n) => (n === at ? (part ? [row[0], text] : [text, row[1]]) : row))
    setRows(next.at(-1)[0] ? [...next, ['', '']] : next)
  }
  const finish = (list = rows) => save(Object.fromEntries(list.filter(([name, value]) => name.trim() && value.trim())))
  return html`<div
    class="pairs"
    id=${id}
    tabindex="-1"
    role="group"
    aria-label=${of.name}
    aria-describedby=${described}
  >
    ${rows.map(
      ([name, value], at) => html`
        <input
          class="field mono"
          aria-label="Pattern"
          placeholder="*.py"
          disabled=${disabled}
          value=${name}
          onInput=${(e) => put(at, 0, e.target.value)}
          onBlur=${() => finish()}
        />
        <input
          class="field mono"
          aria-label=${`For ${name || 'the pattern'}`}
          placeholder="ruff format {path}"
          disabled=${disabled}
          value=${value}
          onInput=${(e) => put(at, 1, e.target.value)}
          onBlur=${() => finish()}
        />
        <button
          class="button small quiet"
          disabled=${disabled || !name}
          onClick=${() => finish(rows.filter((_, n) => n !== at))}
        >
          Remove
        </button>
      `,
    )}
  </div>`
}

/** Any table, as JSON. */
function Table({ of, save, fail, ...more }) {
  const [text, setText] = useState(Object.keys(of.value ?? {}).length ? JSON.stringify(of.value, null, 2) : '')
  const finish = () => {
    if (!text.trim()) return save({})
    try {
      const value = JSON.parse(text)
      if (!value || typeof value !== 'object' || Array.isArray(value)) throw new Error('not an object')
      return save(value)
    } catch (error) {
      return fail({ text: `Invalid JSON: ${error.message}.`, hint: 'Nothing was saved.' })
    }
  }
  return html`<textarea
    class="field mono"
    rows=${Math.min(16, Math.max(2, text.split('\n').length))}
    placeholder=${of.name === 'prices' ? '{ "provider/model": { "input": 3, "output": 15 } } (US dollars per million tokens)' : '{ "name": { … } }'}
    ...${common(more)}
    value=${text}
    spellcheck=${false}
    onInput=${(e) => setText(e.target.value)}
    onBlur=${finish}
  ></textarea>`
}
