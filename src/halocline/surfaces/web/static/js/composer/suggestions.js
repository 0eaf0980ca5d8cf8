// The suggestions of the composer's menu: files and other mentions after @, commands and their values after /. Loaded
// from the server when a menu opens, and again after a few seconds.
import { query } from '../lib/connection.js'
import { asMention } from './mentions.js'
import { rankAll } from '../lib/rank.js'
import { loadModels } from '../state/usable-models.js'
import { history } from '../state/store.js'
import { when } from '../lib/format.js'

const FRESH = 8000
const asked = new Map()

/** A query's answer, cached for a few seconds. */
function rankRecent(name, args) {
  const key = `${name} ${JSON.stringify(args)}`
  const known = asked.get(key)
  if (known && Date.now() - known.at < FRESH) return known.answer
  const answer = query(name, args)
  asked.set(key, { at: Date.now(), answer })
  answer.catch(() => asked.delete(key))
  return answer
}

const placeOf = ({ task, workspace }) => (task ? { task: task.id, workspace: task.facts.workspace } : { workspace })

const THINGS = [
  ['problems', 'Diagnostics from language servers'],
  ['terminal', 'Latest command and its output'],
  ['git-changes', 'Uncommitted changes'],
]

function foldersOf(files) {
  const found = new Set()
  for (const path of files)
    for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1)) {
      const folder = path.slice(0, at + 1)
      if (found.has(folder)) break
      found.add(folder)
    }
  return [...found].sort((a, b) => a.split('/').length - b.split('/').length || a.localeCompare(b))
}

const split = (path) => {
  const at = path.replace(/\/$/, '').lastIndexOf('/') + 1
  return [path.slice(at), path.slice(0, at)]
}
const fileOffer = (path) => ({ put: `${asMention(path)} `, title: split(path)[0], about: split(path)[1], icon: 'file' })
const folderOffer = (path) => ({
  put: asMention(path),
  title: split(path)[0],
  about: split(path)[1],
  icon: 'folder',
  goesOn: true,
})
const section = (title, offers) => ({ title, offers })

async function things(begun, place) {
  const found = await rankRecent('mentionable', placeOf(place))
  const { files = [], recent = 0, commits = [], tasks = [] } = found
  found.folders ??= foldersOf(files)
  const typed = begun.query
  const most = typed ? 20 : 8
  const lists = [
    section(
      typed ? 'Files' : recent ? 'Recent' : 'Files',
      rankAll(typed, !typed && recent ? files.slice(0, recent) : files, most).map(fileOffer),
    ),
    section('Folders', rankAll(typed, found.folders, typed ? 8 : 4).map(folderOffer)),
    section(
      'Context',
      rankAll(typed, THINGS, 3, (one) => one[0]).map(([name, about]) => ({
        put: `@${name} `,
        title: name,
        about,
        icon: name === 'terminal' ? 'terminal' : name === 'problems' ? 'warn' : 'diff',
      })),
    ),
    section(
      'Commits',
      rankAll(typed, commits, typed ? 6 : 3, (one) => `${one[0]} ${one[1]}`).map(([hash, title]) => ({
        put: `@${hash} `,
        title,
        about: hash.slice(0, 10),
        icon: 'branch',
      })),
    ),
    section(
      'Past tasks',
      rankAll(typed, tasks, typed ? 6 : 3, (one) => one[1]).map(([id, title]) => ({
        put: `@task:${id} `,
        title: title || id,
        about: 'task',
        icon: 'clock',
      })),
    ),
  ]
  const name = typed.replace(/^symbol:/, '')
  if (/^[A-Za-z_][\w.]{2,}$/.test(name))
    lists.push(section('Symbol', [{ put: `@symbol:${name} `, title: name, about: 'its definition', icon: 'at' }]))
  if (!typed)
    lists.push(
      section('Web', [
        { put: '@https://', title: 'Web page by URL', about: '@https://…', icon: 'globe', goesOn: true },
      ]),
    )
  return lists
}

const KINDS = {
  work: 'Agent',
  task: 'Task',
  files: 'Files',
  settings: 'Settings',
  look: 'View',
  workflow: 'Workflows',
  command: 'Commands',
  skill: 'Skills',
  mcp: 'MCP servers',
}
const FOR_THE_MODEL = ['work', 'workflow', 'command', 'skill']
const takes = (word) => Boolean(word.rest) || word.kind === 'skill'
const wordOffer = (word) => ({
  put: `/${word.name}${takes(word) ? ' ' : ''}`,
  title: `/${word.name}`,
  hint: word.rest,
  about: [word.about, word.source].filter(Boolean).join(' · '),
  icon: 'slash',
  goesOn: takes(word),
})
const value = (text, about = '') => ({ put: `${text} `, title: text, about, icon: 'chevron' })

const VALUES = {
  mode: async () => [value('plan', 'read and plan, no changes'), value('act', 'do the work')],
  approvals: async () => [
    value('ask', 'ask before edits and commands'),
    value('accept-edits', 'edit files without asking'),
    value('auto', 'ask only for risky actions'),
    value('yolo', 'never ask'),
  ],
  effort: async () =>
    ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max', 'default'].map((level) => value(level)),
  compact: async () => [value('undo', 'undo the last compaction')],
  model: async () => (await loadModels()).map((model) => value(model.name, model.title)),
  resume: async () =>
    history.value.map((info) => ({
      ...value(info.task, ''),
      title: info.name || info.title || info.task,
      about: when(info.changed_at),
    })),
}
VALUES.permissions = VALUES.approvals
VALUES.smol = VALUES.compact
VALUES.history = VALUES.resume

async function words(begun, place) {
  if (begun.word) {
    const all = (await VALUES[begun.word]?.()) ?? []
    return [
      section(
        `/${begun.word}`,
        rankAll(begun.query, all, 30, (one) => one.title).filter((one) => one.title !== begun.query),
      ),
    ]
  }
  const all = await rankRecent('words', placeOf(place))
  const fitting = begun.within
    ? all.filter((word) => FOR_THE_MODEL.includes(word.kind) && word.name.startsWith(begun.query))
    : all
  const found = rankAll(begun.query, fitting, 60, (word) => word.name)
  if (begun.query) return [section('', found.map(wordOffer))]
  return Object.entries(KINDS).map(([kind, title]) =>
    section(title, found.filter((word) => word.kind === kind).map(wordOffer)),
  )
}

/** The non-empty sections for the typed text. `place` is {task, workspace}. */
export async function offersFor(begun, place) {
  const all = await (begun.kind === '@' ? things(begun, place) : words(begun, place))
  return all.filter((one) => one.offers.length)
}
