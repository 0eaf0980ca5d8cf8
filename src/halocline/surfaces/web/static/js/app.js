// Entry point: render, and take over the connection that early.js opened.
import { html, render } from './lib/ui.js'
import { connect, standing } from './lib/connection.js'
import { followAddress, readRoute } from './state/store.js'
import { watchTyping } from './lib/deliberate-input.js'
import { followBoard } from './state/board.js'
import { listen } from './state/shortcut-keys.js'
import { watchBoard } from './state/notifications.js'
import { Shell } from './shell/shell.js'
import { definePart } from './lib/parts.js'
import { clock } from './lib/format.js'

const loadRequests = definePart(() => import('./shell/editor-requests.js'))

async function start() {
  readRoute()
  addEventListener('hashchange', followAddress)
  watchTyping()
  listen()
  watchBoard()
  followBoard()
  render(html`<${Shell} />`, document.getElementById('app'))
  setTimeout(() => clock(0), 500) // its formatter is made before the first row needs it
  if (window.early.isEditor) loadRequests().then((module) => module.serve())
  if (await window.early.entered) connect()
  else standing.value = 'out'
}

start()
