// The notes that tasks in a folder start with, written by you or by earlier tasks.
import { html, useState } from '../lib/ui.js'
import { act } from '../lib/connection.js'
import { complain, toast } from '../state/store.js'
import { base, shown } from '../lib/format.js'
import { Answer, Empty, useAction, useQuery } from '../widgets/page-frame.js'
import { Labelled, Switch, Trouble } from '../widgets/form.js'
import { useDraft } from '../widgets/use-draft.js'

export function Memory({ workspace }) {
  const notes = useQuery('memory', { workspace })
  const toggle = (on) => act('set_setting', { name: 'memory', value: on }).then(notes.again, complain)
  return html`<div class="page-body">
    <${Answer} of=${notes} what="the notes">
      ${(found) => {
        const files = found.files ?? found.sources ?? []
        return html`
          <${Switch} label="New tasks read these notes and can propose more" on=${found.on} onChange=${toggle} />
          ${
            files.every((one) => !one.notes.length) &&
            html`<${Empty} title="No notes yet.">
              Add what every task here should know, such as how to run the tests.
            </${Empty}>`
          }
          ${files.map((one) => html`<${NoteFile} key=${one.file} of=${one} isProject=${one.file === found.project} workspace=${workspace} again=${notes.again} />`)}
          <${NewNote} workspace=${workspace} again=${notes.again} />
        `
      }}
    </${Answer}>
  </div>`
}

/** The notes of one file; each can be removed, with undo. */
function NoteFile({ of, isProject, workspace, again }) {
  const removeNote = (note) =>
    act('memory_remove', { workspace, number: note.number }).then(() => {
      toast('Note removed.', {
        undo: () => act('memory_add', { workspace, text: note.text, project: isProject }).then(again, complain),
      })
      again()
    }, complain)
  return html`<section class="pile">
    <h2>
      ${isProject ? `For everyone in ${base(workspace)}` : 'For me'}
      ${' '}
      <span class="soft tiny mono">${shown(of.file)}</span>
    </h2>
    <ul class="items lines">
      ${of.notes.map(
        (note) => html`<li key=${note.number} class="entry row">
          <span class="grow">
            ${shown(note.text)}
            <span class="soft tiny block">
              ${note.date ? shown(note.date) : 'added by hand'}
              ${note.task ? html` · <a href=${`#/history/${note.task}`}>from a task</a>` : ''}
            </span>
          </span>
          <button class="button small danger" onClick=${() => removeNote(note)}>
            Remove
            <span class="hidden-text"> ${shown(note.text)}</span>
          </button>
        </li>`,
      )}
    </ul>
    ${of.beside > 0 && html`<p class="soft tiny">The file has ${of.beside} other lines, which tasks read too.</p>`}
    ${of.is_cut && html`<p class="warn tiny">The file is too long; tasks read only its beginning.</p>`}
  </section>`
}

function NewNote({ workspace, again }) {
  const [text, setText] = useDraft(`note ${workspace}`)
  const [project, setProject] = useState(false)
  const [add, busy, error] = useAction(async () => {
    await act('memory_add', { workspace, text: text.trim(), project })
    setText('')
    again()
  })
  return html`<form class="pile" onSubmit=${(e) => (e.preventDefault(), text.trim() && add())}>
    <${Labelled} id="note" label="New note">
      <textarea
        class="field"
        id="note"
        rows="2"
        value=${text}
        onInput=${(e) => setText(e.target.value)}
        placeholder="Run tests with make test, not pytest."
      ></textarea>
    </${Labelled}>
    <div class="pick-some">
      <label class="pick-one">
        <input type="radio" name="whose" checked=${!project} onChange=${() => setProject(false)} /> For me
      </label>
      <label class="pick-one">
        <input type="radio" name="whose" checked=${project} onChange=${() => setProject(true)} /> For everyone
        in ${base(workspace)}
      </label>
    </div>
    <${Trouble} error=${error} />
    <div>
      <button class="button primary" type="submit" disabled=${busy || !text.trim()}>Add note</button>
    </div>
  </form>`
}
