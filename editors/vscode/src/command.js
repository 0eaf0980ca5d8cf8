// Finds the command that starts Halocline on the machine where the files are.
const { existsSync } = require('node:fs')
const { join } = require('node:path')
const vscode = require('vscode')

/** Thrown if there is no Halocline here. */
class NotInstalled extends Error {}
/** Thrown in Restricted Mode: even to look for a command could run one of the folder's. */
class NotTrusted extends Error {}

const isWindows = process.platform === 'win32'

/** The Python of the environment that the extension made for the package. */
const ownPython = (context) =>
  join(context.globalStorageUri.fsPath, 'python', isWindows ? 'Scripts/python.exe' : 'bin/python')

function requireTrust() {
  const { isTrusted } = vscode.workspace
  if (!isTrusted)
    throw new NotTrusted(
      vscode.l10n.t('Restricted Mode: Halocline reads and runs nothing of this folder until you trust it.'),
    )
}

/** Return the words of the command. Raises NotInstalled, NotTrusted. */
async function findCommand(context) {
  requireTrust()
  const configured = vscode.workspace.getConfiguration('halocline').get('command') ?? []
  if (configured.length) return configured
  const own = ownPython(context)
  if (existsSync(own)) return [own, '-m', 'halocline']
  const halo = findOnPath(isWindows ? ['halo.exe', 'halo.cmd'] : ['halo'])
  if (halo) return [halo]
  const python = await selectedPython()
  if (python && (await hasPackage(python))) return [python, '-m', 'halocline']
  throw new NotInstalled(vscode.l10n.t('The Python package halocline is not installed on this machine.'))
}

function findOnPath(names) {
  const folders = (process.env.PATH ?? '').split(isWindows ? ';' : ':').filter(Boolean)
  return folders.flatMap((folder) => names.map((name) => join(folder, name))).find(existsSync)
}

/** The interpreter that the Python extension selected, if that extension is there. */
async function selectedPython() {
  const python = vscode.extensions.getExtension('ms-python.python')
  if (!python) return ''
  try {
    const { environments } = python.isActive ? python.exports : await python.activate()
    return environments?.getActiveEnvironmentPath()?.path ?? ''
  } catch {
    return ''
  }
}

function hasPackage(python) {
  const { execFile } = require('node:child_process')
  return new Promise((done) => execFile(python, ['-c', 'import halocline'], (error) => done(!error)))
}

/** Let the person name the command, and try it. Returns true if it is another one now. */
async function chooseCommand() {
  const { l10n, window, workspace } = vscode
  const settings = workspace.getConfiguration('halocline')
  let value = (settings.get('command') ?? []).map(quote).join(' ')
  let prompt = l10n.t('A program, or words such as: uv run halo')
  let text
  while (prompt) {
    const title = l10n.t('The command that starts Halocline')
    value = text = await window.showInputBox({ title, prompt, value, ignoreFocusOut: true })
    if (text === undefined) return false
    prompt = text.trim() && (await tryCommand(splitWords(text)))
  }
  await settings.update('command', splitWords(text), vscode.ConfigurationTarget.Global)
  return true
}

/** Return why a command does not start Halocline; empty if it does. */
function tryCommand([program, ...words]) {
  const { execFile } = require('node:child_process')
  return new Promise((done) =>
    execFile(program, [...words, '--version'], { timeout: 15_000 }, (error, out) => {
      const isHalo = !error && out.startsWith('halo ')
      done(isHalo ? '' : vscode.l10n.t('{0} does not start Halocline.', [program, ...words].join(' ')))
    }),
  )
}

const quote = (word) => (/\s/.test(word) ? `"${word}"` : word)
const splitWords = (text) => [...text.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain)

module.exports = {
  NotInstalled,
  NotTrusted,
  chooseCommand,
  findCommand,
  findOnPath,
  ownPython,
  requireTrust,
  selectedPython,
}
