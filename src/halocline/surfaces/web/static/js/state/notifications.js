// Notifications while the page is not in view: a task needs you, has ended, or has failed. Always in the window's
// title; as system notification and sound if you turned that on. The browser's permission is only ever asked for by
// your click.
import { effect, fileAddress, signal } from '../lib/ui.js'
import { board, standing } from '../lib/connection.js'
import { notifying, sounding } from '../lib/preferences.js'
import { shown, truncate } from '../lib/format.js'
import { current, go, history } from './store.js'
import { definePart } from '../lib/parts.js'

const loadSounds = definePart(() => import('./sounds.js'))

/** The number of tasks that need you. */
export const waiting = signal(0)
const isLooking = () => !document.hidden && document.hasFocus()

function tell(id, title, body) {
  if (isLooking()) return
  if (sounding.value) loadSounds().then(({ chime }) => chime())
  if (!notifying.value || !('Notification' in window) || Notification.permission !== 'granted') return
  const one = new Notification(title, {
    body: truncate(body, 200),
    tag: `halocline ${id}`,
    icon: fileAddress('static/icon.svg'),
  })
  one.onclick = () => {
    focus()
    go('task', id)
    one.close()
  }
}

const nameOf = (id) => {
  const info = history.peek().find((one) => one.task === id)
  return info?.name || info?.title || 'A task'
}
const ENDS = { end_turn: 'Done', error: 'Failed', cancelled: '', max_turn_requests: 'Stopped at a limit' }

async function notifyEnd(id) {
  const task = current.peek()?.id === id ? current.peek() : null
  const reason = task?.facts.last?.reason ?? history.peek().find((one) => one.task === id)?.status ?? 'end_turn'
  const said = ENDS[reason] ?? 'Ended'
  if (said) tell(id, `${said}: ${nameOf(id)}`, task?.facts.last?.text || 'Halocline')
}

/** Start watching. */
export function watchBoard() {
  let before = null
  effect(() => {
    const now = board.value
    waiting.value = Object.values(now).filter((one) => one === 'asks').length
    if (standing.value !== 'open') return
    if (before)
      for (const [id, state] of Object.entries(now)) {
        if (state === before[id]) continue
        if (state === 'asks')
          tell(
            id,
            `Needs you: ${nameOf(id)}`,
            current.peek()?.id === id ? (current.peek().facts.waiting[0]?.title ?? '') : '',
          )
        else if (state === 'rests' && (before[id] === 'runs' || before[id] === 'asks'))
          setTimeout(() => notifyEnd(id), 600)
      }
    before = now
  })
  effect(() => {
    const task = current.value
    task?.version.value
    const name = task ? task.facts.name || task.facts.title : ''
    document.title = `${waiting.value ? `(${waiting.value}) ` : ''}${name ? `${shown(name)} · ` : ''}Halocline`
  })
}
