import type { World } from '../../testing/index.js'
import { paint } from '../paint.js'

export function say(line: string): void {
  console.log(line)
}

export function step(what: string, text: string, colour: 'cyan' | 'green' | 'yellow' = 'cyan'): void {
  console.log(`  ${paint(colour, what.padEnd(10))} ${text}`)
}

export type Ask = <T>(method: 'GET' | 'POST', path: string, body?: unknown) => Promise<T>

/**
 * Creates a client of the API, with an authentication key if given. It throws an Error with the answer for an error
 * status.
 */
export function apiOf(api: string, testnet: boolean, key?: string): Ask {
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
  const { until } = await import('../../testing/until.js')
  const ask = apiOf(world.api, testnet)
  const forward = await ask<{ name: string; address: string }[]>('POST', '/v1/names', [{ name }])
  step('name', `${name} → ${forward[0]?.address}`)
  const back = await ask<{ clusterName: string; walletName: string }>('GET', `/v1/names/address/${address}`)
  step('address', `${address} → ${back.clusterName}/${back.walletName} (the oldest name it holds)`)
  const event = await until.event(world, ({ type, data }) => type === 'REGISTER_NAME' && data.name === name, {
    testnet,
  })
  step('event', `${event.id} ${event.type} ${JSON.stringify(event.data)}`)
}
