import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import type { MoneyRow, RefusalRow } from '../../db/outbox/payoutRows.js'
import { createPayoutAlarms } from './alarms.js'
import type { PayerState } from './payer.js'

const row: MoneyRow = {
  ...{ network: 'mainnet', kind: 'refund', state: 'queued', tx: null, failures: 1, nextMs: 0, reason: 'expired' },
  ...{ createdMs: 0, version: 1 },
  payment: {
    ...{ messageId: Buffer.alloc(32, 1), quoteId: Buffer.alloc(32, 2), payer: Buffer.alloc(33, 2) },
    ...{ sequence: 7n, lamports: 5n, slot: 1, paidMs: 0 },
  },
}
const ERROR = 50
const WARN = 40

function listening() {
  const said: { level: number; msg: string }[] = []
  const log = pino({ level: 'trace' }, { write: (line: string) => void said.push(JSON.parse(line)) })
  return { alarms: createPayoutAlarms(log, 'mainnet'), levels: () => said.splice(0).map(({ level }) => level) }
}

describe('alarms of payouts', () => {
  it('say once that the authority runs dry, and again after it was given SOL', () => {
    const { alarms, levels } = listening()
    const state = (balanceLamports: bigint): PayerState => ({ network: 'mainnet', stats: null, balanceLamports })
    for (const balance of [10n ** 9n, 1n, 0n, 10n ** 9n, 3n]) alarms.state(state(balance), true)
    expect(levels()).toEqual([ERROR, ERROR])
  })

  it('say when more is owed than before, where nobody sends it by itself', () => {
    const { alarms, levels } = listening()
    const owing = (count: number): PayerState => ({
      ...{ network: 'mainnet', balanceLamports: null },
      stats: { open: [], owed: { count, lamports: 1n } },
    })
    for (const count of [0, 1, 1, 3, 0, 1]) alarms.state(owing(count), false)
    expect(levels()).toEqual([WARN, WARN, WARN])
    alarms.state(owing(9), true)
    expect(levels()).toEqual([])
  })

  it('say that a payment for a name of a community was not given back in time', () => {
    const refusal: RefusalRow = {
      ...{ network: 'mainnet', kind: 'refuse', state: 'parked', tx: null, failures: 0, nextMs: 0, reason: 'hold_over' },
      ...{ createdMs: 0, version: 1 },
      payment: {
        ...{
          messageId: Buffer.alloc(32, 1),
          payer: Buffer.alloc(33, 2),
          community: Buffer.alloc(32),
          name: Buffer.alloc(32),
        },
        ...{ sequence: 7n, token: 'native', amount: 5n, slot: 1, paidMs: 0 },
      },
    }
    const { alarms, levels } = listening()
    alarms.outcome(refusal, 'parked')
    expect(levels()).toEqual([ERROR])
  })

  it('say that payments have to be given back where there is no key', () => {
    const { alarms, levels } = listening()
    const waiting = (count: number, balanceLamports: bigint | null): PayerState => ({
      ...{ network: 'mainnet', balanceLamports },
      stats: { open: [{ kind: 'refuse', state: 'queued', count, oldestMs: 0 }], owed: { count: 0, lamports: 0n } },
    })
    for (const count of [0, 2, 2, 3]) alarms.state(waiting(count, null), true)
    expect(levels()).toEqual([ERROR, ERROR])
    alarms.state(waiting(9, 10n ** 9n), true)
    expect(levels()).toEqual([])
  })

  it('say what is parked, and the first failure of many', () => {
    const { alarms, levels } = listening()
    alarms.outcome({ ...row, state: 'parked' }, 'parked')
    alarms.outcome(row, 'failed')
    alarms.outcome({ ...row, failures: 2 }, 'failed')
    expect(levels()).toEqual([ERROR, WARN, 20])
  })
})
