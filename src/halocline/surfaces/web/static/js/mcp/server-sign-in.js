// Sign-in to and sign-out from a remote MCP server.
import { html, useState } from '../lib/ui.js'
import { act } from '../lib/connection.js'
import { toast } from '../state/store.js'
import { shown } from '../lib/format.js'
import { Carry } from '../widgets/sign-in-steps.js'
import { useAction } from '../widgets/page-frame.js'

export function ServerSignIn({ at, signed, done }) {
  const [begun, setBegun] = useState(null)
  const [signIn, busy, error] = useAction(async () => {
    const page = window.open('', '_blank')
    try {
      const begun = await act('mcp_sign_in', at)
      setBegun(begun)
      if (!begun.url) page?.close()
      else if (page) page.location.href = begun.url
      done(await act('sign_in_wait', { id: begun.id }))
    } catch (failure) {
      page?.close()
      throw failure
    } finally {
      setBegun(null)
    }
  })
  const [signOut, leaving, unleft] = useAction(async () => {
    const gone = await act('mcp_sign_out', at)
    toast(gone ? `Signed out of ${at.name}.` : 'You were not signed in.')
    done(null)
  })
  return html`
    <div class="row">
      ${signed != null && html`<span class="soft">${signed ? 'Signed in.' : 'Not signed in.'}</span>`}
      <button class="button" disabled=${busy} onClick=${signIn}>
        ${busy ? 'Waiting for the browser…' : signed ? 'Sign in again' : 'Sign in'}
      </button>
      ${signed !== false && html`<button class="button quiet" disabled=${leaving} onClick=${signOut}>Sign out</button>`}
    </div>
    ${begun?.url && html`<${Carry} begun=${begun} />`}
    ${
      (error ?? unleft) &&
      html`<p class="bad" role="alert">${shown((error ?? unleft).text)} ${shown((error ?? unleft).hint)}</p>`
    }
  `
}
