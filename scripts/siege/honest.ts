import type { Hex } from 'viem'
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { createLocalWalletClient, fundAddresses } from '../../src/testing/chains/localClients.js'
import type { WorldHub } from '../../src/testing/index.js'
import { type Call, type Client, createClient, signInBy } from './http.js'

/** Answers to visitors: the duration of each request in ms, and descriptions of unsuccessful answers. */
export interface Answered {
  ms: number[]
  failed: string[]
}

/** Answers to honest visitors, with the time of each. */
export interface Met extends Answered {
  /** Time at which each answer arrived, by this process's clock (performance.now), ms. */
  atMs: number[]
}

/** Sends requests at a steady pace. A slow answer does not delay the next request. */
async function ask(
  client: Client,
  everyMs: number,
  next: (n: number) => Call,
  signal: AbortSignal,
): Promise<Met> {
  const met: Met = { ms: [], atMs: [], failed: [] }
  const asked: Promise<void>[] = []
  for (let n = 0; !signal.aborted; n++) {
    const call = next(n)
    const one = client.ask(call).then(
      ({ status, ms, body }) => {
        met.ms.push(ms)
        met.atMs.push(performance.now())
        if (status !== 200)
          met.failed.push(`${call.method ?? 'GET'} ${call.path}: ${status} ${body.slice(0, SHOWN)}`)
      },
      (error: Error) => void met.failed.push(`${call.path}: ${error.message}`),
    )
    asked.push(one)
    await new Promise((resolve) => setTimeout(resolve, everyMs))
  }
  await Promise.all(asked)
  return met
}

/** Maximum number of characters to show of an unsuccessful answer. */
const SHOWN = 500

const LOOK_UP_MS = 50
/** Pause between changes: a wallet may cause 60 events a minute, and a thousand events a day. */
const CHANGE_MS = 1_500
const CHANGES = 900
const BID_MS = 2_000

interface Seed {
  name: string
  owner: string
}

/** The n-th look-up of a name or its owner, in turn. */
const lookUp = ({ name, owner }: Seed, n: number): Call => ({
  path: n % 2 === 0 ? `/v1/names/address/${owner}` : `/v1/clusters/name/${name}`,
})

/** Sends a visitor's look-ups of a name and its owner until the signal. */
export const lookUps = (api: string, localAddress: string, seed: Seed, signal: AbortSignal) =>
  ask(createClient(api, localAddress, 8), LOOK_UP_MS, (n) => lookUp(seed, n), signal)

/** Number of addresses, from 127.0.100.1 on, among which visitors are distributed. */
const VISITORS = 20_000

/** Sends look-ups until the signal, each from another address on a connection of its own. */
export const visitorsLookUps = (api: string, seed: Seed, signal: AbortSignal, everyMs: number) => {
  const first = Math.floor(Math.random() * VISITORS)
  const call = (n: number): Call => {
    const visitor = (first + n) % VISITORS
    const localAddress = `127.0.${100 + (visitor % 100)}.${1 + Math.floor(visitor / 100)}`
    return { ...lookUp(seed, n), localAddress }
  }
  return ask(createClient(api, '127.0.0.1', 1), everyMs, call, signal)
}

/** Requests the constant answer of a bare server (scripts/bench/server.ts) until the signal, as often as `lookUps`. */
export const constants = (url: string, localAddress: string, signal: AbortSignal): Promise<Met> =>
  ask(createClient(url, localAddress, 8), LOOK_UP_MS, () => ({ path: '/constant' }), signal)

/** Signs a wallet in. @returns function that renames the wallet's entries as often as allowed, until the signal */
export async function memberOf(
  api: string,
  localAddress: string,
  seconds = 0,
): Promise<(signal: AbortSignal) => Promise<Met>> {
  const client = createClient(api, localAddress, 8)
  const account = privateKeyToAccount(generatePrivateKey())
  const sign = (message: string) => account.signMessage({ message })
  const headers = await signInBy(client, { address: account.address, sign })
  const address = `0x${'11'.repeat(20)}`
  const made = await client.ask({ method: 'POST', path: '/v1/clusters', headers })
  const added = await client.ask({
    method: 'POST',
    path: '/v1/clusters/wallets',
    headers,
    body: [{ address, name: 'w' }],
  })
  if (made.status !== 200 || added.status !== 200)
    throw new Error(`an honest wallet: ${made.body} ${added.body}`)
  const rename = (n: number): Call => ({
    method: 'PUT',
    path: '/v1/clusters/wallets/names',
    headers,
    body: [{ address, name: `w${n}` }],
  })
  return (signal) => ask(client, Math.max(CHANGE_MS, (seconds * 1_000) / CHANGES), rename, signal)
}

/** Makes a buyer. @returns function that requests, signs and sends quotes like a frontend, until the signal */
export async function buyerOf(
  api: string,
  localAddress: string,
  hub: WorldHub,
): Promise<(signal: AbortSignal) => Promise<{ hashes: Hex[]; failed: string[] }>> {
  const client = createClient(api, localAddress, 2)
  const account = privateKeyToAccount(generatePrivateKey())
  await fundAddresses(hub, [account.address])
  return async (signal) => {
    const hashes: Hex[] = []
    const failed: string[] = []
    for (let n = 0; !signal.aborted; n++) {
      await buy(client, hub, account, `siege-${n}`).then(
        (hash) => hashes.push(hash),
        (error: Error) => failed.push(error.message),
      )
      await new Promise((resolve) => setTimeout(resolve, BID_MS))
    }
    return { hashes, failed }
  }
}

async function buy(
  client: Client,
  hub: WorldHub,
  account: PrivateKeyAccount,
  name: string,
): Promise<Hex> {
  const body = { network: hub.network, sender: account.address, names: [{ name }] }
  const { status, body: quote } = await client.ask({
    method: 'POST',
    path: '/v1/names/register/evm',
    body,
  })
  if (status !== 200) throw new Error(`a quote for ${name}: ${status} ${quote}`)
  const { to, data, value } = JSON.parse(quote).transactionData
  return createLocalWalletClient(hub, account).sendTransaction({ to, data, value: BigInt(value) })
}

/** Sends transactions that are not registrations. @returns their hashes */
export async function transfers(hub: WorldHub, count: number): Promise<Hex[]> {
  const account = privateKeyToAccount(generatePrivateKey())
  await fundAddresses(hub, [account.address])
  const wallet = createLocalWalletClient(hub, account)
  const hashes: Hex[] = []
  for (let nonce = 0; nonce < count; nonce++)
    hashes.push(await wallet.sendTransaction({ to: account.address, value: 1n, nonce }))
  return hashes
}
