import { ClusterdError } from './error.js'
import { parseJsonOrText, readAnswerText, type Transport } from './transport.js'
import type { CallOptions, Schemas } from './types.js'

const ADDRESSES_PER_REQUEST = 10_000

/** Options of `Client.wallets`. The time limit `timeoutMs` holds for each request. */
export interface WalletsOptions extends CallOptions {
  /** Kinds of the wallets; default: all. */
  types?: readonly Schemas['Proof']['type'][] | undefined
}

/**
 * Reads the verified public wallets of each address's cluster, one request after the other.
 * @throws ClusterdError; the signal's reason
 * @internal
 */
export async function* joinWallets(
  transport: Transport,
  addresses: AsyncIterable<string> | Iterable<string>,
  options: WalletsOptions,
): AsyncGenerator<Schemas['Holder'], void, undefined> {
  let body: string[] = []
  for await (const address of addresses) {
    if (body.push(address) < ADDRESSES_PER_REQUEST) continue
    yield* await requestWallets(transport, body, options)
    body = []
  }
  if (body.length > 0) yield* await requestWallets(transport, body, options)
}

const requestWallets = (
  transport: Transport,
  body: string[],
  { types, ...options }: WalletsOptions,
) =>
  transport.repeated(options, async (signal) => {
    const response = await transport.open('POST', '/v1/wallets', {
      query: { types: types?.join() },
      body,
      signal,
    })
    const text = await readAnswerText(response)
    const rows = text.trimEnd().split('\n').map(parseJsonOrText) as Schemas['Holder'][]
    const { error, message, status, asOf } = Object(rows[rows.length - 1])
    if (error) throw new ClusterdError(error, message, { status })
    if (rows.length < body.length || !asOf)
      throw new ClusterdError('network', 'The answer was cut off.')
    return rows
  })
