// A file of a task: its lines with colors and numbers, around the wanted one; beside it the folders.
import { html, classes, style, useEffect, useMemo, useRef, useState } from '../lib/ui.js'
import { query } from '../lib/connection.js'
import { base, thousands } from '../lib/format.js'
import { colorLines, CopyButton, useLanguage } from '../lib/code.js'
import { drawLine } from '../lib/diff-lines.js'
import { Sheet } from '../widgets/sheet.js'
import { editorAddress, editorName } from './open-file.js'
import { Tree } from './tree.js'
/** @import { FileLines } from '../../../types/protocol' */

await style('static/js/files/files.css')

const ABOVE = 200
const PAGE = 1000
const CHUNK = 100
const LONGEST = 400_000

/** The lines of a file that were read, and functions that read more. */
function useLines(task, path, line) {
  const [state, setState] = useState({ /** @type {FileLines} */ file: null, error: null })
  useEffect(() => {
    let here = true
    const first = Math.max(1, (line ?? 1) - ABOVE)
    setState({ file: null, error: null })
    query('file', { task: task.id, path, first, last: first + PAGE - 1 }).then(
      (file) => here && setState({ file, error: null }),
      (error) => here && setState({ file: null, error }),
    )
    return () => (here = false)
  }, [task.id, path, line])
  const { file } = state
  const end = file ? file.first + file.lines.length - 1 : 0
  const more = (first, last, put) =>
    query('file', { task: task.id, path, first, last }).then(
      (found) => setState(({ file: old }) => ({ file: put(old, found), error: null })),
      (error) => setState(({ file: old }) => ({ file: old, error })),
    )
  return {
    ...state,
    above: () => {
      const first = Math.max(1, file.first - PAGE)
      return more(first, file.first - 1, (old, found) => ({
        ...old,
        first: found.first,
        lines: [...found.lines.slice(0, old.first - found.first), ...old.lines],
      }))
    },
    below: () => more(end + 1, end + PAGE, (old, found) => ({ ...old, lines: [...old.lines, ...found.lines] })),
    end,
  }
}

function Lines({ file, line }) {
  const language = useLanguage(file.name)
  const box = useRef()
  const colors = useMemo(() => {
    const text = file.lines.join('\n')
    return language && text.length <= LONGEST ? colorLines(text, language) : null
  }, [file, language])
  useEffect(() => {
    const here = box.current.querySelector('.here')
    const scroller = box.current.parentElement
    if (here)
      scroller.scrollTop +=
        here.getBoundingClientRect().top - scroller.getBoundingClientRect().top - scroller.clientHeight / 3
  }, [file.place, line])
  const chunks = []
  for (let at = 0; at < file.lines.length; at += CHUNK) chunks.push(at)
  return html`<div class="file-lines mono" ref=${box} style=${{ '--digits': `${String(file.total).length + 1}ch` }}>
    ${chunks.map(
      (from) => html`<div key=${file.first + from} class="file-chunk">
        ${file.lines.slice(from, from + CHUNK).map((text, n) => {
          const number = file.first + from + n
          return html`<div key=${number} class=${classes('file-line', number === line && 'here')}>
            <span class="no" aria-hidden="true">${number}</span>
            <span class="code-text">${text ? drawLine(text, colors?.[from + n]) : ' '}</span>
          </div>`
        })}
      </div>`,
    )}
  </div>`
}

function Shown({ task, path, line }) {
  const { file, error, above, below, end } = useLines(task, path, line)
  if (error && !file)
    return html`<div class="pad" role="alert">
      <strong>${error.text ?? error.message}</strong>
      ${error.hint && html`<p class="soft">${error.hint}</p>`}
      <${InEditor} place=${path.startsWith('/') ? path : `${task.facts.workspace}/${path}`} line=${line} />
    </div>`
  if (!file) return html`<p class="pad soft" role="status">Loading ${base(path)}…</p>`
  const rest = file.total - end
  return html`
    <div class="file-head">
      <span class="grow mono cut" title=${file.place}>${file.name}</span>
      <span class="soft tiny">${thousands(file.total)} lines, ${thousands(file.size)} bytes</span>
      <${CopyButton} text=${file.place} label="Copy path" />
      <${InEditor} place=${file.place} line=${line} />
    </div>
    ${file.redacted && html`<p class="file-note" role="note">Keys in this file are hidden here.</p>`}
    <div class="file-scroll" tabindex="0" role="region" aria-label=${`Content of ${file.name}`} data-first>
      ${
        file.first > 1 &&
        html`<button class="link file-more" onClick=${above}>Show lines above ${thousands(file.first)}</button>`
      }
      ${file.total ? html`<${Lines} file=${file} line=${line} />` : html`<p class="pad soft">This file is empty.</p>`}
      ${
        rest > 0 &&
        html`<button class="link file-more" onClick=${below}>Show more of ${thousands(rest)} further lines</button>`
      }
      ${error && html`<p class="pad bad" role="alert">${error.text ?? error.message}</p>`}
    </div>
  `
}

const InEditor = ({ place, line }) => {
  const address = editorAddress(place, line)
  return address && html`<a class="button small" href=${address}>Open in ${editorName()}</a>`
}

/** The sheet: folders on the left, a file on the right; where it is narrow, one of them. */
export default function FileSheet({ task, path, line, isFolder, docks = false }) {
  const [shown, setShown] = useState(isFolder ? null : { path, line })
  const [isListed, setListed] = useState(Boolean(isFolder))
  return html`<${Sheet} title="Files" wide docks=${docks} className="files">
    <div class=${classes('file-panes', isListed && 'listed')}>
      <div class="file-tree">
        <${Tree}
          task=${task}
          begin=${isFolder ? path : ''}
          here=${shown?.path}
          onOpen=${(next) => (setShown({ path: next, line: undefined }), setListed(false))}
        />
      </div>
      <div class="file-pane">
        <button class="button small narrow-only" onClick=${() => setListed(true)}>All files</button>
        ${
          shown
            ? html`<${Shown} key=${shown.path} task=${task} ...${shown} />`
            : html`<p class="pad soft">Choose a file.</p>`
        }
      </div>
    </div>
  <//>`
}
