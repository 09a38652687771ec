import fs from 'node:fs'
import path from 'node:path'
import {
  type Account,
  type Chain,
  createPublicClient,
  createTestClient,
  createWalletClient,
  type Hex,
  http,
  type PublicClient,
  parseEther,
  type Transport,
  type WalletClient,
} from 'viem'
import type { Network } from '../registry/network.js'
import { type Anvil, startAnvil } from './anvil.js'
import { deployHub } from './deploy.js'
import { freePort, isPortFree } from './ports.js'
import { lowerCase, operatorAccount, operatorAddresses } from './world.js'

/** Least bid on a local hub, as the interface's default. */
const MINIMUM_WEI = parseEther('0.01')
const OPERATOR_BALANCE_WEI = parseEther('10000')
const MINE_QUICKLY_MS = 40
/** A block counts when the head is this far beyond it. */
const CONFIRMATION_BLOCKS = 2

/** A chain of the local world: it answers to a public network's label under a chain id of its own. */
export interface ChainDefinition {
  network: Network
  label: string
  role: 'hub'
  chainId: number
  /** LayerZero's endpoint id of the public network of that label. */
  eid: number
}

export const LOCAL_CHAINS: readonly ChainDefinition[] = [
  { network: 'mainnet', label: '1', role: 'hub', chainId: 900_000_001, eid: 30_101 },
  { network: 'testnet', label: '11155111', role: 'hub', chainId: 911_155_111, eid: 40_161 },
]

/** A chain as the daemon's chains file lists it; what is left out has the file's defaults. */
export interface ChainEntry {
  network: Network
  label: string
  role: 'hub'
  chainId: number
  genesisHash: Hex
  rpcUrls: [string]
  wsUrl: string
  contract: Hex
  endpoint: Hex
  eid: number
  startBlock: number
  confirmation: { blocks: number }
  pollMs: number
  gasToken: { symbol: string; decimals: 18 }
  local: true
}

export interface LocalChain extends ChainDefinition {
  readonly rpcUrl: string
  readonly wsUrl: string
  readonly pid: number
  /** What the daemon's chains file says about it. */
  readonly config: ChainEntry
  /** The newest run of its process; asked-for ends included. */
  readonly anvil: Anvil
  stop(): Promise<void>
  kill(): Promise<void>
  /** Ends it if it runs and starts it again on the same port; without a kept state the chain starts from nothing. */
  restart(): Promise<void>
}

export interface LocalChainOptions {
  definition: ChainDefinition
  home: string
  blockMs: number
  /** Keep the chain in `<home>/anvil` over restarts. */
  keepState: boolean
  /** What the chains file said the last time. */
  previous: ChainEntry | undefined
  onSpawn: (anvil: Anvil, marker: string) => void
  /** Called when anvil ends and nobody asked it to. */
  onEnd: () => void
}

/** Starts a chain and, unless its state already has them, deploys the contracts. */
export async function startLocalChain(options: LocalChainOptions): Promise<LocalChain> {
  const { definition, home } = options
  const file = `${definition.label}.json`
  const statePath = options.keepState ? path.join(home, 'anvil', file) : undefined
  const start = async (port: number) => {
    const anvil = await startAnvil({
      chainId: definition.chainId,
      port,
      blockTimeS: options.blockMs / 1_000,
      slotsInAnEpoch: 1,
      logFile: path.join(home, 'logs', `anvil-${definition.label}.log`),
      ...(statePath !== undefined && { statePath }),
    })
    options.onSpawn(anvil, `--port ${port}`)
    anvil.exited.then(() => {
      if (!isAskedToEnd) options.onEnd()
    })
    return anvil
  }
  let isAskedToEnd = false
  let anvil = await start(await samePort(options.previous))
  const contracts = await ensureContracts(anvil, definition, options.previous)
  const config: ChainEntry = {
    network: definition.network,
    label: definition.label,
    role: definition.role,
    chainId: definition.chainId,
    rpcUrls: [anvil.rpcUrl],
    wsUrl: anvil.wsUrl,
    eid: definition.eid,
    confirmation: { blocks: CONFIRMATION_BLOCKS },
    pollMs: Math.max(50, Math.round(options.blockMs / 2)),
    gasToken: { symbol: 'ETH', decimals: 18 },
    local: true,
    ...contracts,
  }
  return {
    ...definition,
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

/** The port of the last run where it is free, so that a wallet's settings go on working. */
async function samePort(previous: ChainEntry | undefined): Promise<number> {
  const port = Number(new URL(previous?.rpcUrls[0] ?? 'http://localhost').port)
  return port > 0 && (await isPortFree(port)) ? port : freePort()
}

type Contracts = Pick<ChainEntry, 'contract' | 'endpoint' | 'genesisHash' | 'startBlock'>

async function ensureContracts(
  anvil: Anvil,
  definition: ChainDefinition,
  previous: ChainEntry | undefined,
): Promise<Contracts> {
  const { reader } = localClients(anvil, definition.chainId)
  const genesisHash = (await reader.getBlock({ blockNumber: 0n })).hash
  if (previous?.genesisHash === genesisHash && (await reader.getCode({ address: previous.contract }))) {
    const { contract, endpoint, startBlock } = previous
    return { contract, endpoint, startBlock, genesisHash }
  }
  await fund(anvil, definition.chainId, operatorAddresses())
  const { hub, endpoint, block } = await mineQuickly(anvil, definition.chainId, () =>
    deployHub({
      walletClient: walletOf(anvil, definition.chainId, operatorAccount('deployer')),
      publicClient: reader,
      eid: definition.eid,
      minimumWei: MINIMUM_WEI,
      owner: operatorAccount('owner').address,
      relayer: operatorAccount('relayer').address,
      pauser: operatorAccount('pauser').address,
    }),
  )
  return { contract: lowerCase(hub), endpoint: lowerCase(endpoint), startBlock: Number(block), genesisHash }
}

function viemChain(rpcUrl: string, chainId: number): Chain {
  return {
    id: chainId,
    name: `local ${chainId}`,
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [rpcUrl] } },
  }
}

/** Clients of a local chain: one that reads, one with anvil's own methods. */
export function localClients(at: { rpcUrl: string }, chainId: number) {
  const chain = viemChain(at.rpcUrl, chainId)
  const transport = http(at.rpcUrl)
  const reader: PublicClient = createPublicClient({ chain, transport, pollingInterval: MINE_QUICKLY_MS, cacheTime: 0 })
  return { reader, test: createTestClient({ chain, transport, mode: 'anvil' }) }
}

/** A client that signs for `account` on a local chain. */
export function walletOf(
  at: { rpcUrl: string },
  chainId: number,
  account: Account,
): WalletClient<Transport, Chain, Account> {
  return createWalletClient({ account, chain: viemChain(at.rpcUrl, chainId), transport: http(at.rpcUrl) })
}

/** Gives addresses 10,000 ETH each. */
export async function fund(at: { rpcUrl: string }, chainId: number, addresses: readonly Hex[]): Promise<void> {
  const { test } = localClients(at, chainId)
  await Promise.all(addresses.map((address) => test.setBalance({ address, value: OPERATOR_BALANCE_WEI })))
}

/** Does `work` while blocks are mined one after the other: setting up a world need not wait for its clock. */
export async function mineQuickly<T>(at: { rpcUrl: string }, chainId: number, work: () => Promise<T>): Promise<T> {
  const { test } = localClients(at, chainId)
  let isDone = false
  const mining = (async () => {
    while (!isDone) {
      await new Promise((resolve) => setTimeout(resolve, MINE_QUICKLY_MS))
      if (!isDone) await test.mine({ blocks: 1 })
    }
  })()
  try {
    return await work()
  } finally {
    isDone = true
    await mining
  }
}

/** What an earlier start wrote into the chains file about each label; nothing where there is no readable file. */
export function previousChains(file: string): Map<string, ChainEntry> {
  try {
    const { chains } = JSON.parse(fs.readFileSync(file, 'utf8')) as { chains: ChainEntry[] }
    return new Map(chains.map((chain) => [chain.label, chain]))
  } catch {
    return new Map()
  }
}
