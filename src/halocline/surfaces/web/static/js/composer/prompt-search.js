// Search of earlier prompts, from this browser and from the task.
import { html } from '../lib/ui.js'
import { said } from '../lib/preferences.js'
import { rankAll } from '../lib/rank.js'
import { closeSheet } from '../state/store.js'
import { shown, truncate } from '../lib/format.js'
import { listPrompts } from './composer-menus.js'
import { Picker } from '../widgets/picker.js'

const MOST = 60

export default function Recall({ task, write }) {
  const all = [...new Set([...listPrompts(task?.facts), ...said.value].reverse())].filter(Boolean)
  const listSections = (words) => [
    {
      title: '',
      items: rankAll(words, all, MOST).map((text) => ({ key: text, text, choose: () => (closeSheet(), write(text)) })),
    },
  ]
  return html`<${Picker}
    title="Prompt history"
    placeholder="Search prompts"
    sections=${listSections}
    row=${({ text }) => html`<span class="recalled">${shown(truncate(text, 300))}</span>`}
    none=${(words) => (words ? `No results for ‘${words}’.` : 'No prompts sent from this browser yet.')}
  />`
}
