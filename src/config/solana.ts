import { z } from 'zod'
import { SOLANA } from '../registry/families.js'
import { parseWalletOrNull } from '../registry/primitives/address.js'
import type { Network } from '../registry/primitives/network.js'
import { evmAddress, nonnegativeInt, positiveInt, rpcUrls, wsUrl } from './fieldSchemas.js'
import type { CompleteNonEvmSettings, NonEvmSection } from './nonEvmSection.js'

const base58KeySchema = z
  .string()
  .refine((text) => parseWalletOrNull(text)?.type === 'solana', 'must be 32 bytes in base58')

const solanaSettingsSchema = z
  .strictObject({
    rpcUrls,
    /** WebSocket URLs. Logs of the program wake the watcher. */
    wsUrls: z.array(wsUrl).default([]),
    /** Id of the registrar program; a draft may leave it out. */
    programId: base58KeySchema.optional(),
    /**
     * Genesis hash, which identifies the Solana cluster (mainnet-beta, devnet or a local one). Default: that of the
     * network's public cluster. With a local hub it is read from the nodes at the first start.
     */
    genesisHash: base58KeySchema.optional(),
    /** The slot of the program's deployment: earlier payments are not read. */
    startSlot: nonnegativeInt.default(0),
    /** The commitment at which a payment counts as confirmed. */
    commitment: z.enum(['finalized', 'confirmed']).default('finalized'),
    pollMs: positiveInt.default(2_000),
    /** Addresses of AggregatorV3 price feeds on the network's hub; a draft may leave them out. */
    feeds: z
      .strictObject({
        solUsd: evmAddress,
        ethUsd: evmAddress,
        /** Maximum age of a price. It has to exceed the feed's heartbeat, such as one day. */
        maxAgeSeconds: z
          .union([positiveInt, z.strictObject({ solUsd: positiveInt, ethUsd: positiveInt })])
          .default(90_000)
          .transform((age) => (typeof age === 'number' ? { solUsd: age, ethUsd: age } : age)),
        /** Maximum change of a price from one read to the next within 10 minutes, and between two nodes, percent. */
        maxMovePercent: positiveInt.default(10),
      })
      .optional(),
    /** Maximum that the relay authority pays for a compute unit, millionths of a lamport. */
    maxUnitPrice: nonnegativeInt.default(1_000_000),
  })
  .readonly()

type DraftSolanaSettings = z.output<typeof solanaSettingsSchema>

/**
 * Genesis hashes of Solana's clusters. Our testnet is on `devnet`, which is Solana's cluster for applications, has a
 * faucet, and is LayerZero's testnet. Solana's own `testnet` is for validators, who reset it.
 */
const GENESIS_HASH_OF_NETWORK: Readonly<Record<Network, string>> = {
  mainnet: '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d',
  testnet: 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG',
}

/** Chainlink's price feeds by the label of the hub's chain. The maximum ages exceed the feeds' heartbeats. */
const PRICE_FEEDS_OF_HUB_LABEL: Readonly<
  Record<string, NonNullable<DraftSolanaSettings['feeds']>>
> = {
  '1': {
    solUsd: '0x4ffc43a60e009b551865a93d232e33fce9f01507',
    ethUsd: '0x5f4ec3df9cbd43714fe2740f5e3616155c5b8419',
    maxAgeSeconds: { solUsd: 90_000, ethUsd: 5_400 },
    maxMovePercent: 10,
  },
}

export const solanaSection = {
  family: SOLANA,
  settings: solanaSettingsSchema,
  withPresets(draft, hub) {
    const {
      genesisHash = GENESIS_HASH_OF_NETWORK[hub.network],
      feeds = PRICE_FEEDS_OF_HUB_LABEL[hub.label],
    } = draft
    return { ...draft, genesisHash, feeds }
  },
  refusal: ({ commitment }, isLocal) =>
    commitment === 'confirmed' && !isLocal
      ? {
          field: 'commitment',
          message: 'is "finalized" outside local worlds: a confirmed payment may vanish',
        }
      : null,
  missing: {
    programId: '`clusterd solana deploy` deploys the program',
    feeds: 'name the price feeds solUsd and ethUsd on the hub',
  },
} satisfies NonEvmSection<DraftSolanaSettings>

export type SolanaConfig = CompleteNonEvmSettings<typeof solanaSection>
