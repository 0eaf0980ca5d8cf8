// Entry point: render, and take over the connection that early.js opened.
import { html, render } from './ui.js'
import { connect, standing } from './line.js'
import { readRoute } from './store.js'
import { watchTyping } from './calm.js'
import { listen } from './keys.js'
import { watchBoard } from './notify.js'
import { Shell } from './views/shell.js'

async function start() {
  readRoute()
  addEventListener('hashchange', readRoute)
  watchTyping()
  listen()
  watchBoard()
  render(html`<${Shell} />`, document.getElementById('app'))
  if (window.early.isEditor) import('./inside.js').then((module) => module.serve())
  if (await window.early.entered) connect()
  else standing.value = 'out'
}

start()
setTimeout(() => import('./snapshot.js').then((module) => module.keep()).catch(() => {}), 2500)
