// The connection to the server: one WebSocket that reconnects. Unanswered frames are sent again under the same id, and
// the server does nothing twice; of a watched task it sends what changed meanwhile. A connection may be dead although it
// is open (the server hangs, the network is gone), so a silent one is asked for an answer.
import { signal } from './ui.js'
/** @import { Actions, AnyCommand, Begin, Queries } from '../../../types/protocol' */

/** connecting, open, lost (reconnecting) or out (this browser has no key). */
export const standing = signal('connecting')
/** Time in milliseconds when the connection was lost; 0 while connected. */
export const lostSince = signal(0)
export const welcome = signal(null)
export const board = signal({})
/** True if the server's version differs from this page's. */
export const isNewer = signal(false)

const FIRST_PAUSE = 250
const LONGEST_PAUSE = 5000
/** Milliseconds of silence after which the server is asked for an answer, and in which it must come. */
const QUIET = 4000
const PATIENCE = 6000
/** Milliseconds in which a connection must open. */
const OPENS_IN = 10_000
const NO_KEY = 401

const waiting = new Map()
const watched = new Map()
let socket = null
let pause = FIRST_PAUSE
let retry = 0 // the timer of the next attempt
let pulse = 0 // the timer of the question, or of its answer
let isAsked = false
let number = 0
const { early } = window
const { page } = early
const run = Date.now().toString(36)

/** An error of the server: `text` says what happened, `hint` what to do. */
export class Refusal extends Error {
  constructor({ code = '', text, hint = '' }) {
    super(text)
    Object.assign(this, { code, text, hint })
  }
}

/** Exchange a key or a code for a session. Returns false if it is wrong. */
export const enter = (given) => early.enter(given)

/** Fetch from the server over HTTP with this page's key; in an editor, over its extension. */
export const request =
  early.request ??
  ((path, options = {}) =>
    fetch(path, { credentials: 'same-origin', ...options, headers: { 'x-halocline-key': early.pageKey() } }))

/** Take over the connection opened by early.js, or open another. */
export function connect() {
  const { socket: begun, said, closed: ended } = early
  Object.assign(early, { socket: null, said: [], closed: null })
  socket = begun ?? early.open()
  Object.assign(socket, {
    onopen: handleOpen,
    onmessage: (message) => hear(JSON.parse(message.data)),
    onclose: handleClose,
  })
  expect(giveUp, OPENS_IN)
  if (socket.readyState === WebSocket.OPEN) handleOpen()
  for (const message of said) socket.onmessage(message)
  if (ended) handleClose()
}

/** Do `otherwise` unless a message comes within so many milliseconds. */
function expect(otherwise, within) {
  clearTimeout(pulse)
  isAsked = otherwise === giveUp
  pulse = setTimeout(otherwise, within)
}

/** Ask the server for an answer, unless one is due. */
function probe() {
  if (isAsked || socket?.readyState !== WebSocket.OPEN) return
  say({ type: 'ping' })
  expect(giveUp, PATIENCE)
}

/** Leave a connection that may never tell that it ended. */
function abandon() {
  Object.assign(socket, { onopen: null, onmessage: null, onclose: null })
  socket.close()
}

function giveUp() {
  abandon()
  handleClose()
}

function handleOpen() {
  expect(probe, QUIET)
  pause = FIRST_PAUSE
  standing.value = 'open'
  lostSince.value = 0
  for (const [task, watcher] of watched) say({ type: 'watch', task, ...watcher.known() })
  for (const { frame } of waiting.values()) say(frame)
}

function handleClose() {
  clearTimeout(pulse)
  // A browser cannot see why a WebSocket was refused; an HTTP request can.
  if (standing.value === 'connecting' || standing.value === 'lost')
    request('/session', { signal: AbortSignal.timeout(OPENS_IN) }).then(
      ({ status }) => status === NO_KEY && signInAgain(),
      () => {},
    )
  if (standing.value === 'out') return
  if (standing.value !== 'lost') lostSince.value = Date.now()
  standing.value = 'lost'
  clearTimeout(retry)
  retry = setTimeout(() => standing.value !== 'out' && connect(), pause)
  pause = Math.min(pause * 2, LONGEST_PAUSE)
}

/** After a server restart: sign in by the browser's key pair, or ask for a code. */
const signInAgain = () =>
  early
    .signIn()
    .then((isIn) => isIn || (standing.value = 'out'))
    .catch(() => {})

/** Reconnect after signing in. */
export function comeBack() {
  if (standing.value !== 'out') return
  standing.value = 'lost'
  connect()
}

// Another tab signed in.
addEventListener('storage', ({ key }) => key === 'halo page key' && comeBack())

/** Close the connection, which reconnects. For tests. */
export const drop = () => socket?.close()

/** Reconnect now instead of after the pause. */
export function tryNow() {
  if (standing.value !== 'lost') return
  clearTimeout(retry)
  abandon()
  connect()
}

addEventListener('online', tryNow)
// A server on this machine is reached without a network, too: it is asked.
addEventListener('offline', probe)
document.addEventListener('visibilitychange', probe)

const say = (frame) => {
  if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify(frame))
}

function hear(frame) {
  expect(probe, QUIET)
  switch (frame.type) {
    case 'welcome':
      if (welcome.value && welcome.value.version !== frame.version) isNewer.value = true
      welcome.value = frame
      break
    case 'board':
      board.value = frame.tasks
      break
    case 'task_changed':
      watched.get(frame.task)?.take(frame)
      break
    case 'grown':
      for (const task of watched.values()) if (task.view === frame.view) task.extend(frame)
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

/** Send a frame that has its id, and wait for its answer. */
export function pass(frame) {
  return new Promise((resolve, reject) => {
    waiting.set(frame.id, { frame, resolve, reject })
    say(frame)
    probe()
  })
}

const ask = (frame) => pass({ ...frame, id: newId() })

/**
 * Run a query; changes nothing.
 * @template {keyof Queries} N
 * @param {N} name
 * @param {Queries[N]['arguments']} [args]
 * @returns {Promise<Queries[N]['answer']>}
 */
export const query = (name, args) => ask({ type: 'query', name, arguments: args ?? {} })
/**
 * Run an action that belongs to no task.
 * @template {keyof Actions} N
 * @param {N} name
 * @param {Actions[N]['arguments']} [args]
 * @returns {Promise<Actions[N]['answer']>}
 */
export const act = (name, args) => ask({ type: 'do', name, arguments: args ?? {} })
/**
 * Send a command to a task. Resolves to false if it came too late.
 * @template {AnyCommand['type']} N
 * @param {N} type
 * @param {Omit<Extract<AnyCommand, { type: N }>, 'type'>} command
 * @returns {Promise<boolean>}
 */
export const send = (type, command) => ask({ type: 'command', command: { type, ...command } })
/**
 * Start a task; resolves to its id.
 * @param {Omit<Begin, 'type' | 'id'>} options
 * @returns {Promise<string>}
 */
export const begin = (options) => ask({ type: 'begin', ...options })

/** Watch a task. `watcher` has `known()`, `take(frame)` and `refuse(refusal)`. */
export function watch(task, watcher) {
  watched.set(task, watcher)
  say({ type: 'watch', task, ...watcher.known() })
}

/** Get the rows of a watched task from number `first` until `until`, instead of others that were asked for. */
export const showRows = (task, first, until) => say({ type: 'show_rows', task, first, until })

export function unwatch(task) {
  if (watched.delete(task)) say({ type: 'unwatch', task })
}
