import { randomBytes } from 'node:crypto'
import { ed25519 } from '@noble/curves/ed25519.js'
import bs58 from 'bs58'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'

/** A bundle whose wallets are all verified; the first wallet sends the requests. */
export interface Bundle {
  addresses: string[]
  /** The first wallet's key. */
  token: string
}

interface Wallet {
  address: string
  token: string
}

/** Signs in `count` wallets, every other one of Solana, and verifies them all in one bundle. */
export async function makeBundle(api: string, size: number): Promise<Bundle> {
  const wallets: Wallet[] = []
  for (let i = 0; i < size; i++) wallets.push(await signIn(api, i % 2 === 0 ? 'evm' : 'solana'))
  const [first, ...others] = wallets as [Wallet, ...Wallet[]]
  const { id } = (await ask(api, '/v1/bundle', {}, first.token)) as { id: string }
  const ADDED_AT_ONCE = 100
  for (let i = 0; i < others.length; i += ADDED_AT_ONCE) {
    const added = others.slice(i, i + ADDED_AT_ONCE).map(({ address }, n) => ({ address, name: `w${i + n}` }))
    await ask(api, '/v1/bundle/wallets', added, first.token)
  }
  for (const { token } of others) await ask(api, `/v1/clusters/verify/${id}`, {}, token)
  return { addresses: wallets.map(({ address }) => address), token: first.token }
}

async function signIn(api: string, type: 'evm' | 'solana'): Promise<Wallet> {
  const response = await fetch(`${api}/v1/auth/message`)
  const { message, signingDate } = (await response.json()) as { message: string; signingDate: string }
  const { address, signature } = await sign(type, message)
  const { token } = (await ask(api, '/v1/auth/token', { type, wallet: address, signature, signingDate })) as Wallet
  return { address, token }
}

async function sign(type: 'evm' | 'solana', message: string): Promise<{ address: string; signature: string }> {
  if (type === 'evm') {
    const account = privateKeyToAccount(generatePrivateKey())
    return { address: account.address.toLowerCase(), signature: await account.signMessage({ message }) }
  }
  const seed = randomBytes(32)
  const signature = `0x${Buffer.from(ed25519.sign(Buffer.from(message), seed)).toString('hex')}`
  return { address: bs58.encode(ed25519.getPublicKey(seed)), signature }
}

async function ask(api: string, path: string, body: unknown, token = ''): Promise<unknown> {
  const headers = { 'content-type': 'application/json', 'x-auth-key': token }
  const response = await fetch(`${api}${path}`, { method: 'POST', body: JSON.stringify(body), headers })
  if (response.status !== 200) throw new Error(`asking ${path}: ${response.status} ${await response.text()}`)
  return response.json()
}
