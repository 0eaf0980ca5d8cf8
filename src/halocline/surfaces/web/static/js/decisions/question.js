// A question of the agent: choose an answer, or type one in the composer.
import { html, classes, useRef } from '../lib/ui.js'
import { isDeliberate, useArmed } from '../lib/deliberate-input.js'
import { answerQuestion } from '../state/queue.js'
import { shown } from '../lib/format.js'
import { Markdown } from '../lib/markdown.js'
import { InView, isInView } from './in-view.js'
import { useFocusAfter } from './focus-after.js'

export function QuestionCard({ row, task }) {
  const open = !row.by
  const armed = useArmed(open && task.keyOf(row.request))
  const box = useRef()
  useFocusAfter(box, open)
  return html`<article class=${classes('card question', open && 'asks')} ref=${box} data-card data-decides=${(open && isInView(task, row.request)) || null} tabindex="-1" aria-label="Question">
    <${Markdown} text=${row.question} />
    ${
      row.options?.length > 0 &&
      html`<div class="row options">
        ${row.options.map(
          (option, at) => html`<button
            key=${at}
            class=${classes('button option', row.answer === option && 'chosen')}
            disabled=${!open || !armed}
            onClick=${() => isDeliberate() && answerQuestion(task, row.request, option)}
          >
            ${open && html`<kbd class="key-here" aria-hidden="true">${at + 1}</kbd>`} ${shown(option)}
          </button>`,
        )}
      </div>`
    }
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
