// All keyboard shortcuts, some of them configurable; for /help also the slash commands.
import { html, useEffect, useState } from '../lib/ui.js'
import { query } from '../lib/connection.js'
import { KEYS, keysOf, label, handleKey, findSameKeys } from '../state/shortcut-keys.js'
import { keymap } from '../lib/preferences.js'
import { current } from '../state/store.js'
import { folderNow } from '../state/folder.js'
import { shown } from '../lib/format.js'
import { Sheet } from '../widgets/sheet.js'

const PLACES = {
  composer: 'Composer',
  decision: 'Pending decision',
  log: 'Transcript',
  review: 'Review',
  history: 'History',
  page: 'Everywhere',
}
const ALONE = ['Control', 'Shift', 'Alt', 'Meta']
/** Keys reserved for typing and navigation. */
const NEVER = /^(Escape|Enter|Tab|Backspace|Delete|Arrow\w+|Home|End| )$/

function Remap({ row, done }) {
  const [problem, setProblem] = useState('Press the new keys. Esc cancels.')
  function take(event) {
    if (event.key === 'Tab' && !event.ctrlKey) return
    event.preventDefault()
    event.stopPropagation()
    if (ALONE.includes(event.key)) return
    if (event.key === 'Escape') return done()
    const keys = handleKey(event)
    const others = findSameKeys(keys, row.id)
    if (NEVER.test(keys)) setProblem(`${label(keys)} is reserved. Press other keys.`)
    else if (row.where === 'composer' && keys.length === 1) setProblem(`${label(keys)} types a character. Add Ctrl.`)
    else if (others.length)
      setProblem(`${label(keys)} is used by “${others[0].text}”. Press other keys, or change that one first.`)
    else {
      const usual = KEYS.find((one) => one.id === row.id).keys
      const { [row.id]: _, ...rest } = keymap.value
      keymap.value = keys === usual ? rest : { ...rest, [row.id]: keys }
      done()
    }
  }
  return html`
    <input
      class="field remap"
      readonly
      aria-label=${`New keys for: ${row.text}`}
      aria-describedby="remap-help"
      value=""
      placeholder="…"
      ref=${(box) => box?.focus()}
      onKeyDown=${take}
      onBlur=${done}
    />
    <span class="tiny soft remap-help" id="remap-help" role="status">${problem}</span>
  `
}

function Row({ row }) {
  const [open, setOpen] = useState(false)
  const own = keymap.value[row.id]
  const reset = () => {
    const { [row.id]: _, ...rest } = keymap.value
    keymap.value = rest
  }
  return html`<li class="key-row">
    <span class="grow">${row.text}</span>
    ${
      open
        ? html`<${Remap} row=${row} done=${() => setOpen(false)} />`
        : html`
          ${own && html`<button class="button small quiet" onClick=${reset}>Reset</button>`}
          ${
            row.fixed
              ? html`<kbd>${label(row.keys)}</kbd>`
              : html`<button
                class="button small key-button"
                aria-label=${`${row.text}: ${label(keysOf(row))}. Change`}
                onClick=${() => setOpen(true)}
              >
                <kbd>${label(keysOf(row))}</kbd>
              </button>`
          }
        `
    }
  </li>`
}

function Words() {
  const [words, setWords] = useState(null)
  useEffect(() => {
    const task = current.value
    const where = task ? { task: task.id } : { workspace: folderNow() }
    query('words', where).then(setWords, () => setWords([]))
  }, [])
  if (!words) return html`<p class="soft">Loading…</p>`
  return html`
    <h3>Slash commands</h3>
    <ul class="plain-list">
      ${words.map(
        (word) => html`<li class="key-row" key=${word.name}>
          <span class="grow">
            <code>/${shown(word.name)}</code> <span class="soft tiny">${shown(word.rest ?? '')}</span>
            <span class="soft tiny block">${shown(word.about ?? '')}</span>
          </span>
        </li>`,
      )}
    </ul>
  `
}

export default function Shortcuts({ words = false }) {
  return html`<${Sheet} title=${words ? 'Commands and shortcuts' : 'Keyboard shortcuts'} wide>
    ${words && html`<${Words} />`}
    ${Object.entries(PLACES).map(
      ([where, title]) => html`<section key=${where}>
        <h3>${title}</h3>
        <ul class="plain-list">
          ${KEYS.filter((row) => row.where === where).map((row) => html`<${Row} key=${row.id} row=${row} />`)}
        </ul>
      </section>`,
    )}
    <p class="soft tiny">
      Click a key to change it; changes are saved in this browser. In the composer, <kbd>@</kbd> mentions
      and <kbd>/</kbd> opens commands.
    </p>
  </${Sheet}>`
}
