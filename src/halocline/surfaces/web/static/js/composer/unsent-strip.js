// Above the text: undelivered messages. Those that wait in the task are sent one by one as turns end, or before the next
// request; held ones wait for the person, and unconfirmed ones for the connection.
import { html, useLayoutEffect, useRef, useState } from '../lib/ui.js'
import { standing } from '../lib/connection.js'
import { outbox } from '../state/outbox.js'
import { drop, goOn, move, reword, sendNow } from '../state/queue.js'
import { count, shown } from '../lib/format.js'
import { Icon } from '../lib/icons.js'

const describeMessage = (one) => shown(one.text) || count(one.attachments ?? one.parts?.length ?? 0, 'attachment')

/** `up` and `down` are the places of its neighbours in the whole queue. */
function Queued({ task, one, at, all, up, down }) {
  const [editing, setEditing] = useState(false)
  const field = useRef()
  useLayoutEffect(() => {
    if (editing) field.current?.focus()
  }, [editing])
  const keep = () => (reword(task, one, field.current.value.trim() || one.text), setEditing(false))
  const handleKey = (e) => {
    if (e.key === 'Enter' && !e.shiftKey && !e.isComposing) (e.preventDefault(), keep())
    else if (e.key === 'Escape') (e.preventDefault(), e.stopPropagation(), setEditing(false))
  }
  if (editing)
    return html`<li class="queued">
      <textarea class="field" ref=${field} rows="2" aria-label="Queued prompt" onKeyDown=${handleKey}>
        ${one.text}
      </textarea>
      <button class="button small" onClick=${keep}>Save</button>
    </li>`
  return html`<li class="queued">
    <span class="queue-number" aria-hidden="true">${at + 1}</span>
    <span class="cut grow" title=${one.text}>${describeMessage(one)}</span>
    <span class="queue-buttons">
      <button
        class="button small quiet"
        onClick=${() => sendNow(task, one)}
        title=${task.facts.waiting.length ? 'As the answer' : task.facts.running ? 'To the running turn' : 'As the next prompt'}
      >
        Send now
      </button>
      ${
        all > 1 &&
        html`
          <button
            class="icon-button small"
            aria-label="Move up"
            disabled=${at === 0}
            onClick=${() => move(task, one, up)}
          >
            <span class="turned"><${Icon} name="down" size="14" /></span>
          </button>
          <button
            class="icon-button small"
            aria-label="Move down"
            disabled=${at === all - 1}
            onClick=${() => move(task, one, down)}
          >
            <${Icon} name="down" size="14" />
          </button>
        `
      }
      <button class="icon-button small" aria-label="Edit" onClick=${() => setEditing(true)}>
        <${Icon} name="edit" size="14" />
      </button>
      <button class="icon-button small" aria-label="Remove" onClick=${() => drop(task, one)}>
        <${Icon} name="close" size="14" />
      </button>
    </span>
  </li>`
}

/** The messages for the end of the turn, or those that are held until a person sends them. */
function Section({ task, queue, isHeld }) {
  if (!queue.length) return null
  const place = (one) => task.facts.queue.indexOf(one)
  const title = isHeld
    ? 'Held until you send it: a turn was stopped or failed'
    : task.facts.running
      ? 'Sent when this turn ends'
      : 'Sending…'
  return html`<section aria-label=${isHeld ? 'Held messages' : 'Queued prompts'}>
    <p class="strip-title">
      <span class="grow">${title}</span>
      ${isHeld && html`<button class="button small" onClick=${() => goOn(task)}>Send all</button>`}
    </p>
    <ol class="queue">
      ${queue.map(
        (one, at) =>
          html`<${Queued}
            key=${one.id}
            task=${task}
            one=${one}
            at=${at}
            all=${queue.length}
            up=${place(queue[at - 1])}
            down=${place(queue[at + 1])}
          />`,
      )}
    </ol>
  </section>`
}

/** What waits for a task, or for the one that the message begins: then `id` is `new` and `task` null. */
export default function Strip({ task, id }) {
  task?.version.value
  const all = task?.facts.queue ?? []
  const queue = all.filter((one) => !one.steers)
  const steering = all.filter((one) => one.steers)
  const waits = outbox.value.filter((one) => one.place === id)
  return html`<div class="strip">
    ${
      waits.length > 0 &&
      html`<section aria-label="Unconfirmed messages">
        <p class="strip-title">${standing.value === 'open' ? 'Sending…' : 'Sends when reconnected'}</p>
        <ul class="queue">
          ${waits.map(
            (one) =>
              html`<li class="queued" key=${one.id}><span class="cut grow" title=${one.text}>${describeMessage(one)}</span></li>`,
          )}
        </ul>
      </section>`
    }
    ${
      steering.length > 0 &&
      html`<section aria-label="Pending messages">
        <p class="strip-title">Delivered before the next request</p>
        <ul class="queue">
          ${steering.map(
            (one) => html`<li class="queued" key=${one.id}>
              <span class="cut grow" title=${one.text}>${describeMessage(one)}</span>
              <button class="icon-button small" aria-label="Remove" onClick=${() => drop(task, one)}>
                <${Icon} name="close" size="14" />
              </button>
            </li>`,
          )}
        </ul>
      </section>`
    }
    <${Section} task=${task} queue=${queue.filter((one) => !one.is_held)} />
    <${Section} task=${task} queue=${queue.filter((one) => one.is_held)} isHeld />
  </div>`
}
