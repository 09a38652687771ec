import { setTimeout as sleep } from 'node:timers/promises'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { Client } from '../../src/client/index.js'
import type { Stack } from '../../src/testing/index.js'
import { signIn } from '../support/signIn.js'
import { ask, freshName, registerOn } from '../support/world.js'

/** Light traffic on a world whose database fails over, and the answers to it. */

const LOOK_MS = 250
const CHANGE_MS = 400
/** Interval between changes. Long enough to stay below a wallet's limit of waiting changes. */
const PROBE_MS = 250
/** Timeout of the client, longer than that of a request. */
const ATTEMPT_MS = 6_000

/** A signed change that was acknowledged. */
interface Acknowledged {
  signer: number
  address: string
}

export interface Load {
  /** Signed changes that were acknowledged, and transactions that were sent. */
  readonly acknowledged: readonly Acknowledged[]
  readonly registered: readonly `0x${string}`[]
  /** Events that the consumer has taken, in its order. */
  readonly consumed: readonly string[]
  readonly tokens: readonly string[]
  /** Answers that a fail-over does not explain. */
  readonly unexpected: readonly string[]
  /** Statuses of refused changes, with their number. */
  readonly refused: ReadonlyMap<string, number>
  /** @returns ms until a change that began after this moment was acknowledged */
  firstChange(): Promise<number>
  /** Longest time without a successful look-up since the previous call, ms. */
  lookupGapMs(): number
  /** Ends changes, registrations and look-ups. */
  quiet(): Promise<void>
  end(): Promise<void>
}

/** Statuses that mean "not now": the database of the service is unavailable. */
const MAY_FAIL = new Set([503])

/** @param signers keys of the wallets that change their clusters */
export async function startLoad(stack: Stack<'mainnet'>, signers: number): Promise<Load> {
  const stop = new AbortController()
  const reading = new AbortController()
  const acknowledged: Acknowledged[] = []
  const registered: `0x${string}`[] = []
  const consumed: string[] = []
  const unexpected: string[] = []
  const refused = new Map<string, number>()
  const accounts = stack.accounts.evm.slice(0, signers)
  const tokens = await Promise.all(accounts.map(({ privateKey }) => signIn(stack, privateKey)))

  const change = async (signer: number): Promise<boolean> => {
    const { address } = privateKeyToAccount(generatePrivateKey())
    const headers = {
      authorization: `Bearer ${tokens[signer]}`,
      'content-type': 'application/json',
    }
    const init = {
      method: 'POST',
      headers,
      body: JSON.stringify([{ address, name: freshName('w') }]),
    }
    const signal = AbortSignal.timeout(ATTEMPT_MS)
    const status = await fetch(`${stack.api}/v1/clusters/wallets`, { ...init, signal }).then(
      async (response) => {
        await response.text()
        return response.status
      },
      () => 0,
    )
    if (status === 200) acknowledged.push({ signer, address })
    else refused.set(String(status), (refused.get(String(status)) ?? 0) + 1)
    if (status !== 200 && status !== 0 && !MAY_FAIL.has(status))
      unexpected.push(`a change: ${status}`)
    return status === 200
  }
  const changing = accounts.map(async (_, signer) => {
    while (!stop.signal.aborted) {
      await change(signer)
      await sleep(CHANGE_MS)
    }
  })
  const registering = (async () => {
    const account = privateKeyToAccount(stack.accounts.evm[signers]!.privateKey)
    while (!stop.signal.aborted) {
      // a quote needs the database; a failed one is asked for again
      const tx = await registerOn('1', account, [{ name: freshName() }], stack).catch(() => null)
      if (tx) registered.push(tx)
      await sleep(LOOK_MS)
    }
  })()

  let lookedUpMs = performance.now()
  let gapMs = 0
  const looking = (async () => {
    while (!stop.signal.aborted) {
      const answer = await ask('GET', `/v1/clusters/name/${freshName()}`, undefined, stack).catch(
        () => null,
      )
      if (answer?.status === 404) {
        gapMs = Math.max(gapMs, performance.now() - lookedUpMs)
        lookedUpMs = performance.now()
      } else if (answer && !MAY_FAIL.has(answer.status))
        unexpected.push(`a look-up: ${answer.status}`)
      await sleep(LOOK_MS)
    }
  })()
  const consume = async (): Promise<void> => {
    for await (const { resume, ...event } of new Client({ url: stack.api }).events({
      signal: reading.signal,
    }))
      consumed.push(JSON.stringify(event))
  }
  // an event that a primary showed within its last 50 ms may be lost with it. The feed then reports it
  // (docs/run/backup.md).
  const consuming = consume().catch((error) => {
    if (error.code !== 'feed_restarted') throw error
    consumed.length = 0
    return consume()
  })

  return {
    acknowledged,
    registered,
    consumed,
    tokens,
    unexpected,
    refused,
    async firstChange() {
      const startedMs = performance.now()
      let tookMs: number | null = null
      // attempts continue while one hangs
      while (tookMs === null) {
        void change(0).then((isMade) => {
          if (isMade) tookMs ??= performance.now() - startedMs
        })
        await sleep(PROBE_MS)
      }
      return tookMs
    },
    lookupGapMs() {
      const found = Math.max(gapMs, performance.now() - lookedUpMs)
      gapMs = 0
      return found
    },
    async quiet() {
      stop.abort()
      await Promise.all([...changing, registering, looking])
    },
    async end() {
      stop.abort()
      reading.abort()
      await Promise.all([...changing, registering, looking, consuming])
    },
  }
}
