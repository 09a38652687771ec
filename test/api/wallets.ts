import { createPrivateKey, createPublicKey, randomBytes, sign } from 'node:crypto'
import bs58 from 'bs58'
import type { PrivateKeyAccount } from 'viem/accounts'
import type { Account } from '../support/signers.js'
import type { ApiWorld } from './support.js'

/** Solana account that signs text messages, in `0x` hex. */
export interface SolanaAccount extends Account {
  type: 'solana'
  sign(message: string): string
}

/** DER of an ed25519 private key (RFC 8410), up to its 32 bytes. */
const PKCS8_ED25519 = Buffer.from('302e020100300506032b657004220420', 'hex')

/** Account of a seed (32 bytes), by default a random one. */
export function solanaAccount(seed: Uint8Array = randomBytes(32)): SolanaAccount {
  const der = Buffer.concat([PKCS8_ED25519, seed])
  const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
  const publicKey = createPublicKey(privateKey)
  return {
    type: 'solana',
    address: bs58.encode(Buffer.from(publicKey.export({ format: 'jwk' }).x!, 'base64url')),
    sign: (message) => `0x${sign(null, Buffer.from(message, 'utf8'), privateKey).toString('hex')}`,
  }
}

/** Body of POST /v1/auth/token. */
export interface Proof {
  signature: string
  signingDate: string
  type: string
  wallet: string
}

type World = Pick<ApiWorld, 'get' | 'post'>

/** Message to sign, bound to the wallet of the query if it names one. */
export const messageOf = async (
  world: World,
  query = '',
): Promise<{ message: string; signingDate: string }> =>
  (await world.get(`/v1/auth/message${query}`)).body

/** Proof of a wallet over a new message. */
export async function proofOf(world: World, wallet: PrivateKeyAccount | Account): Promise<Proof> {
  const { message, signingDate } = await messageOf(world)
  return 'signMessage' in wallet
    ? {
        signature: await wallet.signMessage({ message }),
        signingDate,
        type: 'evm',
        wallet: wallet.address,
      }
    : {
        signature: await wallet.sign(message),
        signingDate,
        type: wallet.type,
        wallet: wallet.address,
      }
}

/** Signs in and returns the header with the key. */
export async function signIn(
  world: World,
  wallet: PrivateKeyAccount | Account,
): Promise<{ authorization: string }> {
  const { token } = (await world.post('/v1/auth/token', await proofOf(world, wallet))).body
  return { authorization: `Bearer ${token}` }
}
