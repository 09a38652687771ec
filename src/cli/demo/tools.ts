import type { Hex } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import type { World, WorldHub, WorldSpoke } from '../../testing/index.js'
import type { EventItem } from '../../testing/until.js'
import { paint } from '../output.js'

export function say(line: string): void {
  console.log(line)
}

export function step(what: string, text: string, colour: 'cyan' | 'green' | 'yellow' = 'cyan'): void {
  console.log(`  ${paint(colour, what.padEnd(10))} ${text}`)
}

/**
 * Creates a client of the API, with an authentication key if given. It throws an Error with the answer for an error
 * status.
 */
export function apiOf(api: string, testnet: boolean, key?: string) {
  return async <T>(method: 'GET' | 'POST', path: string, body?: unknown): Promise<T> => {
    const response = await fetch(`${api}${path}${testnet ? '?testnet=true' : ''}`, {
      method,
      ...(body !== undefined && { body: JSON.stringify(body) }),
      headers: { 'content-type': 'application/json', ...(key !== undefined && { authorization: `Bearer ${key}` }) },
    })
    const answer: unknown = await response.json()
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(answer)}`)
    return answer as T
  }
}

/** Follows a transaction to `finalized`, printing each status. @returns milliseconds since `sentMs` */
export async function followStatus(world: World, tx: string, sentMs: number, testnet: boolean): Promise<number> {
  const { until } = await import('../../testing/until.js')
  const since = () => `${((performance.now() - sentMs) / 1_000).toFixed(2)} s`
  await until.status(world, tx, 'finalized', {
    testnet,
    onChange: ({ status, step: why }) =>
      step(status, `${since()}${why ? ` (${why})` : ''}`, status === 'finalized' ? 'green' : 'yellow'),
  })
  return performance.now() - sentMs
}

/** Looks a name up both ways and prints its event. */
export async function showName(world: World, name: string, address: string, testnet: boolean): Promise<void> {
  const ask = apiOf(world.api, testnet)
  await showHolder(world, name, testnet)
  const back = await ask<{ clusterName: string; walletName: string }>('GET', `/v1/names/address/${address}`)
  step('address', `${address} → ${back.clusterName}/${back.walletName} (the oldest name it holds)`)
  await showEvent(world, ({ type, data }) => type === 'REGISTER_NAME' && data.name === name, testnet)
}

/** Prints the address that a name resolves to. */
export async function showHolder(world: World, name: string, testnet: boolean): Promise<void> {
  const found = await apiOf(world.api, testnet)<{ address: string }[]>('POST', '/v1/names', [{ name }])
  step('name', `${name} → ${found[0]?.address}`)
}

/** Prints the first event that is asked for, once it is there. */
export async function showEvent(
  world: World,
  isAsked: (event: Pick<EventItem, 'type' | 'data'>) => boolean,
  testnet: boolean,
): Promise<void> {
  const { until } = await import('../../testing/until.js')
  const { id, type, data } = await until.event(world, isAsked, { testnet })
  step('event', `${id} ${type} ${JSON.stringify(data)}`)
}

/** Sends a quoted transaction on a local chain. @returns its hash */
export async function send(
  chain: WorldHub | WorldSpoke,
  account: PrivateKeyAccount,
  { to, data, value }: { to: Hex; data: Hex; value: string },
): Promise<Hex> {
  const { walletOf } = await import('../../testing/chains/localChain.js')
  return walletOf(chain, chain.chainId, account).sendTransaction({ to, data, value: BigInt(value) })
}
