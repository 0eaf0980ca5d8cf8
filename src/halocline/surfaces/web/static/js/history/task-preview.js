// The preview of a task: facts, first prompt, last reply, actions and their dialogs.
import { html, useEffect, useState } from '../lib/ui.js'
import { saveExport } from '../lib/fetch-files.js'
import { complain, taskOf } from '../state/store.js'
import { count, formatTime, knownCost, money, shown, size, tokens, truncate } from '../lib/format.js'
import { Icon } from '../lib/icons.js'
import { Markdown } from '../lib/markdown.js'
import { Dialog } from '../widgets/page-frame.js'
import { Facts, Labelled } from '../widgets/form.js'
import { Snippet, statusOf, titleOf } from './task-actions.js'

const PAUSE = 250
const LONG = 1200

/** The task, loaded after a short delay. */
function useTask(id) {
  const [task, setTask] = useState(null)
  useEffect(() => {
    const timer = setTimeout(() => setTask(taskOf(id)), PAUSE)
    return () => clearTimeout(timer)
  }, [id])
  task?.version.value
  return task?.ready.value ? task : null
}

export function Preview({ info, actions }) {
  const task = useTask(info.task)
  const first = task?.facts.prompts[0]
  const last = task?.findLast((row) => row.type === 'reply_row' && row.text)
  const changed = task?.facts.changed ?? []
  return html`<article class="task-preview">
    <h2>${titleOf(info)}</h2>
    <div class="row">
      <button class="button primary" onClick=${() => actions.open(info)}>Open</button>
      <button class="button small" onClick=${() => actions.pin(info)}>
        <${Icon} name="star" size="14" /> ${info.favourite ? 'Unfavorite' : 'Favorite'}
      </button>
      <button class="button small" onClick=${() => actions.rename(info)}>Rename…</button>
      <button class="button small" onClick=${() => actions.export(info)}>Export…</button>
      <button class="button small" onClick=${() => actions.fork(info)}><${Icon} name="branch" size="14" /> Fork</button>
      <button class="button small danger" onClick=${() => actions.remove([info])}>
        <${Icon} name="trash" size="14" /> Delete
      </button>
    </div>
    ${info.snippet && html`<p class="snippet card pane-card"><${Snippet} text=${info.snippet} /></p>`}
    <${Facts}
      of=${[
        ['Folder', html`<span class="mono">${shown(info.workspace)}</span>`],
        ['Model', shown(info.model)],
        ['Status', statusOf(info)],
        ['Started', formatTime(info.started_at)],
        ['Last active', formatTime(info.changed_at)],
        ['Cost', money(knownCost(info))],
        ['Tokens', `${tokens(info.tokens)} in ${count(info.steps ?? 0, 'step')}`],
        ['On disk', size(info.size)],
        ['ID', html`<span class="mono tiny">${info.task}</span>`],
      ]}
    />
    <${Tags} key=${(info.tags ?? []).join()} info=${info} actions=${actions} />
    ${first && html`<h3>First prompt</h3><div class="said">${shown(truncate(first.text, LONG))}</div>`}
    ${last && html`<h3>Last reply</h3><${Markdown} text=${truncate(last.text, LONG)} />`}
    ${
      changed.length > 0 &&
      html`
        <h3>${count(changed.length, 'file')} changed</h3>
        <ul class="plain mono tiny">
          ${changed.slice(0, 20).map((path) => html`<li key=${path} class="cut">${shown(path)}</li>`)}
        </ul>
      `
    }
  </article>`
}

function Tags({ info, actions }) {
  const before = (info.tags ?? []).join(', ')
  const [text, setText] = useState(before)
  const save = (event) => {
    event?.preventDefault()
    if (text.trim() !== before)
      actions.tags(info, [
        ...new Set(
          text
            .split(',')
            .map((tag) => tag.trim())
            .filter(Boolean),
        ),
      ])
  }
  return html`<form onSubmit=${save}>
    <${Labelled} id="tags" label="Tags" note="Separated by commas; Enter saves.">
      <input
        class="field"
        id="tags"
        aria-describedby="tags-note"
        value=${text}
        onInput=${(e) => setText(e.target.value)}
        onBlur=${() => save()}
      />
    </${Labelled}>
  </form>`
}

export function RenameDialog({ info, onClose, onDone }) {
  const [name, setName] = useState(info.name || '')
  return html`<${Dialog} title="Rename task" onClose=${onClose}>
    <form onSubmit=${(e) => (e.preventDefault(), onDone(name.trim()))}>
      <${Labelled}
        id="new-name"
        label="Name"
        note=${`Leave empty to use the first words: ${titleOf({ title: info.title })}`}
      >
        <input
          class="field"
          id="new-name"
          data-first
          value=${name}
          maxlength="200"
          onInput=${(e) => setName(e.target.value)}
        />
      </${Labelled}>
      <div class="row">
        <button class="button primary" type="submit">Rename</button>
        <button class="button quiet" type="button" onClick=${onClose}>Cancel</button>
      </div>
    </form>
  </${Dialog}>`
}

const FORMS = [
  ['md', 'Markdown', 'for reading and pasting'],
  ['html', 'Web page', 'a single self-contained HTML file'],
  ['jsonl', 'Events', 'all events as JSON Lines, for programs'],
]

export const ExportDialog = ({ info, onClose }) => html`<${Dialog} title="Export task" onClose=${onClose}>
  <p class="soft">${titleOf(info)}</p>
  <ul class="items">
    ${FORMS.map(
      ([ending, name, what]) => html`<li key=${ending}>
        <button class="item" onClick=${() => saveExport(info.task, ending).then(onClose, complain)}>
          <span class="grow"><span class="block">${name}</span><span class="soft tiny">${what}</span></span>
          <span class="soft mono tiny">.${ending}</span>
        </button>
      </li>`,
    )}
  </ul>
</${Dialog}>`
