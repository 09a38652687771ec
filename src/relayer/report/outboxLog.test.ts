import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import type { JobRow } from '../../db/outbox/rows.js'
import { alarmFields } from '../../ops/alarms.js'
import type { StoredPayment } from '../../registry/payment/payment.js'
import { newJob } from '../machine/job.js'
import { OutboxLog } from './outboxLog.js'

const NOW = 1_000
const row: JobRow = {
  ...{ ...newJob('7', 'refund'), network: 'mainnet', chain: 3, signer: null, subject: Buffer.alloc(32, 1) },
  ...{ createdMs: 400, updatedMs: 0, version: 1, failures: 1, reason: 'expired' },
  ...{ message: null, payment: null, batch: null, followers: [] },
}
const payment = { money: { token: 'native', amount: 5n }, paidMs: 300 } as StoredPayment

function listening() {
  const lines: Record<string, unknown>[] = []
  const level = { formatters: { level: (label: string) => ({ level: label }) } }
  const write = (line: string) => void lines.push(JSON.parse(line))
  const log = pino({ level: 'trace', base: null, timestamp: false, ...level }, { write })
  const said = () => lines.splice(0)
  return {
    outbox: new OutboxLog(log, 'mainnet', () => NOW),
    said,
    texts: () => said().map(({ level, msg }) => `${level}: ${msg}`),
  }
}

describe('the log of an outbox', () => {
  it('tells an alarm once, and again after it was over', () => {
    const { outbox, said } = listening()
    const gap = { alarm: 'ClusterdNonceGap', text: 'mainnet: a gap' } as const
    const dry = { alarm: 'ClusterdRelayerRunsDry', text: 'mainnet: dry' } as const
    for (const problems of [[gap], [gap, dry], [dry], [], [dry, { ...dry, text: 'another' }]]) outbox.problems(problems)
    const line = ({ alarm }: typeof gap | typeof dry, msg: string) => ({
      ...{ level: 'error', network: 'mainnet', ...alarmFields(alarm), msg },
    })
    expect(said()).toEqual([line(gap, gap.text), line(dry, dry.text), line(dry, 'mainnet: dry; another')])
  })

  it('tells once that a packet is stuck, and for how long', () => {
    const { outbox, said } = listening()
    for (const bytes of [[1], [1, 2], [2]])
      outbox.stuck(bytes.map((byte) => ({ guid: Buffer.alloc(32, byte), sentMs: 400 })))
    expect(said()).toMatchObject(['01', '02'].map((byte) => ({ guid: `0x${byte.repeat(32)}`, ms: 600 })))
  })

  it('names a job, its transaction, its money and its failure', () => {
    const { outbox, said } = listening()
    const txs = ['oldest', 'new'].map((hash) => ({ hash, raw: '', lastValidHeight: 1 }))
    outbox.outcome({ ...row, txs, payment, nonce: 3 }, { outcome: 'sent' })
    const fields = { network: 'mainnet', job: '7', kind: 'refund', failures: 1, reason: 'expired', nonce: 3 }
    const money = { token: 'native', amount: '5', subject: `0x${'01'.repeat(32)}` }
    expect(said()).toEqual([{ level: 'debug', ...fields, ...money, tx: 'new', msg: 'sent' }])
  })

  it('tells how long what is done took, from when its message was sent or its payment made', () => {
    const { outbox, said } = listening()
    const message = { sentMs: 100 } as JobRow['message']
    for (const change of [{ message, payment }, { payment }, {}])
      outbox.outcome({ ...row, ...change }, { outcome: 'confirmed' })
    expect(said().map(({ msg, ms }) => [msg, ms])).toEqual([900, 700, 600].map((ms) => ['refunded on Solana', ms]))
  })

  it('warns of what is parked and of the first failure of many', () => {
    const { outbox, texts } = listening()
    for (const reason of ['settled_elsewhere', 'refunded_elsewhere', 'spend_cap'])
      outbox.outcome({ ...row, reason }, { outcome: 'parked' })
    for (const failures of [1, 2]) outbox.outcome({ ...row, failures }, { outcome: 'failed' })
    const elsewhere = 'error: a job is parked: somebody else decided about its money'
    expect(texts()).toEqual([
      ...[elsewhere, elsewhere, 'warn: a job is parked: see `clusterd outbox show`'],
      ...['warn: a job failed; it will be tried again', 'debug: a job failed again'],
    ])
  })
})
