// The line to the server: one WebSocket that comes back by itself. What was not answered is sent again under the same
// id, and the server does nothing twice; a task that is watched goes on after the last event that arrived.
import { signal } from './ui.js'

/** connecting, open, lost (it is tried again), out (this browser has no key). */
export const standing = signal('connecting')
/** Since when the line is lost, in milliseconds; 0 while it is not. */
export const lostSince = signal(0)
export const welcome = signal(null)
export const board = signal({})
/** The server is another version than the one this page came from. */
export const isNewer = signal(false)

const FIRST_PAUSE = 250
const LONGEST_PAUSE = 5000
const NO_KEY = 401

const waiting = new Map()
const watched = new Map()
let socket = null
let pause = FIRST_PAUSE
let number = 0
const { early } = window
const { page } = early
const run = Date.now().toString(36)

/** What the server refused: `text` says what happened, `hint` what to do. */
export class Refusal extends Error {
  constructor({ code = '', text, hint = '' }) {
    super(text)
    Object.assign(this, { code, text, hint })
  }
}

/** Give a key or a code for a session. False when it is not the right one. */
export const enter = (given) => early.enter(given)

/** Ask the server for what is no frame, with this page's key. */
export const request = (path, options = {}) =>
  fetch(path, { credentials: 'same-origin', ...options, headers: { 'x-halocline-key': early.pageKey() } })

/** Take over the line that was begun early, or open another. */
export function connect() {
  const { socket: begun, said, closed: ended } = early
  Object.assign(early, { socket: null, said: [], closed: null })
  socket = begun ?? early.open()
  Object.assign(socket, { onopen: opened, onmessage: (message) => hear(JSON.parse(message.data)), onclose: closed })
  if (socket.readyState === WebSocket.OPEN) opened()
  for (const message of said) socket.onmessage(message)
  if (ended) closed()
}

function opened() {
  pause = FIRST_PAUSE
  standing.value = 'open'
  lostSince.value = 0
  for (const [task, watcher] of watched) say({ type: 'watch', task, after: watcher.after() })
  for (const { frame } of waiting.values()) say(frame)
}

function closed() {
  // A browser is not told why a line was refused; the server tells a request.
  if (standing.value === 'connecting' || standing.value === 'lost')
    request('/session').then(
      ({ status }) => status === NO_KEY && signInAgain(),
      () => {},
    )
  if (standing.value === 'out') return
  if (standing.value !== 'lost') lostSince.value = Date.now()
  standing.value = 'lost'
  setTimeout(() => standing.value !== 'out' && connect(), pause)
  pause = Math.min(pause * 2, LONGEST_PAUSE)
}

/** The server is another one than this browser came in by: it knows the browser, or the person enters again. */
const signInAgain = () =>
  early
    .signIn()
    .then((isIn) => isIn || (standing.value = 'out'))
    .catch(() => {})

/** Come in again, where this browser was not let in. */
export function comeBack() {
  if (standing.value !== 'out') return
  standing.value = 'lost'
  connect()
}

// Another tab of this browser came in.
addEventListener('storage', ({ key }) => key === 'halo page key' && comeBack())

/** Close the line; it comes back by itself. For tests, and for a person who asks to try again now. */
export const drop = () => socket?.close()

const say = (frame) => {
  if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify(frame))
}

function hear(frame) {
  switch (frame.type) {
    case 'welcome':
      if (welcome.value && welcome.value.version !== frame.version) isNewer.value = true
      welcome.value = frame
      break
    case 'board':
      board.value = frame.tasks
      break
    case 'events':
      watched.get(frame.task)?.take(frame)
      break
    case 'answered':
      settle(frame.id)?.resolve(frame.value)
      break
    case 'refused':
      if (frame.id.startsWith('watch ')) watched.get(frame.id.slice(6))?.refuse(new Refusal(frame))
      else settle(frame.id)?.reject(new Refusal(frame))
  }
}

function settle(id) {
  const one = waiting.get(id)
  waiting.delete(id)
  return one
}

export const newId = () => `${page}-${run}-${++number}`

/** Send a frame that has its id already, and wait for its answer. */
export function pass(frame) {
  return new Promise((resolve, reject) => {
    waiting.set(frame.id, { frame, resolve, reject })
    say(frame)
  })
}

const ask = (frame) => pass({ ...frame, id: newId() })

/** What the server knows; changes nothing. */
export const query = (name, args = {}) => ask({ type: 'query', name, arguments: args })
/** Something that changes and belongs to no task. */
export const act = (name, args = {}) => ask({ type: 'do', name, arguments: args })
/** A command to a task. Gives false when it came too late. */
export const send = (type, command) => ask({ type: 'command', command: { type, ...command } })
/** Start a task; gives its id. */
export const begin = (wish) => ask({ type: 'begin', ...wish })

/** Hear the events of a task. `watcher` has `after()`, `take(frame)` and `refuse(refusal)`. */
export function watch(task, watcher) {
  watched.set(task, watcher)
  say({ type: 'watch', task, after: watcher.after() })
}

export function unwatch(task) {
  if (watched.delete(task)) say({ type: 'unwatch', task })
}
