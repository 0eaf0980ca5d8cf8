// A sheet with what commands print, live and in colors: your own, with a line to type them, and the jobs.
import { html, classes, style, useEffect, useState } from '../lib/ui.js'
import { query } from '../lib/connection.js'
import { Lazy } from '../widgets/lazy.js'
import { complain } from '../state/store.js'
import { shown as revealed } from '../lib/format.js'
import { Elapsed } from '../widgets/elapsed.js'
import { Sheet } from '../widgets/sheet.js'
import { definePart } from '../lib/parts.js'
/** @import { JobInfo } from '../../../types/protocol' */

await style('static/js/files/files.css')

const loadScreen = definePart(() => import('./screen.js'))
const EVERY = 700
const MOST_COMMANDS = 50

/** What your own commands printed, each after its line. Pure. */
export const session = (rows) =>
  rows
    .filter((row) => row?.type === 'call_row' && row.own)
    .slice(-MOST_COMMANDS)
    .map((row) => `\u001b[1m$ ${row.title}\u001b[0m\n${row.output ? `${row.output.replace(/\n*$/, '')}\n` : ''}`)
    .join('\n')

/** The newest of your own commands that still run. */
const runningOf = (rows) => rows.findLast((row) => row?.type === 'call_row' && row.own && !row.status)

/** The jobs of a task, and the end of what one of them printed; asked for while they are looked at. */
function useJobs(task, shown) {
  const [jobs, setJobs] = useState(/** @type {JobInfo[]} */ ([]))
  const [text, setText] = useState('')
  useEffect(() => {
    let here = true
    let timer = 0
    const look = async () => {
      const found = await query('jobs', { task: task.id }).catch(() => [])
      const tail = shown ? await query('job_screen', { task: task.id, job: shown }).catch((error) => error.text) : ''
      if (!here) return
      setJobs(found)
      setText(tail)
      timer = setTimeout(look, EVERY)
    }
    look()
    return () => {
      here = false
      clearTimeout(timer)
    }
  }, [task.id, shown])
  return { jobs, text }
}

function CommandLine({ task, command, setCommand }) {
  const run = (event) => {
    event.preventDefault()
    if (!command.trim()) return
    task.send('run_command', { command }).then(() => setCommand(''), complain)
  }
  return html`<form class="row terminal-line" onSubmit=${run}>
    <span class="mono soft" aria-hidden="true">$</span>
    <input
      class="field mono grow"
      aria-label="Command to run in the task's folder"
      placeholder="Your command; the agent reads it and its output with your next message"
      value=${command}
      onInput=${(e) => setCommand(e.target.value)}
      autocomplete="off"
      autocapitalize="off"
      spellcheck=${false}
      data-first
    />
    <button class="button small primary" type="submit" disabled=${!command.trim()}>Run</button>
  </form>`
}

export default function TerminalSheet({ task, docks = false }) {
  task.version.value
  const running = runningOf(task.rows)
  const [shown, setShown] = useState('')
  const [command, setCommand] = useState('') // held here: it stays when the column becomes a dialog
  const { jobs, text } = useJobs(task, shown)
  const job = jobs.find((one) => one.name === shown)
  const printed = shown ? text : session(task.rows)
  const stop = () => task.send('stop_job', { job: shown }).catch(complain)
  const stopCommand = () => task.send('stop_command', { run: running.call }).catch(complain)
  const handleKey = (event) => {
    const { selectionStart: from, selectionEnd: to } = event.target
    const copies = from !== to || !getSelection().isCollapsed
    if (shown || !running || copies || !event.ctrlKey || event.shiftKey || event.key !== 'c') return
    event.preventDefault()
    stopCommand()
  }
  return html`<${Sheet} title="Terminal" wide docks=${docks} className="files terminal">
    <div class="terminal-inside" onKeyDown=${handleKey}>
      <div class="row wrap" role="group" aria-label="What is shown">
        <button class=${classes('chip', !shown && 'on')} aria-pressed=${!shown} onClick=${() => setShown('')}>
          My commands
        </button>
        ${jobs.map(
          (one) => html`<button
            key=${one.name}
            class=${classes('chip', shown === one.name && 'on')}
            aria-pressed=${shown === one.name}
            title=${one.command}
            onClick=${() => setShown(one.name)}
          >
            <span class=${classes('dot', one.state !== 'ended' && 'runs')} aria-hidden="true"></span> ${one.name}
          </button>`,
        )}
        ${job && job.state !== 'ended' && html`<button class="button small" onClick=${stop}>Stop job</button>`}
      </div>
      ${job && html`<p class="soft tiny mono cut">$ ${job.command}</p>`}
      ${
        !shown &&
        running &&
        html`<div class="row nowrap small" role="status">
          <span class="dot runs" aria-hidden="true"></span>
          <span class="cut grow">Runs: <span class="mono">${revealed(running.title)}</span></span>
          <${Elapsed} since=${running.started_at} />
          <button class="button small" title="Stop the command (Ctrl+C)" onClick=${stopCommand}>Stop</button>
        </div>`
      }
      <${Lazy} key=${shown} load=${loadScreen} text=${printed} label=${shown ? `Output of ${shown}` : 'Output of my commands'} />
      <${CommandLine} task=${task} command=${command} setCommand=${setCommand} />
    </div>
  <//>`
}
