import type { EvmJobTx } from '../../src/registry/outbox.js'
import type { EvmJobSnapshot, SpendPolicy } from '../../src/relayer/machine/index.js'
import type { EvmJob } from '../../src/relayer/machine/job.js'
import { newJob } from '../support/newJob.js'

/** Jobs of an EVM chain, and what it shows of them, for tests of the state machine. */

export const NOW = 1_000_000
export const policy: SpendPolicy = {
  spendCapWei: 10_000_000n,
  gasPriceCapWei: 10n ** 15n,
}
const fees = { maxFeePerGas: 100n, maxPriorityFeePerGas: 10n }
/** What costs 100,007 wei with a job's value. */
export const prepared = { gas: 1_000n, fees, balanceWei: 10n ** 30n }
export const seen = (change: Partial<EvmJobSnapshot> = {}): EvmJobSnapshot => ({
  nowMs: NOW,
  random: 0.5,
  head: 50,
  done: 'no',
  nonce: 'next',
  mined: null,
  isSure: true,
  prepared: null,
  ...change,
})
export const txOf = (n: number, change: Partial<EvmJobTx> = {}): EvmJobTx => ({
  hash: `0x${n}`,
  raw: `0x${n}${n}`,
  purpose: 'deliver',
  gas: 1_000n,
  valueWei: 7n,
  ...fees,
  sentBlock: null,
  isRejected: false,
  ...change,
})
export const queued: EvmJob = newJob<EvmJobTx>('d', 'execute', 7n)
export const signed: EvmJob = { ...queued, state: 'signed', nonce: 3, txs: [txOf(1)] }
export const sent: EvmJob = { ...signed, state: 'sent', txs: [txOf(1, { sentBlock: 50 })] }
export const cancelling: EvmJob = {
  ...sent,
  release: 'queue',
  txs: [txOf(1, { sentBlock: 40 }), txOf(2, { purpose: 'cancel' })],
}
