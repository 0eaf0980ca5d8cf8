// The Python side: found, started at first use, spoken to in JSON-RPC lines over its pipes, started again if it dies.
const { spawn } = require('node:child_process')
const { homedir } = require('node:os')
const vscode = require('vscode')
const { findCommand } = require('./command')
const { readKeys } = require('./keys')

const { l10n } = vscode
/** Milliseconds between starts, by how many failed in a row. */
const PAUSES = [0, 500, 2000, 10_000]
/** Characters of the last error output that a failure shows. */
const LONGEST_TAIL = 4000

class Backend {
  constructor(context) {
    this.context = context
    this.log = vscode.window.createOutputChannel('Halocline', { log: true })
    this.handlers = new Map()
    this.listeners = new Set()
    this.told = []
    this.greeting = null
    this.failures = 0
    this.tail = ''
  }

  /** Call `handle` for each notification of a method; what it returns answers a request. */
  on(method, handle) {
    this.handlers.set(method, handle)
  }

  /** Call `listen` when the Python side ended. Returns what stops that. */
  onEnd(listen) {
    this.listeners.add(listen)
    return { dispose: () => this.listeners.delete(listen) }
  }

  /** Tell the Python side something at each of its starts. Returns what tells it again, for when it changed. */
  keepTold(method, describe) {
    const tell = () => this.isRunning && this.notify(method, describe())
    this.told.push(tell)
    return tell
  }

  /** Start the Python side if it does not run. Resolves to its greeting: version, folder and page. */
  start() {
    if (this.starting) return this.starting
    const mine = this.launch().catch((error) => {
      if (this.starting === mine) this.starting = null
      // Whoever waited for one that a restart stopped gets the new one.
      if (this.starting || this.isRestarting) return this.start()
      this.failures += 1
      throw error
    })
    this.starting = mine
    return mine
  }

  get isRunning() {
    return Boolean(this.greeting)
  }

  async launch() {
    const pause = PAUSES[Math.min(this.failures, PAUSES.length - 1)]
    if (pause) await new Promise((done) => setTimeout(done, pause))
    const [program, ...words] = await findCommand(this.context)
    const folders = folderPaths()
    const paths = folders.length ? folders : [homedir()]
    const env = { ...process.env, ...(await readKeys(this.context)) }
    this.log.info(`Starting ${[program, ...words].join(' ')} editor`)
    this.tail = ''
    const child = spawn(program, [...words, 'editor', '--', ...paths], { env, cwd: paths[0], windowsHide: true })
    this.child = child
    this.number = 0
    this.waiting = new Map()
    const ended = new Promise((_, reject) => {
      child.on('error', (error) => reject(this.end(child, error.message)))
      child.on('close', (code, sign) => reject(this.end(child, sign ? `signal ${sign}` : `exit code ${code}`)))
    })
    ended.catch(() => {}) // it is also an end that nobody waits for
    child.stderr.setEncoding('utf8')
    child.stderr.on('data', (text) => {
      this.tail = (this.tail + text).slice(-LONGEST_TAIL)
      this.log.warn(text.trimEnd())
    })
    child.stdin.on('error', () => {}) // `close` follows
    this.read(child.stdout)
    this.greeting = await Promise.race([this.request('initialize'), ended])
    this.failures = 0
    for (const tell of this.told) tell()
    this.log.info(`Halocline ${this.greeting.version} is ready.`)
    return this.greeting
  }

  read(stream) {
    stream.setEncoding('utf8')
    let parts = []
    stream.on('data', (text) => {
      const lines = text.split('\n')
      parts.push(lines[0])
      for (const line of lines.slice(1)) {
        this.take(parts.join(''))
        parts = [line]
      }
    })
  }

  take(line) {
    let message
    try {
      message = JSON.parse(line)
    } catch {
      return this.log.error(`Not a message: ${line.slice(0, 200)}`)
    }
    if (message.method && message.id !== undefined) return this.answer(message)
    if (message.method) return this.handlers.get(message.method)?.(message.params)
    const one = this.waiting.get(message.id)
    this.waiting.delete(message.id)
    if (message.error) one?.reject(new Error(message.error.message))
    else one?.resolve(message.result)
  }

  async answer({ id, method, params }) {
    try {
      const handle = this.handlers.get(method)
      if (!handle) throw new Error(`There is no method ${method}.`)
      this.write({ id, result: (await handle(params)) ?? null })
    } catch (error) {
      this.write({ id, error: { code: -32603, message: error.message } })
    }
  }

  write(message) {
    this.child?.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  }

  notify(method, params) {
    if (this.child) this.write({ method, params })
  }

  request(method, params = {}) {
    if (!this.child) return Promise.reject(new Error(l10n.t('Halocline is not running.')))
    const id = ++this.number
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject })
      this.write({ id, method, params })
    })
  }

  /** Start the Python side if needed, then ask it. */
  async ask(method, params) {
    await this.start()
    return this.request(method, params)
  }

  /** Note that a process ended. Returns the error that says so. */
  end(child, how) {
    const wasReady = Boolean(this.greeting)
    const text = wasReady ? l10n.t('Halocline ended ({0}).', how) : l10n.t('Halocline could not start ({0}).', how)
    const error = Object.assign(new Error(text), { details: this.tail.trim() })
    if (this.child !== child) return error
    this.log.error(text)
    this.child = null
    this.greeting = null
    this.starting = null
    for (const { reject } of this.waiting.values()) reject(error)
    for (const listen of this.listeners) listen(error)
    return error
  }

  /** End the Python side; its tasks write their ends. It starts again at its next use. */
  async stop() {
    const { child } = this
    if (!child) return
    const closed = new Promise((done) => child.once('close', done))
    child.stdin.end()
    const late = setTimeout(() => child.kill(), 6000)
    await closed
    clearTimeout(late)
  }

  async restart() {
    this.failures = 0
    this.isRestarting = true
    await this.stop()
    try {
      const starting = this.start()
      this.isRestarting = false
      await starting
    } catch (error) {
      vscode.window.showErrorMessage(error.message)
    }
  }

  dispose() {
    this.child?.stdin.end()
    this.log.dispose()
  }
}

/** The folders of the window that are on the disk of this machine. */
const folderPaths = () =>
  (vscode.workspace.workspaceFolders ?? []).filter(({ uri }) => uri.scheme === 'file').map(({ uri }) => uri.fsPath)

module.exports = { Backend, folderPaths }
