import { Clock, createRandom, exponential, Servers, Station } from './engine.js'

/**
 * How look-ups scale with processes of the API and with standbys, from measured times. Clients ask one thing after
 * another. A process of the API has one thread, and one statement under way at a time, which answers all that came
 * while the last was (src/api/http/batches.ts); a statement takes a core of its database for as long as it says.
 */

/** Processor times, ms. */
export interface Times {
  /** Of the API for a request, and for a statement. */
  request: number
  statement: number
  /** Of PostgreSQL for a statement, and for each key in it. */
  query: number
  key: number
  /** Of the client for a request; it counts only where it shares a machine. */
  client: number
}

export interface Layout {
  processes: number
  /** Primary and standbys; processes take turns. */
  databases: number
  coresADatabase: number
  connections: number
  /** All run on one machine with so many cores; otherwise each process of the API has a core, clients cost nothing. */
  sharedCores?: number
}

export interface Answered {
  perS: number
  p50: number
  p99: number
  /** Keys a statement, on average. */
  together: number
}

/** src/api/http/batches.ts */
const MAX_TOGETHER = 64
const PATIENCE_MS = 10
const WARM_UP_MS = 300
const SEED = 7

/** Simulates so many milliseconds after a warm-up. */
export function simulate(times: Times, layout: Layout, forMs = 2_000): Answered {
  const clock = new Clock()
  const random = createRandom(SEED)
  const shared = layout.sharedCores === undefined ? undefined : new Servers(layout.sharedCores)
  const databases = Array.from(
    { length: layout.databases },
    () => new Station(clock, shared ? Number.MAX_SAFE_INTEGER : layout.coresADatabase, shared),
  )
  const processes = Array.from(
    { length: layout.processes },
    (_, i) =>
      new Process(clock, times, {
        thread: new Station(clock, 1, shared),
        database: databases[i % databases.length]!,
        random,
      }),
  )
  const client = shared ? new Station(clock, 1, shared) : null
  const latencies: number[] = []
  const ask = (connection: number): void => {
    const sent = clock.now
    processes[connection % processes.length]!.answer(() => {
      if (sent >= WARM_UP_MS) latencies.push(clock.now - sent)
      if (client) client.work(times.client, () => ask(connection))
      else ask(connection)
    })
  }
  for (let connection = 0; connection < layout.connections; connection++) clock.after(random(), () => ask(connection))
  clock.runUntil(WARM_UP_MS + forMs)
  latencies.sort((a, b) => a - b)
  const at = (share: number) => latencies[Math.floor((latencies.length - 1) * share)] ?? Number.NaN
  const statements = processes.reduce((sum, process) => sum + process.statements, 0)
  const keys = processes.reduce((sum, process) => sum + process.keys, 0)
  return { perS: (latencies.length * 1_000) / forMs, p50: at(0.5), p99: at(0.99), together: keys / statements }
}

interface Parts {
  thread: Station
  database: Station
  random: () => number
}

/** A process of the API. */
class Process {
  statements = 0
  keys = 0
  #waiting: (() => void)[] = []
  #underWay = 0

  constructor(
    readonly clock: Clock,
    readonly times: Times,
    readonly parts: Parts,
  ) {}

  /** Half of a request's time passes before its statement, half after it. */
  answer(done: () => void): void {
    this.parts.thread.work(this.times.request / 2, () => {
      this.#waiting.push(() => this.parts.thread.work(this.times.request / 2, done))
      if (this.#underWay === 0) this.#send()
    })
  }

  #send(): void {
    const { times, parts, clock } = this
    const batch = this.#waiting.splice(0, MAX_TOGETHER)
    if (batch.length === 0) return
    this.#underWay += 1
    this.statements += 1
    this.keys += batch.length
    let isFree = false
    const free = (): void => {
      if (isFree) return
      isFree = true
      this.#underWay -= 1
      this.#send()
    }
    clock.after(PATIENCE_MS, free)
    const query = exponential(parts.random, times.query + times.key * batch.length)
    parts.thread.work(times.statement / 2, () =>
      parts.database.work(query, () =>
        parts.thread.work(times.statement / 2, () => {
          for (const answer of batch) answer()
          free()
        }),
      ),
    )
  }
}

/** Processor times of a request, ms. */
export type Costs = Record<'api' | 'server' | 'client', number>

const ROUNDS = 12

/**
 * Times of the model by what requests cost: alone each pays for a whole statement, of many it pays a share. How many
 * share one is what the model says of these times, so both are found in turn.
 */
export function fitTimes(alone: Costs, many: Costs, layout: Layout): Times {
  let together = 8
  let times: Times = { request: 0, statement: 0, query: 0, key: 0, client: many.client }
  for (let round = 0; round < ROUNDS; round++) {
    const share = 1 - 1 / together
    const statement = Math.min(alone.api, Math.max(0, (alone.api - many.api) / share))
    const query = Math.min(alone.server, Math.max(0, (alone.server - many.server) / share))
    times = { ...times, statement, query, request: alone.api - statement, key: alone.server - query }
    // half of the way: the next number depends on this one
    together = Math.max(1.5, (together + simulate(times, layout, 500).together) / 2)
  }
  return times
}
