// The sheet of /status: what is in force in a task.
import { html, style } from '../ui.js'
import { shown } from '../format.js'
import { Sheet } from './sheet.js'
import { Facts } from './pages/form.js'
import { Refusal, useQuery } from './restore.js'

await style('static/css/pages.css')

export default function Status({ task }) {
  const { value, error } = useQuery('status', { task: task.id }, [task.id, task.version.value])
  return html`<${Sheet} title="Status">
    ${error && html`<${Refusal} error=${error} />`}
    ${value && html`<${Facts} of=${value.map(([label, text]) => [label, shown(text)])} />`}
  </${Sheet}>`
}
