import type { TransactionInstruction } from '@solana/web3.js'
import bs58 from 'bs58'
import type { PaymentWatcher, PaymentWatchOutcome } from '../../src/indexer/solana/watcher.js'
import type { Alter } from './solanaProxy.js'
import type { SolanaWorld } from './solanaWorld.js'

/** Steps until nothing is new. */
export async function settle(watcher: PaymentWatcher): Promise<PaymentWatchOutcome[]> {
  const outcomes: PaymentWatchOutcome[] = []
  for (let i = 0; i < 20; i++) {
    outcomes.push(await watcher.step())
    if (outcomes.at(-1)!.kind !== 'took') return outcomes
  }
  throw new Error('the watcher does not come to rest')
}

/** The instruction of a quoted payment for a name. */
export function registerOrder(
  world: SolanaWorld,
  name: string,
  index = 0,
  changes = {},
): TransactionInstruction {
  const { terms, id } = world.quoted(world.payer(index).publicKey, name, changes)
  return world.registrar.register(terms, id)
}

type Signatures = { signature: string; slot: number }[]

/** A node that doesn't list one transaction. */
export const without =
  (hidden: string): Alter =>
  (method, _, result) =>
    method === 'getSignaturesForAddress'
      ? (result as Signatures).filter(({ signature }) => signature !== hidden)
      : result

/** A cluster that has finalized nothing after a slot, with its count of payments then. */
export function notFinalized(
  slot: number,
  sequence: number,
  communitySequence: number | null = null,
): Alter {
  return (method, params, result) => {
    const options = params.at(-1) as { commitment?: string }
    if (options?.commitment !== 'finalized') return result
    if (method === 'getSlot') return slot
    if (method === 'getSignaturesForAddress')
      return (result as Signatures).filter((one) => one.slot <= slot)
    if (method === 'getTransaction')
      return ((result as { slot: number } | null)?.slot ?? slot + 1 <= slot) ? result : null
    if (method !== 'getAccountInfo') return result
    const counted = withState(result, (data) => {
      data.writeBigUInt64LE(BigInt(sequence), 136)
      if (communitySequence !== null) data.writeBigUInt64LE(BigInt(communitySequence), 160)
    })
    return { ...counted, context: { slot } }
  }
}

/** The program's state with another time for which payments are held. */
export const heldFor = (seconds: bigint) => (result: unknown) =>
  withState(result, (data) => data.writeBigUInt64LE(seconds, 168))

export function withState(result: unknown, write: (data: Buffer) => void): object {
  const { value, ...rest } = result as { value: { data: [string, string] } }
  const data = Buffer.from(value.data[0], 'base64')
  write(data)
  return { ...rest, value: { ...value, data: [data.toString('base64'), 'base64'] } }
}

/** Answers about a transaction with another name in the payment. */
export const renaming =
  (from: string, to: string): Alter =>
  (method, _, result) => {
    if (method !== 'getTransaction' || !result) return result
    const changed = structuredClone(result) as {
      meta: { innerInstructions: { instructions: { data: string }[] }[] }
    }
    for (const { instructions } of changed.meta.innerInstructions)
      for (const instruction of instructions) {
        const data = Buffer.from(bs58.decode(instruction.data))
        const at = data.indexOf(from)
        if (at >= 0) data.write(to, at)
        instruction.data = bs58.encode(data)
      }
    return changed
  }
