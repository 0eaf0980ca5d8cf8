// The composer's menu: suggestions for text after @ or /. The composer keeps the focus and passes its keys on; the list
// only shows which one is active.
import { html, classes, signal, useEffect, useRef } from '../lib/ui.js'
import { announcement } from '../state/store.js'
import { offersFor } from './suggestions.js'
import { count, shown } from '../lib/format.js'
import { Icon } from '../lib/icons.js'

/** The open menu: {begun, sections, at, problem, choose} or null. */
const open = signal(null)
let newest = 0

const listOffers = (menu) => menu.sections.flatMap((section) => section.offers)
const optionId = (at) => `offer-${at}`

/** Show suggestions; stale answers are dropped. `choose(offer)` is called with the chosen one. */
export async function look(begun, place, choose) {
  const mine = ++newest
  const before = open.value
  try {
    const sections = await offersFor(begun, place)
    if (mine !== newest) return
    open.value = { begun, sections, at: 0, choose }
    const found = listOffers(open.value).length
    if (!before || listOffers(before).length !== found)
      announcement.value = found ? count(found, 'suggestion') : 'No suggestions'
  } catch (error) {
    if (mine === newest) open.value = { begun, sections: [], at: 0, choose, problem: error.text ?? error.message }
  }
}

export function close() {
  newest++
  open.value = null
}

/** The id of the active suggestion, for the focused field. */
export const nameChosen = () => (open.value && listOffers(open.value).length ? optionId(open.value.at) : null)

/** True if the key was for the menu. */
export function take(event) {
  const menu = open.value
  if (!menu) return false
  const all = listOffers(menu)
  const go = (by) => (open.value = { ...menu, at: (menu.at + by + all.length) % all.length })
  if (event.key === 'Escape') close()
  else if (!all.length) return false
  else if (event.key === 'ArrowDown') go(1)
  else if (event.key === 'ArrowUp') go(-1)
  else if (event.key === 'PageDown') open.value = { ...menu, at: Math.min(all.length - 1, menu.at + 8) }
  else if (event.key === 'PageUp') open.value = { ...menu, at: Math.max(0, menu.at - 8) }
  else if (
    (event.key === 'Enter' && !event.shiftKey && !event.ctrlKey && !event.metaKey) ||
    (event.key === 'Tab' && !event.shiftKey)
  ) {
    if (event.key === 'Enter' && isWhole(menu, all[menu.at])) return (close(), false)
    menu.choose(all[menu.at])
  } else return false
  event.preventDefault()
  event.stopPropagation()
  return true
}

/** True if the suggestion is already typed in full; then Enter sends. */
const isWhole = ({ begun }, offer) => !begun.word && offer.put.trim() === `${begun.kind}${begun.query}`

export default function Menu() {
  const menu = open.value
  const list = useRef()
  useEffect(() => {
    list.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' })
  }, [menu?.at, menu?.sections])
  if (!menu) return null
  const { begun, sections, problem } = menu
  if (!sections.length) {
    if (begun.within || begun.word) return null
    const none =
      begun.kind === '@'
        ? `No file, folder, commit or task matches ‘${begun.query}’.`
        : `No command matches ‘/${begun.query}’.`
    return html`<div class="menu" id="composer-menu">
      <p class="menu-none">${problem ?? none} <span class="soft">It is sent as typed. Esc closes this.</span></p>
    </div>`
  }
  let at = -1
  return html`<div
    class="menu"
    id="composer-menu"
    role="listbox"
    tabindex="0"
    aria-label=${begun.kind === '@' ? 'Mentions' : 'Commands'}
    ref=${list}
  >
    ${sections.map(
      (section) => html`<div role="group" key=${section.title} aria-label=${section.title || 'All'}>
        ${section.title && html`<div class="group-title" aria-hidden="true">${section.title}</div>`}
        ${section.offers.map((offer) => {
          const mine = ++at
          return html`<div
            key=${offer.put}
            id=${optionId(mine)}
            role="option"
            aria-selected=${mine === menu.at}
            class=${classes('offer', mine === menu.at && 'on')}
            onMouseDown=${(e) => (e.preventDefault(), menu.choose(offer))}
          >
            <${Icon} name=${offer.icon} size="15" />
            <span class="offer-title">${shown(offer.title)}</span>
            ${offer.hint && html`<span class="soft tiny offer-hint">${shown(offer.hint)}</span>`}
            <span class="soft tiny cut offer-about">${shown(offer.about)}</span>
          </div>`
        })}
      </div>`,
    )}
  </div>`
}
