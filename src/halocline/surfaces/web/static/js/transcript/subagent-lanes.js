// The sub-agents of a call, one lane each: activity, cost, and buttons to open and stop it.
import { html, classes, useState } from '../lib/ui.js'
import { complain } from '../state/store.js'
import { count, money, seconds, shown, tokens } from '../lib/format.js'
import { Icon } from '../lib/icons.js'
import { Markdown } from '../lib/markdown.js'
import { Elapsed } from '../widgets/elapsed.js'

const SAID = {
  done: ['✓', 'good', 'done'],
  limit: ['■', 'warn', 'reached a limit'],
  stopped: ['■', 'warn', 'stopped'],
  failed: ['✕', 'bad', 'failed'],
}

function State({ lane, cutOff }) {
  if (lane.end) {
    const [sign, look, word] = SAID[lane.end] ?? ['', '', lane.end]
    return html`<span class=${classes('state', look)}>
      <span aria-hidden="true">${sign}</span> <span class=${lane.end === 'done' ? 'hidden-text' : ''}>${word}</span>
    </span>`
  }
  if (cutOff) return html`<span class="state warn"><span aria-hidden="true">■</span> interrupted</span>`
  return html`<span class="state run"><span class="dot runs" aria-hidden="true"></span>running</span>`
}

/** Known figures only. */
const took = (lane) =>
  [
    lane.steps && count(lane.steps, 'step'),
    lane.tokens && `${tokens(lane.tokens)} tokens`,
    lane.cost && money(lane.cost),
    lane.seconds >= 0.05 && seconds(lane.seconds),
  ]
    .filter(Boolean)
    .join(' · ')

function Row({ lane, task, cutOff }) {
  const [open, setOpen] = useState(false)
  const runs = !lane.end && !cutOff
  const stop = () => task.send('interrupt', { task: lane.child }).catch(complain)
  const second = lane.problem || (runs ? lane.doing : '') || lane.prompt
  return html`<li class="lane" data-lane=${lane.child}>
    <div class="lane-line">
      <button class="lane-open" aria-expanded=${open} onClick=${() => setOpen(!open)}>
        <span class=${classes('chevron', open && 'open')} aria-hidden="true"><${Icon} name="chevron" size="14" /></span>
        <span class="lane-words">
          <span class="lane-name cut">
            ${shown(lane.name)}
            ${lane.agent && lane.agent !== lane.name ? html` <span class="badge">${shown(lane.agent)}</span>` : ''}
          </span>
          <span class="soft tiny cut">${shown(second)}</span>
        </span>
      </button>
      <span class="lane-took soft tiny">
        ${took(lane)}
        ${runs && lane.started_at ? html` <${Elapsed} since=${lane.started_at} />` : ''}
      </span>
      <${State} lane=${lane} cutOff=${cutOff} />
      <span class="lane-buttons">
        ${
          lane.model &&
          html`<a class="button small quiet" href=${`#/task/${lane.child}`} aria-label=${`Open ${lane.name}`}>
            Open
          </a>`
        }
        ${
          runs &&
          html`<button class="button small quiet" aria-label=${`Stop ${lane.name}`} onClick=${stop}>Stop</button>`
        }
      </span>
    </div>
    ${lane.outcome && html`<p class="lane-outcome soft tiny">${shown(lane.outcome)}</p>`}
    ${
      open &&
      html`<div class="lane-body small">
        <p class="soft tiny">Prompt</p>
        <pre class="lane-text">${shown(lane.prompt)}</pre>
        ${(lane.remarks ?? []).map((remark) => html`<p class="soft tiny" key=${remark}>${shown(remark)}</p>`)}
        ${lane.problem && html`<p class="warn">${shown(lane.problem)}</p>`}
        ${lane.refused?.map((one) => html`<p class="warn">refused: ${shown(one)}</p>`)}
        ${
          lane.end &&
          html`
            <p class="soft tiny">${lane.report ? 'Report' : 'No report.'}</p>
            ${lane.report && html`<${Markdown} text=${lane.report} />`}
          `
        }
      </div>`
    }
  </li>`
}

export const Lanes = ({ lanes, task, cutOff }) => html`<ul class="lanes" aria-label="Sub-agents">
  ${lanes.map((lane) => html`<${Row} key=${lane.child} lane=${lane} task=${task} cutOff=${cutOff} />`)}
</ul>`
