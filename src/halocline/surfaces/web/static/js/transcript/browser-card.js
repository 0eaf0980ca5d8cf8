// The agent's browser: the screenshot with a click mark, and navigation through the session's actions.
import { html, classes, useState } from '../lib/ui.js'
import { shown } from '../lib/format.js'
import { usePicture } from '../lib/fetch-files.js'
import { Output } from './output.js'

/** The calls of a call's browser session, from launch to close. Pure. */
function session(rows, call) {
  let found = []
  for (const row of rows) {
    if (row?.type !== 'call_row' || row.name !== 'browser_action') continue
    if (row.arguments?.action === 'launch') {
      if (found.some((one) => one.call === call)) break
      found = []
    }
    found.push(row)
  }
  return found
}

/** A call's address, events, screenshot size and mouse position. Pure. */
function readShot(row) {
  const lines = (row.output ?? '').split('\n')
  const foot = lines.findLast((line) => /^\[\d+×\d+ pixels/.test(line)) ?? ''
  const size = /(\d+)×(\d+) pixels/.exec(foot)
  const given = /(\d+)\s*,\s*(\d+)/.exec(row.arguments?.action === 'click' ? (row.arguments.coordinate ?? '') : '')
  const point = given ?? /mouse at (\d+),(\d+)/.exec(foot)
  return {
    address: lines[0] ?? '',
    happened: lines.slice(1).filter((line) => line && line !== foot),
    width: Number(size?.[1] ?? 0),
    height: Number(size?.[2] ?? 0),
    point: point && { x: Number(point[1]), y: Number(point[2]) },
  }
}

function Picture({ row }) {
  const image = row.images?.[0]
  if (!image)
    return html`<p class="soft small pad">
      ${row.status ? 'No screenshot.' : 'The screenshot appears when the action is done.'}
    </p>`
  return html`<${Shot} image=${image} sight=${readShot(row)} row=${row} />`
}

function Shot({ image, sight: { width, height, point, address }, row }) {
  const picture = usePicture(image)
  const marks = point && width > 0 && row.arguments?.action === 'click'
  return html`<a class="shot" href=${picture} target="_blank" rel="noreferrer noopener">
    <img
      src=${picture}
      alt=${`${address} after: ${row.title}`}
      width=${width || null}
      height=${height || null}
      loading="lazy"
    />
    ${
      marks &&
      html`<span
        class="click-mark"
        style=${{ left: `${(100 * point.x) / width}%`, top: `${(100 * point.y) / height}%` }}
        aria-hidden="true"
      ></span>`
    }
  </a>`
}

export function BrowserBody({ row, task }) {
  const all = session(task.rows, row.call)
  const own = Math.max(
    0,
    all.findIndex((one) => one.call === row.call),
  )
  const [at, setAt] = useState(own)
  const now = all[at] ?? row
  const { address, happened } = readShot(now)
  const said = now.console ?? []
  const move = (by) => setAt(Math.max(0, Math.min(all.length - 1, at + by)))
  function handleKey(e) {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[e.key]
    if (!by) return
    e.preventDefault()
    e.stopPropagation()
    move(by)
  }
  return html`<div class="browser">
    <div class="row browser-bar">
      <code class="cut grow">${shown(address)}</code>
      ${
        all.length > 1 &&
        html`
          <button class="icon-button" aria-label="Previous action" disabled=${at === 0} onClick=${() => move(-1)}>◀</button>
          <span class="film" role="group" aria-label="All actions of this session" onKeyDown=${handleKey}>
            ${all.map(
              (one, n) => html`<button
                key=${one.call}
                class=${classes('frame', n <= at && 'past', n === at && 'now')}
                aria-label=${`${n + 1}: ${one.title}`}
                aria-current=${n === at ? 'step' : null}
                title=${one.title}
                onClick=${() => setAt(n)}
              ></button>`,
            )}
          </span>
          <button class="icon-button" aria-label="Next action" disabled=${at === all.length - 1} onClick=${() => move(1)}>
            ▶
          </button>
          <span class="tiny soft">${at + 1}/${all.length}</span>
        `
      }
    </div>
    ${all.length > 1 && html`<div class="small pad-line" role="status">${shown(now.title)}</div>`}
    <${Picture} row=${now} />
    ${now.status === 'failed' && html`<${Output} text=${now.output} head />`}
    ${
      happened.length > 0 &&
      now.status !== 'failed' &&
      html`<ul class="plain pad-line">${happened.map((line, n) => html`<li key=${n}>${shown(line)}</li>`)}</ul>`
    }
    ${
      said.length > 0 &&
      html`<details class="console">
        <summary>Console <span class="badge">${said.length}</span></summary>
        <pre tabindex="0">${said.map(shown).join('\n')}</pre>
      </details>`
    }
  </div>`
}
