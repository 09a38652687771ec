import { z } from 'zod'
import {
  confirmationSchema,
  defaultConfirmationPolicy,
} from '../registry/primitives/confirmation.js'
import { NETWORK_OF_CHAIN_LABEL, NETWORKS } from '../registry/primitives/network.js'
import { bridgeSettingsSchema, chainDeploymentSchema } from './deployment.js'
import {
  evmAddress,
  hexBytes,
  httpUrl,
  nonnegativeInt,
  positiveInt,
  rpcUrls,
  weiText,
  wsUrl,
} from './fieldSchemas.js'
import { chainPresetOf } from './presets.js'

const ETHER = { symbol: 'ETH', decimals: 18 } as const

/** Error text for the field `singleNodeAfter` of earlier builds, with which a chains file is refused. */
const REMOVED_FIELD_TEXT =
  'has "singleNodeAfter", by which one node of two could decide alone: remove the field, and if a node is gone for good, remove its URL from rpcUrls'

const evmChainSettings = {
  kind: z.literal('evm').default('evm'),
  network: z.enum(NETWORKS).optional(),
  label: z
    .string()
    .refine(
      (label) => chainPresetOf(label) !== undefined,
      `is not a network label of the interface (${Object.keys(NETWORK_OF_CHAIN_LABEL).join(', ')})`,
    ),
  role: z.enum(['hub', 'spoke']),
  chainId: positiveInt.optional(),
  /** Hash of block 0. It distinguishes chains with the same chain id. */
  genesisHash: hexBytes(32).optional(),
  rpcUrls,
  /** WebSocket URL. New heads wake the indexer. */
  wsUrl: wsUrl.optional(),
  /** The hub or spoke contract; a draft may leave it out. */
  contract: evmAddress.optional(),
  /** Address of LayerZero's endpoint on the chain. */
  endpoint: evmAddress.optional(),
  /** The contract that takes payments for community names. Without it the chain sells no community names. */
  communityPayments: evmAddress.optional(),
  /** LayerZero's endpoint id of the chain. */
  eid: positiveInt.optional(),
  /** The message library of a local chain, which accepts messages from the relayer. */
  messageLib: evmAddress.optional(),
  startBlock: nonnegativeInt.default(0),
  confirmation: confirmationSchema.optional(),
  pollMs: positiveInt.default(2_000),
  /** Maximum that the relayer pays per unit of gas; default 20 times the median of the last 1,024 blocks. */
  maxGasPriceWei: weiText.transform(BigInt).optional(),
  gasToken: z
    .strictObject({ symbol: z.string().min(1), decimals: z.literal(18).default(18) })
    .optional(),
  /** Base URL of a block explorer. */
  explorer: httpUrl.transform((url) => url.replace(/\/$/, '')).optional(),
  /** Percentage added to the bridge's fee for price changes. The endpoint refunds the excess. */
  bridgeMarginPercent: z.int().min(0).max(100).default(5),
  /** LayerZero's configuration on this chain, as `clusterd contracts` sets and compares it. */
  bridge: bridgeSettingsSchema.optional(),
  /** Settings of the contracts that differ on this chain, as `clusterd contracts` sets and compares them. */
  deployment: chainDeploymentSchema.optional(),
  /** True for a chain of local tests, whose launcher may restore an older state. */
  local: z.boolean().default(false),
  /**
   * Trust that the operator accepts for a contract without `recordHash`, the running hash of its logs (another
   * deployer's contract, or an older version).
   */
  trust: z.enum(['compared', 'trusted']).optional().meta({ since: '1.0.0' }),
  /**
   * Set for contracts of another deployer. They are indexed under our rules, so the result may differ from that
   * deployer's registry.
   */
  watchOnly: z
    .strictObject({
      minimum: z.array(z.strictObject({ fromBlock: nonnegativeInt, wei: weiText })).default([]),
      quotes: z.boolean().default(false),
    })
    .optional(),
}

const strictChainSchema = z.strictObject(evmChainSettings, {
  error: ({ code, keys }) =>
    code === 'unrecognized_keys' && keys.includes('singleNodeAfter')
      ? REMOVED_FIELD_TEXT
      : undefined,
})

export const evmChainSchema = strictChainSchema.transform(withPreset).readonly()

/**
 * Fills in missing settings from the label's preset. A chain with another id than the preset's (a local chain with
 * the label of a public chain) takes only network and name from the preset.
 */
function withPreset(chain: z.output<typeof strictChainSchema>) {
  // the schema accepts only labels that have a preset
  const known = chainPresetOf(chain.label)!
  const chainId = chain.chainId ?? known.chainId
  const preset = chainId === known.chainId ? known : undefined
  return {
    ...chain,
    name: preset?.name ?? `${known.name} ${chainId}`,
    // shown to everybody: an operator's own RPC URL may hold a provider's key
    publicRpcUrls: preset?.publicRpcUrls ?? (chain.local ? chain.rpcUrls : []),
    network: chain.network ?? known.network,
    chainId,
    genesisHash: chain.genesisHash ?? preset?.genesisHash,
    endpoint: chain.endpoint ?? preset?.endpoint,
    eid: chain.eid ?? preset?.eid,
    gasToken: chain.gasToken ?? preset?.gasToken ?? ETHER,
    explorer: chain.explorer ?? preset?.explorer,
    confirmation: chain.confirmation ?? defaultConfirmationPolicy(chain.role, preset?.label),
  }
}

/** Settings of an EVM chain whose contract may not be deployed yet. */
export type DraftChainConfig = z.output<typeof evmChainSchema>
