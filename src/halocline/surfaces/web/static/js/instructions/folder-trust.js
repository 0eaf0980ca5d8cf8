// The trust page of a folder: its own programs, and whether you trust them.
import { html } from '../lib/ui.js'
import { act } from '../lib/connection.js'
import { toast } from '../state/store.js'
import { count, shown } from '../lib/format.js'
import { Answer, useAction } from '../widgets/page-frame.js'
import { Badge, Trouble } from '../widgets/form.js'

const STANDINGS = {
  trusted: ['good', 'trusted', 'You trust this folder. You are asked again when one of its programs changes.'],
  unknown: ['warn', 'not decided', 'Its programs run only after you trust it.'],
  changed: ['warn', 'changed', 'Its programs changed since you trusted it. They run only after you trust it again.'],
  refused: ['', 'not trusted', 'You do not trust this folder. Its programs do not run.'],
  nothing: ['', 'nothing to trust', 'This folder has no programs.'],
}

export function Trust({ workspace, trust }) {
  const [say, busy, error] = useAction(async (yes) => {
    await act('trust', { workspace, yes })
    toast(yes ? 'Folder trusted from the next task on.' : 'Folder not trusted.', {
      undo: () => say(!yes),
    })
    trust.again()
  })
  return html`<div class="page-body">
    <${Answer} of=${trust} what="the folder">
      ${({ standing, trusted, needs, what }) => {
        const [kind, word, text] =
          STANDINGS[standing] ?? (needs ? STANDINGS.unknown : trusted ? STANDINGS.trusted : STANDINGS.nothing)
        const none = !what.length && !needs
        return html`<div class="pile">
          <div class="row">
            <code class="grow">${shown(workspace)}</code>
            <${Badge} kind=${none ? '' : kind}>${none ? 'nothing to trust' : word}</${Badge}>
          </div>
          <p>${none ? STANDINGS.nothing[2] : text}</p>
          ${
            what.length > 0 &&
            html`
              <h2>${count(what.length, 'item')}</h2>
              <ul class="items lines">
                ${what.map(
                  (one, at) => html`<li key=${at} class="entry">
                    <div class="row">
                      <strong class="grow">${shown(one.name)}</strong>
                      <${Badge}>${one.kind === 'mcp' ? 'MCP server' : one.kind}</${Badge}>
                    </div>
                    <code class="run-line tiny">${shown(one.runs)}</code>
                    <span class="soft tiny mono">${shown(one.file)}</span>
                  </li>`,
                )}
              </ul>
            `
          }
          <${Trouble} error=${error} />
          ${
            !none &&
            html`<div class="row">
              ${
                standing !== 'trusted' &&
                html`<button class="button primary" disabled=${busy} onClick=${() => say(true)}>
                  Trust folder
                </button>`
              }
              ${
                standing !== 'refused' &&
                html`<button class="button danger" disabled=${busy} onClick=${() => say(false)}>
                  ${standing === 'trusted' ? 'Stop trusting' : 'Don’t trust'}
                </button>`
              }
            </div>`
          }
        </div>`
      }}
    </${Answer}>
  </div>`
}
