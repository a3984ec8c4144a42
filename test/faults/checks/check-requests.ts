import type { UploadAnswer } from '../../support/system/uploader.js'
import type { ToldUpload } from '../workload/ledger.js'
import type { Check, Finding } from './finding.js'
import { waitName } from './writes.js'

/** GET /v1/requests/{id} tells what the client was told, and what became of the records that waited. */
export const checkRequests: Check = ({ uploads }, { requests, waits }) => {
  const states = new Map(waits.map((wait) => [waitName(wait), wait.state]))
  const fromTold = ({ batchId, status, refused, waited }: ToldUpload['batches'][number]) => {
    const ends = waited.map((index) => ({ index, state: states.get(waitName({ batch_id: batchId, index })) }))
    const isAllAccepted = refused.length === 0 && ends.every(({ state }) => state === 'accepted')
    return { batchId, status: ends.length > 0 && isAllAccepted ? 200 : status, refused, waiting: 0, waited: ends }
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
