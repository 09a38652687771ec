import { expect, it } from 'vitest'
import type { ProblemWithAlarm } from '../ops/alarms.js'
import { createLog } from '../ops/logger/logger.js'
import { alarmLogWorker, type ProcessSnapshot } from './snapshot.js'

const logInto = (lines: Record<string, unknown>[]) =>
  createLog({ level: 'error', to: { write: (line) => void lines.push(JSON.parse(line)) } })

const none = { mirrors: [], ownErrors: [], failedRoutes: [], loops: [], chains: [], outboxes: [] }

const behind = (events: number, network = 'mainnet'): ProblemWithAlarm => ({
  alarm: 'ClusterdLogBehind',
  text: `the signed log of ${network} is ${events} events behind its feed`,
  network,
})

it('an alarm is logged when it begins, and again only after it has ended', async () => {
  const lines: Record<string, unknown>[] = []
  let raised: ProblemWithAlarm[] = []
  const worker = alarmLogWorker(logInto(lines), () => ({ ...none, raised }) as never)
  const logged = async (...alarms: ProblemWithAlarm[]) => {
    raised = alarms
    lines.length = 0
    await worker.step(new AbortController().signal, () => {})
    return lines.map(({ level, network, see, msg }) => [level, network, see, msg])
  }
  const line = ['docs/run/alarms.md#clusterdlogbehind', behind(2).text] as const
  expect(await logged(behind(2))).toEqual([[50, 'mainnet', ...line]])
  expect(await logged(behind(30), behind(1, 'testnet'))).toEqual([
    [50, 'testnet', line[0], behind(1, 'testnet').text],
  ])
  expect(await logged()).toEqual([])
  expect(await logged(behind(2))).toEqual([[50, 'mainnet', ...line]])
})

it('of problems only those are logged that an operator has to end', async () => {
  const lines: Record<string, unknown>[] = []
  const problemOf = (network: string, alarm: string) => ({
    network,
    problem: { alarm, text: alarm },
  })
  const snapshot = {
    ...none,
    mirrors: [
      problemOf('mainnet', 'ClusterdMirrorRefused'),
      problemOf('testnet', 'ClusterdMirrorBehind'),
    ],
    raised: [],
  } as unknown as ProcessSnapshot
  const worker = alarmLogWorker(logInto(lines), () => snapshot)
  await worker.step(new AbortController().signal, () => {})
  expect(lines.map(({ alarm, network }) => [alarm, network])).toEqual([
    ['ClusterdMirrorRefused', 'mainnet'],
  ])
})
