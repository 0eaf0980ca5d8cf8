// The context sheet: what fills the context window, cost, and compaction.
import { html, classes, useEffect, useState } from '../lib/ui.js'
import { closeSheet, complain, openSheet, toast } from '../state/store.js'
import { describeCost } from '../state/task.js'
import { count, money, short, shown, tokens } from '../lib/format.js'
import { Sheet } from '../widgets/sheet.js'
import { useDraft } from '../widgets/use-draft.js'
import { CompactAt } from './compact-marker.js'
import { Refusal, useQuery } from '../review/restore-preview.js'

// The report's kinds of parts, grouped for display.
const GROUPS = [
  ['system', 'System', ['system prompt']],
  ['rules', 'Rules and skills', ['rules', 'skills']],
  ['tools', 'Tools', ['tools']],
  ['files', 'Files and results', ['files read', 'command output', 'other results', 'images']],
  ['chat', 'Chat', ['prompts', 'notes', 'replies', 'thinking', 'calls']],
  ['summary', 'Summary', ['summary']],
]

/** The groups with their parts, largest first, and the free space. Pure. */
export function groupReport(report) {
  const groups = GROUPS.map(([id, label, kinds]) => {
    const parts = report.parts.filter((part) => kinds.includes(part.kind)).sort((a, b) => b.tokens - a.tokens)
    return { id, label, parts, tokens: parts.reduce((sum, part) => sum + part.tokens, 0) }
  }).filter((group) => group.tokens > 0)
  const free = Math.max(0, report.window - report.reserve - report.used)
  return { groups, free }
}

const formatPercent = (part, all) =>
  all ? `${part && (100 * part) / all < 1 ? '<1' : Math.round((100 * part) / all)} %` : ''

function Bar({ report }) {
  const { groups, free } = groupReport(report)
  const all = Math.max(report.window, report.used)
  const [open, setOpen] = useState('')
  return html`<div class="stack">
    <div class="stacked" aria-hidden="true">
      ${groups.map(
        (group) => html`<i
          key=${group.id}
          class=${`c-${group.id}`}
          style=${{ width: `${(100 * group.tokens) / all}%` }}
        ></i>`,
      )}
      <i class="c-free" style=${{ flex: 1 }}></i>
      ${report.reserve > 0 && html`<i class="c-reserve" style=${{ width: `${(100 * report.reserve) / all}%` }}></i>`}
    </div>
    <ul class="legend">
      ${groups.map(
        (group) => html`<li key=${group.id}>
          <button aria-expanded=${open === group.id} onClick=${() => setOpen(open === group.id ? '' : group.id)}>
            <span class=${classes('swatch', `c-${group.id}`)} aria-hidden="true"></span>
            <span class="grow">${group.label}</span>
            <span class="mono tiny">${tokens(group.tokens)}</span>
            <span class="soft tiny mono">${formatPercent(group.tokens, all)}</span>
          </button>
          ${
            open === group.id &&
            html`<ul class="plain pad-line">
              ${group.parts.slice(0, 40).map(
                (part, at) => html`<li key=${at} class="row">
                  <span class="cut grow">${shown(part.name)}${part.times > 1 ? ` ×${part.times}` : ''}</span>
                  ${part.stale > 0 && html`<span class="warn tiny">${tokens(part.stale)} outdated</span>`}
                  <span class="mono tiny">${tokens(part.tokens)}</span>
                </li>`,
              )}
              ${
                group.parts.length > 40 &&
                html`<li class="soft tiny">and ${count(group.parts.length - 40, 'more part')}</li>`
              }
            </ul>`
          }
        </li>`,
      )}
      <li>
        <div>
          <span class="swatch c-free" aria-hidden="true"></span>
          <span class="grow">Free until compaction</span>
          <span class="mono tiny">${report.window ? tokens(free) : 'unknown'}</span>
          <span class="soft tiny mono">${formatPercent(free, all)}</span>
        </div>
      </li>
      ${
        report.reserve > 0 &&
        html`<li>
          <div>
            <span class="swatch c-reserve" aria-hidden="true"></span>
            <span class="grow">Reserved for the reply</span>
            <span class="mono tiny">${tokens(report.reserve)}</span>
            <span class="soft tiny mono">${formatPercent(report.reserve, all)}</span>
          </div>
        </li>`
      }
    </ul>
  </div>`
}

const NONE = { input: 0, output: 0, cache_read: 0, cache_write: 0 }

/** Cost of each turn as bars, latest right. */
function Spark({ turns }) {
  const costs = turns.slice(-40).map((turn) => turn.cost)
  const most = Math.max(...costs.map((cost) => cost ?? 0))
  if (!most) return null
  return html`<figure>
    <div
      class="spark"
      role="img"
      aria-label=${`Cost of the last ${count(costs.length, 'turn')}: ${costs.map((cost) => money(cost || null)).join(', ')}`}
    >
      ${costs.map(
        (cost, at) => html`<i
          key=${at}
          title=${money(cost || null)}
          style=${{ height: `${(100 * (cost ?? 0)) / most}%` }}
        ></i>`,
      )}
    </div>
    <figcaption class="tiny soft">Cost per turn; highest ${money(most)}</figcaption>
  </figure>`
}

const Figure = ({ label, children, about = '' }) =>
  html`<div title=${about}><div class="tiny">${label}</div><div>${children}</div></div>`

export default function Context({ task }) {
  task.version.value
  const f = task.facts
  const stamp = `${f.turns.length} ${f.running} ${f.context}`
  const report = useQuery('context', { task: task.id }, [task.id, stamp])
  const cache = useQuery('cache', { task: task.id }, [task.id, stamp])
  const [focus, setFocus] = useDraft(`compact ${task.id}`)
  const [asked, setAsked] = useState(0)
  const usage = { ...NONE, ...f.usage }
  const read = usage.input + usage.cache_read + usage.cache_write
  const hit = cache.value?.read
    ? formatPercent(cache.value.cached, cache.value.read)
    : read
      ? formatPercent(usage.cache_read, read)
      : '–'
  const compact = () =>
    task
      .send('compact', { focus: focus.trim() })
      .then(
        () => (
          setAsked(f.compactions),
          setFocus(''),
          toast(f.running ? 'Compacting before the next request.' : 'Compacting the conversation…')
        ),
        complain,
      )
  useEffect(() => {
    if (asked && f.compactions > asked) setAsked(0)
  }, [f.compactions])
  return html`<${Sheet} title="Context and cost" wide>
    <p class="small soft">
      ${short(f.model)} · ${
        report.value
          ? html`
            ${tokens(report.value.used)} of ${report.value.window ? tokens(report.value.window) : '?'} tokens
            ${report.value.window_known ? '' : ' (unknown window: this size is assumed)'}
          `
          : '…'
      }${' '}
      <button class="link" onClick=${() => openSheet('models', { task })}>Switch model</button>
    </p>
    ${report.error && html`<${Refusal} error=${report.error} />`}
    ${!report.value && !report.error && html`<p class="soft" role="status">Counting…</p>`}
    ${report.value && html`<${Bar} report=${report.value} /><${CompactAt} report=${report.value} />`}
    <div class="figures" role="group" aria-label="Tokens and cost of this task">
      <${Figure} label="Cost">
        ${describeCost(f)}
        ${describeCost(f) === money(null) && html` <a href="#/settings/model/prices" onClick=${closeSheet}>Set price</a>`}
      </${Figure}>
      <${Figure} label="Input tokens">${tokens(read)}</${Figure}>
      <${Figure} label="Output tokens">${tokens(usage.output)}</${Figure}>
      <${Figure} label="Cache reads">${hit}</${Figure}>
      <${Figure} label="Cache writes">${tokens(usage.cache_write)}</${Figure}>
    </div>
    ${
      cache.value?.misses?.length > 0 &&
      html`<details class="compared">
        <summary>${count(cache.value.misses.length, 'request')} missed the cache</summary>
        <ul class="plain pad">
          ${cache.value.misses.slice(-10).map(
            (miss) => html`<li key=${miss.step}>
              Request ${miss.step}: ${shown(miss.why ?? miss.cause ?? '')}
              ${miss.extra ? ` (${money(miss.extra)} more)` : ''}
            </li>`,
          )}
        </ul>
      </details>`
    }
    <${Spark} turns=${f.turns} />
    <form class="stack" onSubmit=${(e) => (e.preventDefault(), compact())}>
      <label>
        <span class="small">Compact the conversation. What should the summary focus on?</span>
        <input class="field" placeholder="Optional" value=${focus} onInput=${(e) => setFocus(e.target.value)} />
      </label>
      <div class="row">
        <button class="button" type="submit" disabled=${!f.turns.length}>Compact now</button>
        <span class="tiny soft">The model continues from a summary. You can undo this in the transcript.</span>
      </div>
    </form>
    <p class="tiny soft">
      Set a cost limit per task (max_cost) in <a href="#/settings" onClick=${closeSheet}>Settings</a>.
    </p>
  </${Sheet}>`
}
