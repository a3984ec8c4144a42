import { connect } from 'node:net'
import { json } from 'node:stream/consumers'
import { inject } from 'vitest'
import type { Addresses } from '../../deploy/embedded/launcher/config.js'

const answer = await json(connect(inject('partsPort'), '127.0.0.1'))
const { env, problem } = answer as { env: Addresses; problem?: string }
if (problem !== undefined) throw new Error(`the parts did not start: ${problem}`)

/** The parts that all `int` tests share. */
export const sharedParts = env
