// Import conversations from other agents: list, selection, progress and results.
import { html, useRef, useState } from '../lib/ui.js'
import { act } from '../lib/connection.js'
import { complain, refresh } from '../state/store.js'
import { base, count, shown, size, when } from '../lib/format.js'
import {
  Answer,
  Cleared,
  Empty,
  Failed,
  Filter,
  fits,
  placeNow,
  PlacePicker,
  useAction,
  useQuery,
} from '../widgets/page-frame.js'
import { Badge } from '../widgets/form.js'
import { useWork, Working } from '../widgets/job-progress.js'

const STEP = 100
const STANDING = { imported: 'imported', grown: 'changed since import', 'continued here': 'continued here' }
const CLOSED = new Set(['imported', 'continued here'])
const keyOf = (one) => `${one.tool} ${one.id}`

function Entry({ one, titles, picked, toggle }) {
  const closed = CLOSED.has(one.standing)
  return html`<li>
    <label class="row entry import-entry">
      <input type="checkbox" checked=${picked} disabled=${closed} onChange=${toggle} />
      <span class="grow">
        <span class="block import-title">${shown(one.title || one.id)}</span>
        <span class="soft tiny block">
          ${titles[one.tool]} · ${
            one.workspace ? html`<span title=${one.workspace}>${shown(base(one.workspace))}</span>` : 'no folder'
          } · ${when(one.changed)} · ${size(one.size)}
        </span>
      </span>
      ${
        STANDING[one.standing] &&
        html`<${Badge} kind=${one.standing === 'grown' ? 'warn' : ''}>${STANDING[one.standing]}</${Badge}>`
      }
    </label>
  </li>`
}

function Came({ done }) {
  const taken = done.filter((one) => one.task && !CLOSED.has(one.standing))
  const failed = done.filter((one) => one.error)
  return html`
    <p>
      <strong>
        ${count(taken.length, 'conversation')} imported
        ${failed.length ? `, ${failed.length} failed` : ''}.
      </strong>
    </p>
    <ul class="plain">
      ${taken.map(
        (one) => html`<li key=${one.task}>
          <a href=${`#/task/${one.task}`}>${shown(one.title || one.task)}</a>
          ${' '}
          <span class="soft tiny">
            ${count(one.turns, 'prompt')}
            ${one.lost.length ? ` · not imported: ${one.lost.join(', ')}` : ''}
          </span>
        </li>`,
      )}
      ${failed.map((one, at) => html`<li key=${at} class="bad">${shown(one.title)}: ${shown(one.error)}</li>`)}
    </ul>
  `
}

function List({ found, programs, busy, begin }) {
  const [words, setWords] = useState('')
  const [tool, setTool] = useState('')
  const [most, setMost] = useState(STEP)
  const [chosen, choose] = useState(new Set())
  const list = found.filter((one) => (!tool || one.tool === tool) && fits(words, one.title, one.workspace, one.id))
  const open = list.filter((one) => !CLOSED.has(one.standing))
  const picked = found.filter((one) => chosen.has(keyOf(one)) && !CLOSED.has(one.standing))
  const toggle = (one) => () => {
    const next = new Set(chosen)
    if (!next.delete(keyOf(one))) next.add(keyOf(one))
    choose(next)
  }
  const counts = Object.keys(programs).map((name) => [name, found.filter((one) => one.tool === name).length])
  const bare = picked.some((one) => !one.workspace)
  return html`
    <p class="soft">Each becomes a task you can read, search and continue. The originals are not changed.</p>
    <div class="row">
      <select
        class="field import-tool"
        aria-label="Agent"
        value=${tool}
        onChange=${(e) => setTool(e.currentTarget.value)}
      >
        <option value="">All agents (${found.length})</option>
        ${counts.map(([name, number]) => html`<option key=${name} value=${name}>${programs[name]} (${number})</option>`)}
      </select>
      <span class="grow"><${Filter} label="Filter conversations" value=${words} onInput=${setWords} /></span>
    </div>
    <div class="row import-actions">
      <button class="button primary" disabled=${busy || !picked.length} onClick=${() => begin(picked)}>
        Import ${count(picked.length, 'conversation')}
      </button>
      ${
        open.length > 0 &&
        html`<button class="button" onClick=${() => choose(new Set([...chosen, ...open.map(keyOf)]))}>
          Select all ${open.length}
        </button>`
      }
      ${picked.length > 0 && html`<button class="button quiet" onClick=${() => choose(new Set())}>Clear</button>`}
    </div>
    ${
      bare &&
      html`<div class="row">
        <span class="soft tiny">Folder for conversations without one:</span>
        <${PlacePicker} />
      </div>`
    }
    ${
      list.length
        ? html`<ul class="items lines" aria-label="Conversations">
          ${list.slice(0, most).map(
            (one) => html`<${Entry}
              key=${keyOf(one)}
              one=${one}
              titles=${programs}
              picked=${chosen.has(keyOf(one))}
              toggle=${toggle(one)}
            />`,
          )}
        </ul>`
        : html`<${Cleared} words=${words || programs[tool]} clear=${() => (setWords(''), setTool(''))} />`
    }
    ${list.length > most && html`<button class="button" onClick=${() => setMost(most + STEP)}>Show more</button>`}
  `
}

export default function Import() {
  const here = useQuery('importable')
  const told = useRef()
  const [work, look] = useWork('import', () => {
    here.again()
    refresh()
    requestAnimationFrame(() => told.current?.focus())
  })
  const [begin, beginning, refused] = useAction(async (picked) => {
    await act('import_begin', { workspace: placeNow(), chosen: picked.map(({ tool, id }) => ({ tool, id })) })
    look()
  })
  const works = work && !work.over
  return html`<div class="page-body stack">
    ${
      works &&
      html`<${Working} of=${work}>
        <div class="row">
          <button class="button small" onClick=${() => act('work_stop', { kind: 'import' }).catch(complain)}>
            Stop after this
          </button>
        </div>
      </${Working}>`
    }
    ${refused && html`<${Failed} error=${refused} />`}
    ${
      work?.over &&
      html`<div class="pane-card" ref=${told} tabindex="-1" role="status">
        ${work.stopped && html`<p>Stopped.</p>`}
        ${
          work.error
            ? html`<strong class="bad">${shown(work.error)}</strong><p>${shown(work.hint)}</p>`
            : html`<${Came} done=${work.value ?? []} />`
        }
      </div>`
    }
    <${Answer} of=${here} what="other agents’ conversations">
      ${({ found, programs, remarks }) => html`
        ${remarks.map((text, at) => html`<p key=${at} class="warn">${shown(text)}</p>`)}
        ${
          found.length
            ? html`<${List} found=${found} programs=${programs} busy=${works || beginning} begin=${begin} />`
            : html`<${Empty} title="No conversations found.">
              Searched for ${Object.values(programs).join(', ')}.
            </${Empty}>`
        }
      `}
    </${Answer}>
  </div>`
}
