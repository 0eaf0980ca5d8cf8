// A sheet that edits a file which steers Halocline: rules, workflows, commands, skills, agents, settings.
import { html, useEffect, useState } from '../lib/ui.js'
import { act, query } from '../lib/connection.js'
import { Lazy } from '../widgets/lazy.js'
import { closeSheet, complain, openSheet, toast } from '../state/store.js'
import { Sheet } from '../widgets/sheet.js'
import { definePart } from '../lib/parts.js'
/** @import { ConfigFile, ConfigText } from '../../../types/protocol' */

const loadEditor = definePart(() => import('./code-editor.js'))

/** Edit a file of a folder by its absolute path, or choose one, of a kind; `done` is called once something was saved. */
export const editConfigFile = (workspace, { path = '', kind = '', done = () => {} } = {}) =>
  openSheet('config-file', { workspace, path, kind, done })

/** What was typed and not saved, by path: {text, version}. A closed sheet loses nothing. */
const drafts = new Map()

function Text({ workspace, path, done }) {
  const [file, setFile] = useState(/** @type {ConfigText & { begin: string }} */ (null))
  const [text, setText] = useState('')
  const [error, setError] = useState(null)
  const [round, setRound] = useState(0)
  useEffect(() => {
    let here = true
    setFile(null)
    query('config_file', { workspace, path }).then(
      (found) => {
        if (!here) return
        const draft = drafts.get(path)
        const begin = draft?.version === found.version ? draft.text : found.text
        setFile({ ...found, begin })
        setText(begin)
        setError(null)
      },
      (failure) => here && setError(failure),
    )
    return () => (here = false)
  }, [workspace, path, round])
  const isChanged = file && text !== file.text
  const save = () =>
    act('save_config_file', { workspace, path, text, version: file.version }).then((saved) => {
      drafts.delete(path)
      setFile({ ...saved, begin: text })
      setError(null)
      done()
      toast('Saved. New tasks use it; running ones read changed rules with their next request.')
    }, setError)
  return html`
    ${
      file &&
      html`<${Lazy}
        key=${`${path} ${round}`}
        load=${loadEditor}
        label=${`Content of ${path}`}
        path=${path}
        text=${file.begin}
        onText=${(next) => (setText(next), drafts.set(path, { text: next, version: file.version }))}
        onDone=${save}
        onBack=${() => document.querySelector('dialog .config-save')?.focus()}
      />`
    }
    ${
      error &&
      html`<div class="row" role="alert">
        <span class="bad grow">${error.text ?? error.message} ${error.hint}</span>
        ${file && html`<button class="button small" onClick=${() => (drafts.delete(path), setRound((n) => n + 1))}>Load again</button>`}
      </div>`
    }
    <div class="row">
      <button class="button primary config-save" disabled=${!isChanged} onClick=${save}>Save</button>
      <button class="button quiet" onClick=${closeSheet}>Close</button>
      <span class="soft tiny" role="status">${isChanged ? 'Not saved' : ''}</span>
    </div>
  `
}

export default function ConfigSheet({ workspace, path: begin, kind, done }) {
  const [files, setFiles] = useState(/** @type {ConfigFile[]} */ ([]))
  const [path, setPath] = useState(begin)
  useEffect(() => {
    query('config_files', { workspace }).then((found) => {
      setFiles(found)
      setPath((now) => now || (kind && found.find((one) => one.holds === kind)?.path) || '')
    }, complain)
  }, [workspace])
  const shown = files.filter((one) => !one.is_managed)
  const kinds = [...new Set(shown.map((one) => one.holds))]
  return html`<${Sheet} title="Edit a file" wide>
    <label class="column">
      <span class="soft tiny">File</span>
      <select class="field mono" value=${path} onChange=${(e) => setPath(e.target.value)}>
        ${!shown.some((one) => one.path === path) && html`<option value=${path}>${path || 'Choose a file'}</option>`}
        ${kinds.map(
          (kind) => html`<optgroup key=${kind} label=${kind}>
            ${shown
              .filter((one) => one.holds === kind)
              .map((one) => html`<option key=${one.path} value=${one.path}>${one.shown}</option>`)}
          </optgroup>`,
        )}
      </select>
    </label>
    ${path && html`<${Text} key=${path} workspace=${workspace} path=${path} done=${done} />`}
  <//>`
}
