// What can be done with a command: while it runs, as a job that goes on, and when it is over.
import { html, useState } from '../ui.js'
import { query } from '../line.js'
import { complain, toast } from '../store.js'
import { CopyButton } from '../code.js'
import { Output } from './output.js'
import { compose } from './quote.js'

export function CommandFoot({ row, task, runs }) {
  const command = row.arguments?.command ?? row.title
  const own = row.own ? { run: row.call } : {}
  if (runs)
    return html`<div class="call-foot row">
      <button
        class="button small"
        onClick=${() => task.send('leave_running', own).catch(complain)}
        title=${row.own ? 'It goes on as a job' : 'It goes on as a job, and the agent too'}
      >
        Let it run on
      </button>
      <button
        class="button small"
        onClick=${() => task.send(row.own ? 'stop_command' : 'interrupt', own).catch(complain)}
        title=${row.own ? 'End the command' : 'End the command and this turn'}
      >
        Stop
      </button>
    </div>`
  return html`<div class="call-foot row">
    <span class="row small"><${CopyButton} text=${command} label="Copy the command" /></span>
    <button
      class="button small quiet"
      onClick=${() => compose(row.own ? `!${command}` : `Run this again, and tell me what is different: \`${command}\``)}
    >
      Run again…
    </button>
  </div>`
}

/** The job that a command became: what it prints, and its end. */
export function JobFoot({ row, task }) {
  task.version.value
  const [tail, setTail] = useState(null)
  const job = [...task.facts.jobs.values()].find((one) => one.call === row.call)
  if (!job) return null
  const look = () =>
    query('job_tail', { task: task.id, job: job.job }).then(
      (text) => setTail(text || 'Nothing was printed yet.'),
      complain,
    )
  const stop = () =>
    task
      .send('stop_job', { job: job.job })
      .then((done) => done === false && toast('The job is over already.'), complain)
  return html`
    <div class="call-foot row">
      <span class="dot runs" aria-hidden="true"></span>
      <span class="small">Goes on as ${job.job}</span>
      <button class="button small" onClick=${look}>${tail == null ? 'Show what it prints' : 'Look again'}</button>
      <button class="button small" onClick=${stop}>Stop the job</button>
    </div>
    ${tail != null && html`<${Output} text=${tail} live />`}
  `
}
