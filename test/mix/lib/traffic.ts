import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { pickElement } from '../../../src/testing/faultProxy/random.js'
import { memberOf } from '../../api/members.js'
import { apiOf } from '../../e2e/sharedApi.js'
import { seededRandomSequence, shuffled } from '../../support/random.js'
import type { Faults } from './faults.js'
import { type MixRequest, mixRequests } from './requests.js'
import { send } from './send.js'
import type { MixWorld } from './world.js'

const AT_ONCE = 16
/** Clients, as the trusted proxy names them (RFC 5737). */
const ADDRESSES = Array.from({ length: 8 }, (_, i) => `198.51.100.${i + 1}`)
/** Shares of the requests with no key, with another wallet's, and with an API key. */
const SHARES = { withoutKey: 0.2, othersKey: 0.1, apiKey: 0.25 }
const LONGEST_CHARS = 1_000_000

type Headers = Readonly<Record<string, string>>

/** The clients of a run. */
export class Traffic {
  readonly #world: MixWorld
  readonly #faults: Faults
  readonly #next: () => number
  readonly #seed: number
  readonly #hasLongest: boolean
  readonly #keys: Readonly<Record<string, Headers>>
  readonly #statuses: Record<string, number> = {}
  #sent = 0
  #lists = 0

  constructor(
    world: MixWorld,
    faults: Faults,
    { seed, hasLongest }: { seed: number; hasLongest: boolean },
  ) {
    this.#world = world
    this.#faults = faults
    this.#seed = seed
    this.#next = seededRandomSequence(seed, 'traffic')
    this.#hasLongest = hasLongest
    const sessions = Object.entries(world.scene.sessions).map(([role, key]) => [
      role,
      { authorization: `Bearer ${key}` },
    ])
    this.#keys = { ...world.keys, ...Object.fromEntries(sessions) }
  }

  get statuses(): Readonly<Record<string, number>> {
    return this.#statuses
  }

  get sent(): number {
    return this.#sent
  }

  /** Whether each request of a list has been sent. */
  get hasSentAll(): boolean {
    return this.#lists > 1
  }

  /** All requests in an order of the seed. @param hasLongest whether those of more than a megabyte belong to them */
  requests({ hasLongest }: { hasLongest: boolean }): MixRequest[] {
    const all = mixRequests(this.#world)
    const kept = hasLongest ? all : all.filter(({ body = '' }) => body.length < LONGEST_CHARS)
    return shuffled(kept, this.#next)
  }

  /** Sends requests to the process under test, sixteen at once, until the signal. */
  async send(signal: AbortSignal): Promise<void> {
    let list: MixRequest[] = []
    const client = async () => {
      while (!signal.aborted && !this.#faults.isFull) {
        let request = list.pop()
        if (!request) {
          list = this.requests({ hasLongest: this.#hasLongest })
          this.#lists += 1
          request = list.pop()!
        }
        await this.#one(request)
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, client))
    this.#faults.readLogs()
  }

  /** Runs work for each element, as many at once as clients send. */
  async each<T>(elements: readonly T[], work: (element: T) => Promise<void>): Promise<void> {
    const waiting = elements.values()
    const client = async () => {
      for (const element of waiting) await work(element)
    }
    await Promise.all(Array.from({ length: AT_ONCE }, client))
  }

  /** Headers of a client: its address, an id for the log, and the request's key. */
  headersOf({ as }: MixRequest): Headers {
    this.#sent += 1
    return {
      'x-forwarded-for': pickElement(this.#next(), ADDRESSES),
      'x-request-id': `mix-${this.#seed}-${this.#sent}`,
      ...(as === undefined ? {} : this.#keys[as]),
    }
  }

  async #one(request: MixRequest): Promise<void> {
    const headers = { ...this.headersOf(request), ...(await this.#otherKey(request)) }
    try {
      const answer = await send(this.#world.busy.api, request, headers)
      const status = String(answer?.status ?? 0)
      this.#statuses[status] = (this.#statuses[status] ?? 0) + 1
      if (answer) this.#faults.check(request, headers, answer)
    } catch (error) {
      const { message } = error as Error
      this.#faults.add(message, { what: message, request, headers })
    }
  }

  /** Headers that replace or add to the request's key. */
  async #otherKey({ method, path }: MixRequest): Promise<Headers> {
    // a key of its own, since the others need theirs
    if (method === 'DELETE' && path.includes('/auth/token')) return this.#keyToRevoke()
    const { withoutKey, othersKey, apiKey } = SHARES
    const headers: Record<string, string> = {}
    const chance = this.#next()
    if (chance < withoutKey) headers.authorization = ''
    else if (chance < withoutKey + othersKey)
      Object.assign(headers, pickElement(this.#next(), Object.values(this.#keys)))
    if (this.#next() < apiKey) headers['x-api-key'] = this.#world.apiKey
    return headers
  }

  async #keyToRevoke(): Promise<Headers> {
    const account = privateKeyToAccount(generatePrivateKey())
    return (await memberOf(apiOf(this.#world.busy), account)).headers
  }
}
