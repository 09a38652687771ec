import { setTimeout as sleep } from 'node:timers/promises'
import { readServerSentEvents } from '../../src/client/sse.js'

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
  let last = ''
  let streams = 0
  const run = async () => {
    while (!stop.signal.aborted) {
      const from = last === '' ? 'fromTimestamp=0' : `resume=${last}`
      const response = await fetch(`${api}/v1/events/stream?${from}`, {
        signal: stop.signal,
      }).catch((error: Error) => {
        if (!stop.signal.aborted) failed.push(`stream: ${error.message}`)
      })
      if (response && response.status !== 200)
        failed.push(`stream: ${response.status} ${await response.text()}`)
      else if (response) {
        streams++
        try {
          for await (const { id, data } of readServerSentEvents(response.body!)) {
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
    got,
    failed,
    streams: () => streams,
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
