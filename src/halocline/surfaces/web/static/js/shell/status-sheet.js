// The sheet of /status: what is in force in a task.
import { html, style } from '../lib/ui.js'
import { shown } from '../lib/format.js'
import { Sheet } from '../widgets/sheet.js'
import { Facts } from '../widgets/form.js'
import { Refusal, useQuery } from '../review/restore-preview.js'

await style('static/js/widgets/pages.css')

export default function Status({ task }) {
  const { value, error } = useQuery('status', { task: task.id }, [task.id, task.version.value])
  return html`<${Sheet} title="Status">
    ${error && html`<${Refusal} error=${error} />`}
    ${value && html`<${Facts} of=${value.map(([label, text]) => [label, shown(text)])} />`}
  </${Sheet}>`
}
