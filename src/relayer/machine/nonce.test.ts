import { expect, it } from 'vitest'
import { cancelling, NOW, seen, sent, signed, txOf } from '../../../test/model/nonceJobs.js'
import { type EvmJobSnapshot, REPLACE_AFTER_BLOCKS } from './index.js'
import type { EvmJob } from './job.js'
import { describeUnusedNonce, UNUSED_NONCE_DECISIONS, unusedNonceDecision } from './nonce.js'

const HEAD = 50
const sentAt = (sentBlock: number | null): EvmJob => ({ ...sent, txs: [txOf(1, { sentBlock })] })
const old = sentAt(HEAD - REPLACE_AFTER_BLOCKS)
const paused = NOW + 1

/** A row of the table, a job for which it is the first row that holds, and what the chain shows. */
const CASES: [row: string, job: EvmJob, seen?: Partial<EvmJobSnapshot>][] = [
  ['its block was replaced', { ...old, state: 'included', nextMs: paused }],
  ['somebody else did the job', { ...old, nextMs: paused }, { done: 'unconfirmed' }],
  ['somebody else did the job', old, { done: 'confirmed', isSure: false }],
  ['it pauses after a failure', { ...signed, nextMs: paused }],
  ['it pauses after a failure', { ...old, nextMs: paused }],
  ['no node takes it', { ...old, txs: [txOf(1, { isRejected: true })] }],
  ['no node takes it', { ...old, txs: [txOf(1, { isRejected: true, sentBlock: HEAD })] }],
  ['it was sent a moment ago', sentAt(HEAD)],
  ['it was sent a moment ago', sentAt(HEAD - REPLACE_AFTER_BLOCKS + 1), { nonce: 'later' }],
  ['it was sent a moment ago', { ...sentAt(HEAD), release: 'operator' }],
  ['it has another purpose', { ...old, release: 'operator' }],
  ['it has another purpose', { ...signed, release: 'operator' }],
  ['it has another purpose', old, { done: 'confirmed' }],
  ['it was not sent', signed],
  ['it was not sent', cancelling],
  ['it was not sent', sentAt(HEAD + 101)],
  ['an earlier nonce is unused too', old, { nonce: 'later' }],
  ['no block took it', old],
]

it.each(
  CASES.map(([row, job, change]) => ({ row, nonce: describeUnusedNonce(job, seen(change)) })),
)('an unused nonce: $row ($#)', ({ row, nonce }) => {
  expect(unusedNonceDecision(nonce).name).toBe(row)
})

it('every row has a case', () => {
  const tried = new Set(CASES.map(([row]) => row))
  expect([...tried]).toEqual(UNUSED_NONCE_DECISIONS.map(({ name }) => name))
})
