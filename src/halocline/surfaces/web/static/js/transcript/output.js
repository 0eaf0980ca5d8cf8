// Tool output and arguments: the last lines of a command, the first lines of anything else, all on demand.
import { html, useState } from '../lib/ui.js'
import { complain } from '../state/store.js'
import { usePicture } from '../lib/fetch-files.js'
import { count, shown } from '../lib/format.js'
import { Icon } from '../lib/icons.js'
import { Ansi } from '../lib/terminal-colors.js'
import { Code, CopyButton } from '../lib/code.js'
import { Markdown } from '../lib/markdown.js'

const TAIL = 12
const MOST_FOUND = 200

/** Without escape sequences, for copying and searching. */
const plain = (text) => text.replace(/\u001b(?:\[[0-9;:?]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|.)/g, '')

function Found({ lines, words }) {
  const wanted = words.toLowerCase()
  const found = lines.map((text, at) => ({ text, at })).filter(({ text }) => text.toLowerCase().includes(wanted))
  return html`
    <div role="status" class="tiny soft">
      ${found.length ? count(found.length, 'line') : `No results for “${words}”.`}
    </div>
    <pre tabindex="0" role="region" aria-label="Matching lines">
      ${found
        .slice(0, MOST_FOUND)
        .map(
          ({ text, at }) => html`<div key=${at}><span class="soft">${at + 1}: </span>${markText(text, wanted)}</div>`,
        )}
    </pre>
  `
}

function markText(text, wanted) {
  const parts = []
  let at = 0
  for (let next; (next = text.toLowerCase().indexOf(wanted, at)) >= 0; at = next + wanted.length)
    parts.push(shown(text.slice(at, next)), html`<mark>${shown(text.slice(next, next + wanted.length))}</mark>`)
  return [...parts, shown(text.slice(at))]
}

/** `head`: show the first lines. `live`: it still grows, and only its latest lines are here: how many there are is not counted
 *  before the end. `fetch` returns all of it if a part is missing. */
export function Output({ text: given, head = false, live = false, fetch = null }) {
  const [whole, setWhole] = useState(false)
  const [fetched, setFetched] = useState(null)
  const text = fetched ?? given
  const [words, setWords] = useState(null)
  const lines = text.replace(/\n$/, '').split('\n')
  const more = lines.length - TAIL
  const cut = !whole && more > 3
  const part = cut ? (head ? lines.slice(0, TAIL) : lines.slice(-TAIL)).join('\n') : text
  const rest =
    cut &&
    html`<button class="link tiny" onClick=${() => setWhole(true)}>
      ▸ ${count(more, live ? 'line before these' : 'more line', live ? 'lines before these' : undefined)}
    </button>`
  return html`<div class="output">
    ${live && more > 0 && html`<p class="soft tiny">The latest lines. The beginning is shown when the command ends.</p>`}
    ${!head && rest}
    ${
      words
        ? html`<${Found} lines=${plain(text).split('\n')} words=${words} />`
        : html`<pre tabindex="0" role="group" aria-label="Output"><${Ansi} text=${part} /></pre>`
    }
    ${head && rest}
    ${whole && more > 3 && html`<button class="link tiny" onClick=${() => setWhole(false)}>▾ Show less</button>`}
    ${
      fetch &&
      fetched == null &&
      html`<button
        class="link tiny"
        onClick=${() => fetch().then((all) => (setFetched(all), setWhole(true)), complain)}
      >
        Middle omitted. Show all
      </button>`
    }
    <div class="output-tools">
      ${
        words != null &&
        html`<input
          class="field"
          type="search"
          aria-label="Search output"
          placeholder="Search output"
          value=${words}
          ref=${(e) => e && document.activeElement === document.body && e.focus()}
          onInput=${(e) => setWords(e.target.value)}
          onKeyDown=${(e) => e.key === 'Escape' && (e.stopPropagation(), e.preventDefault(), setWords(null))}
        />`
      }
      ${
        (more > 0 || live) &&
        html`<button
          class="icon-button copy"
          aria-label="Search output"
          title="Search output"
          aria-pressed=${words != null}
          onClick=${() => setWords(words == null ? '' : null)}
        >
          <${Icon} name="search" size="15" />
        </button>`
      }
      <${CopyButton} text=${plain(text)} label="Copy output" />
    </div>
  </div>`
}

export const Arguments = ({ value }) =>
  Object.keys(value ?? {}).length
    ? html`<div class="arguments"><${Code} text=${JSON.stringify(value, null, 2)} language="json" /></div>`
    : html`<p class="soft tiny pad">No arguments.</p>`

function Thumbnail({ image, number }) {
  const address = usePicture(image)
  return html`<a href=${address} target="_blank" rel="noreferrer noopener">
    <img src=${address} alt=${`Image ${number}`} loading="lazy" />
  </a>`
}

export const Pictures = ({ images }) =>
  html`<div class="pictures">
    ${images.map((image, at) => html`<${Thumbnail} key=${at} image=${image} number=${at + 1} />`)}
  </div>`

const LONG = 6000

/** An MCP server's answer: formatted JSON, Markdown, or the first lines of long text. */
export function Answer({ text, fetch }) {
  const value = /^\s*[[{]/.test(text) ? parseText(text) : undefined
  if (value !== undefined) return html`<${Output} text=${JSON.stringify(value, null, 2)} head fetch=${fetch} />`
  if (fetch || text.length > LONG) return html`<${Output} text=${text} head fetch=${fetch} />`
  return html`<div class="answer">
    <${Markdown} text=${text} />
    <${CopyButton} text=${text} label="Copy answer" />
  </div>`
}

function parseText(text) {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
