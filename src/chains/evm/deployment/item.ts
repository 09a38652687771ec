import { type Abi, encodeFunctionData, type Hex } from 'viem'
import type { ChainWishes } from '../../../config/deployment.js'
import type { ChainState } from './state.js'

/** A transaction that brings a chain closer to what is wished. */
export interface Step {
  /** `8453.spoke.pauser`: the same in every run. */
  id: string
  /** Network label of the chain. */
  chain: string
  /** Who has to sign; null: anybody. */
  by: Hex | null
  to: Hex
  data: Hex
  value: bigint
  /** What it does, in a few words. */
  does: string
  /** Gas that it usually takes: it can't be estimated while what it relies on is not mined. */
  usualGas: bigint
}

/** Order of the steps of a network: what they rely on comes first, and the peers, who open the bridge, last. */
export const RANK = { deploy: 0, lowerHub: 1, settings: 2, raiseHub: 3, bridge: 4, peers: 5 } as const

/** One thing that is wished, beside what the chain shows of it. */
export interface Item {
  chain: string
  /** `hub, pauser` */
  about: string
  wanted: string
  found: string
  isRight: boolean
  rank: number
  /** What makes it right; null where it is, or where no transaction of ours would. */
  step: Step | null
  /** What to know beside it, or to do where there is no step. */
  advice?: string
}

/** A chain's wishes with what it shows. */
export interface Side {
  wishes: ChainWishes
  state: ChainState
}

/** Address of a contract's call and who may make it. */
export interface Callee {
  chain: string
  /** `hub`, `spoke`, `payments` */
  what: string
  at: Hex
  owner: Hex
}

/** The steps of items that are not right, in the order in which they can be carried out. */
export const stepsOf = (items: readonly Item[], ranks: (rank: number) => boolean = () => true): Step[] =>
  items
    .filter(({ rank }) => ranks(rank))
    .sort((a, b) => a.rank - b.rank)
    .flatMap(({ step }) => step ?? [])

/** A comparison of two values that are printed as they are compared. */
export function compared(
  { chain, what }: Pick<Callee, 'chain' | 'what'>,
  field: string,
  values: { wanted: string; found: string; rank?: number; step: () => Step | null; advice?: string },
): Item {
  const { wanted, found, rank = RANK.settings, step, advice } = values
  const isRight = wanted === found
  const about = `${what}, ${field}`
  return { chain, about, wanted, found, isRight, rank, step: isRight ? null : step(), ...(advice && { advice }) }
}

const SETTING_GAS = 100_000n
/** A call of a contract as a step. @param field names it within its contract */
export function callStep(
  { chain, what, at, owner }: Callee,
  field: string,
  call: {
    abi: Abi | readonly unknown[]
    functionName: string
    args: readonly unknown[]
    does: string
    to?: Hex
    by?: Hex
  },
): Step {
  const { abi, functionName, args, does, to = at, by = owner } = call
  const data = encodeFunctionData({ abi: abi as Abi, functionName, args })
  return { id: `${chain}.${what}.${field}`, chain, by, to, data, value: 0n, does, usualGas: SETTING_GAS }
}
