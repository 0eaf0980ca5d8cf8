// The model picker: one list across all providers with prices and capabilities, for a task or for the next one.
import { html, useEffect, useState } from '../lib/ui.js'
import { act, query } from '../lib/connection.js'
import { models, loadModels } from '../state/usable-models.js'
import { favouriteModels, recentModels, usedModel } from '../lib/preferences.js'
import { rankAll } from '../lib/rank.js'
import { closeSheet, complain, go, usual, written } from '../state/store.js'
import { short, shown, tokens } from '../lib/format.js'
import { Icon } from '../lib/icons.js'
import { Lazy } from '../widgets/lazy.js'
import { Picker } from '../widgets/picker.js'
import { definePart } from '../lib/parts.js'

const loadThinking = definePart(() => import('./thinking.js'))

const formatPrice = (model) =>
  model.input == null ? 'price –' : model.input || model.output ? `$${model.input} / $${model.output}` : 'free'
const provider = (name) => name.split('/', 1)[0]

function Badges({ model }) {
  const can = [
    model.tools === false && 'no tools',
    model.images && 'images',
    model.thinking && 'thinking',
    model.leaving && 'deprecated',
  ].filter(Boolean)
  return html`<span class="badges">
    ${can.map(
      (one) => html`<span
        class=${one === 'no tools' || (model.leaving && one === 'deprecated') ? 'badge warn' : 'badge'}
        key=${one}
      >
        ${one}
      </span>`,
    )}
  </span>`
}

const Row =
  (current) =>
  ({ model }) =>
    html`
      <span class="pick-mark">
        ${
          model.name === current
            ? html`<${Icon} name="check" size="15" /><span class="hidden-text">in use: </span>`
            : favouriteModels.value.includes(model.name)
              ? html`
                <span class="warn"><${Icon} name="star" size="14" /></span>
                <span class="hidden-text">favorite: </span>
              `
              : ''
        }
      </span>
      <span class="pick-words">
        <span class="row pick-title">
          <strong class="cut">${shown(model.title || short(model.name))}</strong>
          <${Badges} model=${model} />
        </span>
        <span class="soft tiny cut block">${shown(model.name)}</span>
      </span>
      <span class="pick-figures tiny soft">
        <span class="block">${model.window ? `${tokens(model.window)} window` : 'window –'}</span>
        <span class="block">${formatPrice(model)}</span>
      </span>
    `

/** The result of a connection test. */
function describeTest(connection) {
  if (connection.failure) return { good: false, text: [connection.failure, connection.hint].filter(Boolean).join(' ') }
  return { good: true, text: `${connection.server || 'The server'} responded in ${connection.seconds.toFixed(1)} s.` }
}

function Foot({ item, say, test }) {
  const model = item?.model
  if (!model)
    return html`<button class="button small" onClick=${() => (closeSheet(), go('providers'))}>
      Connect a provider…
    </button>`
  const isFavourite = favouriteModels.value.includes(model.name)
  const toggle = () =>
    (favouriteModels.value = isFavourite
      ? favouriteModels.value.filter((one) => one !== model.name)
      : [...favouriteModels.value, model.name])
  return html`
    <div class="row">
      <button class="button small" onClick=${toggle}>
        <${Icon} name="star" size="14" /> ${isFavourite ? 'Unfavorite' : 'Favorite'} <kbd>Ctrl+D</kbd>
      </button>
      <button class="button small" onClick=${() => test(model.name)}>Test connection</button>
      <span class="grow"></span>
      <button class="button small quiet" onClick=${() => (closeSheet(), go('providers'))}>Providers…</button>
    </div>
    <p class="tiny" role="status">
      ${
        say
          ? html`<span class=${say.good ? 'good' : say.good === false ? 'bad' : 'soft'}>${shown(say.text)}</span>`
          : html`<span class="soft">
            Prices are per million tokens, input / output. ${model.key_source ? `Key: ${shown(model.key_source)}.` : ''}
          </span>`
      }
    </p>
  `
}

/** Thinking effort and plan mode, loaded when opened. */
function More({ task, named }) {
  const [open, setOpen] = useState(false)
  return html`<details class="small" onToggle=${(e) => setOpen(e.currentTarget.open)}>
    <summary>Thinking and plan mode</summary>
    ${open && html`<${Lazy} load=${loadThinking} task=${task} named=${named} />`}
  </details>`
}

/** End a turn that only waits to retry, so that another model can be used. */
async function stopRetry(task) {
  await task.send('interrupt')
  for (let waits = 200; waits && task.facts.running; waits--) await new Promise((done) => setTimeout(done, 50))
}

/** `onChosen` is called once another model is that of the task. */
export default function Models({ task, choice, onChosen }) {
  const [problem, setProblem] = useState('')
  const [say, setSay] = useState(null)
  useEffect(() => {
    loadModels(true).catch((error) => setProblem(error.text ?? error.message))
  }, [])
  const current = task?.facts.model || choice?.value.model || usual.value.model || ''
  async function choose(name) {
    closeSheet()
    usedModel(name)
    if (!task) return void (choice.value = { ...choice.value, model: name })
    try {
      const waited = task.facts.running && task.facts.activity === 'retry'
      if (waited) await stopRetry(task)
      await act('change_model', { task: task.id, model: name })
      if (waited) written.value = { text: 'Continue.' }
      onChosen?.()
    } catch (error) {
      complain(error)
    }
  }
  async function test(name) {
    setSay({ text: `Testing ${name}…` })
    try {
      setSay(describeTest(await query('connection', { model: name })))
    } catch (error) {
      setSay({ good: false, text: [error.text, error.hint].filter(Boolean).join(' ') })
    }
  }
  function sections(words) {
    const all = (models.value ?? []).map((model) => ({ key: model.name, model, choose: () => choose(model.name) }))
    const typed = words.trim()
    const own =
      typed.includes('/') && !all.some((one) => one.key === typed)
        ? [{ key: typed, model: { name: typed, title: `Use ${typed}` }, choose: () => choose(typed) }]
        : []
    if (typed) {
      const parts = typed.toLowerCase().split(/\s+/)
      const hits = all.filter((one) =>
        parts.every((part) => `${one.key} ${one.model.title}`.toLowerCase().includes(part)),
      )
      return [
        { title: '', items: hits.length ? hits : rankAll(typed, all, 20, (one) => one.key) },
        { title: 'Use as typed', items: own },
      ]
    }
    const findModels = (names) => names.map((name) => all.find((one) => one.key === name)).filter(Boolean)
    const favourites = findModels(favouriteModels.value)
    const recent = findModels([current, ...recentModels.value]).filter(
      (one, at, list) => !favourites.includes(one) && list.indexOf(one) === at,
    )
    const shownFirst = new Set([...favourites, ...recent])
    const rest = all.filter((one) => !shownFirst.has(one))
    const groups = [...new Set(rest.map((one) => provider(one.key)))].map((name) => ({
      title: name,
      items: rest.filter((one) => provider(one.key) === name),
    }))
    return [{ title: 'Favorites', items: favourites }, { title: 'Recent', items: recent }, ...groups]
  }
  const none = (words) => {
    if (problem) return problem
    if (!models.value) return 'Loading models…'
    if (words) return html`No results for ‘${words}’. You can also type a full name: PROVIDER/NAME.`
    return html`
      No provider connected yet. <button class="link" onClick=${() => (closeSheet(), go('providers'))}>
        Connect one
      </button>, or type a full name: PROVIDER/NAME.
    `
  }
  const favour = (item, event) => {
    if (!item || event.key.toLowerCase() !== 'd' || !(event.ctrlKey || event.metaKey)) return false
    const name = item.model.name
    favouriteModels.value = favouriteModels.value.includes(name)
      ? favouriteModels.value.filter((one) => one !== name)
      : [...favouriteModels.value, name]
    return true
  }
  return html`<${Picker}
    wide
    title=${onChosen ? 'Try again with another model' : task ? 'Model for this task' : 'Model for the next task'}
    placeholder="Search models"
    sections=${sections}
    row=${Row(current)}
    none=${none}
    extra=${favour}
    foot=${(item) => html`
      <${Foot} item=${item} say=${say} test=${test} />
      <${More} task=${task} named=${choice?.value.model} />
    `}
  />`
}
