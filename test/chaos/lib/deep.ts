import { execFile } from 'node:child_process'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { PrivateKeyAccount } from 'viem/accounts'
import { readDaemonReadiness } from '../../../src/testing/processes/daemonProcess.js'
import { waitForCondition } from '../../../src/testing/processes/processes.js'
import { programCommand } from '../../../src/testing/processes/programs.js'
import { type Ledger, reorgNewest } from './ledger.js'
import { bringBack, runWallets } from './wallets.js'
import { readFeed } from './watchers.js'
import { CHAINS_FILE, type ChaosWorld } from './world.js'

const WORK_MS = 4_000
const DEEP_BLOCKS = 9
const HALT_DEADLINE_MS = 20_000
const LOOK_MS = 1_500

/**
 * The hub loses confirmed blocks. The chain halts, stays halted after a kill, and publishes nothing. The operator
 * rewinds it to the block that `clusterd journal rewind` names. Most of the wallets' transactions return.
 * @returns broken expectations, one sentence each
 */
export async function deepReorg(
  world: ChaosWorld,
  wallets: readonly PrivateKeyAccount[],
  ledger: Ledger,
  seed: number,
  log: (line: string) => void,
): Promise<string[]> {
  const { daemons, apis, hub } = world
  const breaches: string[] = []
  await runWallets(world, wallets, ledger, seed + 1, AbortSignal.timeout(WORK_MS))
  const before = await readFeed(apis)
  const lost = await reorgNewest(hub, DEEP_BLOCKS, ledger)
  log(`deep reorg of ${DEEP_BLOCKS} on the hub, ${lost.length} transactions taken back`)
  const isHalted = () =>
    waitForCondition(async () => (await problems(world)).some(haltsTheHub), HALT_DEADLINE_MS, 100)
  if (!(await isHalted()))
    breaches.push(`a deep reorg does not halt the hub: ${await problems(world)}`)
  const atHalt = await readFeed(apis)
  if (JSON.stringify(atHalt.slice(0, before.length)) !== JSON.stringify(before))
    breaches.push('a deep reorg changed the feed')
  for (const daemon of daemons) daemon.kill()
  await sleep(LOOK_MS)
  if (!(await isHalted())) breaches.push('the hub is no longer halted after a kill')
  await bringBack(hub, lost, seed)
  await sleep(LOOK_MS)
  if (JSON.stringify(await readFeed(apis)) !== JSON.stringify(atHalt))
    breaches.push('a halted chain goes on publishing')
  const shown = await clusterd(world, 'journal', 'rewind', '--chain', hub.label)
  const block = /--block (\d+)/.exec(shown)?.[1]
  if (block === undefined) breaches.push(`clusterd journal rewind names no block: ${shown}`)
  else
    log(
      (
        await clusterd(world, 'journal', 'rewind', '--chain', hub.label, '--block', block, '--yes')
      ).split('\n')[0]!,
    )
  return breaches
}

const haltsTheHub = (problem: string): boolean => problem.includes('chain "1": halted')
const problems = async ({ daemons }: ChaosWorld): Promise<string[]> =>
  (await Promise.all(daemons.map(({ ops }) => readDaemonReadiness(ops)))).flatMap(
    (answer) => answer.problems,
  )

async function clusterd({ stack }: ChaosWorld, ...command: string[]): Promise<string> {
  const { command: node, args } = await programCommand('cli')
  const env = {
    ...process.env,
    CLUSTERD_HOME: stack.home,
    CLUSTERD_CHAINS: path.join(stack.home, CHAINS_FILE),
    DATABASE_URL: stack.databaseUrl,
  }
  const { stdout } = await promisify(execFile)(node, [...args, ...command], { env })
  return stdout
}
