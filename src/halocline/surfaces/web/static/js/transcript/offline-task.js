// A task while the server is unreachable and this page has no history of it: as it was when last viewed.
import { html, useEffect, useMemo } from '../lib/ui.js'
import { showSaved, snapshots } from './offline-snapshot.js'
import { tell } from '../state/outbox.js'
import { Task } from '../state/task.js'
import { when } from '../lib/format.js'
import { Transcript } from './transcript.js'
import { MenuButton } from '../widgets/menu-button.js'
import { Composer } from '../composer/composer.js'

/** A read-only task with the saved rows. */
function asTask(one) {
  const task = new Task(one.task)
  task.rows = one.rows.map((row) => (row.approval && !row.approval.decision ? { ...row, approval: undefined } : row))
  task.ready.value = true
  task.send = () => Promise.reject(new Error('The server is unreachable. Decide once it is back.'))
  return task
}

export default function Offline({ task }) {
  const one = snapshots.value.find((other) => other.task === task.id)
  const shown = useMemo(() => one && asTask(one), [one])
  useEffect(showSaved, [])
  return html`
    <header class="task-head">
      <div class="task-line"><${MenuButton} /><h1 class="task-title cut">${one?.title || 'This task'}</h1></div>
      <div class="task-sub soft tiny" role="status">
        ${one ? `Read-only copy from ${when(one.at)}${one.cut ? ', without its beginning' : ''}.` : 'Not saved in this browser. It loads when the server is back.'}
      </div>
    </header>
    ${shown ? html`<${Transcript} task=${shown} />` : html`<div class="grow"></div>`}
    <div class="foot">
      <${Composer}
        task=${task}
        placeholder="Sent when the server is back"
        onSend=${(content) => tell(task.id, 'submit_prompt', content)}
      />
    </div>
  `
}
