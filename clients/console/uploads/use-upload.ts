import { useEffect, useState } from 'preact/hooks'
import { useSession } from '../api/session.js'
import type { ShownUpload } from './uploads.js'

/** The upload of this tab, as it is at the moment. */
export const useUpload = (): ShownUpload | undefined => {
  const { uploads } = useSession()
  const [shown, setShown] = useState(uploads.now())
  useEffect(() => {
    setShown(uploads.now())
    return uploads.follow(() => setShown(uploads.now()))
  }, [uploads])
  return shown
}
