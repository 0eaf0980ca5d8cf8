// The settings page: sections on the left, fields on the right, and search. This browser's own preferences are a
// section too.
import { html, signal, useEffect } from '../lib/ui.js'
import {
  Answer,
  Cleared,
  Filter,
  Links,
  Page,
  Panes,
  fits,
  intoList,
  placeNow,
  useQuery,
} from '../widgets/page-frame.js'
import { Doc, Field, titleOf } from './setting.js'
import { editConfigFile } from '../files/config-editor.js'
import { OwnPage } from './browser-settings.js'
import { Matrix, TABLE } from './permission-matrix.js'

const OWN = 'This page'
const ABOUT = {
  Model: 'Model and thinking effort.',
  Providers: 'How to reach model servers. Keys are on the Models page.',
  Approvals: 'What runs without approval.',
  Limits: 'When a turn pauses and asks.',
  Prompt: 'What the model reads before it starts.',
  Tools: 'Optional tools for the model.',
  Edits: 'How files are edited and checked.',
  Checkpoints: 'Snapshots of your files to restore.',
  Sandbox: 'What commands can access.',
  Browser: 'A browser for the model.',
  Hooks: 'Your own programs, run on events.',
  [OWN]: 'Saved in this browser only.',
}
const words = signal('')

export default function Settings({ path }) {
  const found = useQuery('settings')
  const [section = '', field = ''] = path
  useEffect(() => {
    const one = field ? document.getElementById(`setting-${field}`) : null
    one?.closest('.setting')?.scrollIntoView({ block: 'center' })
    one?.focus()
  }, [field, found.value])
  return html`<${Page} title="Settings">
    <${Answer} of=${found} what="the settings">
      ${(all) => html`<${Body} all=${all} section=${section} again=${found.again} />`}
    </${Answer}>
  </${Page}>`
}

/** Matching settings, those with matching names first. */
function findSettings(all, words) {
  const named = all.filter((one) => fits(words, one.name, titleOf(one.name), one.section))
  return [...named, ...all.filter((one) => !named.includes(one) && fits(words, one.name, one.doc))]
}

/** The table of a setting, or empty. */
const tableOf = (one) => (one?.name.includes('.') ? one.name.split('.')[0] : '')
const Table = ({ of }) =>
  html`<div class="setting-table">
    <h3>${titleOf(tableOf(of))}</h3>
    <p class="soft tiny"><${Doc} text=${of.doc} /></p>
  </div>`

function Body({ all, section, again }) {
  const sections = [...new Set(all.map((one) => one.section)), OWN]
  const named = sections.find((one) => one.toLowerCase() === section.toLowerCase())
  const here = named ?? sections[0]
  const searching = words.value.trim()
  const found = searching ? findSettings(all, searching) : all.filter((one) => one.section === here)
  const shownOnes = found.filter((one) => searching || tableOf(one) !== TABLE) // they have a table of their own
  const countChanged = (name) => all.filter((one) => one.section === name && one.source).length
  const detail = searching || named || innerWidth > 760
  return html`<${Panes}
    label="Sections"
    back="#/settings"
    both=${Boolean(searching)}
    list=${html`
      <${Filter}
        label="Search settings"
        value=${words.value}
        onInput=${(text) => (words.value = text)}
        onKeyDown=${intoList}
      />
      ${
        !searching &&
        html`<${Links}
          label="Sections"
          here=${here}
          entries=${sections.map((name) => ({ key: name, href: `#/settings/${name}`, title: name, text: ABOUT[name], badge: countChanged(name) ? `${countChanged(name)} set` : '' }))}
        />`
      }
      <button class="button small quiet" onClick=${() => editConfigFile(placeNow(), { kind: 'settings', done: again })}>
        Edit settings.toml
      </button>
      ${searching && html`<p class="soft tiny" role="status">${found.length} of ${all.length} settings</p>`}
    `}
    detail=${
      detail &&
      html`<div class="settings">
        ${!searching && html`<h2>${here}</h2><p class="soft">${ABOUT[here]}</p>`}
        ${
          !searching && here === OWN
            ? html`<${OwnPage} />`
            : shownOnes.map((one, at) => [
                tableOf(one) &&
                  tableOf(one) !== tableOf(shownOnes[at - 1]) &&
                  html`<${Table} key=${`of ${one.name}`} of=${one} />`,
                html`<${Field}
                  key=${one.name}
                  of=${one}
                  changed=${again}
                  section=${searching ? one.section : ''}
                  inTable=${Boolean(tableOf(one))}
                />`,
                one.name === 'approval_mode' &&
                  !searching &&
                  html`<${Matrix} key=${TABLE} all=${found} changed=${again} />`,
              ])
        }
        ${searching && !found.length && html`<${Cleared} words=${searching} clear=${() => (words.value = '')} />`}
      </div>`
    }
  />`
}
