// Suggestions of tasks. One that is chosen goes into the composer: it can be changed, and is sent as any text.
import { html } from '../lib/ui.js'
import { written } from '../state/store.js'

export const Starters = ({ of }) => html`<div class="starters">
  ${of.map(
    (text) => html`<button key=${text} class="chip" onClick=${() => (written.value = { text, instead: true })}>
      ${text}
    </button>`,
  )}
</div>`
