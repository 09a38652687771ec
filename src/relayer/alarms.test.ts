import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import type { JobRow } from '../db/outbox/rows.js'
import { Alarms } from './alarms.js'
import { newJob } from './machine/job.js'
import type { PayerState } from './payer.js'
import type { RelayerState } from './relayer.js'

const row: JobRow = {
  ...newJob('7', 'refund'),
  ...{
    network: 'mainnet',
    chain: 3,
    signer: null,
    subject: Buffer.alloc(32, 1),
    createdMs: 0,
    updatedMs: 0,
    version: 1,
  },
  ...{ failures: 1, reason: 'expired', message: null, payment: null },
}
const ERROR = 50
const WARN = 40
const DEBUG = 20

function listening() {
  const said: { level: number; msg: string }[] = []
  const log = pino({ level: 'trace' }, { write: (line: string) => void said.push(JSON.parse(line)) })
  return { alarms: new Alarms(log, 'mainnet', () => 0), levels: () => said.splice(0).map(({ level }) => level) }
}

describe('alarms', () => {
  it('say once that the authority runs dry, and again after it was given SOL', () => {
    const { alarms, levels } = listening()
    const state = (balanceLamports: bigint): PayerState => ({ network: 'mainnet', stats: null, balanceLamports })
    for (const balance of [10n ** 9n, 1n, 0n, 10n ** 9n, 3n]) alarms.payer(state(balance), true)
    expect(levels()).toEqual([ERROR, ERROR])
  })

  it('say when more is owed than before, where nobody sends it by itself', () => {
    const { alarms, levels } = listening()
    const owing = (count: number): PayerState => ({
      ...{ network: 'mainnet', balanceLamports: null },
      stats: { open: [], owed: { count, lamports: 1n } },
    })
    for (const count of [0, 1, 1, 3, 0, 1]) alarms.payer(owing(count), false)
    expect(levels()).toEqual([WARN, WARN, WARN])
    alarms.payer(owing(9), true)
    expect(levels()).toEqual([])
  })

  it('say that payments have to be refunded where there is no key', () => {
    const { alarms, levels } = listening()
    const waiting = (count: number, balanceLamports: bigint | null): PayerState => ({
      ...{ network: 'mainnet', balanceLamports },
      stats: { open: [{ kind: 'refuse', state: 'queued', count, oldestMs: 0 }], owed: { count: 0, lamports: 0n } },
    })
    for (const count of [0, 2, 2, 3]) alarms.payer(waiting(count, null), true)
    expect(levels()).toEqual([ERROR, ERROR])
    alarms.payer(waiting(9, 10n ** 9n), true)
    expect(levels()).toEqual([])
  })

  it('say when more jobs are under way by another key', () => {
    const { alarms, levels } = listening()
    const held = (heldByOthers: number) =>
      ({ stats: { open: [], heldByOthers, spentLastDayWei: 0n } }) as unknown as RelayerState
    for (const count of [0, 1, 1, 2, 0]) alarms.relayer(held(count))
    expect(levels()).toEqual([ERROR, ERROR])
  })

  it('say that a payment for a community name was not refunded in time', () => {
    const { alarms, levels } = listening()
    alarms.outcome({ ...row, kind: 'refuse', reason: 'refund_window_ended' }, { outcome: 'parked' })
    expect(levels()).toEqual([ERROR])
  })

  it('say what is parked, and the first failure of many', () => {
    const { alarms, levels } = listening()
    alarms.outcome({ ...row, reason: 'settled_elsewhere' }, { outcome: 'parked' })
    alarms.outcome({ ...row, reason: 'spend_cap' }, { outcome: 'parked' })
    alarms.outcome(row, { outcome: 'failed' })
    alarms.outcome({ ...row, failures: 2 }, { outcome: 'failed' })
    expect(levels()).toEqual([ERROR, WARN, WARN, DEBUG])
  })

  it('say once that the signer runs dry, until something was sent', () => {
    const { alarms, levels } = listening()
    const dry = { ...row, reason: 'insufficient_funds' }
    for (const outcome of ['failed', 'failed', 'sent', 'failed'] as const) alarms.outcome(dry, { outcome })
    expect(levels()).toEqual([ERROR, DEBUG, ERROR])
  })

  it('say once that a packet is stuck', () => {
    const { alarms, levels } = listening()
    const message = { guid: Buffer.alloc(32, 1), sentMs: 0 } as Parameters<Alarms['stuck']>[0]
    alarms.stuck(message)
    alarms.stuck(message)
    expect(levels()).toEqual([WARN])
  })
})
