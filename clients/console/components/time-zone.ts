import { useEffect, useState } from 'preact/hooks'

// In which zone times are shown: the reader's own, or UTC, for all tabs of this browser.

const name = 'weir.times'

const isUtcKept = (): boolean => {
  try {
    return localStorage.getItem(name) === 'utc'
  } catch {
    // A browser that keeps nothing, or no browser.
    return false
  }
}

let isUtc = isUtcKept()
const followers = new Set<() => void>()

/** As Intl takes it; undefined is the reader's own zone. */
export const shownZone = (): 'UTC' | undefined => (isUtc ? 'UTC' : undefined)

export const ownZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone

/** What the zone is called, beside times that do not say it themselves. */
export const zoneWords = (): string => (isUtc ? 'UTC' : ownZone())

export const showUtc = (next: boolean): void => {
  isUtc = next
  try {
    if (next) localStorage.setItem(name, 'utc')
    else localStorage.removeItem(name)
  } catch {
    // It holds for this tab then.
  }
  for (const tell of [...followers]) tell()
}

/** Draws anew when the zone changes, here or in another tab. */
export const useUtc = (): boolean => {
  const [shown, setShown] = useState(isUtc)
  useEffect(() => {
    const tell = () => setShown(isUtc)
    const hear = (event: StorageEvent) => event.key === name && showUtc(isUtcKept())
    followers.add(tell)
    addEventListener('storage', hear)
    return () => {
      followers.delete(tell)
      removeEventListener('storage', hear)
    }
  }, [])
  return shown
}
