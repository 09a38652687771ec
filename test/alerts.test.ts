import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import {
  type AlarmName,
  FINALITY_ALARM_MS,
  INTERNAL_ERROR_ALARM_MS,
  LOW_BALANCE_LAMPORTS,
  LOW_RUNWAY_MS,
  OLD_JOB_ALARM_MS,
  PAYMENT_TIME_USED_ALARM_SHARE,
  STUCK_LOOP_ALARM_MS,
} from '../src/ops/alarms.js'
import type { ChainState } from '../src/ops/chainState.js'
import { FAILED_REQUESTS_ALARM_SHARE } from '../src/ops/failedRequests.js'
import { createMetrics } from '../src/ops/metrics.js'
import { createProcessMetrics, type ProcessState } from '../src/ops/processMetrics.js'
import { StageClock } from '../src/ops/stages.js'
import { createWebhookMetrics, type WebhookCounts } from '../src/push/webhooks/metrics.js'
import { EVM_TELEMETRY } from '../src/relayer/evmTelemetry.js'
import { createOutboxMetrics } from '../src/relayer/metrics.js'
import type { OutboxState } from '../src/relayer/report.js'
import { SOLANA_TELEMETRY } from '../src/relayer/solanaTelemetry.js'
import { firing, parseSamples, type Sample } from './support/alertRules.js'

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
const chain: ChainState = {
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
  stagesMs: new StageClock().lastMinute(),
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
const ownError = {
  name: 'the relayer',
  network: 'mainnet',
  chain: '1',
  count: 1,
  ageMs: INTERNAL_ERROR_ALARM_MS,
  lastError: 'TypeError',
}
const led = (role: string, isLeading: boolean) => ({ network: 'mainnet', role, isLeading })
const pool = { totalCount: 10, idleCount: 3, waitingCount: 0 }
const node = {
  host: 'rpc.example',
  requests: 10,
  errors: 0,
  latencyMs: 20,
  restMs: 0,
  isWrong: false,
  head: 'good' as const,
}
const lookups = { method: 'GET', route: '/v1/names' }
const process: ProcessState = {
  leads: [led('index', true), led('relay', true)],
  relays: [{ network: 'mainnet', missingKeys: 0 }],
  mirrors: [{ network: 'mainnet', alarm: null }],
  loops: [loop],
  ownErrors: [ownError],
  requests: [{ ...lookups, share: 0.5 }],
  pools: { read: pool },
  changesWaiting: 0,
  openLongRequests: {},
}
const stats = { open: [], spentLastDayWei: 1n } as unknown as NonNullable<
  OutboxState['relayers'][number]['stats']
>
const relayer = {
  network: 'mainnet',
  chain: '1',
  kind: EVM_TELEMETRY,
  stats,
  stuck: [],
  nonceGaps: 0,
  nonceClaimed: null,
  refusedNames: 0,
  balance: 10n ** 18n,
  runwayMs: 30 * 86_400_000,
}
const webhooks: WebhookCounts = {
  network: 'mainnet',
  active: 1,
  failing: 0,
  parked: 0,
  oldestMs: 0,
}
const payer = {
  network: 'mainnet',
  chain: 'solana',
  kind: SOLANA_TELEMETRY,
  stats: { open: [], owed: { count: 0 } },
  balance: 10n ** 9n,
  refusedNames: 0,
}

interface State {
  chain?: Partial<ChainState>
  process?: Partial<ProcessState>
  relayer?: object
  payer?: object
  node?: { isWrong?: boolean; restMs?: number }
  paymentsWaitS?: number
  wentBack?: number
  logBehind?: number
  webhooks?: Partial<WebhookCounts>
}

/** The metrics that Prometheus scrapes from a process in this state, at once and five minutes later. */
async function scrapes(state: State): Promise<[Sample[], Sample[]]> {
  const metrics = createMetrics(() => [{ ...chain, ...state.chain }])
  createProcessMetrics(metrics.registry, () => ({ ...process, ...state.process }))
  metrics.rpc.watch('1', () => [{ use: 'index', nodes: [{ ...node, ...state.node }] }])
  metrics.paymentsWait.set({ network: 'mainnet' }, state.paymentsWaitS ?? 0)
  metrics.wentBack.inc({ network: 'mainnet' }, state.wentBack ?? 0)
  metrics.logBehind.set({ network: 'mainnet' }, state.logBehind ?? 0)
  const relayers = [
    { ...relayer, ...state.relayer },
    { ...payer, ...state.payer },
  ]
  const shown = { network: 'mainnet', relayers }
  createWebhookMetrics(metrics.registry)([{ ...webhooks, ...state.webhooks }])
  createOutboxMetrics(metrics.registry, () => [shown as unknown as OutboxState], [
    EVM_TELEMETRY,
    SOLANA_TELEMETRY,
  ])
  const first = parseSamples(await metrics.registry.metrics())
  return [first, parseSamples(await metrics.registry.metrics())]
}

const waiting = [{ kind: 'deliver', state: 'queued', count: 1, oldestMs: NOW_MS - 3_601_000 }]
const short = [
  {
    kind: 'settle',
    state: 'sent',
    count: 1,
    oldestMs: NOW_MS,
    heldShare: PAYMENT_TIME_USED_ALARM_SHARE + 0.01,
  },
]
const parked = [{ kind: 'execute', state: 'parked', count: 1, oldestMs: NOW_MS }]
/** For each alert, a state as the code that detects it leaves it. */
const REHEARSALS: Record<AlarmName, State> = {
  ClusterdNotLed: { process: { leads: [led('index', false), led('relay', true)] } },
  ClusterdNotRelayed: {
    process: { leads: [led('index', true)], relays: [{ network: 'mainnet', missingKeys: null }] },
  },
  ClusterdRelayKeyMissing: { process: { relays: [{ network: 'mainnet', missingKeys: 1 }] } },
  ClusterdChainHalted: { chain: { halted: 'block 5 has been replaced' } },
  ClusterdHeadStandsStill: { chain: { headMs: NOW_MS - 241_000 } },
  ClusterdFinalityStandsStill: { chain: { confirmedMs: NOW_MS - FINALITY_ALARM_MS - 1_000 } },
  ClusterdChainFailing: { chain: { lastError: 'no RPC URL answers' } },
  ClusterdRpcSilent: { chain: { lastError: 'only a answers', errorAlarm: 'ClusterdRpcSilent' } },
  ClusterdRpcContradiction: {
    chain: { lastError: 'a contradicts b', errorAlarm: 'ClusterdRpcContradiction' },
  },
  ClusterdChainBehind: { chain: { tailBlock: 90 } },
  ClusterdLoopHangs: { process: { loops: [{ ...loop, ageMs: STUCK_LOOP_ALARM_MS + 1_000 }] } },
  ClusterdLoopFails: { process: { loops: [{ ...loop, failures: 21 }] } },
  ClusterdOwnErrors: { process: { ownErrors: [{ ...ownError, ageMs: 1_000 }] } },
  ClusterdPaymentsWait: { paymentsWaitS: 301 },
  ClusterdJobsParked: { relayer: { stats: { ...stats, open: parked } } },
  ClusterdJobsWait: { relayer: { stats: { ...stats, open: waiting } } },
  ClusterdPaymentsShortOfTime: { payer: { stats: { open: short } } },
  ClusterdNamesRefused: { payer: { refusedNames: 1 } },
  ClusterdPacketsStuck: { relayer: { stuck: ['0x01'] } },
  ClusterdNonceGap: { relayer: { nonceGaps: 1 } },
  ClusterdNonceClaimed: { relayer: { nonceClaimed: 1_000_000 } },
  ClusterdRelayerRunsDry: { relayer: { runwayMs: 86_400_000 } },
  ClusterdRelayAuthorityRunsDry: { payer: { balance: 1_000n } },
  ClusterdDatabaseBusy: { process: { pools: { read: { ...pool, waitingCount: 1 } } } },
  ClusterdWentBack: { wentBack: 1 },
  ClusterdLogBehind: { logBehind: 3 },
  ClusterdChangesWait: { process: { changesWaiting: 101 } },
  ClusterdRpcWrongChain: { node: { isWrong: true } },
  ClusterdRpcAway: { node: { restMs: 30_000 } },
  ClusterdMirrorRefused: {
    process: { mirrors: [{ network: 'mainnet', alarm: 'ClusterdMirrorRefused' }] },
  },
  ClusterdMirrorBehind: {
    process: { mirrors: [{ network: 'mainnet', alarm: 'ClusterdMirrorBehind' }] },
  },
  ClusterdWebhookFails: { webhooks: { failing: 1, oldestMs: 3_601_000 } },
  ClusterdWebhookParked: { webhooks: { parked: 1 } },
  ClusterdDatabaseAway: { process: { loops: [{ ...loop, failures: 1, cause: 'database' }] } },
  ClusterdClockOff: { process: { loops: [{ ...loop, failures: 1, cause: 'clock' }] } },
  ClusterdErrors: { process: { requests: [{ ...lookups, share: 0.51 }] } },
}

/** Limits of rules that compare with another number than 0. Null: src has no constant for the limit. */
const LIMITS: Partial<Record<AlarmName, number | null>> = {
  ClusterdFinalityStandsStill: FINALITY_ALARM_MS / 1_000,
  ClusterdLoopHangs: STUCK_LOOP_ALARM_MS / 1_000,
  ClusterdJobsWait: OLD_JOB_ALARM_MS / 1_000,
  ClusterdOwnErrors: INTERNAL_ERROR_ALARM_MS / 1_000,
  ClusterdPaymentsShortOfTime: PAYMENT_TIME_USED_ALARM_SHARE,
  ClusterdErrors: FAILED_REQUESTS_ALARM_SHARE,
  ClusterdRelayerRunsDry: LOW_RUNWAY_MS / 1_000,
  ClusterdRelayAuthorityRunsDry: Number(LOW_BALANCE_LAMPORTS),
  ClusterdNotLed: null,
  ClusterdLoopFails: null,
  ClusterdPaymentsWait: null,
  ClusterdChangesWait: null,
  ClusterdWebhookFails: null,
}

describe('the alert rules', () => {
  it('have the same limits as the code', () => {
    const limits = rules.flatMap(({ alert, expr }): [string, number][] => {
      const limit = Number(expr.split(/ [<>] /)[1])
      return Number.isFinite(limit) && limit !== 0 ? [[alert, limit]] : []
    })
    const expected = limits.map(([alert, limit]) => {
      const ofCode = LIMITS[alert as AlarmName]
      return [alert, ofCode === null ? limit : (ofCode ?? 'has no row in LIMITS')]
    })
    expect(limits).toEqual(expected)
    expect(limits.map(([alert]) => alert).toSorted()).toEqual(Object.keys(LIMITS).toSorted())
  })

  it('do not fire while all is well', async () => {
    const at = await scrapes({})
    expect(rules.filter(({ expr }) => firing(expr, at).length > 0)).toEqual([])
  })

  it.each(rules)('$alert fires in its state, on metrics that exist', async ({ alert, expr }) => {
    expect(firing(expr, await scrapes(REHEARSALS[alert]))).not.toEqual([])
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
    expect(metrics.length).toBeGreaterThan(40)
    const unseen = metrics.filter((name) =>
      [dashboard, rules].every((text) => !new RegExp(`\\b${name}(_bucket|_count)?\\b`).test(text)),
    )
    expect(unseen).toEqual([])
  })
})
