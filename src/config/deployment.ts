import { z } from 'zod'
import type { Network } from '../registry/primitives/network.js'
import { ConfigError } from './error.js'
import { hex, wei } from './fields.js'

/** What `clusterd contracts` deploys and compares; the daemon reads none of it. */

const ZERO_ADDRESS = `0x${'00'.repeat(20)}` as const
const ZERO_SALT = `0x${'00'.repeat(32)}` as const
const DAY_SECONDS = 86_400
const DEFAULT_MINIMUM_WEI = String(10n ** 16n)
/** Names that deliveries may win in a day by default. */
const DELIVERED_MINIMUMS = 100n
/** Blocks that verifiers wait for where the chain's policy is no number: two epochs of Ethereum. */
const DEFAULT_CONFIRMATIONS = 64
/** LayerZero's own default, bytes. */
const DEFAULT_MESSAGE_SIZE = 10_000

/** Contracts of a network: who has which role, and what they are constructed with. */
export const networkDeployment = z.strictObject({
  /** Owner of every contract, such as a multisig or a timelock. */
  owner: hex(20),
  /** May pause; nobody but the owner where it is left out. */
  pauser: hex(20).default(ZERO_ADDRESS),
  /** The service's account: delivers on the hub, decides about payments. */
  relayer: hex(20),
  minimumWei: wei.default(DEFAULT_MINIMUM_WEI).transform(BigInt),
  /** What deliveries may win in a day; default 100 times the minimum. */
  deliverLimitWei: wei.transform(BigInt).optional(),
  /** Time after which payers take back what nobody decided, for ever. */
  reclaimDays: z.number().min(1).max(30).default(7),
  /** Whether a contract for payments is deployed on every chain. */
  payments: z.boolean().default(true),
  /** Another one gives other addresses to the same contracts. */
  salt: hex(32).default(ZERO_SALT),
})

/** What differs on one chain, such as the address of its multisig. */
export const chainDeployment = networkDeployment
  .pick({ owner: true, relayer: true })
  .partial()
  .extend({
    pauser: hex(20).optional(),
    payments: z.boolean().optional(),
  })

const dvns = z.array(hex(20)).max(127)

/** LayerZero's configuration of a chain's hub or spoke; absent addresses are the preset's. */
export const bridgeSettings = z.strictObject({
  /** Verifiers (DVNs), all of which have to attest a message; addresses on this chain. */
  requiredDvns: dvns.optional(),
  /** Verifiers of which `optionalThreshold` have to. */
  optionalDvns: dvns.default([]),
  optionalThreshold: z.int().nonnegative().max(127).default(0),
  /** Blocks of this spoke that verifiers wait for; default: the chain's policy where it is a number, else 64. */
  confirmations: z.int().positive().optional(),
  executor: hex(20).optional(),
  /** Bytes. */
  maxMessageSize: z.int().positive().default(DEFAULT_MESSAGE_SIZE),
  sendLibrary: hex(20).optional(),
  receiveLibrary: hex(20).optional(),
})

type Hex = `0x${string}`

/** LayerZero's configuration of one end of the bridge, all of it set: nothing is left to LayerZero's defaults. */
export interface BridgeWishes {
  sendLibrary: Hex
  receiveLibrary: Hex
  executor: Hex
  maxMessageSize: number
  /** Without repetition, ascending, as the library demands. */
  requiredDvns: readonly Hex[]
  optionalDvns: readonly Hex[]
  optionalThreshold: number
  /** Blocks of the spoke at the other or this end. */
  confirmations: number
}

/** What the chains file wishes of a chain's contracts. */
export interface ChainWishes {
  label: string
  role: 'hub' | 'spoke'
  eid: number
  endpoint: Hex
  owner: Hex
  pauser: Hex
  relayer: Hex
  minimumWei: bigint
  deliverLimitWei: bigint
  reclaimSeconds: bigint
  salt: Hex
  /** Address in the chains file; null before the deployment. */
  contract: Hex | null
  communityPayments: Hex | null
  /** Whether there is to be a contract for payments. */
  hasPayments: boolean
  /** Null: LayerZero's defaults count. */
  bridge: BridgeWishes | null
}

/** The parts of a chains file, finished or not, that wishes follow from. */
export interface WishesSource {
  chains: readonly {
    network: Network
    label: string
    role: 'hub' | 'spoke'
    contract?: string | undefined
    communityPayments?: string | undefined
    endpoint?: string | undefined
    eid?: number | undefined
    confirmation: string | { blocks: number }
    watchOnly?: unknown
    bridge?: z.output<typeof bridgeSettings> | undefined
    deployment?: z.output<typeof chainDeployment> | undefined
  }[]
  deployment: Partial<Record<Network, z.output<typeof networkDeployment> | undefined>>
}

/** LayerZero's own contracts on a chain, as a preset knows them. */
export interface GivenBridge {
  sendLibrary: string
  receiveLibrary: string
  executor: string
  dvn: string
}

/**
 * What a chains file wishes of a network's contracts, hub first.
 * @param givenOn LayerZero's contracts by a chain's label, where they are known
 * @throws ConfigError with one sentence where something is missing or contradicts itself
 */
export function wishesOf(
  { chains, deployment }: WishesSource,
  network: Network,
  givenOn: (label: string) => GivenBridge | undefined,
): ChainWishes[] {
  const common = deployment[network]
  if (!common)
    throw new ConfigError(
      `The chains file has no \`deployment.${network}\`: say owner and relayer there (docs/deploying.md).`,
    )
  const ours = chains.filter((chain) => chain.network === network && !chain.watchOnly)
  const wishes = ours.map((chain): ChainWishes => {
    const { label, role, endpoint, eid, contract, communityPayments } = chain
    if (!endpoint || !eid)
      throw new ConfigError(`Chain "${label}" has no \`endpoint\` or no \`eid\`: name LayerZero's endpoint there.`)
    const { owner, pauser, relayer, payments } = { ...common, ...given(chain.deployment ?? {}) }
    return {
      ...{ label, role, endpoint: endpoint as Hex, eid, owner, pauser, relayer, hasPayments: payments },
      minimumWei: common.minimumWei,
      deliverLimitWei: common.deliverLimitWei ?? DELIVERED_MINIMUMS * common.minimumWei,
      reclaimSeconds: BigInt(Math.round(common.reclaimDays * DAY_SECONDS)),
      salt: common.salt,
      contract: (contract ?? null) as Hex | null,
      communityPayments: (communityPayments ?? null) as Hex | null,
      bridge: bridgeOf(chain, givenOn(label)),
    }
  })
  if (wishes.filter(({ role }) => role === 'hub').length !== 1)
    throw new ConfigError(`The chains file has no hub of the ${network} to deploy.`)
  checkBridges(wishes)
  return wishes.sort((a, b) => Number(b.role === 'hub') - Number(a.role === 'hub'))
}

/** An object without its undefined fields. */
const given = <T extends object>(fields: T) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>
  }

function bridgeOf(
  { label, bridge, confirmation }: WishesSource['chains'][number],
  known: GivenBridge | undefined,
): BridgeWishes | null {
  if (!bridge && !known) return null
  const { optionalDvns = [], optionalThreshold = 0, maxMessageSize = DEFAULT_MESSAGE_SIZE } = bridge ?? {}
  const [sendLibrary, receiveLibrary, executor] = (['sendLibrary', 'receiveLibrary', 'executor'] as const).map(
    (field) => {
      const address = bridge?.[field] ?? known?.[field].toLowerCase()
      if (!address) throw new ConfigError(`\`bridge\` of chain "${label}" has no \`${field}\`, and no preset knows it.`)
      return address as Hex
    },
  )
  const required = bridge?.requiredDvns ?? (known ? [known.dvn.toLowerCase() as Hex] : [])
  if (required.length + optionalThreshold === 0)
    throw new ConfigError(`\`bridge\` of chain "${label}" names no verifiers: say \`requiredDvns\`.`)
  if (optionalThreshold > optionalDvns.length || (optionalThreshold === 0) !== (optionalDvns.length === 0))
    throw new ConfigError(
      `\`bridge\` of chain "${label}": \`optionalThreshold\` is 1 to the number of \`optionalDvns\`.`,
    )
  const policy = typeof confirmation === 'object' ? Math.max(1, confirmation.blocks) : DEFAULT_CONFIRMATIONS
  return {
    ...{ sendLibrary: sendLibrary!, receiveLibrary: receiveLibrary!, executor: executor!, maxMessageSize },
    ...{ requiredDvns: sorted(required), optionalDvns: sorted(optionalDvns), optionalThreshold },
    confirmations: bridge?.confirmations ?? policy,
  }
}

const sorted = (addresses: readonly Hex[]): Hex[] => [...new Set(addresses)].sort()

/** A message passes only where both ends name the same verifiers, each by its address there. */
function checkBridges(wishes: readonly ChainWishes[]): void {
  const hub = wishes.find(({ role }) => role === 'hub')?.bridge
  for (const { label, role, bridge } of wishes) {
    if (role === 'hub') continue
    if (!hub !== !bridge) throw new ConfigError(`Chain "${label}" and its hub need \`bridge\` both, or neither.`)
    if (!hub || !bridge) continue
    if (hub.requiredDvns.length !== bridge.requiredDvns.length || hub.optionalThreshold !== bridge.optionalThreshold)
      throw new ConfigError(
        `\`bridge\` of chain "${label}" names other verifiers than its hub's: as many required ones, and the same threshold.`,
      )
  }
}
