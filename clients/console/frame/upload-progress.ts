import type { VNode } from 'preact'
import { useEffect } from 'preact/hooks'
import { html } from '../components/html.js'
import { percent } from '../components/words.js'
import { useUpload } from '../uploads/use-upload.js'
import { linkTo } from './route.js'

/** In the header of every page: how far the upload is, with the way back to it. Leaving the site meanwhile is asked about. */
export const UploadProgress = (): VNode | null => {
  const upload = useUpload()
  const isRunning = upload?.state === 'running'
  useEffect(() => {
    if (!isRunning) return
    const ask = (event: BeforeUnloadEvent) => event.preventDefault()
    addEventListener('beforeunload', ask)
    return () => removeEventListener('beforeunload', ask)
  }, [isRunning])
  if (!upload) return null
  const words = { running: percent(upload.share), done: 'uploaded', stopped: `stopped at ${percent(upload.share)}` }
  return html`<a class="under-way" href=${linkTo(['upload', 'run'])}><span class="name">${upload.file.name}</span> ${words[upload.state]}</a>`
}
