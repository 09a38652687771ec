import { ComputeBudgetProgram, Keypair, SystemProgram, Transaction } from '@solana/web3.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { newJob } from '../../test/support/newJob.js'
import { createCommunityPaymentInstructions } from '../chains/solana/community/program.js'
import { createRegistrarClient } from '../chains/solana/registrar.js'
import type { JobRow } from '../db/outbox/rows.js'
import type { JobKind, SolanaJobTx } from '../registry/outbox.js'
import type { StoredPayment } from '../registry/payment/payment.js'
import { groupJobs } from './groups.js'
import { SOLANA_TX_CAPACITY } from './solanaRelayer.js'

function jobOf(
  id: number,
  kind: JobKind,
  { failures = 0, token = 'native' } = {},
): JobRow<SolanaJobTx> {
  const target = { kind: kind === 'settle' || kind === 'refund' ? 'name' : 'communityName' }
  return {
    ...newJob<SolanaJobTx>(String(id), kind),
    failures,
    network: 'mainnet',
    chain: 3,
    signer: null,
    subject: null,
    createdMs: 0,
    updatedMs: 0,
    version: 1,
    message: null,
    payment: { money: { token, amount: 1n }, target } as StoredPayment,
    batch: null,
    others: [],
  }
}
const batchesOf = (rows: readonly JobRow<SolanaJobTx>[]) => groupJobs(rows, SOLANA_TX_CAPACITY)
const idsOf = (groups: readonly (readonly JobRow[])[]) =>
  groups.map((group) => group.map(({ id }) => Number(id)))

const KINDS = ['settle', 'refund', 'refuse', 'release'] as const
/** Payments that fit into one transaction. */
const MOST = { settle: 12, refund: 12, refuse: 8, release: 8 }
const MOST_IN_TOKENS = 4

describe('jobs to start', () => {
  const drawn = fc.record({
    kind: fc.constantFrom(...KINDS),
    failures: fc.nat(2),
    token: fc.constantFrom('native', 'mint'),
  })
  const jobs = fc
    .array(drawn, { maxLength: 60 })
    .map((list) => list.map(({ kind, failures, token }, i) => jobOf(i, kind, { failures, token })))

  it('share transactions with others of their kind; a failed job is sent alone', () => {
    fc.assert(
      fc.property(jobs, (rows) => {
        const batches = batchesOf(rows)
        expect(
          idsOf(batches)
            .flat()
            .toSorted((a, b) => a - b),
        ).toEqual(rows.map(({ id }) => Number(id)))
        for (const batch of batches) {
          const [{ kind }] = batch as [JobRow]
          expect(batch.every((row) => row.kind === kind)).toBe(true)
          const isAlone = batch.some(({ failures }) => failures > 0)
          expect(batch.length).toBeLessThanOrEqual(isAlone ? 1 : MOST[kind as keyof typeof MOST])
        }
      }),
    )
  })

  it.each(KINDS)(
    'of one kind fill each transaction before the next, in their order: %s',
    (kind) => {
      const rows = Array.from({ length: 25 }, (_, i) => jobOf(i, kind))
      const sizes = idsOf(batchesOf(rows)).map(({ length }) => length)
      expect(sizes[0]).toBe(MOST[kind])
      expect(sizes.slice(0, -1).every((size) => size === MOST[kind])).toBe(true)
      expect(idsOf(batchesOf(rows)).flat()).toEqual(rows.map(({ id }) => Number(id)))
      const inTokens = rows.map((_, i) => jobOf(i, kind, { token: 'mint' }))
      if (kind === 'refuse' || kind === 'release')
        expect(batchesOf(inTokens)[0]).toHaveLength(MOST_IN_TOKENS)
      expect(batchesOf([])).toEqual([])
    },
  )

  it.each(KINDS)('fit into a transaction, in tokens that all differ: %s', (kind) => {
    const registrar = createRegistrarClient(SystemProgram.programId.toBase58())
    const key = () => Keypair.generate().publicKey
    const own = Array.from({ length: MOST[kind] }, () => ({
      payer: key(),
      quoteId: Buffer.alloc(32),
      sequence: 1n,
    }))
    const paid = { number: 1n, sequence: 1n, recipient: key() }
    const { refuse, release } = createCommunityPaymentInstructions(registrar)
    const inSol = Array.from({ length: MOST[kind] })
    const inTokens = Array.from({ length: MOST_IN_TOKENS })
    const decide = kind === 'refuse' ? refuse : release
    const instructions =
      kind === 'settle' || kind === 'refund'
        ? [registrar[kind](key(), own)]
        : [
            decide(
              key(),
              inSol.map(() => ({ ...paid, payer: key(), recipient: key(), token: null })),
            ),
            decide(
              key(),
              inTokens.map(() => ({ ...paid, payer: key(), recipient: key(), token: key() })),
            ),
          ]
    for (const instruction of instructions) {
      const [signer] = instruction.keys
      const budget = [
        ComputeBudgetProgram.setComputeUnitLimit({ units: 1 }),
        ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 1 }),
      ]
      const recentBlockhash = key().toBase58()
      const tx = new Transaction({ feePayer: signer!.pubkey, recentBlockhash }).add(
        ...budget,
        instruction,
      )
      expect(tx.serialize({ requireAllSignatures: false }).length).toBeLessThanOrEqual(1_232)
    }
  })
})
