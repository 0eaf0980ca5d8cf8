// What a browser sees that is not let in. Another machine types the code that is printed where the server runs.
import { html } from '../ui.js'
import Pairing from './pairing.js'

const LOOPBACK = ['127.0.0.1', 'localhost', '[::1]']

export default function Out() {
  const isHere = LOOPBACK.includes(location.hostname)
  return html`<main class="out">
    <img src="/static/icon.svg" alt="" width="56" height="56" />
    <h1>This browser is not let in yet</h1>
    <p>
      Open the address that <code>halo web</code> printed, or paste it here. It holds a key after the <code>#</code>, and
      the key lasts as long as the server does. What you wrote in this browser is kept.
    </p>
    <${Pairing} label=${isHere ? 'The address from the terminal' : 'Or type the code that stands in the terminal'} />
  </main>`
}
