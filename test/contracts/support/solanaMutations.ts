import type { AccountMeta, PublicKey, TransactionInstruction } from '@solana/web3.js'
import fc from 'fast-check'
import { base58Of, changed } from './solana.js'
import { writes } from './solanaCalls.js'

/** Departure of an instruction from the right one; positions are modulo the length. */
export const mutation = fc.oneof(
  fc.record({ kind: fc.constant('cut' as const), at: fc.nat(150) }),
  fc.record({
    kind: fc.constant('extend' as const),
    bytes: fc.uint8Array({ minLength: 1, maxLength: 40 }),
  }),
  fc.record({ kind: fc.constant('byte' as const), at: fc.nat(150), value: fc.nat(255) }),
  fc.record({ kind: fc.constant('random' as const), bytes: fc.uint8Array({ maxLength: 160 }) }),
  fc.record({ kind: fc.constant('swap' as const), at: fc.nat(9), with: fc.nat(9) }),
  fc.record({ kind: fc.constant('replace' as const), at: fc.nat(9), by: fc.nat(199) }),
  fc.record({ kind: fc.constant('drop' as const), at: fc.nat(9) }),
  fc.record({ kind: fc.constant('repeat' as const), at: fc.nat(9) }),
  fc.record({ kind: fc.constant('add' as const), by: fc.nat(199) }),
  fc.record({ kind: fc.constant('sign' as const), at: fc.nat(9) }),
  fc.record({ kind: fc.constant('unsign' as const), at: fc.nat(9) }),
  fc.record({ kind: fc.constant('freeze' as const), at: fc.nat(9) }),
  fc.record({ kind: fc.constant('thaw' as const), at: fc.nat(9) }),
)
export type Mutation = typeof mutation extends fc.Arbitrary<infer M> ? M : never

/**
 * The instruction as the mutations leave it.
 * @param pool accounts that stand in for others
 * @param maySign whether there may be a signature of this key
 */
export function mutateCall(
  call: TransactionInstruction,
  mutations: readonly Mutation[],
  pool: readonly PublicKey[],
  maySign: (key: PublicKey) => boolean,
): TransactionInstruction {
  let { keys, data } = call
  for (const one of mutations) {
    if (one.kind === 'cut') data = data.subarray(0, one.at % (data.length + 1))
    else if (one.kind === 'extend') data = Buffer.concat([data, one.bytes])
    else if (one.kind === 'byte' && data.length > 0)
      data = Buffer.from(data.with(one.at % data.length, one.value))
    else if (one.kind === 'random') data = Buffer.concat([data.subarray(0, 8), one.bytes])
    else if (one.kind === 'add') keys = [...keys, writes(pool[one.by % pool.length]!)]
    else if ('at' in one && keys.length > 0) keys = mutateKeys(pool, keys, one)
  }
  return changed(call, {
    data,
    keys: () => keys.map((meta) => ({ ...meta, isSigner: meta.isSigner && maySign(meta.pubkey) })),
  })
}

function mutateKeys(
  pool: readonly PublicKey[],
  keys: AccountMeta[],
  one: Extract<Mutation, { at: number }>,
): AccountMeta[] {
  const at = one.at % keys.length
  const meta = keys[at]!
  switch (one.kind) {
    case 'swap': {
      const other = one.with % keys.length
      return keys.with(at, keys[other]!).with(other, meta)
    }
    case 'replace':
      return keys.with(at, { ...meta, pubkey: pool[one.by % pool.length]! })
    case 'drop':
      return keys.toSpliced(at, 1)
    case 'repeat':
      return keys.toSpliced(at, 0, meta)
    case 'sign':
      return keys.with(at, { ...meta, isSigner: true })
    case 'unsign':
      return keys.with(at, { ...meta, isSigner: false })
    case 'freeze':
      return keys.with(at, { ...meta, isWritable: false })
    case 'thaw':
      return keys.with(at, { ...meta, isWritable: true })
    default:
      return keys
  }
}

export const describeCall = ({ keys, data }: TransactionInstruction): string =>
  `${data.toString('hex')} ${keys.map(({ pubkey, isSigner, isWritable }) => `${base58Of(pubkey)}${isSigner ? ' s' : ''}${isWritable ? ' w' : ''}`).join(', ')}`
