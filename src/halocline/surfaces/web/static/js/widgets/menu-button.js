// The menu button of narrow screens; a dot says that another task needs you.
import { html } from '../lib/ui.js'
import { current, sidebarOpen } from '../state/store.js'
import { listed } from '../state/board.js'
import { Icon } from '../lib/icons.js'

export function MenuButton() {
  const needs = listed.value?.rows.some((row) => row.group === 'needs you' && row.task !== current.value?.id)
  return html`<button
    class="icon-button only-narrow menu-button"
    aria-label=${`Tasks and settings${needs ? ': a task needs you' : ''}`}
    aria-expanded=${sidebarOpen.value}
    onClick=${() => (sidebarOpen.value = true)}
  >
    <${Icon} name="menu" />
    ${needs && html`<span class="dot asks" aria-hidden="true"></span>`}
  </button>`
}
