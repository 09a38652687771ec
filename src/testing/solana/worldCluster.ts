import path from 'node:path'
import type { WorldCluster } from '../cluster.js'
import type { Sandbox } from '../processes/sandbox.js'
import { type LocalSolana, startLocalSolana } from './localSolana.js'

/** The local price feeds are never updated, however long the world runs. */
const FEED_MAX_AGE_SECONDS = 10 * 365 * 86_400
/** 0.01 SOL, the price of a name of the paid community. */
const PRICE_LAMPORTS = 10_000_000n

/** Starts Solana with a registrar for each network. Undefined, with a log line, where Solana can't run. */
export async function startSolana(
  sandbox: Sandbox,
  options: { networks: number; blockMs: number; rpcUrl: string | undefined },
): Promise<LocalSolana | undefined> {
  const solana = await startLocalSolana({
    // proportional to the block time, as on the public networks, within limits
    slotMs: Math.min(400, Math.max(50, Math.round(options.blockMs * 0.4))),
    programs: options.networks,
    logFile: path.join(sandbox.home, 'logs', 'surfpool.log'),
    log: sandbox.log,
    onSpawn(surfpool) {
      sandbox.closers.push(() => surfpool.stop())
      surfpool.exited.then(() => sandbox.fail('Surfpool, the local Solana, has ended.'))
    },
    ...(options.rpcUrl !== undefined && { rpcUrl: options.rpcUrl }),
  })
  if (solana) sandbox.log(`Solana runs on ${solana.rpcUrl}`)
  return solana ?? undefined
}

/** The cluster of a running Solana: each network has a registrar, priced by the feeds of its hub. */
export function solanaCluster(solana: LocalSolana): WorldCluster {
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
