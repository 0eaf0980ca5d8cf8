// Actions for a command: while it runs, as a background job, and when it is done.
import { html, useState } from '../lib/ui.js'
import { query } from '../lib/connection.js'
import { complain, toast } from '../state/store.js'
import { CopyButton } from '../lib/code.js'
import { Output } from './output.js'
import { compose } from '../composer/quote.js'

export function CommandFoot({ row, task, runs }) {
  const command = row.arguments?.command ?? row.title
  const own = row.own ? { run: row.call } : {}
  if (runs)
    return html`<div class="call-foot row">
      <button
        class="button small"
        onClick=${() => task.send('leave_running', own).catch(complain)}
        title=${row.own ? 'Continue as a background job' : 'Continue as a background job; the agent continues, too'}
      >
        Run in background
      </button>
      <button
        class="button small"
        onClick=${() => task.send(row.own ? 'stop_command' : 'interrupt', own).catch(complain)}
        title=${row.own ? 'Stop the command' : 'Stop the command and this turn'}
      >
        Stop
      </button>
    </div>`
  return html`<div class="call-foot row">
    <span class="row small"><${CopyButton} text=${command} label="Copy command" /></span>
    <button
      class="button small quiet"
      onClick=${() => compose(row.own ? `!${command}` : `Run this again and tell me what changed: \`${command}\``)}
    >
      Run again…
    </button>
  </div>`
}

/** The background job of a command: its output and a stop button. */
export function JobFoot({ row, task }) {
  task.version.value
  const [tail, setTail] = useState(null)
  const job = task.facts.jobs.find((one) => one.call === row.call)
  if (!job) return null
  const look = () =>
    query('job_tail', { task: task.id, job: job.job }).then((text) => setTail(text || 'No output yet.'), complain)
  const stop = () =>
    task
      .send('stop_job', { job: job.job })
      .then((done) => done === false && toast('The job has already ended.'), complain)
  return html`
    <div class="call-foot row">
      <span class="dot runs" aria-hidden="true"></span>
      <span class="small">Running as ${job.job}</span>
      <button class="button small" onClick=${look}>${tail == null ? 'Show output' : 'Refresh'}</button>
      <button class="button small" onClick=${stop}>Stop job</button>
    </div>
    ${tail != null && html`<${Output} text=${tail} live />`}
  `
}
