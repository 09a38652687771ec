import { z } from 'zod'
import { hex, wei } from './fields.js'

/** The daemon reads none of it. */

const ZERO_ADDRESS = `0x${'00'.repeat(20)}` as const
const ZERO_SALT = `0x${'00'.repeat(32)}` as const
const DEFAULT_MINIMUM_WEI = String(10n ** 16n)

/** Roles, and arguments of the constructors. */
export const networkDeployment = z.strictObject({
  /** Owner of every contract, such as a multisig or a timelock. */
  owner: hex(20),
  /** May pause; nobody but the owner where it is left out. */
  pauser: hex(20).default(ZERO_ADDRESS),
  /** The service's account: delivers on the hub, decides about payments. */
  relayer: hex(20),
  minimumWei: wei.default(DEFAULT_MINIMUM_WEI).transform(BigInt),
  /** Most that deliveries may win in a day; default 100 times the minimum. */
  deliverLimitWei: wei.transform(BigInt).optional(),
  /** Time after which payers take back what nobody decided, for ever. */
  reclaimDays: z.number().min(1).max(30).default(7),
  /** A contract for payments is deployed on every chain. */
  payments: z.boolean().default(true),
  /** Another one gives other addresses to the same contracts. */
  salt: hex(32).default(ZERO_SALT),
})

/** Differences of one chain, such as the address of its multisig. */
export const chainDeployment = networkDeployment
  .pick({ owner: true, relayer: true })
  .partial()
  .extend({
    pauser: hex(20).optional(),
    payments: z.boolean().optional(),
  })

const dvns = z.array(hex(20)).max(127)

/** Absent addresses are the preset's. */
export const bridgeSettings = z.strictObject({
  /** Verifiers (DVNs), all of which have to attest a message; addresses on this chain. */
  requiredDvns: dvns.optional(),
  /** Verifiers of which `optionalThreshold` have to. */
  optionalDvns: dvns.default([]),
  optionalThreshold: z.int().nonnegative().max(127).default(0),
  /** Blocks of this spoke that verifiers wait for; default: the chain's policy, 64 for a tag. */
  confirmations: z.int().positive().optional(),
  executor: hex(20).optional(),
  sendLibrary: hex(20).optional(),
  receiveLibrary: hex(20).optional(),
})
