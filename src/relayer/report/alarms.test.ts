import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import type { JobRow } from '../../db/outbox/rows.js'
import { alarmFields } from '../../ops/alarms.js'
import type { JobKind } from '../../registry/outbox.js'
import type { StoredPayment } from '../../registry/payment/payment.js'
import { newJob } from '../machine/job.js'
import type { PayerState } from '../payer.js'
import type { RelayerState } from '../relayer.js'
import type { Outcome } from '../step.js'
import { Alarms } from './alarms.js'

const SUBJECT = Buffer.alloc(32, 1)
const row: JobRow = {
  ...{ ...newJob('7', 'refund'), network: 'mainnet', chain: 3, signer: null, subject: SUBJECT },
  ...{
    createdMs: 400,
    updatedMs: 0,
    version: 1,
    failures: 1,
    reason: 'expired',
    message: null,
    payment: null,
    batch: null,
    followers: [],
  },
}
const payment = { money: { token: 'native', amount: 5n }, paidMs: 300 } as StoredPayment
const NOW = 1_000

type Line = Record<string, unknown>

function listening() {
  const lines: Line[] = []
  const log = pino(
    { level: 'trace', base: null, timestamp: false, formatters: { level: (level) => ({ level }) } },
    {
      write: (line: string) => void lines.push(JSON.parse(line)),
    },
  )
  const said = () => lines.splice(0)
  return {
    alarms: new Alarms(log, 'mainnet', () => NOW),
    said,
    texts: () => said().map(({ level, msg }) => `${level}: ${msg}`),
  }
}

describe('alarms of the relay authority', () => {
  const state = (balanceLamports: bigint | null): PayerState => ({ network: 'mainnet', stats: null, balanceLamports })
  const DRY = 'the relay authority on Solana runs dry: send it SOL'

  it('say once that it runs dry, and again after it was given SOL', () => {
    const { alarms, texts } = listening()
    for (const balance of [10n ** 9n, 1n, 0n, 10n ** 9n, 3n]) alarms.payer(state(balance), true)
    expect(texts()).toEqual([`error: ${DRY}`, `error: ${DRY}`])
  })

  it('begin below the fees of 2,000 transactions, and only with a known balance', () => {
    const { alarms, said } = listening()
    for (const balance of [null, 10_000_000n]) alarms.payer(state(balance), true)
    expect(said()).toEqual([])
    alarms.payer(state(9_999_999n), true)
    expect(said()).toEqual([
      {
        level: 'error',
        network: 'mainnet',
        lamports: '9999999',
        ...alarmFields('ClusterdRelayAuthorityRunsDry'),
        msg: DRY,
      },
    ])
  })

  it('say when more is owed than before, where nobody sends it by itself', () => {
    const { alarms, said } = listening()
    const owing = (count: number): PayerState => ({
      ...state(null),
      stats: { open: [], owed: { count, lamports: 1n } },
    })
    for (const count of [0, 1, 1, 3, 0, 1]) alarms.payer(owing(count), false)
    const msg = 'refunds are owed on Solana: see `clusterd outbox list --refunds`'
    expect(said()).toEqual(
      [1, 3, 1].map((refunds) => ({
        level: 'warn',
        network: 'mainnet',
        refunds,
        ...alarmFields('ClusterdRefundsOwed'),
        msg,
      })),
    )
    alarms.payer(owing(9), true)
    expect(said()).toEqual([])
  })

  it('say that payments have to be refunded where there is no key', () => {
    const { alarms, said } = listening()
    const waiting = (count: number, balanceLamports: bigint | null, change = {}): PayerState => ({
      ...state(balanceLamports),
      stats: {
        open: [
          { kind: 'refuse', state: 'parked', count: 50, oldestMs: 0 },
          { kind: 'settle', state: 'queued', count: 60, oldestMs: 0 },
          { kind: 'refuse', state: 'queued', count, oldestMs: 0, ...change },
        ],
        owed: { count: 0, lamports: 0n },
      },
    })
    for (const count of [0, 2, 2, 3]) alarms.payer(waiting(count, null), true)
    const msg = "payments on Solana wait to be refunded: set the relay authority's key"
    expect(said()).toEqual(
      [2, 3].map((payments) => ({
        level: 'error',
        network: 'mainnet',
        payments,
        ...alarmFields('ClusterdRelayKeyMissing'),
        msg,
      })),
    )
    alarms.payer(waiting(9, 10n ** 9n), true)
    alarms.payer(waiting(9, null, { state: 'sent' }), true)
    expect(said()).toEqual([])
  })

  it('say nothing before anybody has counted', () => {
    const { alarms, said } = listening()
    for (const autoRefunds of [true, false]) alarms.payer(state(null), autoRefunds)
    expect(said()).toEqual([])
  })
})

describe('alarms of a relayer', () => {
  it('say when more jobs are under way by another key', () => {
    const { alarms, said } = listening()
    const held = (heldByOthers: number) =>
      ({ stats: { open: [], heldByOthers, spentLastDayWei: 0n } }) as unknown as RelayerState
    for (const count of [0, 1, 1, 2, 0]) alarms.relayer(held(count))
    const msg = 'jobs hold nonces of another key: they are followed, and replaced or cancelled by that key alone'
    expect(said()).toEqual([1, 2].map((jobs) => ({ level: 'error', network: 'mainnet', jobs, msg })))
    alarms.relayer({ stats: null } as RelayerState)
    expect(said()).toEqual([])
  })

  it('know the jobs of another key of each chain by themselves', () => {
    const { alarms, said } = listening()
    const held = (chain: string, heldByOthers: number) =>
      ({ chain, stats: { open: [], heldByOthers, spentLastDayWei: 0n } }) as unknown as RelayerState
    // both relayers are asked after every step
    for (let i = 0; i < 3; i++)
      for (const [chain, count] of [
        ['1', 2],
        ['8453', 0],
      ] as const)
        alarms.relayer(held(chain, count))
    expect(said()).toMatchObject([{ chain: '1', jobs: 2 }])
  })

  it('say once that a packet is stuck, and for how long', () => {
    const { alarms, said } = listening()
    const stuck = (...bytes: number[]) =>
      alarms.stuck(bytes.map((byte) => ({ guid: Buffer.alloc(32, byte), sentMs: 400 })))
    stuck(1)
    stuck(1, 2)
    stuck(2)
    const line = {
      ...alarmFields('ClusterdPacketsStuck'),
      level: 'warn',
      network: 'mainnet',
      ms: 600,
      msg: 'a packet is stuck: the hub has not received it',
    }
    expect(said()).toEqual(['01', '02'].map((byte) => ({ ...line, guid: `0x${byte.repeat(32)}` })))
  })
})

describe('alarms of a job', () => {
  it('name it, its transaction, its money and its failure', () => {
    const { alarms, said } = listening()
    const txs = ['oldest', 'old', 'new'].map((hash) => ({ hash, raw: '', lastValidHeight: 1 }))
    const fields = { network: 'mainnet', job: '7', kind: 'refund', failures: 1, reason: 'expired' }
    const [nonce, subject] = [3, `0x${'01'.repeat(32)}`]
    alarms.outcome({ ...row, txs, payment, nonce }, { outcome: 'sent' })
    alarms.outcome({ ...row, subject: null }, { outcome: 'sent' })
    expect(said()).toEqual([
      { level: 'debug', ...fields, nonce, subject, token: 'native', amount: '5', tx: 'new', msg: 'sent' },
      { level: 'debug', ...fields, nonce: null, subject: null, msg: 'sent' },
    ])
  })

  it.each<[JobKind, string]>([
    ['verify', 'verified'],
    ['execute', 'delivered'],
    ['noop', 'used a nonce up'],
    ['deliver', 'delivered'],
    ['refuse', 'refunded a payment for a community name'],
    ['settle', 'settled on Solana'],
    ['refund', 'refunded on Solana'],
  ])('tell what is done: %s', (kind, done) => {
    const { alarms, texts } = listening()
    alarms.outcome({ ...row, kind }, { outcome: 'confirmed' })
    expect(texts()).toEqual([`info: ${done}`])
  })

  it('tell how long it took, from when its message was sent or its payment made', () => {
    const { alarms, said } = listening()
    const message = { sentMs: 100 } as JobRow['message']
    for (const change of [{ message, payment }, { payment }, {}])
      alarms.outcome({ ...row, ...change }, { outcome: 'confirmed' })
    expect(said().map(({ ms }) => ms)).toEqual([900, 700, 600])
  })

  it.each<[string, string]>([
    ['settled_elsewhere', 'error: a job is parked: somebody else decided about its money'],
    ['refunded_elsewhere', 'error: a job is parked: somebody else decided about its money'],
    ['spend_cap', 'warn: a job is parked: see `clusterd outbox show`'],
  ])('say why it is parked: %s', (reason, text) => {
    const { alarms, texts } = listening()
    alarms.outcome({ ...row, reason }, { outcome: 'parked' })
    expect(texts()).toEqual([text])
  })

  it('say the first failure of many', () => {
    const { alarms, texts } = listening()
    for (const outcome of ['failed', 'refused'] as const)
      for (const failures of [1, 2]) alarms.outcome({ ...row, failures }, { outcome })
    const [first, again] = ['warn: a job failed; it will be tried again', 'debug: a job failed again']
    expect(texts()).toEqual([first, again, first, again])
  })

  it('say of each chain that the signer runs dry there, whatever is sent on another', () => {
    const { alarms, said } = listening()
    const on = (chain: number) => ({ ...row, chain, reason: 'insufficient_funds' })
    const seen = [
      [1, 'failed'],
      [2, 'sent'],
      [1, 'failed'],
      [2, 'failed'],
      [1, 'sent'],
      [2, 'failed'],
    ] as const
    for (const [chain, outcome] of seen) alarms.outcome(on(chain), { outcome })
    expect(said().filter(({ level }) => level === 'error')).toHaveLength(2)
  })

  it('say once that the signer runs dry, until something was sent', () => {
    const { alarms, texts } = listening()
    const dry = { ...row, reason: 'insufficient_funds' }
    for (const outcome of ['failed', 'failed', 'signed', 'failed', 'sent', 'failed'] as const)
      alarms.outcome(dry, { outcome })
    const text = 'error: the signer has run dry: send it funds; jobs wait for them'
    expect(texts()).toEqual([text, 'debug: signed', 'debug: sent', text])
  })

  it('are whispers for whatever else happens to it', () => {
    const { alarms, texts } = listening()
    const outcomes: Outcome['outcome'][] = ['waiting', 'ended', 'unreachable', 'stale', 'replaced']
    for (const outcome of outcomes) alarms.outcome(row, { outcome })
    expect(texts()).toEqual([
      ...['trace: waiting', 'trace: ended', 'debug: the chain could not be asked', 'debug: stale', 'debug: replaced'],
    ])
  })
})
