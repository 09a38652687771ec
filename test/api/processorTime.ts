import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeSampleList } from '../../src/api/http/sampleRequests.js'
import { randomAddress } from './support.js'

/** Processor time of a request, and the units that it costs. */
export interface Cost {
  statuses: number[]
  /** Processor time of this process, including its threads, and of PostgreSQL. */
  ms: number
  units: number
}

/** A request to send. `chunked` leaves out its length. */
export interface Sent {
  method: string
  path: string
  headers?: Readonly<Record<string, string>>
  body?: string
  chunked?: boolean
}

interface Answered {
  status: number
  left: number
}

const CALLER = `
const http = require('node:http')
const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
const ask = ({ url, method, path, headers, body, chunked }) => new Promise((resolve) => {
  const length = body === undefined || chunked ? {} : { 'content-length': Buffer.byteLength(body) }
  const request = http.request(url + path, { method, agent, headers: { ...headers, ...length } }, (res) => {
    res.resume()
    // a response that came early ends the connection
    res.once('end', () => request.writableFinished || request.destroy())
    const left = Number(/r=(-?\\d+)/.exec(res.headers.ratelimit ?? '')?.[1])
    res.once('close', () => resolve({ status: res.statusCode, left }))
  })
  request.once('error', () => resolve({ status: -1 }))
  request.end(body)
})
let requests = []
process.on('message', async ({ id, all }) => {
  if (all) {
    requests = all
    return process.send({ id })
  }
  const answers = []
  for (const one of requests) answers.push(await ask(one))
  process.send({ id, answers })
})
`

/** Processor time of PostgreSQL's processes so far, ms (proc(5), schedstat). */
function postgresMs(postmaster: number): number {
  let sum = 0
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue
    try {
      const stat = readFileSync(`/proc/${entry}/stat`, 'utf8')
      const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
      if (parent !== postmaster) continue
      sum += Number(readFileSync(`/proc/${entry}/schedstat`, 'utf8').split(' ')[0]) / 1e6
    } catch {
      // the process has ended
    }
  }
  return sum
}

const ownMs = (): number => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}

interface MeasuredWorld {
  url: string
  postgres: { pid: number }
}

/** A unit takes at most this multiple of a look-up's processor time. */
export const MOST_PER_UNIT = 3
/** Requests per measurement, which averages out other load on the machine. */
const REPEATS = 6
/** Measurements after which a request counts as too expensive. */
const ATTEMPTS = 4
/** Milliseconds above which a measurement has only one request. */
const LONG_MS = 100

/** Measures requests to an API in this process. Another process sends them, and its time does not count. */
export class ProcessorTime {
  readonly #folder = mkdtempSync(join(tmpdir(), 'clusterd-costs-'))
  readonly #caller: ChildProcess
  #asked = 0
  readonly #world: MeasuredWorld
  #lookUpMs = 0

  constructor(world: MeasuredWorld) {
    this.#world = world
    const file = join(this.#folder, 'caller.cjs')
    writeFileSync(file, CALLER)
    this.#caller = fork(file, { execArgv: [] })
  }

  stop(): void {
    this.#caller.kill()
    rmSync(this.#folder, { recursive: true })
  }

  /** Sends requests one after the other. @returns their mean time and units */
  async of(requests: readonly Sent[]): Promise<Cost> {
    const { postgres } = this.#world
    const first = await this.#ask([LEFT])
    await this.#prepare(requests)
    const before = ownMs() + postgresMs(postgres.pid)
    const answers = await this.#send()
    const ms = ownMs() + postgresMs(postgres.pid) - before
    const last = await this.#ask([LEFT])
    const units = first[0]!.left - last[0]!.left - 1
    const count = requests.length
    const statuses = [...new Set(answers.map(({ status }) => status))]
    return { statuses, ms: ms / count, units: units / count }
  }

  /** Processor time of a unit of a look-up, ms, as measured last. */
  get lookUpMs(): number {
    return this.#lookUpMs
  }

  /** Measures look-ups. @param query selects the network, like `?testnet=true` */
  async measureLookUp(query = ''): Promise<void> {
    const lookUps = (count: number) =>
      makeSampleList(count, () => ({
        method: 'GET',
        path: `/v1/names/address/${randomAddress()}${query}`,
      }))
    await this.of(lookUps(20))
    const { ms, units } = await this.of(lookUps(60))
    this.#lookUpMs = ms / units
  }

  /**
   * Processor time per unit of a request, as a multiple of a look-up's. Measures again while it is too long.
   * @param query of the look-ups
   */
  async ratioOf(make: () => Sent, query = ''): Promise<Cost & { ratio: number }> {
    const first = await this.of([make()])
    let ratio = Number.POSITIVE_INFINITY
    let cost = first
    for (let i = 0; i < ATTEMPTS && ratio > MOST_PER_UNIT; i++) {
      // measure a look-up at the same moment
      if (i > 0 || this.#lookUpMs === 0) await this.measureLookUp(query)
      cost = await this.of(makeSampleList(first.ms > LONG_MS ? 1 : REPEATS, make))
      ratio = Math.min(ratio, cost.ms / cost.units / this.#lookUpMs)
    }
    return { ...cost, ratio }
  }

  async #ask(requests: readonly Sent[]): Promise<Answered[]> {
    await this.#prepare(requests)
    return this.#send()
  }

  /** Passes requests to the sending process, which takes some time of this process too. */
  async #prepare(requests: readonly Sent[]): Promise<void> {
    const { url } = this.#world
    await this.#tell({ all: requests.map((one) => ({ url, ...one })) })
  }

  async #send(): Promise<Answered[]> {
    return (await this.#tell({})).answers
  }

  async #tell(message: object): Promise<{ answers: Answered[] }> {
    const id = ++this.#asked
    this.#caller.send({ ...message, id })
    for (;;) {
      const [answered] = await once(this.#caller, 'message')
      if (answered.id === id) return answered
    }
  }
}

/** Request whose response shows the caller's remaining units. */
const LEFT: Sent = { method: 'GET', path: '/v1/networks' }
