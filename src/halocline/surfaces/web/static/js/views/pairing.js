// Where the code of the terminal is typed on another machine.
import { html, useState } from '../ui.js'
import { enter } from '../line.js'

export default function Pairing() {
  const [wrong, setWrong] = useState('')
  async function pair(event) {
    event.preventDefault()
    const field = event.target.elements.code
    if (await enter(field.value).catch(() => false)) return location.reload()
    setWrong('That is not the code. After five wrong ones the terminal shows another.')
    field.select()
  }
  return html`<form class="pairing" onSubmit=${pair}>
    <label for="code">Or type the code that stands in the terminal</label>
    <div class="row nowrap">
      <input
        class="field mono"
        id="code"
        name="code"
        inputmode="numeric"
        autocomplete="one-time-code"
        required
        aria-describedby="code-wrong"
      />
      <button class="button primary">Let me in</button>
    </div>
    <p class="bad" id="code-wrong" role="alert">${wrong}</p>
  </form>`
}
