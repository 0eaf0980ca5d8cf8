// The folder picker, for the machine the server runs on.
import { html, useEffect, useRef, useState } from '../lib/ui.js'
import { query } from '../lib/connection.js'
import { closeSheet } from '../state/store.js'
import { chooseFolder, folderNow } from '../state/folder.js'
import { shown } from '../lib/format.js'
import { Icon } from '../lib/icons.js'
import { Sheet } from '../widgets/sheet.js'

export default function Folders() {
  const [typed, setTyped] = useState(folderNow)
  const [found, setFound] = useState(null)
  const [problem, setProblem] = useState('')
  const [hidden, setHidden] = useState(false)
  const [words, setWords] = useState('')
  const asked = useRef(0)
  const fail = (error) => setProblem([error.text ?? error.message, error.hint].filter(Boolean).join(' '))
  const look = (path) => query('folders', { path, hidden, base: found?.path ?? '' })
  /** List a folder, unless another is asked for meanwhile. */
  const show = (path) => {
    const mine = ++asked.current
    const ifLast = (then) => (answer) => mine === asked.current && then(answer)
    look(path).then(
      ifLast(
        (one) => (setFound(one), setTyped((now) => (now === path ? one.path : now)), setProblem(''), setWords('')),
      ),
      ifLast(fail),
    )
  }
  const move = (path) => (setTyped(path), show(path))
  useEffect(() => show(found?.path ?? typed), [hidden])
  const take = () => look(typed).then((one) => (chooseFolder(one.path), closeSheet()), fail)
  return html`<${Sheet}
    title="Choose a folder"
    foot=${html`
      <button class="button primary" disabled=${!typed.trim()} onClick=${take}>Use this folder</button>
      <label class="choice tiny">
        <input type="checkbox" checked=${hidden} onChange=${(e) => setHidden(e.target.checked)} /> Show hidden folders
      </label>
    `}
  >
    <form class="row nowrap" onSubmit=${(e) => (e.preventDefault(), show(typed))}>
      <label class="hidden-text" for="folder-path">Path</label>
      <input
        id="folder-path"
        data-first
        class="field mono grow"
        value=${typed}
        onInput=${(e) => (setTyped(e.target.value), setProblem(''))}
        spellcheck="false"
        autocomplete="off"
      />
      <button class="button" type="submit">Go</button>
    </form>
    ${problem && html`<p class="bad tiny" role="alert">${problem}</p>`}
    ${problem ? html`<${Back} to=${found?.path} move=${move} />` : html`<${List} found=${found} words=${words} setWords=${setWords} move=${move} />`}
  </${Sheet}>`
}

/** In place of the list where there is none of what was typed. */
const Back = ({ to, move }) =>
  html`<button class="folder" onClick=${() => move(to ?? '~')}>
    <span class="turned"><${Icon} name="down" size="15" /></span>
    ${' '}
    <span class="soft">${to ? `Back to ${shown(to)}` : 'To your home folder'}</span>
  </button>`

/** The folders in a folder, and the way up. */
function List({ found, words, setWords, move }) {
  const all = (found?.folders ?? []).filter((one) => one.name.toLowerCase().includes(words.toLowerCase()))
  return html`${
    found?.folders.length > 12 &&
    html`<input
        class="field"
        type="search"
        aria-label="Filter folders"
        placeholder="Filter folders"
        value=${words}
        onInput=${(e) => setWords(e.target.value)}
      />`
  }
    <ul class="folder-list plain-list" aria-label="Folders">
      ${
        found?.parent &&
        html`<li>
          <button class="folder" onClick=${() => move(found.parent)}>
            <span class="turned"><${Icon} name="down" size="15" /></span>
            ${' '}
            <span class="soft">Up to ${shown(found.parent)}</span>
          </button>
        </li>`
      }
      ${all.map(
        (one) => html`<li key=${one.path}>
          <button class="folder" onClick=${() => move(one.path)}>
            <${Icon} name=${one.is_project ? 'branch' : 'list'} size="15" /> <span class="cut">${shown(one.name)}</span>
            ${one.is_project && html` <span class="badge">project</span>`}
          </button>
        </li>`,
      )}
      ${
        found &&
        all.length === 0 &&
        html`<li class="soft tiny">${words ? `No results for ‘${words}’.` : 'No folders here.'}</li>`
      }
      ${found?.cut && html`<li class="soft tiny">More folders not shown. Type a path above.</li>`}
    </ul>`
}
