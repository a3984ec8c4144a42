import type { UploadAnswer } from '../../support/system/uploader.js'
import type { ToldUpload } from '../workload/ledger.js'
import type { Check, Finding } from './finding.js'

/** GET /v1/requests/{id} tells what the client was told. */
export const checkRequests: Check = ({ uploads }, { requests }) =>
  uploads.flatMap((upload): Finding[] => {
    const later = requests.get(upload.requestId)
    const isSame = JSON.stringify(later?.batches?.map(fromAnswer)) === JSON.stringify(upload.batches.map(fromTold))
    const about = `request ${upload.requestId}: ${JSON.stringify(later)}`
    return isSame ? [] : [{ name: 'request-disagrees', about }]
  })

const fromTold = ({ batchId, status, refused }: ToldUpload['batches'][number]) => ({ batchId, status, refused })

const fromAnswer = ({ status, data }: UploadAnswer['batches'][number]) => ({
  batchId: data.batch_id,
  status,
  refused: (data.errors ?? []).map(({ index, problems }) => ({ index, codes: problems.map(({ code }) => code) })),
})
