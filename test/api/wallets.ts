import { createPrivateKey, createPublicKey, randomBytes, sign } from 'node:crypto'
import bs58 from 'bs58'
import type { PrivateKeyAccount } from 'viem/accounts'
import type { ApiWorld } from './support.js'

/** A Solana account that signs text messages. */
export interface SolanaAccount {
  address: string
  /** The signature over the message's bytes, in `0x` hex. */
  sign(message: string): string
}

/** DER of an ed25519 private key (RFC 8410), up to its 32 bytes. */
const PKCS8_ED25519 = Buffer.from('302e020100300506032b657004220420', 'hex')

/** An account of a seed (32 bytes), else a new one. */
export function solanaAccount(seed: Uint8Array = randomBytes(32)): SolanaAccount {
  const der = Buffer.concat([PKCS8_ED25519, seed])
  const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
  const publicKey = createPublicKey(privateKey)
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
