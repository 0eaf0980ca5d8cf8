// The answer to a slash command that has no view of its own.
import { html, style, useEffect, useState } from '../lib/ui.js'
import { act } from '../lib/connection.js'
import { shown } from '../lib/format.js'
import { Markdown } from '../lib/markdown.js'
import { Sheet } from '../widgets/sheet.js'
import { Refusal } from '../review/restore-preview.js'

await style('static/js/widgets/pages.css')

export default function Answer({ task, text }) {
  const [{ value, error }, setFound] = useState({})
  useEffect(() => {
    let here = true
    act('slash', { task: task.id, text }).then(
      (value) => here && setFound({ value }),
      (error) => here && setFound({ error }),
    )
    return () => (here = false)
  }, [])
  return html`<${Sheet} title=${shown(text)} wide>
    ${error && html`<${Refusal} error=${error} />`}
    ${!value && !error && html`<p class="soft" role="status">One moment …</p>`}
    ${value?.markdown && html`<${Markdown} text=${value.text} />`}
    ${value && !value.markdown && html`<pre class="said">${shown(value.text || 'Done.')}</pre>`}
  </${Sheet}>`
}
