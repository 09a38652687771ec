import { createHash } from 'node:crypto'
import { type AccountMeta, type PublicKey, TransactionInstruction } from '@solana/web3.js'
import { registrarCoder } from '../../../src/chains/solana/registrar.js'
import { NOW, type SolanaWorld } from './solana.js'

export const PAYMENT_BYTES = 96
export const TREASURY_BYTES = 8
/** Price of a name in these tests. */
export const LAMPORTS = 70_000_000n

/** A word made from a text: of a quote id, a name, a referral. */
export const wordOf = (text: string): Buffer => createHash('sha256').update(text).digest()

const signs = (pubkey: PublicKey): AccountMeta => ({ pubkey, isSigner: true, isWritable: false })
export const writes = (pubkey: PublicKey): AccountMeta => ({ pubkey, isSigner: false, isWritable: true })
export const reads = (pubkey: PublicKey): AccountMeta => ({ pubkey, isSigner: false, isWritable: false })

const termsOf = (payer: PublicKey) => ({
  payer: payer.toBytes(),
  name: wordOf('name'),
  amountWei: (1n << 127n) + 10n ** 16n,
  lamports: LAMPORTS,
  expiresAt: NOW,
  referral: wordOf('referral'),
})

export type SolanaCalls = ReturnType<typeof callsOf>

/** The instructions as those who may give them would; quotes are named by a text. */
export function callsOf({ registrar, keys, programId, programData }: SolanaWorld) {
  const paymentOf = (quote = 'q', payer = keys.alice) => ({ quoteId: wordOf(quote), payer })
  const instruction = (metas: AccountMeta[], data: Buffer) =>
    new TransactionInstruction({ programId, keys: metas, data })
  return {
    paymentOf,
    register: (quote = 'q', change: Partial<ReturnType<typeof termsOf>> = {}, payer = keys.alice) =>
      registrar.register({ ...termsOf(payer), ...change }, wordOf(quote)),
    settle: (...quotes: string[]) =>
      registrar.settle(
        keys.relay,
        quotes.map((quote) => paymentOf(quote)),
      ),
    refund: (quote = 'q') => registrar.refund(keys.relay, paymentOf(quote)),
    withdraw(lamports: bigint, destination = keys.bob) {
      const data = Buffer.concat([
        createHash('sha256').update('global:withdraw').digest().subarray(0, 8),
        Buffer.alloc(8),
      ])
      data.writeBigUInt64LE(lamports, 8)
      const { state, treasury } = registrar
      return instruction([signs(keys.treasurer), ...[state, treasury, destination].map(writes)], data)
    },
    setAuthorities(relay: PublicKey, treasurer: PublicKey, by = keys.deployer) {
      const names = { relay_authority: relay, treasury_authority: treasurer }
      return instruction(
        [signs(by), writes(registrar.state), reads(programData)],
        registrarCoder.instruction.encode('set_authorities', names),
      )
    },
  }
}
