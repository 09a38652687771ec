import path from 'node:path'
import { ensureContracts } from '../contracts/localContracts.js'
import { isPortFree } from '../processes/ports.js'
import { type Anvil, startAnvil } from './anvil.js'
import type { ChainContracts, ChainDefinition, ChainEntry, KnownChain, RunningChain } from './localChains.js'
import { type ChainVerbs, chainVerbs } from './verbs.js'

export { fund, type LocalClients, localClients, mineQuickly, walletOf } from './localClients.js'

/** Number of blocks on top that confirm a block of a local chain. */
export const CONFIRMATION_BLOCKS = 2
const LEAST_POLL_MS = 50

/** A running chain of the local world. */
export interface LocalChain extends RunningChain, ChainVerbs {
  readonly wsUrl: string
  /** Of its process. @throws WorldError for a chain that was attached */
  readonly pid: number
  /** Newest run of its process, ended ones included. @throws WorldError for a chain that was attached */
  readonly anvil: Anvil
  stop(): Promise<void>
  kill(): Promise<void>
  /** Restarts it on the same port; without a kept state the chain starts empty. */
  restart(): Promise<void>
}

export interface LocalChainOptions {
  definition: ChainDefinition
  /** LayerZero's endpoint id of its network's hub. */
  hubEid: number
  home: string
  blockMs: number
  /** Tells whether to keep the chain in `<home>/anvil` over restarts. */
  keepState: boolean
  /** Entry of an earlier start. */
  previous: KnownChain | undefined
  onSpawn: (anvil: Anvil) => void
  /** Called when anvil ends unrequested. */
  onEnd: () => void
  /** Gets what ends with the world. */
  onClose: (close: () => Promise<void>) => void
}

/** Starts a chain and deploys the contracts that its state lacks. */
export async function startLocalChain(options: LocalChainOptions): Promise<LocalChain> {
  const { definition, home } = options
  const statePath = options.keepState ? path.join(home, 'anvil', `${definition.label}.json`) : undefined
  const start = async (port: number | undefined) => {
    const anvil = await startAnvil({
      chainId: definition.chainId,
      blockTimeS: options.blockMs / 1_000,
      slotsInAnEpoch: 1,
      logFile: path.join(home, 'logs', `anvil-${definition.label}.log`),
      ...(port !== undefined && { port }),
      ...(statePath !== undefined && { statePath }),
    })
    options.onSpawn(anvil)
    anvil.exited.then(() => {
      if (!isAskedToEnd) options.onEnd()
    })
    return anvil
  }
  let isAskedToEnd = false
  let anvil = await start(await samePort(options.previous))
  const { contracts, ...extras } = await ensureContracts(anvil, definition, options.hubEid, options.previous)
  const config = entryOf(definition, contracts, anvil, Math.round(options.blockMs / 2))
  const verbs = chainVerbs({ label: definition.label, ...anvil, blockMs: options.blockMs })
  options.onClose(verbs.end)
  return {
    ...definition,
    ...extras,
    ...verbs,
    config,
    rpcUrl: anvil.rpcUrl,
    wsUrl: anvil.wsUrl,
    get pid() {
      return anvil.pid
    },
    get anvil() {
      return anvil
    },
    stop() {
      isAskedToEnd = true
      return anvil.stop()
    },
    kill() {
      isAskedToEnd = true
      return anvil.kill()
    },
    async restart() {
      isAskedToEnd = true
      await anvil.stop()
      isAskedToEnd = false
      anvil = await start(anvil.port)
    },
  }
}

/** Entry of a chain with its contracts in the daemon's chains file. */
export function entryOf(
  { price: _, ...identity }: ChainDefinition,
  contracts: ChainContracts,
  { rpcUrl, wsUrl }: { rpcUrl: string; wsUrl: string },
  pollMs: number,
): ChainEntry {
  return {
    ...identity,
    ...contracts,
    rpcUrls: [rpcUrl],
    wsUrl,
    confirmation: { blocks: CONFIRMATION_BLOCKS },
    pollMs: Math.max(LEAST_POLL_MS, pollMs),
    local: true,
  }
}

/** Port of the last run if still free, so that a wallet's settings keep working. */
async function samePort(previous: ChainEntry | undefined): Promise<number | undefined> {
  const port = Number(new URL(previous?.rpcUrls[0] ?? 'http://localhost').port)
  return port > 0 && (await isPortFree(port)) ? port : undefined
}
