// The trust in a folder: which programs of its own it would run, and a person's word on that.
import { html } from '../../ui.js'
import { act } from '../../line.js'
import { toast } from '../../store.js'
import { count, shown } from '../../format.js'
import { Answer, useDeed } from './frame.js'
import { Badge, Trouble } from './form.js'

const STANDINGS = {
  trusted: [
    'good',
    'trusted',
    'You trust this folder as it is now. When one of its programs changes, you are asked again.',
  ],
  unknown: ['warn', 'not asked yet', 'Its programs do not run before you trust it.'],
  changed: ['warn', 'changed', 'Its programs changed since you trusted it. They do not run before you look again.'],
  refused: ['', 'not trusted', 'You did not trust it: its programs do not run.'],
  nothing: ['', 'nothing to trust', 'It brings no programs of its own.'],
}

export function Trust({ workspace, trust }) {
  const [say, busy, error] = useDeed(async (yes) => {
    await act('trust', { workspace, yes })
    toast(yes ? 'The folder is trusted, from the next task on.' : 'The folder is not trusted.', {
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
              <h2>${count(what.length, 'program')} of its own</h2>
              <ul class="items lines">
                ${what.map(
                  (one, at) => html`<li key=${at} class="entry">
                    <div class="row">
                      <strong class="grow">${shown(one.name)}</strong>
                      <${Badge}>${one.kind === 'mcp' ? 'MCP server' : 'hook'}</${Badge}>
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
                  Trust it as it is now
                </button>`
              }
              ${
                standing !== 'refused' &&
                html`<button class="button danger" disabled=${busy} onClick=${() => say(false)}>
                  ${standing === 'trusted' ? 'Trust it no longer' : 'Do not trust it'}
                </button>`
              }
            </div>`
          }
        </div>`
      }}
    </${Answer}>
  </div>`
}
