import { render } from 'preact'
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { forgetPasswords } from './api/analyst-password.js'
import { createConnection } from './api/connection.js'
import { shareKey } from './api/key-share.js'
import { type ConsoleSession, createConsoleWeir, createSession, SessionContext, signIn } from './api/session.js'
import { html } from './components/html.js'
import { sentence } from './components/words.js'
import { Frame } from './frame/frame.js'
import { orgIn, readRoute } from './frame/route.js'
import { SignIn } from './frame/sign-in.js'
import { fingerprintInWorker, openParts } from './rows/open-in-worker.js'
import { createJournals } from './uploads/journal.js'
import { createUploads } from './uploads/uploads.js'

// Each tab keeps the key for itself; a new one gets it from those that have it, and it is forgotten with the last.
const keyName = 'weir.key'

type SignedIn = Pick<ConsoleSession, 'key' | 'me' | 'types' | 'weir' | 'uploads'>

const Console = () => {
  const [signedIn, setSignedIn] = useState<SignedIn>()
  const [message, setMessage] = useState<string>()
  const [isTrying, setTrying] = useState(sessionStorage.getItem(keyName) !== null)
  const [org, chooseOrg] = useState('')

  const signOut = useCallback((why?: string) => {
    const key = sessionStorage.getItem(keyName)
    // Otherwise this tab would get the key back from another one.
    if (key && why === undefined) leaveAll.current(key)
    sessionStorage.removeItem(keyName)
    forgetPasswords()
    setSignedIn((before) => {
      before?.uploads.stop()
      return undefined
    })
    setMessage(why === undefined ? undefined : `You were signed out: ${why}`)
  }, [])
  const open = useCallback(async (key: string) => {
    setTrying(true)
    try {
      const { me, types } = await signIn(key)
      sessionStorage.setItem(keyName, key)
      chooseOrg((me.is_operator && orgIn(readRoute(location.hash).query)) || me.org_id)
      const weir = createConsoleWeir(key, signOut)
      const uploads = createUploads({
        weir,
        org: me.org_id,
        open: openParts,
        fingerprint: fingerprintInWorker,
        journals,
      })
      setSignedIn({ key, me, types, weir, uploads })
      setMessage(undefined)
    } catch (error) {
      const status = (error as { status?: number }).status
      if (status === 401) sessionStorage.removeItem(keyName)
      setMessage(
        status === 401
          ? 'This key is not valid: it may be mistyped, expired or revoked.'
          : sentence((error as Error).message),
      )
    }
    setTrying(false)
  }, [])

  const isByHand = useRef(false)
  const openByHand = (key: string) => {
    isByHand.current = true
    void open(key)
  }
  const leaveAll = useRef<(key: string) => void>(() => {})
  useEffect(() => {
    const kept = sessionStorage.getItem(keyName)
    if (kept) void open(kept)
    const keyOf = () => sessionStorage.getItem(keyName)
    leaveAll.current = shareKey({ keyOf, onKey: open, onSignedOut: signOut }).signOut
  }, [])

  const connection = useMemo(() => createConnection(isAlive), [])
  const session = useMemo(
    () => signedIn && createSession({ ...signedIn, connection, org, setOrg: chooseOrg, signOut }),
    [signedIn, org],
  )
  if (!session) {
    const kept = sessionStorage.getItem(keyName)
    const again = kept ? () => void open(kept) : undefined
    return html`<${SignIn} isTrying=${isTrying} message=${message} onKey=${openByHand} onAgain=${again} />`
  }
  return html`<${SessionContext.Provider} value=${session}><${Frame} isNew=${isByHand.current} /><//>`
}

const journals = createJournals({ storage: localStorage, locks: navigator.locks })

const isAlive = async (): Promise<boolean> => {
  try {
    return (await fetch('/healthz', { signal: AbortSignal.timeout(5_000) })).ok
  } catch {
    return false
  }
}

const place = document.getElementById('console')
if (place) render(html`<${Console} />`, place)
