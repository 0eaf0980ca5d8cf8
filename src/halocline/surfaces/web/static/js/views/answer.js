// The answer to a slash command that has no view of its own.
import { html, style, useEffect, useState } from '../ui.js'
import { act } from '../line.js'
import { shown } from '../format.js'
import { Markdown } from '../markdown.js'
import { Sheet } from './sheet.js'
import { Refusal } from './restore.js'

await style('static/css/pages.css')

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
