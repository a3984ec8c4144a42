type Said = { ask: true } | { key: string } | { signedOut: string }

type KeyShare = {
  /** Tells the other tabs that nobody is signed in with this key any more. */
  signOut: (key: string) => void
}

/**
 * Hands the key of a signed-in tab to a new one, from memory to memory: each tab keeps it in its own session storage, nothing else does,
 * and it is gone with the last of them. Pages of the same origin can hear it; the edge serves none but its own there.
 */
export const shareKey = ({
  keyOf,
  onKey,
  onSignedOut,
}: {
  /** The key of this tab, if it has one. */
  keyOf: () => string | null
  onKey: (key: string) => void
  onSignedOut: () => void
}): KeyShare => {
  const channel = new BroadcastChannel('weir.key')
  const say = (said: Said) => channel.postMessage(said)
  channel.onmessage = ({ data }: MessageEvent<Said>) => {
    const key = keyOf()
    if ('ask' in data && key) say({ key })
    if ('key' in data && !key) onKey(data.key)
    if ('signedOut' in data && data.signedOut === key) onSignedOut()
  }
  if (!keyOf()) say({ ask: true })
  return { signOut: (key) => say({ signedOut: key }) }
}
