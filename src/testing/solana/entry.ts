import type { PriceFeeds } from '../contracts/priceFeed.js'
import type { LocalSolana } from './localSolana.js'

/** A network's Solana cluster as the daemon's chains file lists it; what is left out has the file's defaults. */
export interface SolanaEntry {
  rpcUrls: [string]
  wsUrls: [string]
  programId: string
  genesisHash: string
  startSlot: number
  commitment: 'confirmed'
  pollMs: number
  feeds: PriceFeeds & { maxAgeSeconds: number }
  refunds: { auto: true }
}

/** Nobody sets a local feed again, however long the world lives. */
const FEED_MAX_AGE_SECONDS = 10 * 365 * 86_400

/** @param program which registrar of the cluster is the network's */
export function solanaEntry(solana: LocalSolana, program: number, feeds: PriceFeeds, pollMs: number): SolanaEntry {
  const { rpcUrl, wsUrl, genesisHash, programs } = solana
  return {
    rpcUrls: [rpcUrl],
    wsUrls: [wsUrl],
    ...programs[program]!,
    genesisHash,
    commitment: 'confirmed',
    pollMs,
    feeds: { ...feeds, maxAgeSeconds: FEED_MAX_AGE_SECONDS },
    refunds: { auto: true },
  }
}
