import { setTimeout as sleep } from 'node:timers/promises'
import { PublicKey } from '@solana/web3.js'
import { readDaemonReadiness } from '../../../src/testing/processes/daemonProcess.js'
import { operatorAccount } from '../../../src/testing/world.js'
import type { ChaosDaemon } from './daemons.js'
import type { ChaosWorld } from './world.js'

/** Gauges are updated every few seconds, and a retry after a fault waits for half a minute at most. */
const DEADLINE_MS = 45_000
const LOOK_MS = 1_000
const ASK_LIMIT_MS = 10_000
/** Greatest difference between a gauge of blocks and the head, since both move. */
const BLOCKS_APART = 40
/** A standby's only problem, by which it reports itself. */
const STANDBY = 'another process leads'

/** Gauges that have to be 0 once nothing is pending. */
const QUIET = ['clusterd_outbox_jobs', 'clusterd_outbox_oldest_seconds', 'clusterd_stuck_packets']
/** Alarms that have to be over once nothing is pending. */
const OVER = ['ClusterdNonceGap', 'ClusterdNonceClaimed', 'ClusterdChainHalted']
/** Gauges that have to be near a chain's head. */
const HEADS = [
  'clusterd_chain_head_block',
  'clusterd_chain_confirmed_block',
  'clusterd_chain_next_block',
]

interface Sample {
  name: string
  labels: string
  value: number
}

/**
 * Checks that a healed world has no problem and that no daemon reports one: compares problems and gauges with the
 * chains' own answers.
 */
export async function alarmBreaches(world: ChaosWorld): Promise<string[]> {
  const metrics = (await Promise.all(world.daemons.map(samplesOf))).flat()
  const absent = QUIET.filter((name) => !metrics.some((one) => one.name === name)).map(
    (name) => `no daemon has ${name}`,
  )
  const end = performance.now() + DEADLINE_MS
  for (;;) {
    const untrue = (
      await Promise.all(world.daemons.map((daemon) => untruths(world, daemon)))
    ).flat()
    if (untrue.length === 0 || performance.now() > end) return [...absent, ...untrue]
    await sleep(LOOK_MS)
  }
}

async function untruths(world: ChaosWorld, daemon: ChaosDaemon): Promise<string[]> {
  const [{ problems }, samples] = await Promise.all([
    readDaemonReadiness(daemon.ops),
    samplesOf(daemon),
  ])
  const false_ = [
    ...problems.filter((problem) => !problem.includes(STANDBY)),
    ...samples.filter(({ name, value }) => QUIET.includes(name) && value !== 0).map(textOf),
    ...samples
      .filter(
        ({ name, labels }) => name === 'clusterd_alarm' && OVER.some((one) => labels.includes(one)),
      )
      .map(textOf),
    ...(await wrongHeads(world, samples)),
    ...(await wrongBalances(world, samples)),
  ]
  return false_.map((one) => `${daemon.name} still says: ${one}`)
}

const textOf = ({ name, labels, value }: Sample): string => `${name}{${labels}} ${value}`

/** The metrics of a daemon. */
async function samplesOf({ ops }: Pick<ChaosDaemon, 'ops'>): Promise<Sample[]> {
  const text = await (
    await fetch(`${ops}/metrics`, { signal: AbortSignal.timeout(ASK_LIMIT_MS) })
  ).text()
  return [...text.matchAll(/^(\w+)\{(.*)\} (\S+)$/gm)].map(([, name, labels, value]) => ({
    name: name!,
    labels: labels!,
    value: Number(value),
  }))
}

const chainOf = (label: string) => `chain="${label}"`

async function wrongHeads({ chains }: ChaosWorld, samples: readonly Sample[]): Promise<string[]> {
  const wrong = chains.map(async ({ label, reader }) => {
    const head = Number(await reader.getBlockNumber({ cacheTime: 0 }))
    const own = samples.filter(
      ({ name, labels }) => HEADS.includes(name) && labels.includes(chainOf(label)),
    )
    return own
      .filter(({ value }) => Math.abs(value - head) > BLOCKS_APART)
      .map((one) => `${textOf(one)}, head ${head}`)
  })
  return (await Promise.all(wrong)).flat()
}

async function wrongBalances(
  { chains, solana }: ChaosWorld,
  samples: readonly Sample[],
): Promise<string[]> {
  const { address } = operatorAccount('relayer')
  const differ = (name: string, label: string, has: number) =>
    samples
      .filter((one) => one.name === name && one.labels.includes(label) && one.value !== has)
      .map((one) => `${textOf(one)}, the balance is ${has}`)
  const ofChains = chains.map(async ({ label, reader }) =>
    differ(
      'clusterd_relayer_balance_wei',
      chainOf(label),
      Number(await reader.getBalance({ address })),
    ),
  )
  const lamports =
    solana &&
    (await solana.connection.getBalance(new PublicKey(solana.relayAuthority), 'confirmed'))
  const ofSolana =
    lamports === null ? [] : differ('clusterd_relay_authority_lamports', 'mainnet', lamports)
  return [...(await Promise.all(ofChains)).flat(), ...ofSolana]
}
