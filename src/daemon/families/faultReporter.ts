import { RefutedError, type RpcError } from '../../chains/rpc/errors.js'
import { alarmFields } from '../../ops/alarms.js'
import type { OpenContext } from './family.js'

/** Logs what a chain's nodes do wrong. */
export const faultReporter =
  (chain: string, { log }: OpenContext) =>
  (url: string, error: RpcError): void => {
    const refuted = error instanceof RefutedError && alarmFields('ClusterdRpcWrongChain')
    const fields = { chain, url: new URL(url).host, fault: error.fault, err: error, ...refuted }
    log[refuted ? 'error' : 'debug'](fields, 'an RPC URL failed')
  }
