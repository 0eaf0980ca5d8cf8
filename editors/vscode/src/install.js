// Installs the package that the extension carries, and what that needs, by their hashes, into an environment of the
// extension's own, which touches no other Python.
const { execFile } = require('node:child_process')
const { mkdirSync, rmSync } = require('node:fs')
const { dirname } = require('node:path')
const vscode = require('vscode')
const { findOnPath, ownPython, requireTrust, selectedPython } = require('./command')

const { l10n, window } = vscode
const NEWEST_FIRST = ['python3.14', 'python3.13', 'python3.12', 'python3.11', 'python3', 'python.exe', 'python']
const CHECK = 'import sys, ensurepip, venv; sys.exit(sys.version_info < (3, 11))'

/** Run a program; resolves to its output, rejects with all that it printed. */
const run = (program, words, signal, cwd) =>
  new Promise((resolve, reject) =>
    execFile(program, words, { signal, cwd, maxBuffer: 1 << 24 }, (error, out, problems) =>
      error ? reject(new Error(`${program} ${words.join(' ')}\n${out}${problems}`.trim())) : resolve(out),
    ),
  )

/** What failed. pip's last lines say that no version was found, also where the index was not reached. */
function explain(output) {
  const lines = output.split('\n')
  const isMissing = lines.slice(-3).some((line) => /No matching distribution|Could not find a version/.test(line))
  if (isMissing && /connection broken by|Could not fetch URL/.test(output))
    return l10n.t('the package index, where the libraries that it needs are, was not reached. Connect, then try again.')
  return lines.findLast((line) => line.startsWith('ERROR: ')) ?? lines.at(-1)
}

async function findPython(signal) {
  const found = [await selectedPython(), ...NEWEST_FIRST.map((name) => findOnPath([name]))].filter(Boolean)
  for (const python of found)
    if (
      await run(python, ['-c', CHECK], signal).then(
        () => true,
        () => false,
      )
    )
      return python
  throw new Error(l10n.t('Halocline needs Python 3.11 or later with venv. Install it, then try again.'))
}

/** Install or upgrade the package. Returns false if it failed or was cancelled; the person knows why. Raises NotTrusted. */
async function install(context) {
  requireTrust()
  const place = dirname(dirname(ownPython(context)))
  const options = {
    location: vscode.ProgressLocation.Notification,
    title: l10n.t('Installing Halocline'),
    cancellable: true,
  }
  let isMaking = false // what is there until then is whole, and other windows run it
  try {
    await window.withProgress(options, async (progress, token) => {
      const stop = new AbortController()
      token.onCancellationRequested(() => stop.abort())
      progress.report({ message: l10n.t('looking for Python') })
      const python = await findPython(stop.signal)
      mkdirSync(dirname(place), { recursive: true })
      progress.report({ message: l10n.t('making an environment') })
      isMaking = true
      await run(python, ['-m', 'venv', '--clear', place], stop.signal)
      progress.report({ message: l10n.t('downloading the package') })
      const words = [
        '-m',
        'pip',
        'install',
        '--disable-pip-version-check',
        '--require-hashes',
        '-r',
        'requirements.txt',
      ]
      await run(ownPython(context), words, stop.signal, context.asAbsolutePath('package'))
    })
    return true
  } catch (error) {
    if (isMaking) rmSync(place, { recursive: true, force: true })
    if (error.name === 'AbortError' || error.code === 'ABORT_ERR') return false
    const copy = l10n.t('Copy the Output')
    const text = l10n.t('Halocline could not be installed: {0}', explain(error.message))
    if ((await window.showErrorMessage(text, copy)) === copy) await vscode.env.clipboard.writeText(error.message)
    return false
  }
}

module.exports = { install }
