// What one task of the board asks: its own card, with the keys that it has in the task.
import { html, style, useEffect, useLayoutEffect, useRef, useState } from '../lib/ui.js'
import { useArmed } from '../lib/deliberate-input.js'
import { complain, taskOf } from '../state/store.js'
import { answerQuestion } from '../state/queue.js'
import { useKeys } from '../decisions/dock.js'
import { isInView } from '../decisions/in-view.js'
import { Card } from '../transcript/row-cards.js'

await style('static/js/transcript/transcript.css')

/** The row of what a task asks first; a plan is the last row of its turn. */
function findAsked(task, asked) {
  const [first] = task.facts.waiting
  if (first?.kind === 'approval') return task.call(first.call)
  if (first) return task.findLast((row) => row.type === 'question_row' && row.request === first.request)
  return asked === 'plan' ? task.findLast((row) => row.name === 'plan_mode_respond') : undefined
}

/** A written answer. */
function Answer({ task, request }) {
  const [text, setText] = useState('')
  const send = (event) => {
    event.preventDefault()
    if (text.trim()) answerQuestion(task, request, text.trim())
  }
  return html`<form class="decision-form" onSubmit=${send}>
    <input
      class="field grow"
      aria-label="Your answer"
      placeholder="Type an answer"
      value=${text}
      onInput=${(e) => setText(e.target.value)}
    />
    <button class="button" type="submit" disabled=${!text.trim()}>Send</button>
  </form>`
}

/** A prompt that waits for the person, because a task that it waited for did not end well. */
function Start({ task }) {
  const held = task.facts.queue.find((one) => one.is_held && one.reason)
  if (!held) return null
  const messages = { messages: [held.id] }
  return html`<div class="card pad board-start">
    <p>${held.text}</p>
    <div class="row">
      <button class="button primary" onClick=${() => task.send('send_queued', messages).catch(complain)}>
        Start it all the same
      </button>
      <button class="button danger" onClick=${() => task.send('withdraw_queued', { message: held.id }).catch(complain)}>
        Do not start it
      </button>
    </div>
  </div>`
}

/** What is asked. Once it is decided, what had the focus in it is gone: the heading gets it. */
function Decision({ children }) {
  const box = useRef()
  useLayoutEffect(() => {
    const here = box.current
    return () => {
      if (!here.contains(document.activeElement)) return
      requestAnimationFrame(
        () => document.activeElement === document.body && document.querySelector('#middle h1')?.focus(),
      )
    }
  }, [])
  return html`<div ref=${box}>${children}</div>`
}

export function Asked({ row }) {
  const task = taskOf(row.task)
  task.version.value
  const [first] = task.facts.waiting
  const card = findAsked(task, row.asked)
  const armed = useArmed(first && task.keyOf(first.request))
  useKeys(task, first, armed && isInView(task, first?.request))
  const missing = !card && !task.asked && task.ready.value
  useEffect(() => {
    if (missing && row.asked !== 'start' && task.rows.length) task.askPage(task.rows.length)
  }, [missing])
  return html`<div class="board-asked">
    <${Decision} key=${task.keyOf(first?.request ?? card?.call ?? row.asked)}>
      ${card && html`<${Card} row=${card} task=${task} />`}
      ${first?.kind === 'question' && html`<${Answer} task=${task} request=${first.request} />`}
      ${row.asked === 'start' && html`<${Start} task=${task} />`}
    <//>
    ${!task.ready.value && html`<p class="soft small">Loading…</p>`}
  </div>`
}
