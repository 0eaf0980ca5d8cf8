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

const loadRequests = definePart(() => import('./shell/editor-requests.js'))

async function start() {
  readRoute()
  addEventListener('hashchange', followAddress)
  watchTyping()
  listen()
  watchBoard()
  followBoard()
  window.early.entered.then((isIn) => (isIn ? connect() : (standing.value = 'out')))
  await new Promise((next) => setTimeout(next)) // drawn in a task of its own, and once if it is connected by then
  render(html`<${Shell} />`, document.getElementById('app'))
  if (window.early.isEditor) loadRequests().then((module) => module.serve())
}

start()
