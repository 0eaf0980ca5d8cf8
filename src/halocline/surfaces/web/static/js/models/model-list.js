// The models of one provider with capabilities and prices; choose the default for new tasks.
import { html, classes, useState } from '../lib/ui.js'
import { act } from '../lib/connection.js'
import { toast } from '../state/store.js'
import { short, shown, tokens } from '../lib/format.js'
import { Answer, Cleared, Filter, fits, useAction } from '../widgets/page-frame.js'
import { Badge } from '../widgets/form.js'

const FIRST = 40
const formatPrice = (one) =>
  one.input == null
    ? 'price –'
    : !one.input && !one.output
      ? 'free'
      : `$${plain(one.input)} in, $${plain(one.output)} out per million`
const plain = (number) => (number >= 100 ? Math.round(number) : Number(number.toPrecision(3)))

export function ModelList({ of, models, setting, again }) {
  const [words, setWords] = useState('')
  const [all, setAll] = useState(false)
  const [own, setOwn] = useState('')
  const [pick, busy, error] = useAction(async (name) => {
    await act('set_setting', { name: 'model', value: name })
    toast(`New tasks use ${name}.`)
    again()
  })
  const locked = setting && setting.source && setting.source !== 'settings.toml'
  return html`
    ${
      locked &&
      html`<p class="warn tiny">
        ${setting.source.startsWith('profile') ? shown(setting.source) : `The environment variable ${setting.source}`} sets
        the model of new tasks and overrides your choice here.
      </p>`
    }
    <${Answer} of=${models} what="the models">
      ${(found) => {
        const mine = found.filter((one) => one.name.startsWith(`${of.name}/`))
        const list = mine.filter((one) => fits(words, one.name, one.title ?? ''))
        return html`
          ${
            mine.length > 8 &&
            html`<${Filter} label=${`Filter ${mine.length} models`} value=${words} onInput=${setWords} />`
          }
          <ul class="items">
            ${list.slice(0, all ? undefined : FIRST).map(
              (one) => html`<${Model}
                key=${one.name}
                one=${one}
                used=${setting?.value === one.name}
                busy=${busy}
                pick=${pick}
              />`,
            )}
          </ul>
          ${
            list.length > FIRST &&
            !all &&
            html`<button class="button small" onClick=${() => setAll(true)}>Show all ${list.length}</button>`
          }
          ${mine.length > 0 && !list.length && html`<${Cleared} words=${words} clear=${() => setWords('')} />`}
          ${!mine.length && html`<p class="soft">No known models. Enter a model name:</p>`}
          <form
            class="row"
            onSubmit=${(e) => (e.preventDefault(), own.trim() && pick(own.trim().startsWith(`${of.name}/`) ? own.trim() : `${of.name}/${own.trim()}`))}
          >
            <label class="hidden-text" for="own-model">Another model of ${of.label}</label>
            <input
              class="field mono grow test-model"
              id="own-model"
              placeholder="Other model"
              value=${own}
              onInput=${(e) => setOwn(e.target.value)}
              spellcheck=${false}
            />
            <button class="button" type="submit" disabled=${busy || !own.trim()}>Use</button>
          </form>
        `
      }}
    </${Answer}>
    ${error && html`<p class="bad" role="alert">${shown(error.text)} ${shown(error.hint)}</p>`}
  `
}

const Model = ({ one, used, busy, pick }) => html`<li class=${classes('model-row', used && 'here')}>
  <span>
    <span class="block cut">${shown(one.title || short(one.name))}</span>
    <span class="soft tiny block">
      <span class="mono">${shown(short(one.name))}</span> · ${one.window ? `${tokens(one.window)} window` : 'window –'} · ${formatPrice(one)}
    </span>
    <span class="row tags">
      ${one.tools && html`<${Badge}>tools</${Badge}>`}
      ${one.images && html`<${Badge}>images</${Badge}>`}
      ${one.thinking && html`<${Badge}>thinking</${Badge}>`}
      ${one.unlisted && html`<${Badge} kind="warn">not in the server’s list</${Badge}>`}
      ${one.leaving && html`<${Badge} kind="warn">deprecated</${Badge}>`}
    </span>
  </span>
  ${
    used
      ? html`<${Badge} kind=${one.unlisted ? '' : 'good'}>in use</${Badge}>`
      : html`<button class="button small" disabled=${busy} onClick=${() => pick(one.name)}>
        Use
        <span class="hidden-text"> ${short(one.name)}</span>
      </button>`
  }
</li>`
