// A question of the agent: choose an answer, or type one in the composer.
import { html, classes, useRef } from '../lib/ui.js'
import { isDeliberate, useArmed } from '../lib/deliberate-input.js'
import { answerQuestion } from '../state/queue.js'
import { shown } from '../lib/format.js'
import { Markdown } from '../lib/markdown.js'
import { InView, isInView } from './in-view.js'
import { approvesPlan } from './plan.js'
import { useFocusAfter } from './focus-after.js'

/** The answers to choose from: the model's own, then those that approve a plan, of which the safest is the primary. */
export function Options({ task, asked, open = true, armed }) {
  const all = (asked.options ?? []).map((option, at) => ({ option, at, approves: approvesPlan(option) }))
  const first = all.find((one) => one.approves)
  return [all.filter((one) => !one.approves), all.filter((one) => one.approves)].map(
    (ones) =>
      ones.length > 0 &&
      html`<div class="row options">
        ${ones.map(
          (one) => html`<button
            key=${one.at}
            class=${classes('button option', asked.answer === one.option && 'chosen', open && one === first && 'primary')}
            disabled=${!open || !armed}
            onClick=${() => isDeliberate() && answerQuestion(task, asked.request, one.option)}
          >
            ${open && one.at < 9 && html`<kbd class="key-here" aria-hidden="true">${one.at + 1}</kbd>`} ${shown(one.option)}
          </button>`,
        )}
      </div>`,
  )
}

export function QuestionCard({ row, task }) {
  const open = !row.by
  const armed = useArmed(open && task.keyOf(row.request))
  const box = useRef()
  useFocusAfter(box, open)
  return html`<article class=${classes('card question', open && 'asks')} ref=${box} data-card data-decides=${(open && isInView(task, row.request)) || null} tabindex="-1" aria-label="Question">
    <${Markdown} text=${row.question} />
    <${Options} task=${task} asked=${row} open=${open} armed=${armed} />
    ${
      !open &&
      row.answer &&
      !row.options?.includes(row.answer) &&
      html`<p class="answer"><span class="soft">You:</span> ${shown(row.answer)}</p>`
    }
    ${open && html`<${InView} task=${task} request=${row.request} />`}
    ${!open && !row.answer && html`<p class="soft tiny">${row.by === 'message' ? 'Answered with a message.' : 'Not answered.'}</p>`}
  </article>`
}
