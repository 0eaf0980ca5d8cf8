// The push sheet: which commits go where, and, once they are there, a pull request through GitHub's gh. Nothing is sent
// before its button is pressed, and then exactly what stands here.
import { html, style, useEffect, useState } from '../lib/ui.js'
import { act, query } from '../lib/connection.js'
import { announcement } from '../state/store.js'
import { count, shown } from '../lib/format.js'
import { useAction } from '../widgets/page-frame.js'
import { Sheet } from '../widgets/sheet.js'
import { useDraft } from '../widgets/use-draft.js'
import { Refused } from './commit.js'
/** @import { PullRequestPlan, PushPlan } from '../../../types/protocol' */

const MOST = 200 // commits that are listed
const countCommits = (commits) => (commits.length < MOST ? count(commits.length, 'commit') : `${MOST} commits or more`)

const Commits = ({ commits }) => html`<ul class="plain push-commits" tabindex="0" aria-label="Commits to push">
  ${commits.map(([name, subject]) => html`<li key=${name}><code>${name}</code> ${shown(subject)}</li>`)}
</ul>`

/** @param {{ task: any, plan: PushPlan, onDone: (output: string) => void }} props */
function Push({ task, plan, onDone }) {
  const [push, busy, error] = useAction(async () => onDone(await act('push', { task: task.id, plan })))
  const { commits, branch, remote, urls, behind, runs } = plan
  return html`<div class="stack">
    <p>
      ${plan.is_new ? 'Creates the branch' : 'Updates the branch'}${' '}
      <strong class="mono">${shown(branch)}</strong> at <strong class="mono">${shown(remote)}</strong>:
    </p>
    <ul class="plain mono push-urls">${urls.map((url) => html`<li key=${url}>${shown(url)}</li>`)}</ul>
    <p class="small">
      ${commits.length ? `Sends ${countCommits(commits)}:` : 'Sends no commit: the remote has them all.'}
    </p>
    ${commits.length > 0 && html`<${Commits} commits=${commits} />`}
    ${
      behind > 0 &&
      html`<p class="blind" role="status">
        The remote has ${count(behind, 'commit')} that this branch lacks, so git will refuse. Merge or rebase first.
      </p>`
    }
    ${
      runs.length > 0 &&
      html`<div class="stack" role="status">
        <p class="small">These programs run on push:</p>
        <ul class="tiny mono commit-runs">${runs.map((one) => html`<li key=${one}>${shown(one)}</li>`)}</ul>
      </div>`
    }
    ${error && html`<${Refused} error=${error} />`}
    <div class="row">
      <button class="button primary" data-first disabled=${busy} onClick=${push}>
        ${busy ? 'Pushing…' : commits.length ? `Push ${countCommits(commits)}` : 'Push branch'}
      </button>
      <span class="tiny soft" role="status">${busy ? 'Running git' : 'Never by force'}</span>
    </div>
  </div>`
}

const INSTALL = html`<p class="small">
  To open a pull request from here, install GitHub's program <code>gh</code> and sign in once in a terminal:${' '}
  <code>gh auth login</code>.
</p>`

/** @param {{ task: any, plan: PullRequestPlan }} props */
function PullRequest({ task, plan }) {
  const [title, setTitle, forgetTitle] = useDraft(`pull request ${task.id}`, plan.title)
  const [body, setBody, forgetBody] = useDraft(`pull request text ${task.id}`, plan.body)
  const [base, setBase] = useState(plan.base)
  const [draft, setDraft] = useState(false)
  const [address, setAddress] = useState('')
  const [send, busy, error] = useAction(async () => {
    setAddress(await act('pull_request', { task: task.id, wanted: { ...plan, title, body, base }, draft }))
    forgetTitle()
    forgetBody()
    announcement.value = 'The pull request is open'
  })
  if (address)
    return html`<p role="status">
      <span class="good" aria-hidden="true">✓</span> Pull request:${' '}
      <a href=${address} target="_blank" rel="noreferrer noopener">${shown(address)}</a>
    </p>`
  const web = `https://${plan.repository}/compare/${encodeURIComponent(base)}...${encodeURIComponent(plan.branch)}?expand=1`
  const Web = html`<a href=${web} target="_blank" rel="noreferrer noopener">Open the form on GitHub</a>`
  if (!plan.has_gh) return html`<div class="stack">${INSTALL}<p class="small">${Web}</p></div>`
  return html`<form class="stack" onSubmit=${(event) => (event.preventDefault(), send())}>
    <strong>Pull request</strong>
    <p class="small">
      In <span class="mono">${shown(plan.repository)}</span>, from <span class="mono">${shown(plan.branch)}</span>, with
      your account of <code>gh</code>.
    </p>
    <label class="stack">
      <span class="small">Into the branch</span>
      <input class="field mono" value=${base} onInput=${(e) => setBase(e.currentTarget.value)} required />
    </label>
    <label class="stack">
      <span class="small">Title</span>
      <input class="field" value=${title} maxlength="256" onInput=${(e) => setTitle(e.currentTarget.value)} required />
    </label>
    <label class="stack">
      <span class="small">Description</span>
      <textarea class="field" rows="5" value=${body} onInput=${(e) => setBody(e.currentTarget.value)}></textarea>
    </label>
    <label class="choice">
      <input type="checkbox" checked=${draft} onChange=${(e) => setDraft(e.currentTarget.checked)} /> Draft
    </label>
    ${error && html`<${Refused} error=${error} />`}
    <div class="row">
      <button class="button primary" disabled=${busy || !title.trim() || !base.trim()}>
        ${busy ? 'Opening…' : 'Open pull request'}
      </button>
      ${Web}
    </div>
  </form>`
}

const isGitHub = (place) => /^(www\.)?github[.-]|\.ghe\.com\//.test(place)

/** What there is to do once all is at the remote. */
function Next({ task, plan }) {
  const [request, setRequest] = useState(/** @type {PullRequestPlan | null} */ (null))
  useEffect(() => void query('pull_request_plan', { task: task.id }).then(setRequest, () => {}), [])
  if (!request || !isGitHub(request.repository)) return null
  if (request.base === plan.branch)
    return html`<p class="small soft">For a pull request, commit on a branch of its own.</p>`
  return html`<${PullRequest} task=${task} plan=${request} />`
}

export default function PushSheet({ task }) {
  const [plan, setPlan] = useState(/** @type {PushPlan | null} */ (null))
  const [error, setError] = useState(null)
  const [output, setOutput] = useState('')
  const look = () => query('push_plan', { task: task.id }).then(setPlan, setError)
  useEffect(() => {
    style('static/js/review/commit.css')
    look()
  }, [])
  const showDone = (said) => {
    setOutput(said || 'Done.')
    announcement.value = 'Pushed'
    look()
  }
  const isDone = plan && !plan.is_new && !plan.commits.length
  const body = error
    ? html`<p class="bad">${shown(error.text ?? error.message)}</p><p class="soft">${shown(error.hint ?? '')}</p>`
    : !plan
      ? html`<p class="soft" role="status">Loading…</p>`
      : isDone
        ? html`<p role="status">
              <span class="good" aria-hidden="true">✓</span>${' '}
              ${output ? 'Pushed' : 'Nothing to push'}: <span class="mono">${shown(plan.branch)}</span> is at${' '}
              <span class="mono">${shown(plan.remote)}</span>${output ? '' : ', as far as is known here'}.
            </p>
            ${
              output &&
              html`<details>
                <summary class="small">git output</summary>
                <pre class="commit-said" tabindex="0">${shown(output)}</pre>
              </details>`
            }
            <${Next} task=${task} plan=${plan} />`
        : html`<${Push} task=${task} plan=${plan} onDone=${showDone} />`
  return html`<${Sheet} title="Push" wide><div class="stack">${body}</div></${Sheet}>`
}
