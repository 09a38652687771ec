import type { PriceFeeds } from '../contracts/priceFeed.js'
import type { LocalSolana } from './localSolana.js'

/** Local feeds are never updated, however long the world lives. */
const FEED_MAX_AGE_SECONDS = 10 * 365 * 86_400

/**
 * A network's Solana cluster in the daemon's chains file; absent fields have the file's defaults.
 * @param program index of the network's registrar on the cluster
 */
export function solanaEntry(solana: LocalSolana, program: number, feeds: PriceFeeds, pollMs: number) {
  const { rpcUrl, wsUrl, genesisHash, programs } = solana
  return {
    ...{ rpcUrls: [rpcUrl], wsUrls: [wsUrl], ...programs[program]!, genesisHash },
    ...{ commitment: 'confirmed', pollMs },
    feeds: { ...feeds, maxAgeSeconds: FEED_MAX_AGE_SECONDS },
  }
}

export type SolanaEntry = ReturnType<typeof solanaEntry>
