import { setTimeout as sleep } from 'node:timers/promises'
import { readEvents } from '../../src/client/sse.js'
import type { Answered } from '../siege/honest.js'
import { createClient } from '../siege/http.js'

/** Longest wait that the API takes, seconds. */
const WAIT_S = 30
/** More than three processes give an address at once, 300 each, and while it asks. */
const FLOOD = 4_000
const FLOODERS = 32
const REFUSALS = 10

/** Waits for transactions that nobody sent, one after another, each for as long as may be. */
export async function waits(api: string, signal: AbortSignal): Promise<Answered> {
  const met: Answered = { ms: [], failed: [] }
  for (let n = 1; !signal.aborted; n++) {
    const startedMs = performance.now()
    const path = `/v1/names/register/tx/0x${String(n).padStart(64, '0')}?wait=${WAIT_S}&since=not_found`
    await fetch(`${api}${path}`).then(
      async (response) => {
        met.ms.push(performance.now() - startedMs)
        if (response.status !== 200) met.failed.push(`${path}: ${response.status} ${await response.text()}`)
      },
      (error: Error) => void met.failed.push(`${path}: ${error.message}`),
    )
    // a process that stops answers at once
    await sleep(500)
  }
  return met
}

/** Waits for a registration to be finalized by as few requests as the statuses it goes through. @throws Error else */
export async function finalized(api: string, tx: string): Promise<void> {
  for (let since = ''; ; ) {
    const response = await fetch(`${api}/v1/names/register/tx/${tx}?wait=${WAIT_S}${since}`)
    const { status } = (await response.json()) as { status: string }
    if (status === 'finalized') return
    if (['lost_bid', 'invalid'].includes(status)) throw new Error(`${tx} is ${status}`)
    since = `&since=${status}`
  }
}

/** A consumer of the feed by streams, each from where the one before ended. */
export interface Follower {
  got: string[]
  streams(): number
  failed: string[]
  /** Ends it once it has as many events. */
  upTo(count: number): Promise<void>
}

export function follow(api: string): Follower {
  const stop = new AbortController()
  const got: string[] = []
  const failed: string[] = []
  let [last, streams] = ['', 0]
  const run = async () => {
    while (!stop.signal.aborted) {
      const from = last === '' ? 'fromTimestamp=0' : `resume=${last}`
      const response = await fetch(`${api}/v1/events/stream?${from}`, { signal: stop.signal }).catch((error: Error) => {
        if (!stop.signal.aborted) failed.push(`stream: ${error.message}`)
      })
      if (response && response.status !== 200) failed.push(`stream: ${response.status} ${await response.text()}`)
      else if (response) {
        streams++
        try {
          for await (const { id, data } of readEvents(response.body!)) {
            last = id
            got.push(JSON.stringify(JSON.parse(data)))
          }
        } catch {
          // its process was killed: the next stream goes on
        }
      }
      await sleep(50)
    }
  }
  const done = run()
  return {
    ...{ got, failed, streams: () => streams },
    async upTo(count) {
      for (let tries = 0; got.length < count && tries < 200; tries++) await sleep(50)
      stop.abort()
      await done
    },
  }
}

/** The whole feed, page by page. */
export async function wholeFeed(api: string): Promise<string[]> {
  const items: string[] = []
  for (let query = '?orderBy=oldest&limit=1000'; ; ) {
    const page = (await (await fetch(`${api}/v1/events${query}`)).json()) as {
      items: unknown[]
      nextPage?: string | null
    }
    items.push(...page.items.map((item) => JSON.stringify(item)))
    if (!page.nextPage) return items
    query = `?nextPage=${encodeURIComponent(page.nextPage)}`
  }
}

/**
 * Asks far more than an address may.
 * @returns answers by status, of the flood and of a neighbour behind the same proxy
 */
export async function flood(
  api: string,
  from: string,
  neighbour: string,
): Promise<{ refused: number; beside: number }> {
  const [flooding, beside] = [createClient(api, from, FLOODERS), createClient(api, neighbour, 1)]
  let [asked, refused] = [0, 0]
  const one = async () => {
    // refusals are held back from who goes on asking: some are enough
    while (asked++ < FLOOD && refused < REFUSALS)
      if ((await flooding.ask({ path: '/v1/clusters/name/nobody' })).status === 429) refused++
  }
  await Promise.all(Array.from({ length: FLOODERS }, one))
  const { status } = await beside.ask({ path: '/v1/clusters/name/nobody' })
  for (const client of [flooding, beside]) client.close()
  return { refused, beside: status }
}
