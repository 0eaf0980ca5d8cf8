// The bar below the text: mode, approvals, model, attachments, send.
import { html, classes } from '../lib/ui.js'
import { openSheet } from '../state/store.js'
import { count, short } from '../lib/format.js'
import { Icon } from '../lib/icons.js'
import { keyOf } from '../state/shortcut-keys.js'
import { Lazy } from '../widgets/lazy.js'
import { definePart } from '../lib/parts.js'

const loadEffort = definePart(() => import('../models/effort-menu.js'))

const MODES = [
  ['plan', 'Plan', 'Read and plan, no changes'],
  ['act', 'Act', 'Make changes'],
]
export const APPROVAL_NAMES = {
  ask: 'Ask',
  'accept-edits': 'Edits',
  auto: 'Auto',
  yolo: 'Full access',
  '': 'Approvals',
}

export function Bar({ task, asked, choice, mode, approvals, model, running, setMode, onFiles, onStart, onSend }) {
  const handleKey = (e) => {
    if (!['ArrowLeft', 'ArrowRight'].includes(e.key)) return
    e.preventDefault()
    setMode(mode === 'act' ? 'plan' : 'act')
    e.currentTarget.querySelector(`[data-mode=${mode === 'act' ? 'plan' : 'act'}]`).focus()
  }
  const switched = Object.keys(task?.facts.switches ?? {}).length
  return html`<div class="composer-bar">
    <div class="modes" role="radiogroup" aria-label="Mode" onKeyDown=${handleKey}>
      ${MODES.map(
        ([one, name, about]) => html`<button
          key=${one}
          data-mode=${one}
          role="radio"
          aria-checked=${mode === one}
          tabindex=${mode === one ? 0 : -1}
          title=${`${about} (${keyOf('mode')})`}
          class=${classes('mode', mode === one && 'on')}
          onClick=${() => setMode(one)}
        >
          ${name}
        </button>`,
      )}
    </div>
    <button
      class=${classes('chip', approvals === 'yolo' && 'bad')}
      title="Approvals"
      onClick=${() => openSheet('policy', { task, choice })}
      aria-label=${`Approvals: ${APPROVAL_NAMES[approvals] ?? approvals}${switched ? `, ${count(switched, 'switch', 'switches')} set` : ''}`}
    >
      ${approvals === 'yolo' && html`<${Icon} name="warn" size="14" />`}
      ${approvals === 'yolo' ? html`<span>Full<span class="wide-word"> access</span></span>` : (APPROVAL_NAMES[approvals] ?? approvals)}${switched > 0 && ` · ${switched}`}
    </button>
    <button
      class="chip model-chip"
      title=${model || 'Choose a model'}
      onClick=${() => openSheet('models', { task, choice })}
      aria-label=${`Model: ${short(model) || 'from the settings'}`}
    >
      <span class="cut">${short(model) || 'Model'}</span>
    </button>
    <${Lazy} load=${loadEffort} task=${task} choice=${choice} model=${model} mode=${mode} />
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
