// While a person signs in elsewhere: the page to open, and a way to carry its last address here by hand, for a browser
// on another machine.
import { html, useState } from '../../ui.js'
import { act } from '../../line.js'
import { complain } from '../../store.js'
import { Labelled } from './form.js'

export function Carry({ begun }) {
  const [text, setText] = useState('')
  const carry = (event) => {
    event.preventDefault()
    if (text.trim()) act('sign_in_paste', { id: begun.id, text: text.trim() }).catch(complain)
    setText('')
  }
  return html`<div class="pane-card">
    <p>
      Sign in on the page that opened. If none did: <a href=${begun.url} target="_blank" rel="noreferrer noopener">
        open it
      </a>.
    </p>
    <details>
      <summary>The last page does not open</summary>
      <form class="pile" onSubmit=${carry}>
        <${Labelled}
          id="carried"
          label="Its address"
          note="The browser is on another machine then. Paste what stands in its address bar."
        >
          <input class="field mono" id="carried" value=${text} onInput=${(e) => setText(e.target.value)} />
        </${Labelled}>
        <div><button class="button small" type="submit" disabled=${!text.trim()}>Go on with it</button></div>
      </form>
    </details>
  </div>`
}
