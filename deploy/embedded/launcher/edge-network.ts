import { readConfig } from '#platform/process/config.js'
import { networkVariables, openNetwork } from '../../../services/edge/network/network.js'
import { ConfigProblems } from './config.js'

/** Asks what the edge will ask when it starts, which is last, half a minute and five processes later. */
export const checkEdgeNetwork = (env: NodeJS.ProcessEnv): void => {
  try {
    openNetwork(readConfig({ type: 'object', properties: networkVariables }, env))
  } catch (error) {
    throw new ConfigProblems((error as Error).message)
  }
}
