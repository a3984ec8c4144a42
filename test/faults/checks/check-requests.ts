import type { UploadAnswer } from '../../support/system/uploader.js'
import type { ToldUpload } from '../workload/ledger.js'
import type { Check, Finding } from './finding.js'
import { inVainCodes, waitName } from './writes.js'

/** GET /v1/requests/{id} tells what the client was told, and what became of the records that waited. */
export const checkRequests: Check = ({ uploads }, { requests, waits }) => {
  const states = new Map(waits.map((wait) => [waitName(wait), wait.state]))
  const fromTold = (told: ToldUpload['batches'][number]) => {
    const { batchId } = told
    const ends = told.waited.map((index) => ({ index, state: states.get(waitName({ batch_id: batchId, index })) }))
    const inVain = ends.filter(({ state }) => state === 'refused').map(({ index }) => ({ index, codes: inVainCodes }))
    const refused = [...told.refused, ...inVain].sort((a, b) => a.index - b.index)
    const isAllAccepted = refused.length === 0 && ends.every(({ state }) => state === 'accepted')
    const status = isAllAccepted ? 200 : refused.length === told.places.length ? 400 : told.status
    return { batchId, status: ends.length > 0 ? status : told.status, refused, waiting: 0, waited: ends }
  }
  return uploads.flatMap((upload): Finding[] => {
    const later = requests.get(upload.requestId)
    const isSame = JSON.stringify(later?.batches?.map(fromAnswer)) === JSON.stringify(upload.batches.map(fromTold))
    const about = `request ${upload.requestId}: ${JSON.stringify(later)}`
    return isSame ? [] : [{ name: 'request-disagrees', about }]
  })
}

const fromAnswer = ({ status, data }: UploadAnswer['batches'][number]) => ({
  batchId: data.batch_id,
  status,
  refused: (data.errors ?? []).map(({ index, problems }) => ({ index, codes: problems.map(({ code }) => code) })),
  waiting: (data.waiting ?? []).length,
  waited: (data.waited ?? []).map(({ index, state }) => ({ index, state })),
})
