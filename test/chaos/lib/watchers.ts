import { setTimeout as sleep } from 'node:timers/promises'
import { pickElement } from '../../../src/testing/faultProxy/random.js'
import type { EventItem, StatusAnswer } from '../../../src/testing/index.js'
import { seededRandomSequence } from '../../support/random.js'
import type { Ledger } from './ledger.js'

const POLLS_A_ROUND = 12
const ROUND_MS = 600
const SLOW_PAGE = 7
const SLOW_MS = 400
/** Time limit for reading the rest of the feed. */
const FINISH_MS = 60_000
const ASK_TIMEOUT_MS = 5_000
const TERMINAL = ['finalized', 'lost_bid', 'invalid']
const isTerminal = (status: string): boolean => TERMINAL.includes(status)

/** A request to the API. Default: GET. */
export interface Question {
  method?: string
  /** Sent as JSON. */
  body?: unknown
  headers?: Record<string, string>
  /** Called with the reason of an unsuccessful answer. */
  onFailure?(reason: string): void
}

/**
 * Sends a request to one of the daemons. A GET without success, and a refused connection, go to the next one, as behind
 * a load balancer.
 * @returns null where none succeeded, as while they are down
 */
export async function askApi<T>(
  apis: readonly string[],
  path: string,
  question: Question = {},
): Promise<T | null> {
  turn += 1
  const order = apis.map((_, i) => apis[(turn + i) % apis.length]!)
  for (const api of order) {
    const answer = await askOne<T>(api, path, question)
    if (answer || (answer === null && question.method !== undefined)) return answer
  }
  return null
}

/** Counts requests, so that each daemon gets its share. */
let turn = 0

/** @returns null without success, undefined where nothing listens */
async function askOne<T>(
  api: string,
  path: string,
  question: Question,
): Promise<T | null | undefined> {
  const { method, body, headers, onFailure } = question
  try {
    const response = await fetch(`${api}${path}`, {
      method: method ?? 'GET',
      headers: { 'content-type': 'application/json', ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(ASK_TIMEOUT_MS),
    })
    const answer = (await response.json()) as T
    if (response.ok) return answer
    onFailure?.(`${response.status} ${(answer as { error?: string }).error}`)
  } catch (error) {
    const { name, cause } = error as Error
    if ((cause as NodeJS.ErrnoException | undefined)?.code === 'ECONNREFUSED') return undefined
    onFailure?.(name)
  }
  return null
}

/** Counts by the given reason. */
export const tally =
  (counts: Record<string, number>) =>
  (what: string): void => {
    counts[what] = (counts[what] ?? 0) + 1
  }

export interface StatusWatcher {
  /** Terminal statuses when they were first seen, by transaction. */
  readonly terminal: ReadonlyMap<string, string>
  /** Terminal statuses that changed. */
  readonly breaches: string[]
  done: Promise<void>
}

/** Polls the statuses of sent transactions in random order until the signal. A terminal status must never change. */
export function watchStatuses(
  apis: readonly string[],
  ledger: Ledger,
  seed: number,
  signal: AbortSignal,
): StatusWatcher {
  const next = seededRandomSequence(seed, 'statuses')
  const terminal = new Map<string, string>()
  const breaches: string[] = []
  const answers = new Map<string, string>()
  const look = async ({ hash, kind }: Ledger['txs'][number]): Promise<void> => {
    const answer = await askApi<StatusAnswer>(apis, `/v1/names/register/tx/${hash}`)
    if (!answer) return
    const before = terminal.get(hash)
    if (before !== undefined && before !== answer.status)
      breaches.push(
        `${kind} ${hash} was ${before} (${answers.get(hash)}), is ${JSON.stringify(answer)}`,
      )
    else if (isTerminal(answer.status)) {
      terminal.set(hash, answer.status)
      answers.set(hash, JSON.stringify(answer))
    }
  }
  const watch = async (): Promise<void> => {
    while (!signal.aborted) {
      // newer transactions are polled more often, since their statuses still change
      const recent = ledger.txs.slice(-3 * POLLS_A_ROUND)
      const from = [recent, recent, ledger.txs]
      const chosen = Array.from({ length: POLLS_A_ROUND }, () =>
        pickElement(next(), pickElement(next(), from)),
      )
      await Promise.all([...new Set(chosen)].filter((tx) => tx !== undefined).map(look))
      await sleep(ROUND_MS)
    }
  }
  return { terminal, breaches, done: watch() }
}

interface Page {
  items: EventItem[]
  nextPage?: string
  resume: string
}

export interface FeedReader {
  readonly items: EventItem[]
  /** Reads on to the end of the feed after the run. */
  finish(): Promise<void>
  done: Promise<void>
}

/** A slow consumer of the feed: small pages, one after the other, from the first event on. */
export function readSlowly(apis: readonly string[], signal: AbortSignal): FeedReader {
  const items: EventItem[] = []
  let token: string | null = null
  const page = async (): Promise<Page | null> => {
    const at: string = token === null ? '' : `&nextPage=${encodeURIComponent(token)}`
    const answer: Page | null = await askApi<Page>(
      apis,
      `/v1/events?limit=${SLOW_PAGE}&orderBy=oldest${at}`,
    )
    if (answer) {
      items.push(...answer.items)
      token = answer.resume
    }
    return answer
  }
  const read = async (): Promise<void> => {
    while (!signal.aborted) {
      await page()
      await sleep(SLOW_MS)
    }
  }
  return {
    items,
    done: read(),
    async finish() {
      const endMs = performance.now() + FINISH_MS
      while (performance.now() < endMs) {
        const answer = await page()
        if (answer?.items.length === 0) return
      }
      throw new Error('the feed could not be read to its end by a token of the run')
    },
  }
}

/** The whole feed, read in one pass. */
export async function readFeed(apis: readonly string[]): Promise<EventItem[]> {
  const items: EventItem[] = []
  let token = ''
  for (;;) {
    const page: Page | null = await askApi<Page>(
      apis,
      `/v1/events?limit=1000&orderBy=oldest${token}`,
    )
    if (!page) throw new Error('reading the feed: no answer')
    items.push(...page.items)
    if (!page.nextPage) return items
    token = `&nextPage=${encodeURIComponent(page.nextPage)}`
  }
}
