import path from 'node:path'
import type { LocalNonEvmChain } from '../nonEvmChain.js'
import type { Sandbox } from '../processes/sandbox.js'
import { type LocalSolana, startLocalSolana } from './localSolana.js'

/** Maximum age of a price: ten years, because nothing updates the price feeds of a local world. */
const FEED_MAX_AGE_SECONDS = 10 * 365 * 86_400
/** Price of a name of the seeded paid community: 0.01 SOL. */
const PRICE_LAMPORTS = 10_000_000n

/** Fields of `StackOptions` that decide whether and how Solana runs. */
interface LocalSolanaClusterOptions {
  blockMs: number
  chains?: unknown
  solana?: boolean
  solanaRpcUrl?: string
}

/**
 * Starts Solana with a registrar for each network, if the options choose Solana (`StackOptions.solana`). Returns
 * undefined if they do not, or, after a log line, if Solana can't run.
 * @param networks number of networks
 */
export async function startLocalSolanaCluster(
  sandbox: Sandbox,
  options: LocalSolanaClusterOptions,
  networks: number,
) {
  if (!(options.solana ?? options.chains === undefined)) return undefined
  const solana = await startLocalSolana({
    // in proportion to the block time of the EVM chains, within limits
    slotMs: Math.min(400, Math.max(50, Math.round(options.blockMs * 0.4))),
    programs: networks,
    logFile: path.join(sandbox.home, 'logs', 'surfpool.log'),
    log: sandbox.log,
    onSpawn(surfpool) {
      sandbox.closers.push(() => surfpool.stop())
      surfpool.exited.then(() => sandbox.fail('Surfpool, the local Solana, has ended.'))
    },
    ...(options.solanaRpcUrl !== undefined && { rpcUrl: options.solanaRpcUrl }),
  })
  if (!solana) return undefined
  sandbox.log(`Solana runs on ${solana.rpcUrl}`)
  return { ...describeCluster(solana), handle: solana }
}

/** Describes a running local Solana cluster, which has a registrar for each network. */
function describeCluster(solana: LocalSolana): LocalNonEvmChain {
  const { rpcUrl, wsUrl, genesisHash, programs, relayAuthority, accounts } = solana
  return {
    key: 'solana',
    env: { SOLANA_RELAYER_PRIVATE_KEY: relayAuthority.secretKey },
    settings: (index, hub, pollMs) => ({
      rpcUrls: [rpcUrl],
      wsUrls: [wsUrl],
      genesisHash,
      ...programs[index],
      commitment: 'confirmed',
      pollMs,
      feeds: { ...hub.feeds, maxAgeSeconds: FEED_MAX_AGE_SECONDS },
    }),
    addresses: (index) => ({ rpcUrl, wsUrl, genesisHash, programId: programs[index]!.programId }),
    price: {
      network: 'solana',
      token: 'native',
      amount: `${PRICE_LAMPORTS}`,
      recipient: accounts[1]!.address,
    },
  }
}
