import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { Registry } from 'prom-client'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { registerSnapshotMetrics } from '../src/daemon/metrics.js'
import type { ProcessSnapshot, ServedChain } from '../src/daemon/snapshot.js'
import {
  type AlarmName,
  FAILED_REQUESTS_ALARM_SHARE,
  FINALITY_ALARM_MS,
  INTERNAL_ERROR_ALARM_MS,
  LOOP_FAILURES_ALARM,
  OLD_JOB_ALARM_MS,
  PAYMENT_TIME_USED_ALARM_SHARE,
  STUCK_LOOP_ALARM_MS,
} from '../src/ops/alarms.js'
import type { ChainState } from '../src/ops/chainState.js'
import { LoopStageTimer } from '../src/ops/stages.js'
import type { RelayerState } from '../src/relayer/relayerState.js'
import type { OutboxState } from '../src/relayer/report.js'
import { firing, parseSamples, type Sample } from './support/alertRules.js'
import { snapshotWith } from './support/snapshot.js'

const FILE = 'examples/prometheus/alerts.yml'
const rules = [...readFileSync(FILE, 'utf8').matchAll(/- alert: (\w+)\n +expr: (.+)\n/g)].map(
  ([, alert, expr]) => ({
    alert: alert as AlarmName,
    expr: expr!,
  }),
)

const NOW_MS = 10 * FINALITY_ALARM_MS
beforeAll(() => void vi.useFakeTimers({ toFake: ['Date'], now: NOW_MS }))
afterAll(() => void vi.useRealTimers())
const state: ChainState = {
  network: 'mainnet',
  label: '1',
  chain: 1,
  latest: 100,
  confirmed: 98,
  nextBlock: 99,
  tailBlock: 100,
  headMs: NOW_MS,
  confirmedMs: NOW_MS,
  blockMs: 12_000,
  isCaughtUp: true,
  trust: 'proved',
  trustNodes: 2,
  errorAlarm: null,
  halted: null,
  lastStepMs: NOW_MS,
  lastError: null,
  stagesMs: new LoopStageTimer().lastMinute(),
}
const healthyNode = {
  host: 'rpc.example',
  requests: 10,
  errors: 0,
  latencyMs: 20,
  restMs: 0,
  isWrong: false,
  head: 'good' as const,
}
const loop = {
  name: 'the indexer',
  network: 'mainnet',
  chain: '1',
  ageMs: 0,
  failures: 0,
  lastError: null,
  cause: null,
}
/** An error of our own code that is too old for an alarm. */
const internalError = {
  name: 'the relayer',
  network: 'mainnet',
  chain: '1',
  count: 1,
  ageMs: INTERNAL_ERROR_ALARM_MS,
  lastError: 'TypeError',
}
const pool = { totalCount: 10, idleCount: 3, waitingCount: 0 }
/** A route of which just so many requests failed as raise no alarm. */
const failedRoute = {
  method: 'GET',
  route: '/v1/names',
  failed: 100 * FAILED_REQUESTS_ALARM_SHARE,
  all: 100,
  lastError: 'the disk of the database is full',
}
const hubRelayer: RelayerState = {
  network: 'mainnet',
  chain: '1',
  unit: 'wei',
  account: '0x01',
  open: [],
  signedToday: 0n,
  stuck: [],
  nonceGaps: 0,
  nonceClaimed: null,
  refusedNames: 0,
  balance: 10n ** 18n,
  runwayMs: 30 * 86_400_000,
}
const solanaRelayer: RelayerState = {
  ...hubRelayer,
  chain: 'solana',
  unit: 'lamports',
  account: 'relay authority',
  signedToday: null,
  stuck: null,
  balance: 10n ** 9n,
  runwayMs: null,
}

const lead = (role: 'index' | 'relay', isLeading = true) => ({
  network: 'mainnet' as const,
  role,
  isLeading,
})

const chain = (
  changes: Partial<ChainState> = {},
  node: Partial<typeof healthyNode> = {},
): ServedChain => ({
  network: 'mainnet',
  label: '1',
  role: 'hub',
  state: { ...state, ...changes },
  nodes: [{ use: 'index', nodes: [{ ...healthyNode, ...node }] }],
})
const outbox = (changes: Partial<OutboxState> = {}): OutboxState => ({
  network: 'mainnet',
  missingKeys: [],
  relayers: [hubRelayer, solanaRelayer],
  ...changes,
})
const hub = (changes: Partial<RelayerState>): Partial<ProcessSnapshot> => ({
  outboxes: [outbox({ relayers: [{ ...hubRelayer, ...changes }, solanaRelayer] })],
})
const solana = (changes: Partial<RelayerState>): Partial<ProcessSnapshot> => ({
  outboxes: [outbox({ relayers: [hubRelayer, { ...solanaRelayer, ...changes }] })],
})
const jobs = (open: RelayerState['open']) => ({ open })

/** A healthy process, with changes. */
const snapshot = (changes: Partial<ProcessSnapshot> = {}): ProcessSnapshot =>
  snapshotWith({
    chains: [chain()],
    leads: [lead('index'), lead('relay')],
    mirrors: [{ network: 'mainnet', problem: null }],
    outboxes: [outbox()],
    relayed: ['mainnet'],
    loops: [loop],
    internalErrors: [internalError],
    failedRoutes: [failedRoute],
    pools: { read: pool },
    ...changes,
  })

/** The metrics that Prometheus scrapes from a process in this state, at once and five minutes later. */
async function scrapes(changes: Partial<ProcessSnapshot>): Promise<[Sample[], Sample[]]> {
  const registry = new Registry()
  registerSnapshotMetrics(registry, () => snapshot(changes))
  const first = parseSamples(await registry.metrics())
  return [first, parseSamples(await registry.metrics())]
}

/** A problem that the code which found it has raised. */
const raised = (alarm: AlarmName): Partial<ProcessSnapshot> => ({
  raised: [{ alarm, text: 'as its code says', network: 'mainnet' }],
})
const mirror = (alarm: AlarmName): Partial<ProcessSnapshot> => ({
  mirrors: [{ network: 'mainnet', problem: { alarm, text: 'as the mirror says' } }],
})

const waiting = {
  kind: 'deliver',
  state: 'queued',
  count: 1,
  oldestMs: NOW_MS - OLD_JOB_ALARM_MS - 1_000,
  heldShare: null,
} as const
const short = {
  kind: 'settle',
  state: 'sent',
  count: 1,
  oldestMs: NOW_MS,
  heldShare: PAYMENT_TIME_USED_ALARM_SHARE + 0.01,
} as const
const parked = {
  kind: 'execute',
  state: 'parked',
  count: 1,
  oldestMs: NOW_MS,
  heldShare: null,
} as const
/** For each alert, a state as the code that detects it leaves it. */
const REHEARSALS: Record<AlarmName, Partial<ProcessSnapshot>> = {
  ClusterdNotLed: { leads: [lead('index', false), lead('relay')] },
  ClusterdNotRelayed: { leads: [lead('index')], outboxes: [] },
  ClusterdRelayKeyMissing: { outboxes: [outbox({ missingKeys: ['RELAYER_PRIVATE_KEY'] })] },
  ClusterdChainHalted: { chains: [chain({ halted: 'block 5 has been replaced' })] },
  ClusterdHeadStandsStill: { chains: [chain({ headMs: NOW_MS - 241_000 })] },
  ClusterdFinalityStandsStill: {
    chains: [chain({ confirmedMs: NOW_MS - FINALITY_ALARM_MS - 1_000 })],
  },
  ClusterdChainFailing: { chains: [chain({ lastError: 'no RPC URL answers' })] },
  ClusterdRpcSilent: {
    chains: [chain({ lastError: 'only a answers', errorAlarm: 'ClusterdRpcSilent' })],
  },
  ClusterdRpcContradiction: {
    chains: [chain({ lastError: 'a contradicts b', errorAlarm: 'ClusterdRpcContradiction' })],
  },
  ClusterdChainBehind: { chains: [chain({ tailBlock: 90 })] },
  ClusterdLoopHangs: { loops: [{ ...loop, ageMs: STUCK_LOOP_ALARM_MS + 1_000 }] },
  ClusterdLoopFails: { loops: [{ ...loop, failures: LOOP_FAILURES_ALARM + 1 }] },
  ClusterdOwnErrors: { internalErrors: [{ ...internalError, ageMs: 1_000 }] },
  ClusterdPaymentsWait: raised('ClusterdPaymentsWait'),
  ClusterdJobsParked: hub(jobs([parked])),
  ClusterdJobsWait: hub(jobs([waiting])),
  ClusterdPaymentsShortOfTime: solana({ open: [short] }),
  ClusterdNamesRefused: solana({ refusedNames: 1 }),
  ClusterdPacketsStuck: hub({ stuck: ['0x01'] }),
  ClusterdNonceGap: hub({ nonceGaps: 1 }),
  ClusterdNonceClaimed: hub({ nonceClaimed: 1_000_000 }),
  ClusterdRelayerRunsDry: hub({ runwayMs: 86_400_000 }),
  ClusterdRelayAuthorityRunsDry: solana({ balance: 1_000n }),
  ClusterdDatabaseBusy: { pools: { read: { ...pool, waitingCount: 1 } } },
  ClusterdWentBack: raised('ClusterdWentBack'),
  ClusterdLogBehind: raised('ClusterdLogBehind'),
  ClusterdWitnessAway: raised('ClusterdWitnessAway'),
  ClusterdChangesWait: { changesWaiting: 101 },
  ClusterdRpcWrongChain: { chains: [chain({}, { isWrong: true })] },
  ClusterdRpcAway: { chains: [chain({}, { restMs: 30_000 })] },
  ClusterdMirrorRefused: mirror('ClusterdMirrorRefused'),
  ClusterdMirrorBehind: mirror('ClusterdMirrorBehind'),
  ClusterdWebhookFails: raised('ClusterdWebhookFails'),
  ClusterdWebhookParked: raised('ClusterdWebhookParked'),
  ClusterdDatabaseAway: {
    loops: [{ ...loop, failures: 1, lastError: 'the disk is full', cause: 'database' }],
  },
  ClusterdClockOff: {
    loops: [{ ...loop, failures: 1, lastError: 'the clocks differ', cause: 'clock' }],
  },
  ClusterdErrors: { failedRoutes: [{ ...failedRoute, failed: 51 }] },
}

/** Rules over values that only Prometheus compares: with other processes, or over time. */
const OF_PROMETHEUS: AlarmName[] = [
  'ClusterdNotLed',
  'ClusterdNotRelayed',
  'ClusterdDatabaseBusy',
  'ClusterdChangesWait',
  'ClusterdRpcAway',
]

describe('the alert rules', () => {
  it('leave every limit that the code has to the code', () => {
    const others = rules.filter(
      ({ alert, expr }) => expr !== `clusterd_alarm{alarm="${alert}"} > 0`,
    )
    expect(others.map(({ alert }) => alert)).toEqual(OF_PROMETHEUS)
  })

  it('do not fire while all is well', async () => {
    const at = await scrapes({})
    const fires = rules.filter(({ expr }) => firing(expr, at).length > 0)
    expect(fires).toEqual([])
  })

  it.each(rules)('$alert fires in its state, and no other', async ({ alert }) => {
    const at = await scrapes(REHEARSALS[alert])
    const fires = rules.filter(({ expr }) => firing(expr, at).length > 0)
    expect(fires.map((rule) => rule.alert)).toEqual([alert])
  })

  it.each<[string, AlarmName, Partial<ProcessSnapshot>]>([
    [
      'jobs that wait for funds',
      'ClusterdRelayerRunsDry',
      hub({ ...jobs([waiting]), runwayMs: 0 }),
    ],
    [
      'jobs that wait for a nonce',
      'ClusterdNonceClaimed',
      hub({ ...jobs([waiting]), nonceClaimed: 9 }),
    ],
    [
      'a parked settlement that is short of time',
      'ClusterdPaymentsShortOfTime',
      solana({ open: [{ ...short, state: 'parked' }] }),
    ],
    [
      'an outbox that nobody leads',
      'ClusterdNotRelayed',
      { leads: [lead('index'), lead('relay', false)], outboxes: [] },
    ],
    [
      'a chain whose nodes are away, and its loop',
      'ClusterdChainFailing',
      {
        chains: [chain({ lastError: 'no RPC URL answers', headMs: NOW_MS - 3_600_000 })],
        loops: [{ ...loop, failures: 100, lastError: 'no RPC URL answers', cause: 'other' }],
      },
    ],
  ])('one cause raises one alarm: %s', async (_, alarm, changes) => {
    const at = await scrapes(changes)
    const fires = rules.filter(({ expr }) => firing(expr, at).length > 0)
    expect(fires.map(({ alert }) => alert)).toEqual([alarm])
  })

  it('a balance that only is low hides no job that waits', async () => {
    const at = await scrapes(hub({ ...jobs([waiting]), runwayMs: 86_400_000 }))
    const fires = rules.filter(({ expr }) => firing(expr, at).length > 0)
    expect(fires.map(({ alert }) => alert)).toEqual(['ClusterdJobsWait', 'ClusterdRelayerRunsDry'])
  })

  it('are accepted by promtool, where it is installed', ({ skip }) => {
    const checked = spawnSync('promtool', ['check', 'rules', FILE], { encoding: 'utf8' })
    if (checked.error) return skip('promtool is not installed')
    expect(checked.status, checked.stdout + checked.stderr).toBe(0)
  })
})

describe('the reader of expressions', () => {
  const sample = (chain: string, value: number) => ({
    name: 'm',
    labels: { chain, node: 'n' },
    value,
  })
  const scrape = [sample('1', 2), sample('1', 3), sample('10', 4)]

  it.each([
    ['sum by (chain) (m) > 4', [{ labels: { chain: '1' }, value: 5 }]],
    ['max by (chain) (m) > 3', [{ labels: { chain: '10' }, value: 4 }]],
    ['min by (node) (m) < 3', [{ labels: { node: 'n' }, value: 2 }]],
    ['sum by (node) (rate(m[5m])) == 0', [{ labels: { node: 'n' }, value: 0 }]],
  ])('reads %s', (expr, fired) => {
    expect(firing(expr, [scrape, scrape])).toMatchObject(fired)
  })

  it.each(['avg by (chain) (m) > 0', 'absent(m) > 0', 'm > 0 and m < 3'])(
    'says that it does not read %s',
    (expr) => {
      expect(() => firing(expr, [scrape, scrape])).toThrow(
        /alertRules\.ts does not read ".+": it reads selectors/,
      )
    },
  )
})

describe("Grafana's dashboard", () => {
  it('queries only metrics and labels that exist', () => {
    const { panels } = JSON.parse(readFileSync('examples/grafana/clusterd.json', 'utf8')) as {
      panels: { targets?: { expr: string; legendFormat: string }[] }[]
    }
    const labelsOf = new Map(
      [
        ...readFileSync('docs/run/metrics.md', 'utf8').matchAll(
          /^\| `(\w+)` \| \w+ \| ([\w, ]*) \|/gm,
        ),
      ].map(([, name, labels]) => [name!, labels!.split(', ')]),
    )
    const asked = panels.flatMap(({ targets = [] }) => targets)
    expect(asked.length).toBeGreaterThan(20)
    for (const { expr, legendFormat } of asked) {
      const metrics = [...expr.matchAll(/clusterd_\w+/g)].map(([name]) =>
        name.replace(/_(bucket|count|sum)$/, ''),
      )
      const known = metrics.flatMap((name) => labelsOf.get(name) ?? [`no metric ${name}`])
      expect(known.join(), expr).not.toContain('no metric')
      const shown = [...legendFormat.matchAll(/{{(\w+)}}/g)].map(([, label]) => label!)
      if (metrics.length > 0) expect(known, expr).toEqual(expect.arrayContaining(shown))
    }
  })

  it('shows each metric that no alarm watches', () => {
    const dashboard = readFileSync('examples/grafana/clusterd.json', 'utf8')
    const rules = readFileSync(FILE, 'utf8')
    const metrics = [
      ...readFileSync('docs/run/metrics.md', 'utf8').matchAll(/^\| `(clusterd_\w+)` /gm),
    ].map(([, name]) => name!)
    expect(metrics.length).toBeGreaterThan(30)
    const unseen = metrics.filter((name) =>
      [dashboard, rules].every((text) => !new RegExp(`\\b${name}(_bucket|_count)?\\b`).test(text)),
    )
    expect(unseen).toEqual([])
  })
})
