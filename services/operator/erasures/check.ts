import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { Proof } from '#persons/erase/prove.js'
import { reasonOf } from '#platform/health/health.js'
import { OperatorError } from '../command/operator-error.js'
import type { Session } from '../command/session.js'
import { inWords } from './text.js'

/** A proof as it is handed on. The signature covers the report as it stands there, sign by sign. */
export type WrittenProof = { report: string; signature: string; public_key: string }

/** Whether a proof is what was signed, by the key in the file or by one that is known from elsewhere. */
export const check = async (file: string, options: { key?: string; json?: boolean }, session: Session) => {
  const proof = await readProof(file)
  const own = readKey(proof.public_key, file)
  const wanted = options.key === undefined ? own : readKey(await textOf(options.key), options.key)
  if (!own.equals(wanted))
    throw new OperatorError(`${file} is signed with another key than that of ${options.key}: it is not from there`, 2)
  if (!verify(null, Buffer.from(proof.report), own, Buffer.from(proof.signature, 'base64')))
    throw new OperatorError(`the signature does not fit the report: ${file} was changed after it was signed`, 2)

  const report: Proof = JSON.parse(proof.report)
  const keyHash = createHash('sha256')
    .update(own.export({ type: 'spki', format: 'der' }))
    .digest('hex')
  if (options.json) {
    const { erasure_id, left } = report
    session.print(JSON.stringify({ erasure_id, left, key_sha256: keyHash, report }))
  } else session.print(['The signature is right. What was signed:', ...inWords(report)].join('\n'))
  session.note(
    options.key === undefined
      ? `Signed with the key in the file (SHA-256 ${keyHash}). Whether that is the key of your Weir: --key`
      : `Signed with the key of ${options.key}.`,
  )
  if (report.left.length > 0) session.endWith(1)
}

const readProof = async (file: string): Promise<WrittenProof> => {
  const text = await textOf(file)
  try {
    const given = JSON.parse(text)
    // The answer of GET /v1/erasures/{erasure_id} has it inside.
    const { report, signature, public_key } = given.proof ?? given
    if ([report, signature, public_key].every((each) => typeof each === 'string'))
      return { report, signature, public_key }
  } catch {
    // It is said below.
  }
  throw new OperatorError(
    `${file} is no proof: it has to be JSON with report, signature and public_key, as "weir erasures prove <erasure_id> --out" writes it`,
    2,
  )
}

const textOf = (file: string): Promise<string> =>
  readFile(file, 'utf8').catch((error: unknown) => {
    throw new OperatorError(`${file} cannot be read: ${reasonOf(error)}`, 2)
  })

const readKey = (pem: string, file: string): KeyObject => {
  try {
    return createPublicKey(pem)
  } catch {
    throw new OperatorError(`${file} holds no public key (PEM, beginning with -----BEGIN PUBLIC KEY-----)`, 2)
  }
}
