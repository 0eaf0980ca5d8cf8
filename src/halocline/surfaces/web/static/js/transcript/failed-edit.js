// An edit that did not apply: the text it searched for, the closest text in the file, and its replacement.
import { html, classes, style, useEffect, useState } from '../lib/ui.js'
import { query } from '../lib/connection.js'
import { closeSheet } from '../state/store.js'
import { shown } from '../lib/format.js'
import { compose } from '../composer/quote.js'
import { Sheet } from '../widgets/sheet.js'

/** The longest common subsequence of lines, as indexes of both sides. Pure. */
export function common(one, other) {
  const long = Array.from({ length: one.length + 1 }, () => new Uint16Array(other.length + 1))
  for (let a = one.length - 1; a >= 0; a--)
    for (let b = other.length - 1; b >= 0; b--)
      long[a][b] = one[a] === other[b] ? long[a + 1][b + 1] + 1 : Math.max(long[a + 1][b], long[a][b + 1])
  const found = [new Set(), new Set()]
  for (let a = 0, b = 0; a < one.length && b < other.length;) {
    if (one[a] === other[b]) (found[0].add(a++), found[1].add(b++))
    else if (long[a + 1][b] >= long[a][b + 1]) a++
    else b++
  }
  return found
}

const LONG = 400

function Side({ title, lines, same, first = 0, none, sign }) {
  return html`<section class="conflict-side" aria-label=${title}>
    <h4 class="tiny soft">${title}</h4>
    ${
      lines.length
        ? html`<div class="conflict-lines mono" tabindex="0" role="group" aria-label=${`${title}, lines`}>
          ${lines.map(
            (line, at) => html`<div key=${at} class=${classes('conflict-line', !same.has(at) && 'differs')}>
              <span class="no">${first ? first + at : ''}</span>
              <span class="sign">
                ${same.has(at) ? '' : sign}
                <span class="hidden-text">${same.has(at) ? '' : ' differs: '}</span>
              </span>
              <span>${shown(line) || ' '}</span>
            </div>`,
          )}
        </div>`
        : html`<p class="soft small">${none}</p>`
    }
  </section>`
}

function Clash({ clash, named }) {
  const short = clash.search.length + clash.there.length < LONG && clash.replace.length < LONG
  const all = (lines) => new Set(lines.keys())
  const [wanted, there] = short ? common(clash.search, clash.there) : [all(clash.search), all(clash.there)]
  const [, put] = short ? common(clash.search, clash.replace) : [null, all(clash.replace)]
  return html`<section class="stack" aria-label=${`${clash.name} of ${clash.path}`}>
    <h3>${named && html`<span class="mono">${shown(clash.path)}</span> · `}${clash.name}</h3>
    <p class="small">Not applied: ${shown(clash.why)}.</p>
    <div class="conflict">
      <${Side}
        title="Search text"
        lines=${clash.search}
        same=${wanted}
        sign="≠"
        none="No search text."
      />
      <${Side}
        title=${clash.there.length ? `In the file, from line ${clash.first}` : 'In the file'}
        lines=${clash.there}
        same=${there}
        first=${clash.first}
        sign="≠"
        none="Nothing similar found."
      />
      <${Side}
        title="Replacement"
        lines=${clash.replace}
        same=${put}
        sign="+"
        none="Empty: the lines would be deleted."
      />
    </div>
  </section>`
}

export default function Conflict({ task, row }) {
  const [found, setFound] = useState(null)
  const [error, setError] = useState(null)
  useEffect(() => {
    style('static/js/transcript/failed-edit.css')
    query('conflict', { task: task.id, call: row.call }).then(setFound, setError)
  }, [])
  const files = new Set(found?.clashes.map((one) => one.path))
  const say = () => {
    closeSheet()
    compose(`About the edit that did not apply to ${[...files].map((path) => `\`${path}\``).join(', ')}: `)
  }
  return html`<${Sheet} title="Edit not applied" wide className=${found?.clashes.length ? 'conflict-sheet' : ''}>
    ${
      error &&
      html`<p class="bad">${shown(error.text ?? error.message)}</p><p class="soft">${shown(error.hint ?? '')}</p>`
    }
    ${!found && !error && html`<p class="soft" role="status">Comparing with the files…</p>`}
    ${
      found &&
      html`
        <p class="small soft">The agent knows and usually retries on its own.</p>
        ${found.clashes.map(
          (clash, at) => html`<${Clash} key=${at} clash=${clash} named=${row.name === 'apply_patch'} />`,
        )}
        ${found.fits.map(
          (path) => html`<p key=${path}>
            <code>${shown(path)}</code> has changed since; all its edits would apply now.
          </p>`,
        )}
        ${found.unread.map(
          (path) => html`<p key=${path}>
            <code>${shown(path)}</code> is missing or cannot be read as text.
          </p>`,
        )}
        ${
          found.clashes.length > 0 &&
          html`<div class="row"><button class="button" onClick=${say}>Comment to the agent</button></div>`
        }
      `
    }
  </${Sheet}>`
}
