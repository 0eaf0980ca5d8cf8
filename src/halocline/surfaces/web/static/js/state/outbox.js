// Messages the server has not confirmed. They are stored before they are sent, so that neither a lost connection nor a
// reload loses text; the server knows each by its id and does nothing twice.
import { effect } from '../lib/ui.js'
import { newId, pass, standing } from '../lib/connection.js'
import { draftOf, keepValue, renew, setDraft } from '../lib/preferences.js'

/** {id, place, text, frame, at}: `place` is the task, or `new`. */
export const outbox = keepValue('outbox', [])

const going = new Set()
const textOf = (content) =>
  content
    .filter((part) => part.type === 'text')
    .map((part) => part.text)
    .join('\n')

/** Send a message, and keep it until it is answered. Rejects if the server refuses it. */
export async function post(place, frame) {
  const id = newId()
  const content = frame.content ?? frame.command.content
  const one = { id, place, text: textOf(content), frame, at: Date.now() }
  renew('outbox')
  outbox.value = [...outbox.value, one]
  return deliver(one)
}

async function deliver(one) {
  going.add(one.id)
  try {
    return await pass({ ...one.frame, id: one.id })
  } finally {
    going.delete(one.id)
    renew('outbox')
    outbox.value = outbox.value.filter((other) => other.id !== one.id)
  }
}

/** Send a message to a task. Resolves to false if it came too late. */
export const tell = (task, type, content) => post(task, { type: 'command', command: { type, task, content } })

let taken = false
// Left by an earlier visit: sent again once. Refused text becomes the draft again.
effect(() => {
  if (standing.value !== 'open' || taken) return
  taken = true
  for (const one of outbox.peek())
    if (!going.has(one.id))
      deliver(one).catch(() => {
        const before = draftOf(one.place)
        if (!before.includes(one.text)) setDraft(one.place, before ? `${before}\n${one.text}` : one.text)
      })
})
