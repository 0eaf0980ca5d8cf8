// Pending approvals and questions above the composer while their card is out of view, and their keys at all times. A decision never takes focus from
// a text, and its keys work only after a quiet moment in front, so that input meant for another cannot approve it.
import { html, useEffect, useRef, useState } from '../lib/ui.js'
import { isDeliberate, useArmed, runAlone } from '../lib/deliberate-input.js'
import { sheet, toast, written } from '../state/store.js'
import { clock, shown } from '../lib/format.js'
import { nameDecision, nameOther } from '../state/other-clients.js'
import { isTyping } from '../state/shortcut-keys.js'
import { Markdown } from '../lib/markdown.js'
import { approveCall, setDraft, draftOf, openForm } from './approve.js'
import { approveAll, labelAll } from './approve-ahead.js'
import { Decision } from './decision.js'
import { Wanted } from './decision-foot.js'
import { Options } from './question.js'
import { isInView, useOutOfView } from './in-view.js'
import { useFocusAfter } from './focus-after.js'
import { isGrave } from './explanation.js'
import { answerQuestion } from '../state/queue.js'

const FORMS = { a: 'always', r: 'reject', e: 'edit' }
const TOLD_FOR = 10

/** True if decision keys may be handled here: not while you type, and not when a button would handle them. */
function isFree(event) {
  const composer = event.target.closest?.('.composer textarea')
  if (composer)
    return !composer.value && composer.dataset.given !== 'true' && !composer.getAttribute('aria-activedescendant')
  return (
    !isTyping(event.target) && !(event.key === 'Enter' && event.target.closest?.('button, a, summary, [role=menuitem]'))
  )
}

/** The keys of a card that decides, anywhere in the page. */
export function useKeys(task, first, armed) {
  useEffect(() => {
    if (!first) return undefined
    function handleKey(event) {
      if (!event.isTrusted || event.target.closest?.('[data-own-keys]')) return // own keys
      if (
        event.defaultPrevented ||
        event.ctrlKey ||
        event.metaKey ||
        event.altKey ||
        event.isComposing ||
        event.repeat ||
        sheet.value
      )
        return
      if (!armed || !isDeliberate() || !isFree(event)) {
        // An early Enter does nothing at all, rather than something else.
        if (event.key === 'Enter' && isFree(event)) event.preventDefault()
        return
      }
      const inComposer = event.target.closest?.('.composer textarea')
      if (first.kind === 'approval') {
        const row = task.call(first.call)
        if (event.key === 'Enter' && !event.shiftKey) {
          if (!isGrave(row?.approval)) approveCall(task, row)
        } else if (!inComposer && event.key === 's' && row?.approval && labelAll(task, first.request))
          approveAll(task, row)
        else if (!inComposer && FORMS[event.key] && !draftOf(task, first.request).form)
          openForm(task, task.call(first.call), FORMS[event.key])
        else return
      } else {
        const option = first.options?.[Number(event.key) - 1]
        if (!option) return
        if (inComposer)
          return runAlone(() => chosenAlone(inComposer, event.key) && answerQuestion(task, first.request, option))
        answerQuestion(task, first.request, option)
      }
      event.preventDefault()
      event.stopPropagation()
    }
    addEventListener('keydown', handleKey, true)
    return () => removeEventListener('keydown', handleKey, true)
  }, [task.id, first?.request, armed])
}

/** True if the number is all that was typed, and removes it; else it starts a written answer. */
function chosenAlone(composer, key) {
  if (composer.value !== key) return false
  composer.value = ''
  composer.dispatchEvent(new Event('input', { bubbles: true }))
  return true
}

/** What was being written about a request that another client decided moves to the message field. */
function keepWords(task, { request }, other) {
  const { note, text } = draftOf(task, request)
  const words = [note, text].filter(Boolean).join('\n')
  if (!words) return
  setDraft(task, request, { note: '', text: null })
  written.value = { text: words }
  toast(`It was decided ${other} meanwhile. What you wrote is in the message field.`)
}

/** For a few seconds: which other client decided, unless that was rewound. */
function Elsewhere({ task }) {
  task.version.value
  const [, again] = useState(0)
  const { decided, rewinds } = task.facts
  const last = decided.at(-1)?.seq > (rewinds.at(-1)?.seq ?? 0) ? decided.at(-1) : null
  const other = last?.by === 'user' ? nameOther(last.client) : ''
  const left = other ? last.at + TOLD_FOR - Date.now() / 1000 : 0
  useEffect(() => void (other && keepWords(task, last, other)), [last?.request])
  useEffect(() => {
    if (left <= 0) return undefined
    const timer = setTimeout(() => again((n) => n + 1), left * 1000 + 50)
    return () => clearTimeout(timer)
  }, [last?.request])
  if (left <= 0) return null
  return html`<p class="elsewhere soft tiny" role="status">
    ${nameDecision(last)} ${shown(other)}, ${clock(last.at)}
  </p>`
}

/** A question, to be answered here. */
function Asked({ task, first, armed, more }) {
  const box = useRef()
  useFocusAfter(box)
  return html`<section class="dock" ref=${box} data-decides aria-label="Question">
    <div class="dock-title">
      <span class="dot asks" aria-hidden="true"></span>
      <div class="asked grow" tabindex="0"><${Markdown} text=${first.question} /></div>
      <span class="soft">${more}</span>
    </div>
    <${Options} task=${task} asked=${first} armed=${armed} />
    <p class="soft tiny">Or type an answer below.</p>
  </section>`
}

export function Dock({ task }) {
  task.version.value
  const { waiting } = task.facts
  const first = waiting[0]
  const armed = useArmed(first && task.keyOf(first.request))
  const isOut = useOutOfView(task, first?.request)
  useKeys(task, first, armed && (isOut || isInView(task, first.request)))
  if (!first || !isOut) return html`<${Elsewhere} task=${task} />`
  const more = waiting.length > 1 ? ` (1 of ${waiting.length})` : ''
  if (first.kind === 'question')
    return html`<${Asked} key=${first.request} task=${task} first=${first} armed=${armed} more=${more} />`
  const row = task.call(first.call)
  if (!row?.approval) return null
  return html`<section class="dock" data-decides aria-label="Approval needed">
    <div class="dock-title">
      <span class="dot asks" aria-hidden="true"></span>
      <${Wanted} asked=${first} row=${row} />
      <span class="soft">${more}</span>
    </div>
    <${Decision} key=${first.request} task=${task} row=${row} docked />
    <${Elsewhere} task=${task} />
  </section>`
}
