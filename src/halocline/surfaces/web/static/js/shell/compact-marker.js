// Under the bar of the context: where it is compacted automatically, as a marker that can be dragged. Nothing changes
// before Save: a marker is moved by accident.
import { html, useState } from '../lib/ui.js'
import { act } from '../lib/connection.js'
import { complain, toast } from '../state/store.js'
import { useQuery } from '../review/restore-preview.js'

const NAME = 'compaction.at'
const LEAST = 15

/** The part of the window, in percent, at which a conversation with this report is compacted. Pure. */
export const thresholdOf = ({ window, reserve }) => (window ? Math.round((100 * (window - reserve)) / window) : 0)

export function CompactAt({ report }) {
  const [turn, setTurn] = useState(0)
  const settings = useQuery('settings', {}, [turn])
  const [moved, setMoved] = useState(null)
  const setting = settings.value?.find((one) => one.name === NAME)
  if (!report.window || !setting) return null
  const now = setting.value ? Math.round(100 * setting.value) : thresholdOf(report)
  const at = moved ?? now
  const elsewhere = setting.source && setting.source !== 'settings.toml'
  const save = (action, said) =>
    action().then(
      () => (setMoved(null), setTurn(turn + 1), toast(`${said} It applies from the next prompt.`)),
      complain,
    )
  return html`<div class="stack compact-at">
    <input
      type="range"
      min="0"
      max="100"
      value=${at}
      disabled=${elsewhere}
      aria-label="Compact automatically at this part of the window, in percent"
      onInput=${(e) => {
        const chosen = Math.max(LEAST, Number(e.target.value))
        e.target.value = chosen
        setMoved(chosen)
      }}
    />
    <div class="row">
      <span class="small grow">Compact automatically at ${at} % of the window</span>
      ${
        moved != null &&
        moved !== now &&
        html`<button
            class="button"
            onClick=${() => save(() => act('set_setting', { name: NAME, value: at / 100 }), `Compaction at ${at} %.`)}
          >
            Save
          </button>
          <button class="button" onClick=${() => setMoved(null)}>Cancel</button>`
      }
      ${
        moved == null &&
        setting.source === 'settings.toml' &&
        html`<button
          class="button"
          onClick=${() => save(() => act('reset_setting', { name: NAME }), 'Compaction at the default.')}
        >
          Use the default
        </button>`
      }
      ${elsewhere && html`<span class="tiny soft">Set by ${setting.source}.</span>`}
    </div>
  </div>`
}
