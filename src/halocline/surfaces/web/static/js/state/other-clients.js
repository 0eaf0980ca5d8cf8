// Who else decided, in words for a person: clients have names such as `web 3`.
import { welcome } from '../lib/connection.js'

/** @type {[RegExp, string][]} */
const PLACES = [
  [/^web\b/, 'in another tab or browser'],
  [/^(cli|board|tui)$/, 'in the terminal'],
  [/^(editor|acp)\b/, 'in the editor'],
]

/** Where another client is; empty for this one, for an unknown one, and for the server, which only does what a page said. */
export function nameOther(client) {
  if (!client || client === 'web' || client === welcome.value?.client) return ''
  return PLACES.find(([form]) => form.test(client))?.[1] ?? `by ${client}`
}

/** What became of a request, in a word; with its turn it ends unanswered. */
export const nameDecision = ({ decision, by }) =>
  by === 'interrupt' ? 'Stopped' : decision.startsWith('allow') ? 'Approved' : 'Rejected'
