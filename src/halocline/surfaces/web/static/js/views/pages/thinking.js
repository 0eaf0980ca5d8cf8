// How hard models think, and what is different in plan mode: settings, shown where a model is chosen. A task keeps what
// it began with, so this says that it is for the next ones.
import { html } from '../../ui.js'
import { Answer, useQuery } from './frame.js'
import { Field } from './setting.js'

const NAMES = ['effort', 'plan.effort', 'plan.model']

/** What of it would not do anything, and why. Pure. */
function vain(value, named) {
  return [
    value('thinking_budget') != null && 'A thinking budget is set: it wins over the effort.',
    value('plan.thinking_budget') != null && 'Plan mode has a thinking budget: it wins over the effort there.',
    named && value('plan.model') && 'A model was chosen for the next task: it is asked in both modes.',
  ].filter(Boolean)
}

export default function Thinking({ task, named }) {
  const found = useQuery('settings')
  return html`<div class="thinking-settings">
    <p class="soft tiny">
      ${task ? 'This task has an effort of its own, in the menu beside the model. ' : ''}
      Tasks that begin from now on follow these settings. A model that is picked for one task is asked in both of its
      modes.
    </p>
    <${Answer} of=${found} what="the settings">
      ${(all) => html`
        ${vain((name) => all.find((one) => one.name === name)?.value, !task && named).map(
          (text) => html`<p class="warn tiny" key=${text}>${text}</p>`,
        )}
        ${NAMES.map((name) => all.find((one) => one.name === name))
          .filter(Boolean)
          .map((one) => html`<${Field} key=${one.name} of=${one} changed=${found.again} />`)}
      `}
    </${Answer}>
  </div>`
}
