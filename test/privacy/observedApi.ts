import bs58 from 'bs58'
import { beforeAll, expect } from 'vitest'
import { addressToWord, parseAddress } from '../../src/registry/primitives/address.js'
import { type ApiWorld, type ApiWorldOptions, logInto, useApi } from '../api/support.js'

/** An API that collects its log lines and metric labels: everything that leaves it in addition to responses. */
export function useObservedApi(options: ApiWorldOptions): {
  world: ApiWorld
  logged: readonly string[]
} {
  const logged: string[] = []
  const world = useApi({
    ...options,
    log: logInto(logged),
    metrics: { requests: { observe: (labels) => void logged.push(JSON.stringify(labels)) } },
  })
  // end streams after their existing events, and long polls at once
  beforeAll(() => world.release())
  return { world, logged }
}

export async function expectOk(reply: Promise<{ status: number; body: unknown }>): Promise<void> {
  const { status, body } = await reply
  expect(status, JSON.stringify(body)).toBe(200)
}

export function bytesOf(text: string): Buffer {
  const address = parseAddress(text)
  if (typeof address === 'string') throw new Error(`${text}: ${address}`)
  return address.bytes
}

/** An address as the 32 bytes that the contracts take, in hex. */
export const wordOf = (text: string): string => addressToWord(bytesOf(text)).toString('hex')

/** Every form in which an address could appear. */
export function formsOf(text: string): string[] {
  const raw = bytesOf(text).subarray(1)
  return [
    text.replace(/^0x/, ''),
    raw.toString('hex'),
    wordOf(text),
    raw.toString('base64'),
    bs58.encode(raw),
  ]
}
