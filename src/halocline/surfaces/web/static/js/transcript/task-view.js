// One task: header, transcript, pending decisions, composer.
import { html, useEffect, useState } from '../lib/ui.js'
import { go, reviewOpen } from '../state/store.js'
import { tell } from '../state/outbox.js'
import { finder } from '../lib/file-name.js'
import { finderOf } from '../files/open-file.js'
import { Header } from './task-header.js'
import { Transcript } from './transcript.js'
import { Dock } from '../decisions/dock.js'
import { Composer } from '../composer/composer.js'
import { Announcements } from './announcements.js'
import { Boundary } from '../widgets/boundary.js'
import { useStage } from '../widgets/use-stage.js'
import { keep } from './offline-snapshot.js'
import { setPrinted } from '../files/print-task.js'

function Refused({ refusal }) {
  return html`<div class="pad">
    <div class="card error-card" role="alert">
      <strong>${refusal.text}</strong>
      <p>${refusal.hint}</p>
      <button class="button" onClick=${() => go('history')}>See all tasks</button>
    </div>
  </div>`
}

// Once a task is seen, a reload without the server shows it.
setTimeout(() => keep().catch(() => {}), 1000)

export default function TaskView({ task }) {
  const [sent, setSent] = useState(0)
  const stage = useStage(2)
  const say = (content) => (setSent((n) => n + 1), tell(task.id, 'submit_prompt', content))
  useEffect(() => {
    finder.value = finderOf(task)
    setPrinted(task.id)
    return () => ((finder.value = null), setPrinted(''))
  }, [task.id])
  useEffect(() => {
    if (innerWidth < 900) reviewOpen.value = false
  }, [task.id])
  const hasField = stage > 0
  useEffect(() => {
    if (hasField && matchMedia('(pointer: fine)').matches) document.querySelector('.composer textarea')?.focus()
  }, [task.id, hasField])
  if (task.refused.value) return html`<${Refused} refusal=${task.refused.value} />`
  return html`
    <${Announcements} key=${task.id} task=${task} />
    <${Boundary}><${Header} task=${task} /><//>
    <${Boundary}>${stage > 1 ? html`<${Transcript} task=${task} sent=${sent} />` : html`<div class="log-box"></div>`}<//>
    <div class="foot">
      ${
        stage > 0 &&
        html`
          <${Boundary}><${Dock} task=${task} /><//>
          <${Boundary}><${Composer} task=${task} placeholder="Ask, or type / or @" onSend=${say} /><//>
        `
      }
    </div>
  `
}
