// The model's comments on changed lines as comment threads; a reply is answered in the thread.
const vscode = require('vscode')

const { CommentMode, CommentThreadCollapsibleState, MarkdownString, Range, Uri, comments, l10n, window } = vscode
const AUTHOR = { name: 'Halocline' }

class Threads {
  constructor(backend) {
    this.backend = backend
    this.controller = comments.createCommentController('halocline', 'Halocline')
    this.controller.options = { placeHolder: l10n.t('Ask about this comment') }
    /** What the Python side knows of a thread: {task, path, line, comment}. */
    this.known = new Map()
    backend.on('review/show', (given) => this.show(given))
  }

  show({ task, call, files }) {
    for (const [thread, { task: of, call: other }] of this.known) if (of === task && other !== call) this.remove(thread) // an older explanation: its lines may have moved
    for (const { path, file, remarks } of files)
      for (const { line, text } of remarks) {
        const at = new Range(line - 1, 0, line - 1, 0)
        const thread = this.controller.createCommentThread(Uri.file(file), at, [asComment(text)])
        thread.collapsibleState = CommentThreadCollapsibleState.Expanded
        thread.contextValue = 'halocline'
        this.known.set(thread, { task, call, path, line, comment: text })
      }
  }

  /** Send what the person wrote below a comment, and put the answer below it. */
  async reply({ thread, text }) {
    const { call, ...known } = this.known.get(thread)
    const before = thread.comments
    thread.comments = [
      ...before,
      { ...asComment(text), author: { name: l10n.t('You') } },
      asComment(l10n.t('Halocline is thinking…')),
    ]
    thread.canReply = false
    try {
      const { text: answer } = await this.backend.request('review/reply', { ...known, text })
      thread.comments = [...thread.comments.slice(0, -1), asComment(answer)]
    } catch (error) {
      thread.comments = before
      window.showErrorMessage(error.message)
    } finally {
      thread.canReply = true
    }
  }

  /** What to put into the chat about a thread. */
  quote(thread) {
    const { path, line, comment } = this.known.get(thread)
    return `${comment.replace(/^/gm, '> ')}\n\n@${path}:${line} `
  }

  remove(thread) {
    this.known.delete(thread)
    thread.dispose()
  }

  dispose() {
    this.controller.dispose()
  }
}

/** A comment. Its text is the model's: nothing in it may run a command. */
const asComment = (text) => ({ body: new MarkdownString(text), mode: CommentMode.Preview, author: AUTHOR })

module.exports = { Threads }
