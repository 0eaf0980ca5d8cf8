// API keys in VS Code's secret storage. They reach the Python side as environment variables, and are in no file.
const vscode = require('vscode')

const { l10n, window } = vscode
const NAMES = 'halocline.keys'
/** The variables that are offered; any other can be typed. */
const USUAL = [
  'ANTHROPIC_API_KEY',
  'OPENAI_API_KEY',
  'GEMINI_API_KEY',
  'OPENROUTER_API_KEY',
  'DEEPSEEK_API_KEY',
  'MISTRAL_API_KEY',
]
const OTHER = l10n.t('Another variable…')

const names = (context) => context.globalState.get(NAMES, [])

/** Return the stored keys by the name of their variable. */
async function readKeys(context) {
  const found = await Promise.all(names(context).map(async (name) => [name, await context.secrets.get(`key ${name}`)]))
  return Object.fromEntries(found.filter(([, key]) => key))
}

async function storeKey(context, backend) {
  let name = await window.showQuickPick([...USUAL, OTHER], { title: l10n.t('Store an API key') })
  if (name === OTHER)
    name = await window.showInputBox({
      title: l10n.t('Name of the variable'),
      validateInput: (text) =>
        /^[A-Z][A-Z0-9_]*_(KEY|TOKEN)$/.test(text) ? '' : l10n.t('A name such as EXAMPLE_API_KEY'),
    })
  if (!name) return
  const key = await window.showInputBox({ title: name, password: true, ignoreFocusOut: true })
  if (!key) return
  await context.secrets.store(`key ${name}`, key.trim())
  await context.globalState.update(NAMES, [...new Set([...names(context), name])])
  await offerRestart(backend)
}

async function removeKey(context, backend) {
  const name = await window.showQuickPick(names(context), { title: l10n.t('Remove an API key') })
  if (!name) return
  await context.secrets.delete(`key ${name}`)
  await context.globalState.update(
    NAMES,
    names(context).filter((other) => other !== name),
  )
  await offerRestart(backend)
}

/** A running Python side has the old keys. */
async function offerRestart(backend) {
  if (!backend.isRunning) return
  const restart = l10n.t('Restart')
  if ((await window.showInformationMessage(l10n.t('Halocline uses this after a restart.'), restart)) === restart)
    await backend.restart()
}

module.exports = { readKeys, removeKey, storeKey }
