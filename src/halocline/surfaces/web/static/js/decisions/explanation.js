// What a call does and why it asks: the same on its card and in the dock. It must be in view before it can be approved.
import { classes, html } from '../lib/ui.js'
import { asSentence, nameEffect, shown } from '../lib/format.js'
import { End, endOf, isExplained, Lookalikes, showsParts, Whole } from './whole-call.js'

const Part = ({ part: { text, reason, effect, targets } }) => html`<li>
  <code>${shown(text ?? '')}</code>
  ${' '}
  <span class="soft tiny">
    ${shown(reason || nameEffect(effect))}${targets?.length ? ` → ${shown(targets.join(', '))}` : ''}
  </span>
</li>`

/** Words for the grade of an approval, and the class of its reason. */
const GRADES = {
  outside: ['Reaches outside', 'grade-warn'],
  secret: ['A secret may leave', 'grade-grave'],
  final: ['Cannot be undone', 'grade-grave'],
}

/** The words for the grade of an approval and the class of its reason; no words for an ordinary one. */
export const gradeOf = (approval) => GRADES[approval?.grade] ?? ['', 'soft']

/** True for what only a deliberate click or key approves: Enter does not. */
export const isGrave = (approval) => approval?.grade === 'secret' || approval?.grade === 'final'

/** `why` is a link behind the reason. */
export function Explanation({ task, row, why = null }) {
  const { request, reason, place, sandbox, agent, parts = [] } = row.approval
  const [word, tone] = gradeOf(row.approval)
  return html`
    ${agent && html`<p class="small">The agent <strong>${shown(agent)}</strong> asks.</p>`}
    ${
      (reason || why) &&
      html`<p class=${classes('small', tone)}>
        ${word && html`<strong>${word}.</strong>${' '}`}${shown(asSentence(reason))}${' '}${why}
      </p>`
    }
    ${place && html`<p class="soft small">in <code>${shown(place)}</code></p>`}
    ${sandbox && html`<p class="soft small">${shown(sandbox)}</p>`}
    <${Whole} task=${task} row=${row} />
    <${Lookalikes} row=${row} />
    ${
      showsParts(row.approval) &&
      html`<ul class="plain parts">
        ${parts.map((part, at) => html`<${Part} key=${at} part=${part} />`)}
      </ul>`
    }
    ${isExplained(row.approval) && html`<${End} key=${request} of=${endOf(task, request, 'explanation')} />`}
  `
}
