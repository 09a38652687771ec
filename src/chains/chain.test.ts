import { expect, it } from 'vitest'
import {
  AmountError,
  BridgeError,
  ChainBusyError,
  ChainUnavailableError,
  rethrowAsUnavailable,
} from './chain.js'
import { RpcError } from './rpc/errors.js'

const programmingError = new TypeError('a mistake')
const amountError = new AmountError('too little')
const busyError = new ChainBusyError('too many')
const bridgeError = new BridgeError('no quote')

it.each<[what: string, thrown: Error]>([
  ['an error of our own code', programmingError],
  ['an amount', amountError],
  ['the bridge', bridgeError],
  ['a full queue', busyError],
])('%s is no chain that is away', async (_, thrown) => {
  await expect(rethrowAsUnavailable('chain "1"', () => Promise.reject(thrown))).rejects.toBe(thrown)
})

it.each<[what: string, thrown: Error]>([
  ['a refusal of a plain question', new RpcError('refused', 'eth_call: no')],
  ['any other error', new Error('closed')],
])('%s counts as a chain that is away', async (_, thrown) => {
  await expect(rethrowAsUnavailable('chain "1"', () => Promise.reject(thrown))).rejects.toThrow(
    ChainUnavailableError,
  )
})
