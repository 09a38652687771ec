import { z } from 'zod'
import { confirmation, defaultConfirmation } from '../registry/primitives/confirmation.js'
import { NETWORKS } from '../registry/primitives/network.js'
import { bridgeSettings, chainDeployment } from './deployment.js'
import { durationOrNever, hex, httpUrl, rpcUrls, wei, wsUrl } from './fields.js'
import { presetOf } from './presets.js'

const IN_ETHER = { symbol: 'ETH', decimals: 18 } as const

const fields = z.strictObject({
  kind: z.literal('evm').default('evm'),
  network: z.enum(NETWORKS).optional(),
  label: z
    .string()
    .refine((label) => presetOf(label) !== undefined, 'is not a network label of the interface'),
  role: z.enum(['hub', 'spoke']),
  chainId: z.int().positive().optional(),
  /** Hash of block 0, by which chains under one id differ. */
  genesisHash: hex(32).optional(),
  rpcUrls,
  /** New heads wake the indexer. */
  wsUrl: wsUrl.optional(),
  /** The hub or spoke contract; a draft may leave it out. */
  contract: hex(20).optional(),
  /** LayerZero's endpoint on the chain. */
  endpoint: hex(20).optional(),
  /** The contract that takes payments for community names; none are sold on the chain without it. */
  communityPayments: hex(20).optional(),
  /** LayerZero's endpoint id. */
  eid: z.int().positive().optional(),
  /** The message library of a local chain, which trusts the relayer. */
  messageLib: hex(20).optional(),
  startBlock: z.int().nonnegative().default(0),
  confirmation: confirmation.optional(),
  pollMs: z.int().positive().default(2_000),
  /** The most that the relayer pays for a unit of gas; default 20 times the median of the last 1,024 blocks. */
  maxGasPriceWei: wei.transform(BigInt).optional(),
  gasToken: z
    .strictObject({ symbol: z.string().min(1), decimals: z.literal(18).default(18) })
    .optional(),
  /** Base URL of a block explorer. */
  explorer: httpUrl.transform((url) => url.replace(/\/$/, '')).optional(),
  /** Added to the bridge's fee on top of the delivered amount, percent; the endpoint pays the excess back. */
  bridgeMarginPercent: z.int().min(0).max(100).default(5),
  /** LayerZero's configuration, and roles of this chain, as `clusterd contracts` sets and compares them. */
  bridge: bridgeSettings.optional(),
  deployment: chainDeployment.optional(),
  /** A chain of local tests: its launcher may restore an older state. */
  local: z.boolean().default(false),
  /** The trust that is accepted for a contract without a record: of others, or older than the record. */
  trust: z.enum(['compared', 'trusted']).optional(),
  /** Time after which indexing goes on by one node where another does not answer, ms; null for never. */
  singleNodeAfter: durationOrNever,
  /** Contracts of others, indexed under our rules: the result may differ from their registry. */
  watchOnly: z
    .strictObject({
      minimum: z.array(z.strictObject({ fromBlock: z.int().nonnegative(), wei })).default([]),
      quotes: z.boolean().default(false),
    })
    .optional(),
})

export const evmChain = fields.transform(withPreset).readonly()

/**
 * Takes what is left out from the label's preset. A chain with another id than the preset's, as a local one that
 * answers to a public label, takes nothing from it.
 */
function withPreset(chain: z.output<typeof fields>) {
  // every label that passes has one
  const known = presetOf(chain.label)!
  const chainId = chain.chainId ?? known.chainId
  const preset = chainId === known.chainId ? known : undefined
  return {
    ...chain,
    network: chain.network ?? known.network,
    chainId,
    genesisHash: chain.genesisHash ?? preset?.genesisHash,
    endpoint: chain.endpoint ?? preset?.endpoint,
    eid: chain.eid ?? preset?.eid,
    gasToken: chain.gasToken ?? preset?.gasToken ?? IN_ETHER,
    explorer: chain.explorer ?? preset?.explorer,
    confirmation: chain.confirmation ?? defaultConfirmation(chain.role, preset?.label),
  }
}

/** A chain whose contract may not be deployed yet. */
export type DraftChain = z.output<typeof evmChain>
