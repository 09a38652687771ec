import { z } from 'zod'
import { evmAddress, hexBytes, nonnegativeInt, positiveInt, weiText } from './fieldSchemas.js'

// Schemas of the settings of `clusterd contracts`. The daemon does not read these settings.

const ZERO_ADDRESS = `0x${'00'.repeat(20)}` as const
const ZERO_SALT = `0x${'00'.repeat(32)}` as const
const DEFAULT_MINIMUM_WEI = String(10n ** 16n)

/** Schema of a network's deployment: accounts with roles, and arguments of the contracts' constructors. */
export const networkDeploymentSchema = z.strictObject({
  /** Owner of every contract, such as a multisig or a timelock. */
  owner: evmAddress,
  /** Account that may pause the contracts in addition to the owner. Default: none. */
  pauser: evmAddress.default(ZERO_ADDRESS),
  /** The service's account, which executes deliveries on the hub, and refuses or releases payments. */
  relayer: evmAddress,
  /** Minimum bid on the hub. */
  minimumWei: weiText.default(DEFAULT_MINIMUM_WEI).transform(BigInt),
  /** Maximum sum of the winning bids that deliveries place on the hub per day; default 100 times the minimum bid. */
  deliverLimitWei: weiText.transform(BigInt).optional(),
  /** Time after which payers can reclaim a payment that was neither refused nor released. Fixed at deployment. */
  reclaimDays: z.number().min(1).max(30).default(7),
  /** Whether a contract for payments is deployed on every chain. */
  payments: z.boolean().default(true),
  /** Salt of the contracts' addresses. Another salt gives the same contracts other addresses. */
  salt: hexBytes(32).default(ZERO_SALT),
})

/**
 * Schema of the deployment settings that one chain may override, such as `owner`, where its multisig has another
 * address.
 */
export const chainDeploymentSchema = networkDeploymentSchema
  .pick({ owner: true, relayer: true })
  .partial()
  .extend({
    pauser: evmAddress.optional(),
    payments: z.boolean().optional(),
  })

const dvnsSchema = z.array(evmAddress).max(127)

/** Schema of the bridge's settings on one chain. Absent addresses default to those of the chain's preset. */
export const bridgeSettingsSchema = z.strictObject({
  /** Addresses, on this chain, of the verifiers (DVNs) that all have to attest a message. */
  requiredDvns: dvnsSchema.optional(),
  /** Further verifiers, of which `optionalThreshold` have to attest a message. */
  optionalDvns: dvnsSchema.default([]),
  optionalThreshold: nonnegativeInt.max(127).default(0),
  /**
   * Number of this chain's blocks that verifiers wait for. Default: the chain's confirmation depth, or 64 where it
   * confirms by a block tag such as `finalized`.
   */
  confirmations: positiveInt.optional(),
  executor: evmAddress.optional(),
  sendLibrary: evmAddress.optional(),
  receiveLibrary: evmAddress.optional(),
})
