// The checkpoints: a dot on a line right of the transcript, and Restore where the row above it is looked at. Hover or
// focus shows what changed.
import { html, useState } from '../lib/ui.js'
import { query } from '../lib/connection.js'
import { openSheet } from '../state/store.js'
import { clock, count, shown } from '../lib/format.js'
import { Stat } from '../lib/diff.js'

const known = new Map()

/** The differences to the checkpoint before, loaded once. */
function changesOf(task, checkpoint) {
  const all = task.facts.checkpoints
  const at = all.findIndex((one) => one.checkpoint === checkpoint)
  if (at <= 0) return Promise.resolve(null)
  const key = `${task.id} ${all[at - 1].checkpoint} ${checkpoint}`
  if (!known.has(key))
    known.set(
      key,
      query('compare', { task: task.id, old: all[at - 1].checkpoint, new: checkpoint }).catch(() => null),
    )
  return known.get(key)
}

export function Checkpoint({ row, task }) {
  const [tip, setTip] = useState(null)
  const when = row.at
  const show = () => {
    setTip({ said: null })
    changesOf(task, row.checkpoint).then((said) => setTip((now) => now && { said }))
  }
  const hide = () => setTip(null)
  const label = row.label || 'Files at the beginning'
  return html`<div class="checkpoint" data-checkpoint=${row.checkpoint}>
    <button
      class="checkpoint-line"
      aria-label=${`Checkpoint: ${label}. Compare or restore`}
      onMouseEnter=${show}
      onMouseLeave=${hide}
      onFocus=${show}
      onBlur=${hide}
      onClick=${() => openSheet('restore', { task, checkpoint: row.checkpoint })}
    >
      <span class="checkpoint-dot" aria-hidden="true"></span>
    </button>
    ${
      tip &&
      html`<div class="checkpoint-tip" aria-hidden="true">
        <div class="cut">${shown(label)}</div>
        <div class="soft tiny">
          ${when ? clock(when) : ''}${' '}
          ${
            tip.said
              ? tip.said.files.length
                ? html`
                  · ${count(tip.said.files.length, 'file')}
                  ${' '}
                  <${Stat} added=${tip.said.added} removed=${tip.said.removed} />
                `
                : '· no changes'
              : ''
          }
        </div>
      </div>`
    }
  </div>`
}

/** The end of the timeline. */
export function Now({ task }) {
  if (!task.facts.checkpoints.length) return null
  return html`<div class="checkpoint now">
    <button
      class="checkpoint-line"
      aria-label="Now. Show all points to rewind to"
      title="Now. Show all points to rewind to"
      onClick=${() => openSheet('restore', { task })}
    >
      <span class="checkpoint-dot" aria-hidden="true"></span>
    </button>
  </div>`
}
