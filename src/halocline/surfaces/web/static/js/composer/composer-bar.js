// The bar below the text: mode, approvals, model, attachments, send.
import { html, classes } from '../lib/ui.js'
import { openSheet } from '../state/store.js'
import { count, short } from '../lib/format.js'
import { Icon } from '../lib/icons.js'
import { keyOf } from '../state/shortcut-keys.js'
import { Lazy } from '../widgets/lazy.js'
import { definePart } from '../lib/parts.js'

const loadEffort = definePart(() => import('../models/effort-menu.js'))

const MODES = { plan: ['Plan', 'Read and plan, no changes'], act: ['Act', 'Make changes'] }
export const APPROVAL_NAMES = {
  ask: 'Ask',
  'accept-edits': 'Edits',
  auto: 'Auto',
  yolo: 'Full access',
  '': 'Approvals',
}

export function Bar({ task, asked, choice, mode, approvals, model, running, setMode, onFiles, onStart, onSend }) {
  const other = mode === 'act' ? 'plan' : 'act'
  const [name, about] = MODES[mode] ?? [mode, '']
  const switched = Object.keys(task?.facts.switches ?? {}).length
  return html`<div class="composer-bar">
    <div class="pair">
      <button
        class=${classes('chip mode', mode)}
        title=${`${about} (${keyOf('mode')})`}
        aria-label=${`Mode: ${name}, switch to ${MODES[other][0]}`}
        onClick=${() => setMode(other)}
      >
        ${name}
      </button>
      <button
        class=${classes('chip', approvals === 'yolo' && 'bad')}
        title="Approvals"
        onClick=${() => openSheet('policy', { task, choice })}
        aria-label=${`Approvals: ${APPROVAL_NAMES[approvals] ?? approvals}${switched ? `, ${count(switched, 'switch', 'switches')} set` : ''}`}
      >
        ${approvals === 'yolo' && html`<${Icon} name="warn" size="14" />`}
        ${approvals === 'yolo' ? html`<span>Full<span class="wide-word"> access</span></span>` : (APPROVAL_NAMES[approvals] ?? approvals)}${switched > 0 && ` · ${switched}`}
      </button>
    </div>
    <div class="pair shrinks">
      <button
        class="chip model-chip"
        title=${model || 'Choose a model'}
        onClick=${() => openSheet('models', { task, choice })}
        aria-label=${`Model: ${short(model) || 'from the settings'}`}
      >
        <span class="cut">${short(model) || 'Model'}</span>
      </button>
      <${Lazy} load=${loadEffort} task=${task} choice=${choice} model=${model} mode=${mode} />
    </div>
    <span class="grow"></span>
    <button
      class="icon-button wide-only-button"
      aria-label="Mention a file or other context"
      title="Mention (@)"
      onClick=${() => onStart('@')}
    >
      <${Icon} name="at" />
    </button>
    <button
      class="icon-button"
      aria-label="Attach files"
      title="Attach files"
      onClick=${onFiles}
    >
      <${Icon} name="image" />
    </button>
    ${
      running &&
      html`<button class="button small stop" aria-label="Stop" onClick=${() => task.send('interrupt')}>
        <${Icon} name="stop" size="14" /> <span class="stop-word">Stop</span>
      </button>`
    }
    <button
      class="icon-button send"
      aria-label=${asked ? 'Answer' : running ? 'Queue' : 'Send'}
      title=${asked ? 'Answer (Enter)' : running ? 'Queue (Enter); Ctrl+Enter sends to the running turn' : 'Send (Enter)'}
      onClick=${() => onSend(false)}
    >
      <${Icon} name="send" />
    </button>
  </div>`
}
