import { Keypair, PublicKey } from '@solana/web3.js'
import { describe, expect, it } from 'vitest'
import type { Call } from '../rpc/nodes.js'
import { readMintDecimals, readTokenBalance, TOKEN_PROGRAM } from './tokens.js'

/** Token accounts as nodes return them, of Token-2022 and malformed ones too. Real ones are in localSolana.test.ts. */

const TOKEN_2022 = new PublicKey('TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb')
const [mint, owner, other] = [Keypair, Keypair, Keypair].map((kind) => kind.generate().publicKey) as [
  PublicKey,
  PublicKey,
  PublicKey,
]

interface Account {
  owner: string
  data: [string, 'base64']
}
const account = (program: PublicKey, data: Buffer): Account => ({
  owner: program.toBase58(),
  data: [data.toString('base64'), 'base64'],
})
/** @param kind type of an account with extensions; 0: without extensions */
function mintOf(program: PublicKey, { kind = 0, initialized = 1, bytes = 82 } = {}): Account {
  const data = Buffer.alloc(kind ? 234 : bytes)
  data.set([9, initialized], 44)
  if (kind) data[165] = kind
  return account(program, data)
}
function tokens(program: PublicKey, amount: bigint, { kind = 0, of = mint, by = owner } = {}): Account {
  const data = Buffer.alloc(kind ? 182 : 165)
  data.set(of.toBytes(), 0)
  data.set(by.toBytes(), 32)
  data.writeBigUInt64LE(amount, 64)
  if (kind) data[165] = kind
  return account(program, data)
}

const node =
  (of: Account | null, accounts: Account[] = []): Call =>
  <T>(method: string) =>
    Promise.resolve(
      (method === 'getAccountInfo'
        ? { value: of }
        : { value: accounts.map((one) => ({ pubkey: other.toBase58(), account: one })) }) as T,
    )
const balance = (of: Account | null, accounts: Account[]) => readTokenBalance(node(of, accounts), owner, mint)
const decimals = (of: Account | null) => readMintDecimals(node(of), mint)

describe('a balance', () => {
  it('is the sum of the wallet’s accounts of that mint and program', async () => {
    const most = 2n ** 64n - 1n
    const strange = [tokens(TOKEN_PROGRAM, 4n, { of: other }), tokens(TOKEN_PROGRAM, 8n, { by: other })]
    const found = [tokens(TOKEN_PROGRAM, most), tokens(TOKEN_PROGRAM, 2n), tokens(TOKEN_2022, 16n), ...strange]
    expect(await balance(mintOf(TOKEN_PROGRAM), found)).toBe(most + 2n)
  })

  it('is read of Token-2022 too, with extensions and without', async () => {
    for (const kind of [0, 1])
      expect(
        await balance(mintOf(TOKEN_2022, { kind }), [tokens(TOKEN_2022, 5n), tokens(TOKEN_2022, 6n, { kind: 2 })]),
      ).toBe(11n)
    // a mint with extensions is no account
    expect(await balance(mintOf(TOKEN_2022), [tokens(TOKEN_2022, 6n, { kind: 1 })])).toBe(0n)
  })

  it.each<[string, Account | null]>([
    ['an account that there is not', null],
    ['another program’s', mintOf(other)],
    ['one that is not initialized', mintOf(TOKEN_PROGRAM, { initialized: 0 })],
    ['a token account', tokens(TOKEN_PROGRAM, 1n)],
    ['a token account with extensions', tokens(TOKEN_2022, 1n, { kind: 2 })],
    ['of another length', mintOf(TOKEN_PROGRAM, { bytes: 83 })],
  ])('of what is no mint is 0: %s', async (_, of) => {
    expect(await balance(of, [tokens(TOKEN_PROGRAM, 7n), tokens(TOKEN_2022, 7n)])).toBe(0n)
  })
})

it('decimals are those of mints that can be paid in', async () => {
  expect(await decimals(mintOf(TOKEN_PROGRAM))).toBe(9)
  expect(await decimals(mintOf(TOKEN_2022))).toBeNull()
  expect(await decimals(mintOf(TOKEN_2022, { kind: 1 }))).toBeNull()
  expect(await decimals(null)).toBeNull()
})
