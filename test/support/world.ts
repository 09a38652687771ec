import { randomBytes } from 'node:crypto'
import { Connection, Keypair } from '@solana/web3.js'
import type { Hex } from 'viem'
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { inject } from 'vitest'
import { hubAbi } from '../../src/chains/evm/contracts/index.js'
import { toHex } from '../../src/registry/primitives/bytes.js'
import { nameToWord } from '../../src/registry/primitives/name.js'
import type { Network } from '../../src/registry/primitives/network.js'
import {
  createLocalWalletClient,
  fundAddresses,
  localChainClients,
} from '../../src/testing/chains/localClients.js'
import { readWorld, type World, type WorldNetwork } from '../../src/testing/index.js'
import { solanaAccountOf } from '../../src/testing/solana/accounts.js'
import { fundSolanaAddresses } from '../../src/testing/solana/setUpSolana.js'
import type { SolanaAccount } from '../../src/testing/world.js'
import { expectDeclaredError } from './declaredErrors.js'

/** The world that all tests under test/e2e share: each uses names and wallets of its own. */
export const world = (): World => (shared ??= readWorld(inject('home'))!)
let shared: World | undefined

/** A world of any networks. */
export type SomeWorld = Pick<World, 'api'> & { networks: Partial<Record<Network, WorldNetwork>> }

function networkOf(network: Network, at: SomeWorld): WorldNetwork {
  const found = at.networks[network]
  if (!found) throw new Error(`this world has no ${network}`)
  return found
}

/** A fresh name. */
export const freshName = (prefix = 'n'): string => `${prefix}-${randomBytes(8).toString('hex')}`

/** A fresh wallet, with 10,000 of the gas token on every chain of a network. */
export async function freshWallet(
  network: Network = 'mainnet',
  at: SomeWorld = world(),
): Promise<PrivateKeyAccount> {
  const account = privateKeyToAccount(generatePrivateKey())
  const { hub, spokes } = networkOf(network, at)
  await Promise.all([hub, ...spokes].map((chain) => fundAddresses(chain, [account.address])))
  return account
}

/** A fresh wallet on Solana, with 100 SOL where this world has a Solana. */
export async function freshSolanaWallet(at: SomeWorld = world()): Promise<SolanaAccount> {
  const key = Keypair.generate()
  const solana = networkOf('mainnet', at).solana
  if (solana)
    await fundSolanaAddresses(new Connection(solana.rpcUrl, { wsEndpoint: solana.wsUrl }), [
      key.publicKey,
    ])
  return solanaAccountOf(key)
}

export interface Answer<Body = unknown> {
  status: number
  body: Body
}

/** Asks the API; the body is sent as JSON. */
export async function ask<Body = unknown>(
  method: 'GET' | 'POST',
  path: string,
  body?: unknown,
  at: { api: string } = world(),
): Promise<Answer<Body>> {
  const response = await fetch(`${at.api}${path}`, {
    method,
    ...(body !== undefined && {
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json' },
    }),
  })
  const answer = { status: response.status, body: (await response.json()) as Body }
  expectDeclaredError({ method, url: path }, answer)
  return answer
}

export interface Quote {
  type: string
  gasToken: { symbol: string; decimals: number }
  transactionData: { to: Hex; data: Hex; value: string }
  registrationFee: string
  bridgeFee: string
  names: { name: string; amountWei: string; amount: string }[]
}

type Names = readonly { name: string; amountWei?: string }[]

/** Quote of a registration on the chain of a network label. @throws unless it is quoted */
export async function quoteOn(
  label: string,
  sender: Hex,
  names: Names,
  at: SomeWorld = world(),
): Promise<Quote> {
  const { status, body } = await ask<Quote>(
    'POST',
    '/v1/names/register/evm',
    { network: label, sender, names },
    at,
  )
  if (status !== 200)
    throw new Error(`quoting ${JSON.stringify(names)}: ${status} ${JSON.stringify(body)}`)
  return body
}

/** Quotes, signs and sends a registration on the chain of a label as a frontend does; answers the hash. */
export async function registerOn(
  label: string,
  account: PrivateKeyAccount,
  names: Names,
  at: SomeWorld = world(),
): Promise<Hex> {
  const quote = await quoteOn(label, account.address, names, at)
  return sendQuoted(label, account, quote, at)
}

/** Signs and sends a quote's transaction. */
export function sendQuoted(
  label: string,
  account: PrivateKeyAccount,
  quote: Quote,
  at: SomeWorld = world(),
): Promise<Hex> {
  const chain = chainOf(label, at)
  return createLocalWalletClient(chain, account).sendTransaction(callOf(quote))
}

/** A quote's transaction data as a wallet takes it. */
export const callOf = ({ transactionData: { to, data, value } }: Quote) => ({
  to,
  data,
  value: BigInt(value),
})

/** A quote's registration on a network's hub. */
export function sendRegistration(
  account: PrivateKeyAccount,
  names: Names,
  network: Network = 'mainnet',
  at: SomeWorld = world(),
): Promise<Hex> {
  return registerOn(networkOf(network, at).hub.network, account, names, at)
}

/** Readers and anvil's own methods for a network's hub. */
export function hubOf(network: Network = 'mainnet', at: SomeWorld = world()) {
  const { hub } = networkOf(network, at)
  return { ...hub, ...localChainClients(hub) }
}

/** Readers and anvil's own methods for the spoke of a label. */
export function spokeOf(label: string, at: SomeWorld = world()) {
  const spoke = Object.values(at.networks)
    .flatMap(({ spokes }) => spokes)
    .find(({ network }) => network === label)
  if (!spoke) throw new Error(`there is no spoke "${label}" in this world`)
  return { ...spoke, ...localChainClients(spoke) }
}

function chainOf(label: string, at: SomeWorld): { rpcUrl: string; chainId: number } {
  const hub = Object.values(at.networks).find(({ hub }) => hub.network === label)?.hub
  return hub ?? spokeOf(label, at)
}

/** An EVM address, or a name, as the contracts take it. */
export const addressWord = (address: string): Hex =>
  `0x${'0'.repeat(24)}${address.slice(2).toLowerCase()}`
export const nameWord = (name: string): Hex => toHex(nameToWord(name))

/** A network's hub's record of a name's owner. */
export function readOwner(
  name: Hex,
  network: Network = 'mainnet',
  at: SomeWorld = world(),
): Promise<Hex> {
  const { reader, contracts } = hubOf(network, at)
  return reader.readContract({
    address: contracts.hub,
    abi: hubAbi,
    functionName: 'ownerOf',
    args: [name],
  })
}

const SPOKE_EIDS: Readonly<Record<string, number>> = { 8453: 30_184, 10: 30_111 }

/** What mainnet's hub owes to a sender for what came from a spoke. */
export function readCredit(from: Hex, label: string, at: SomeWorld = world()): Promise<bigint> {
  const { reader, contracts } = hubOf('mainnet', at)
  const args = [SPOKE_EIDS[label]!, from] as const
  return reader.readContract({
    address: contracts.hub,
    abi: hubAbi,
    functionName: 'refundOf',
    args,
  })
}
