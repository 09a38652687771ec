import { expect, it, vi } from 'vitest'
import { snapshotWith } from '../../test/support/snapshot.js'
import type { ProblemWithAlarm } from '../ops/alarms.js'
import { createLogger } from '../ops/logger/logger.js'
import { WorkerLoops } from '../ops/loops.js'
import { createMetrics } from '../ops/metrics.js'
import { runWorkers } from '../ops/worker.js'
import { registerSnapshotMetrics } from './metrics.js'
import { createAlarmLogWorker, type ProcessSnapshot } from './snapshot.js'

const logInto = (lines: Record<string, unknown>[]) =>
  createLogger({ level: 'error', to: { write: (line) => void lines.push(JSON.parse(line)) } })

const none = {
  mirrors: [],
  internalErrors: [],
  failedRoutes: [],
  loops: [],
  chains: [],
  outboxes: [],
}

const behind = (events: number, network = 'mainnet'): ProblemWithAlarm => ({
  alarm: 'ClusterdLogBehind',
  text: `the signed log of ${network} is ${events} events behind its feed`,
  network,
})

it('an alarm is logged when it begins, and again only after it has ended', async () => {
  const lines: Record<string, unknown>[] = []
  let raised: ProblemWithAlarm[] = []
  const worker = createAlarmLogWorker(logInto(lines), () => ({ ...none, raised }) as never)
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

it('problems of one alarm differ by their subject, not by their text', async () => {
  const lines: Record<string, unknown>[] = []
  let failures = 0
  const away = (subject: string): ProblemWithAlarm => ({
    alarm: 'ClusterdWitnessAway',
    text: `the witness ${subject} does not sign: ${'x'.repeat(failures++)}`,
    network: 'mainnet',
    subject,
  })
  let nodes = ['10.0.0.5']
  const nodesNow = () => nodes.map((host) => ({ host, isWrong: true }))
  const worker = createAlarmLogWorker(
    logInto(lines),
    () =>
      ({
        ...none,
        raised: [away('w1'), away('w2')],
        chains: [
          {
            network: 'mainnet',
            label: '1',
            nodes: [{ use: 'index', nodes: nodesNow() }],
            state: null,
          },
        ],
      }) as never,
  )
  for (let i = 0; i < 3; i++) await worker.step(new AbortController().signal, () => {})
  nodes = ['10.0.0.5', '10.0.0.6']
  for (let i = 0; i < 3; i++) await worker.step(new AbortController().signal, () => {})
  expect(lines.map(({ subject }) => subject)).toEqual(['w1', 'w2', '10.0.0.5', '10.0.0.6'])
})

it('two problems of one alarm and network are two samples of the metric', async () => {
  const { registry } = createMetrics()
  const raised = [behind(2), { ...behind(3), subject: 'evidence' }]
  registerSnapshotMetrics(registry, () => ({ ...none, raised }) as never)
  const { values } = await registry.getSingleMetric('clusterd_alarm')!.get()
  expect(values.filter(({ labels: { alarm } }) => alarm === 'ClusterdLogBehind')).toMatchObject(
    ['', 'evidence'].map((subject) => ({ value: 1, labels: { subject } })),
  )
})

it('the metrics of a scrape show one snapshot', async () => {
  const { registry } = createMetrics()
  let snapshots = 0
  registerSnapshotMetrics(registry, () => {
    snapshots += 1
    return snapshotWith({ changesWaiting: snapshots })
  })
  for (const scrape of [1, 2]) {
    expect(await registry.metrics()).toContain(`clusterd_changes_waiting ${scrape}\n`)
    expect(snapshots).toBe(scrape)
  }
})

it('lost commits, which no memory outlasts, are logged at once', async () => {
  const lines: Record<string, unknown>[] = []
  const loops = new WorkerLoops()
  const stop = new AbortController()
  const log = logInto(lines)
  const read = () => ({ ...none, raised: loops.alarms() }) as never
  const { signal } = stop
  const done = runWorkers([createAlarmLogWorker(log, read, loops.lostCommitsWaker)], {
    log,
    loops,
    signal,
  })
  await vi.waitFor(() => expect(loops.states()).toMatchObject([{ name: 'the log of alarms' }]))
  loops.reportLostCommits('testnet')
  await vi.waitFor(() => expect(lines).toMatchObject([{ alarm: 'ClusterdWentBack' }]))
  stop.abort()
  await done
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
  const worker = createAlarmLogWorker(logInto(lines), () => snapshot)
  await worker.step(new AbortController().signal, () => {})
  expect(lines.map(({ alarm, network }) => [alarm, network])).toEqual([
    ['ClusterdMirrorRefused', 'mainnet'],
  ])
})
