// A search field with a list of matches: for the palette, models and earlier prompts. The field keeps the focus; the
// list shows which one is active.
import { html, classes, useEffect, useRef, useState } from '../lib/ui.js'
import { closeSheet } from '../state/store.js'
import { Modal } from './sheet.js'

const PAGE = 8

/**
 * `sections(words)` returns [{title, items}], an item has `key` and `choose()`; `row(item, on)` draws one. `extra(item,
 * event)` may handle a key for the active item. `none` is shown when nothing matches.
 */
export function Picker({ title, placeholder, sections, row, none, extra, wide = false, foot = null, first = '' }) {
  const [words, setWords] = useState(first)
  const [at, setAt] = useState(0)
  const list = useRef()
  const found = sections(words).filter((section) => section.items.length)
  const all = found.flatMap((section) => section.items)
  const active = Math.min(at, Math.max(0, all.length - 1))
  useEffect(() => {
    list.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' })
  }, [active, words])
  function handleKey(event) {
    if (event.isComposing) return
    const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: PAGE, PageUp: -PAGE }
    if (extra?.(all[active], event)) event.preventDefault()
    else if (moves[event.key] && all.length) {
      const by = moves[event.key]
      setAt(
        Math.abs(by) === 1
          ? (active + by + all.length) % all.length
          : Math.min(all.length - 1, Math.max(0, active + by)),
      )
      event.preventDefault()
    } else if (event.key === 'Enter' && all[active]) {
      event.preventDefault()
      all[active].choose()
    }
  }
  let number = -1
  return html`<${Modal} title=${title} className=${classes('picker', wide && 'wide')}>
    <div class="picker-inside">
      <div class="picker-head">
        <input
          class="field"
          data-first
          type="search"
          role="combobox"
          aria-expanded=${all.length > 0}
          aria-controls=${all.length ? 'picker-list' : null}
          aria-activedescendant=${all.length ? `pick-${active}` : null}
          aria-label=${title}
          aria-autocomplete="list"
          placeholder=${placeholder}
          value=${words}
          onInput=${(e) => (setWords(e.target.value), setAt(0))}
          onKeyDown=${handleKey}
          autocomplete="off"
          spellcheck="false"
        />
        <button class="button quiet small" onClick=${closeSheet}>Close</button>
      </div>
      ${
        all.length === 0 &&
        html`<div class="picker-list"><p class="pad soft">${typeof none === 'function' ? none(words) : none}</p></div>`
      }
      ${
        all.length > 0 &&
        html`<div class="picker-list" id="picker-list" role="listbox" aria-label=${title} ref=${list} tabindex="-1">
          ${found.map(
            (section) => html`<div role="group" key=${section.title} aria-label=${section.title || title}>
              ${section.title && html`<div class="group-title" aria-hidden="true">${section.title}</div>`}
              ${section.items.map((item) => {
                const mine = ++number
                return html`<div
                  key=${item.key}
                  id=${`pick-${mine}`}
                  role="option"
                  aria-selected=${mine === active}
                  class=${classes('pick', mine === active && 'on')}
                  onMouseMove=${() => mine !== active && setAt(mine)}
                  onClick=${() => item.choose()}
                >
                  ${row(item, mine === active)}
                </div>`
              })}
            </div>`,
          )}
        </div>`
      }
      ${foot && html`<div class="picker-foot">${typeof foot === 'function' ? foot(all[active]) : foot}</div>`}
    </div>
  </${Modal}>`
}
