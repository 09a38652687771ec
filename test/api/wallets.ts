import { generateKeyPairSync, sign } from 'node:crypto'
import bs58 from 'bs58'
import type { PrivateKeyAccount } from 'viem/accounts'
import type { ApiWorld } from './support.js'

/** A Solana account that signs text messages. */
export interface SolanaAccount {
  address: string
  /** The signature over the message's bytes, in `0x` hex. */
  sign(message: string): string
}

export function solanaAccount(): SolanaAccount {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  return {
    address: bs58.encode(Buffer.from(publicKey.export({ format: 'jwk' }).x!, 'base64url')),
    sign: (message) => `0x${sign(null, Buffer.from(message, 'utf8'), privateKey).toString('hex')}`,
  }
}

/** The body of POST /v1/auth/token. */
export interface Proof {
  signature: string
  signingDate: string
  type: string
  wallet: string
}

type World = Pick<ApiWorld, 'get' | 'post'>

/** The message to sign, the one bound to a wallet where the query names one. */
export const messageOf = async (world: World, query = ''): Promise<{ message: string; signingDate: string }> =>
  (await world.get(`/v1/auth/message${query}`)).body

/** A wallet's signature over the message of now. */
export async function proofOf(world: World, wallet: PrivateKeyAccount | SolanaAccount): Promise<Proof> {
  const { message, signingDate } = await messageOf(world)
  return 'signMessage' in wallet
    ? { signature: await wallet.signMessage({ message }), signingDate, type: 'evm', wallet: wallet.address }
    : { signature: wallet.sign(message), signingDate, type: 'solana', wallet: wallet.address }
}

/** Signs in, and gives the header that shows it. */
export async function signIn(
  world: World,
  wallet: PrivateKeyAccount | SolanaAccount,
): Promise<{ authorization: string }> {
  const { token } = (await world.post('/v1/auth/token', await proofOf(world, wallet))).body
  return { authorization: `Bearer ${token}` }
}
