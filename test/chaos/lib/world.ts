import { writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { Connection } from '@solana/web3.js'
import { type LocalClients, localChainClients } from '../../../src/testing/chains/localClients.js'
import { type Stack, startStack } from '../../../src/testing/index.js'
import type { SolanaAccount } from '../../../src/testing/world.js'
import { type FaultyNode, startFaultyNode } from '../../support/faultyNode/faultyNode.js'
import { type Miner, startMiner } from '../../support/miner.js'
import { type ChaosDaemon, openDaemons } from './daemons.js'

const BLOCK_MS = 250
/** The chains file with the proxies' URLs, in the world's home. */
export const CHAINS_FILE = 'chains-behind-proxies.json'
const HUB = '1'
const SPOKES = ['8453', '10'] as const
/** The spoke whose node reports a finalized block, two blocks below its head. */
const FINALIZING = '10'
const LABELS = [HUB, ...SPOKES] as const
export type Label = (typeof LABELS)[number]

/** A chain of the world with the proxies between it and the daemon. */
export interface ChaosChain extends LocalClients {
  label: Label
  chainId: number
  rpcUrl: string
  isHub: boolean
  contract: `0x${string}`
  /** LayerZero's endpoint and its id. */
  endpoint: `0x${string}`
  eid: number
  /** Contract that takes payments for names below communities. */
  payments: `0x${string}`
  /** True if its node reports a finalized block. On the other chains the daemons count blocks. */
  isFinalizing: boolean
  miner: Miner
  /** Proxies of the chain's node, the daemon's only RPC URLs. The hub has two, for fail-over. */
  proxies: FaultyNode[]
}

/** The world's Solana cluster with the proxy between it and the daemon. */
export interface ChaosSolana {
  connection: Connection
  programId: string
  genesisHash: string
  accounts: readonly SolanaAccount[]
  /** Address that decides about payments. */
  relayAuthority: string
  /** Process of the node. */
  pid: number
  proxy: FaultyNode
}

export interface ChaosWorld {
  stack: Stack<'mainnet'>
  chains: readonly ChaosChain[]
  hub: ChaosChain
  /** Null where Surfpool does not run. */
  solana: ChaosSolana | null
  daemons: readonly ChaosDaemon[]
  /** URLs of the API, one for each daemon. A client asks the next one after a failure. */
  apis: readonly string[]
  stop(): Promise<void>
}

/** Starts a hub with two spokes and two daemons behind proxies, without any faults yet. */
export async function startChaosWorld(seed: number): Promise<ChaosWorld> {
  const stack = await startStack({
    chains: LABELS,
    networks: ['mainnet'],
    seeds: false,
    blockMs: BLOCK_MS,
    solana: true,
  })
  const proxies: FaultyNode[] = []
  const miners: Miner[] = []
  let daemons: ChaosDaemon[] = []
  const stop = async () => {
    await Promise.all(daemons.map((daemon) => daemon.end()))
    await daemons[1]?.process.kill('SIGKILL')
    for (const miner of miners) miner.stop()
    await Promise.all(proxies.map((proxy) => proxy.stop()))
    await stack.stop()
    await Promise.all(daemons.map(({ database }) => database.stop()))
  }
  try {
    const chains: ChaosChain[] = []
    for (const [i, label] of LABELS.entries()) {
      const { chainId, rpcUrl, wsUrl, config, eid } = stack.anvils[label]!
      const own: FaultyNode[] = []
      for (let n = 0; n < (label === HUB ? 2 : 1); n++)
        own.push(
          await startFaultyNode({ target: { rpcUrl, wsUrl }, seed: seed * 100 + i * 10 + n }),
        )
      proxies.push(...own)
      const { contract, endpoint, communityPayments: payments } = config
      const clients = localChainClients({ rpcUrl, chainId })
      await stack.anvils[label]!.pause()
      const miner = startMiner(clients, BLOCK_MS)
      miners.push(miner)
      chains.push({
        label,
        chainId,
        rpcUrl,
        isHub: label === HUB,
        contract,
        endpoint,
        eid,
        payments,
        miner,
        isFinalizing: label === FINALIZING,
        proxies: own,
        ...clients,
      })
    }
    const solana = await openSolana(stack, seed)
    if (solana) proxies.push(solana.proxy)
    daemons = await openDaemons(stack, await writeChainsFile(stack, chains, solana))
    return {
      stack,
      chains,
      hub: chains[0]!,
      solana,
      daemons,
      apis: daemons.map(({ api }) => api),
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

async function openSolana({ solana }: Stack<'mainnet'>, seed: number): Promise<ChaosSolana | null> {
  if (!solana?.surfpool) return null
  const { rpcUrl, wsUrl, programId, genesisHash, accounts } = solana
  const relayAuthority = solana.relayAuthority.address
  const { pid } = solana.surfpool
  const proxy = await startFaultyNode({ target: { rpcUrl, wsUrl }, seed: seed * 100 + 90 })
  const connection = new Connection(rpcUrl, { wsEndpoint: wsUrl, commitment: 'confirmed' })
  return { connection, programId, genesisHash, accounts, relayAuthority, pid, proxy }
}

/** Writes the world's chains file with the proxies' URLs in place of the chains' own. */
async function writeChainsFile(
  { home }: Stack<'mainnet'>,
  chains: readonly ChaosChain[],
  solana: ChaosSolana | null,
): Promise<string> {
  const file = JSON.parse(await readFile(path.join(home, 'chains.json'), 'utf8')) as {
    chains: { label: string }[]
    solana?: { mainnet?: object }
  }
  const proxied = file.chains.map((entry) => {
    const { proxies, isFinalizing } = chains.find(({ label }) => label === entry.label)!
    const nodes = { rpcUrls: proxies.map(({ rpcUrl }) => rpcUrl), wsUrl: proxies[0]!.wsUrl }
    return { ...entry, ...nodes, ...(isFinalizing && { confirmation: 'finalized' }) }
  })
  const cluster = solana && {
    solana: {
      mainnet: {
        ...file.solana?.mainnet,
        rpcUrls: [solana.proxy.rpcUrl],
        wsUrls: [solana.proxy.wsUrl],
      },
    },
  }
  const target = path.join(home, CHAINS_FILE)
  writeFileSync(target, JSON.stringify({ ...file, chains: proxied, ...cluster }))
  return target
}
