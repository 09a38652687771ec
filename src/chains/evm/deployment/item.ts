import type { Abi, Hex } from 'viem'
import type { DesiredChainDeployment } from '../../../config/desired.js'
import { encodeContractCall } from '../contracts/read.js'

/** A transaction that brings a chain closer to the desired state. */
export interface DeploymentStep {
  /** Label of the chain, such as `8453`. */
  chain: string
  /** Address that has to sign. Null if any account may send the transaction. */
  by: Hex | null
  to: Hex
  data: Hex
  value: bigint
  /** Effect of the transaction, in a few words. */
  does: string
}

/**
 * Order in which steps are sent: later steps rely on earlier steps. The hub's minimum bid is lowered before the spokes'
 * minimum is set, and raised after it, so that the hub refuses no bid that a spoke accepts. Setting a peer opens the
 * bridge. Setting the resolver makes an ENS name resolve.
 */
export const DEPLOYMENT_STEP_ORDER = {
  deploy: 0,
  lowerHub: 1,
  settings: 2,
  raiseHub: 3,
  bridge: 4,
  peers: 5,
  name: 6,
} as const

/** A setting of a deployment: the desired value, the value on the chain, and the step that sets it. */
export interface ComparedSetting {
  chain: string
  /** Subject of the comparison, such as `hub, pauser`. */
  about: string
  wanted: string
  found: string
  isRight: boolean
  /** Place of the step in `DEPLOYMENT_STEP_ORDER`. */
  rank: number
  /** Null where the value is right, or where no transaction that clusterd builds can change it. */
  step: DeploymentStep | null
  advice?: string
}

/** A desired contract with the account that may change its settings. */
export interface OwnedContract {
  chain: string
  /** `hub`, `spoke`, `payments` or `ENS resolver`; or `ENS name` with the name, for its resolver in the registry. */
  what: string
  at: Hex
  owner: Hex
}

/** A hub or spoke, which sends or receives over the bridge, with the desired state of its chain. */
export interface HubOrSpokeContract extends OwnedContract {
  desired: DesiredChainDeployment
  isDeployed: boolean
}

/** Steps of the items that differ from the desired state, in the order in which to send the steps. */
export const deploymentStepsOf = (items: readonly ComparedSetting[]): DeploymentStep[] =>
  items.toSorted((a, b) => a.rank - b.rank).flatMap(({ step }) => step ?? [])

/** Compares the desired and the found value of a setting, both as text. */
export function compareSetting(
  { chain, what }: Pick<OwnedContract, 'chain' | 'what'>,
  field: string,
  values: {
    wanted: string
    found: string
    /** Place of the step in `DEPLOYMENT_STEP_ORDER`. Default: `settings`. */
    rank?: number
    step: DeploymentStep | null
    advice?: string | false
  },
): ComparedSetting {
  const { wanted, found, rank = DEPLOYMENT_STEP_ORDER.settings, step, advice } = values
  const isRight = wanted === found
  const about = `${what}, ${field}`
  return {
    chain,
    about,
    wanted,
    found,
    isRight,
    rank,
    step: isRight ? null : step,
    ...(advice && { advice }),
  }
}

/** Step that calls a function of the given contract, or of `to`. The contract's owner signs, or `by` if it is set. */
export function ownerCallStep(
  { chain, at, owner }: OwnedContract,
  call: {
    abi: Abi
    functionName: string
    args: readonly unknown[]
    does?: string
    to?: Hex
    by?: Hex | undefined
  },
): DeploymentStep {
  const { abi, functionName, args, to = at, by = owner } = call
  const does = call.does ?? `calls ${functionName}(${args.join(', ')}) of ${to}`
  return { chain, by, to, data: encodeContractCall(abi, functionName, args), value: 0n, does }
}
