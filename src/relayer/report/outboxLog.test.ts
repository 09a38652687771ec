import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import type { JobRow } from '../../db/outbox/rows.js'
import { alarmFields } from '../../ops/alarms.js'
import { newJob } from '../machine/job.js'
import { createAlarmLog, logOutcome } from './outboxLog.js'

const row: JobRow = {
  ...{ ...newJob('7', 'refund'), network: 'mainnet', chain: 3, signer: null, subject: Buffer.alloc(32, 1) },
  ...{ createdMs: 400, updatedMs: 0, version: 1, failures: 1, reason: 'expired' },
  ...{ message: null, payment: null, batch: null, others: [] },
}

function listening() {
  const lines: Record<string, unknown>[] = []
  const level = { formatters: { level: (label: string) => ({ level: label }) } }
  const write = (line: string) => void lines.push(JSON.parse(line))
  const log = pino({ level: 'trace', base: null, timestamp: false, ...level }, { write })
  return { log, said: () => lines.splice(0) }
}

describe('the log of an outbox', () => {
  it('tells an alarm once, and again after it was over', () => {
    const { log, said } = listening()
    const logAlarms = createAlarmLog(log, 'mainnet')
    const gap = { alarm: 'ClusterdNonceGap', text: 'mainnet: a gap' } as const
    const dry = { alarm: 'ClusterdRelayerRunsDry', text: 'mainnet: dry' } as const
    for (const problems of [[gap], [gap, dry], [dry], [], [dry, { ...dry, text: 'another' }]]) logAlarms(problems)
    const line = ({ alarm }: typeof gap | typeof dry, msg: string) => ({
      ...{ level: 'error', network: 'mainnet', ...alarmFields(alarm), msg },
    })
    expect(said()).toEqual([line(gap, gap.text), line(dry, dry.text), line(dry, 'mainnet: dry; another')])
  })

  it('warns of what is parked and of the first failure of many', () => {
    const { log, said } = listening()
    for (const reason of ['settled_elsewhere', 'refunded_elsewhere', 'spend_cap'])
      logOutcome(log, { ...row, reason }, { outcome: 'parked' }, 0)
    for (const failures of [1, 2]) logOutcome(log, { ...row, failures }, { outcome: 'failed' }, 0)
    const elsewhere = 'error: a job is parked: somebody else decided about its money'
    expect(said().map(({ level, msg }) => `${level}: ${msg}`)).toEqual([
      ...[elsewhere, elsewhere, 'warn: a job is parked: see `clusterd outbox show`'],
      ...['warn: a job failed; it will be tried again', 'debug: a job failed again'],
    ])
  })
})
