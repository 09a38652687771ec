import path from 'node:path'
import { deployMissingContracts } from '../contracts/localContracts.js'
import { reusePortIfFree } from '../processes/ports.js'
import type { Sandbox } from '../processes/sandbox.js'
import { type ChainActions, createChainActions } from './actions.js'
import { type Anvil, startAnvil } from './anvil.js'
import type {
  ChainContractAddresses,
  ChainsFileEntry,
  LocalChainDefinition,
  RunningChain,
  StoredLocalChain,
} from './localChains.js'
import { localChainClients } from './localClients.js'
import { startMiner } from './miner.js'

/** Confirmation policy of local chains: number of blocks on top of a confirmed block. */
export const CONFIRMATION_BLOCKS = 2
const MIN_POLL_MS = 50
/**
 * Time between blocks while nobody uses a chain that is kept over restarts, ms. It is long, because anvil keeps every
 * block and writes it to the state file.
 */
const IDLE_BLOCK_MS = 30_000

/** A running chain of the local world. */
export interface LocalChain extends RunningChain, ChainActions {
  readonly wsUrl: string
  /** Process id. @throws WorldError for an attached chain */
  readonly pid: number
  /** Handle of the chain's anvil process, which may have ended. @throws WorldError for an attached chain */
  readonly anvil: Anvil
  stop(): Promise<void>
  kill(): Promise<void>
  /** Restarts anvil on the same port. Without a state file the chain starts empty. */
  restart(): Promise<void>
}

interface LocalChainOptions {
  definition: LocalChainDefinition
  /** LayerZero's endpoint id of the hub of the chain's network. */
  hubEid: number
  blockMs: number
  /** The chain as an earlier start of the local world stored it. Undefined at the first start. */
  previous: StoredLocalChain | undefined
}

/**
 * Starts a chain with paused mining, and deploys the contracts unless the chain's state has them. For a home folder
 * that is kept, the state is in its subfolder `anvil`.
 */
export async function startLocalChain(
  sandbox: Sandbox,
  { definition, hubEid, blockMs, previous }: LocalChainOptions,
): Promise<LocalChain> {
  const { label, chainId } = definition
  const { home, isKept, closers } = sandbox
  let isAskedToEnd = false
  const start = async (port: number) => {
    const anvil = await startAnvil({
      chainId,
      blockTimeS: 0,
      slotsInAnEpoch: 1,
      logFile: path.join(home, 'logs', `anvil-${label}.log`),
      port,
      ...(isKept && { statePath: path.join(home, 'anvil', `${label}.json`) }),
    })
    closers.push(() => anvil.stop())
    anvil.exited.then(() => {
      if (!isAskedToEnd) sandbox.fail(`anvil of chain ${label} has ended.`)
    })
    return anvil
  }
  const lastUrl = new URL(previous?.rpcUrls[0] ?? 'http://localhost')
  let anvil = await start(await reusePortIfFree(Number(lastUrl.port)))
  const { contracts, ...extras } = await deployMissingContracts(
    { ...definition, rpcUrl: anvil.rpcUrl },
    hubEid,
    previous,
  )
  const miner = startMiner(localChainClients(anvil), blockMs, isKept ? IDLE_BLOCK_MS : blockMs)
  closers.push(async () => void miner.stop())
  const actions = createChainActions({ label, ...anvil }, miner)
  await actions.pause()
  return {
    ...definition,
    ...extras,
    ...actions,
    config: toChainsFileEntry(definition, contracts, anvil, blockMs),
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

/** Entry of a local chain in the chains file. @param pollMs raised to 50 if it is lower */
export function toChainsFileEntry(
  { price: _, ...identity }: LocalChainDefinition,
  contracts: ChainContractAddresses,
  { rpcUrl, wsUrl }: { rpcUrl: string; wsUrl: string },
  pollMs: number,
): ChainsFileEntry {
  return {
    ...identity,
    ...contracts,
    rpcUrls: [rpcUrl],
    wsUrl,
    confirmation: { blocks: CONFIRMATION_BLOCKS },
    pollMs: Math.max(MIN_POLL_MS, pollMs),
    local: true,
  }
}
