import { Keypair, PublicKey } from '@solana/web3.js'
import { expect, it } from 'vitest'
import { NodeError, RpcError } from '../rpc/errors.js'
import type { RpcCall } from '../rpc/nodes.js'
import {
  readMintDecimalsOrNull,
  readSplTokenMintDecimals,
  readTokenBalance,
  TOKEN_PROGRAM,
} from './tokens.js'

/** Tokens of nodes that answer as Agave does, including Token-2022. localSolana.test.ts has real ones. */

const TOKEN_2022 = new PublicKey('TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb')
const mint = Keypair.generate().publicKey
const token = mint.toBase58()
const wallet = Keypair.generate().publicKey.toBase58()

const refusal = (code: number, message = 'Invalid param: could not find mint') =>
  new RpcError('refused', '', null, { cause: new NodeError({ code, message }) })
/** @param program owner of the mint; null where the address is not a mint */
const nodeWith =
  (program: PublicKey | null, amounts: readonly bigint[] = []): RpcCall =>
  async <T>(method: string) => {
    const data = (amount: bigint) => [
      Buffer.from(new BigUint64Array([amount]).buffer).toString('base64'),
      'base64',
    ]
    if (method === 'getAccountInfo') return { value: program && { owner: program.toBase58() } } as T
    if (!program) throw refusal(-32_602)
    if (method === 'getTokenSupply') return { value: { decimals: 9 } } as T
    return {
      value: amounts.map((one) => ({ pubkey: mint.toBase58(), account: { data: data(one) } })),
    } as T
  }

it('a balance is the sum of the wallet’s accounts, and 0 where the token is not a mint', async () => {
  const most = 2n ** 64n - 1n
  expect(await readTokenBalance(nodeWith(TOKEN_2022, [most, 2n]), token, wallet)).toBe(most + 2n)
  expect(await readTokenBalance(nodeWith(null), token, wallet)).toBe(0n)
  const lacking = async () => Promise.reject(refusal(-32_601))
  await expect(readTokenBalance(lacking, token, wallet), 'no such method').rejects.toThrow(RpcError)
  const odd = async () => Promise.reject(refusal(-32_602, 'invalid params'))
  await expect(
    readTokenBalance(odd, token, wallet),
    'a gateway that does not know the method',
  ).rejects.toThrow(RpcError)
})

/** Messages as Agave writes them, and inside a gateway's data. */
it.each([
  'Invalid param: could not find mint',
  'Invalid param: could not find account',
  'Invalid param: not a Token mint',
  'Invalid param: Token mint could not be unpacked',
])('what is no mint has neither decimals nor a balance: %s', async (words) => {
  for (const said of [{ message: words }, { message: 'Invalid params', data: words }]) {
    const cause = new NodeError({ code: -32_602, ...said })
    const call: RpcCall = () => Promise.reject(new RpcError('refused', '', null, { cause }))
    const name = said.message
    expect(await readMintDecimalsOrNull(call, mint), name).toBeNull()
    expect(await readTokenBalance(call, token, wallet), name).toBe(0n)
  }
})

it.each([
  { name: 'the first program', program: TOKEN_PROGRAM, decimals: 9, paid: 9 },
  { name: 'Token-2022', program: TOKEN_2022, decimals: 9, paid: null },
  { name: 'no mint', program: null, decimals: null, paid: null },
])(
  'decimals are those of mints, and those that can be paid in of one program: $name',
  async ({ program, decimals, paid }) => {
    expect(await readMintDecimalsOrNull(nodeWith(program), mint)).toBe(decimals)
    expect(await readSplTokenMintDecimals(nodeWith(program), mint)).toBe(paid)
  },
)
