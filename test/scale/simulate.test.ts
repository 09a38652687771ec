import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Clock, createRandom, exponential, Servers, Station } from '../../scripts/scale/engine.js'
import { fitTimes, simulate } from '../../scripts/scale/simulate.js'

/** Mean time in an open queue of c servers, whose customers come and are served at random (M/M/c). */
function sojourn(perMs: number, serviceMs: number, servers: number, customers = 150_000): number {
  const clock = new Clock()
  const random = createRandom(servers + Math.round(perMs * 1_000))
  const station = new Station(clock, servers)
  let [sum, served] = [0, 0]
  const come = (): void => {
    const cameAt = clock.now
    station.work(exponential(random, serviceMs), () => {
      sum += clock.now - cameAt
      served += 1
    })
    clock.after(exponential(random, 1 / perMs), come)
  }
  come()
  clock.runUntil(customers / perMs)
  return sum / served
}

/** The same by Erlang's formula (Kleinrock, Queueing Systems I, 3.5). */
function erlang(perMs: number, serviceMs: number, servers: number): number {
  const offered = perMs * serviceMs
  let inverse = 1
  for (let n = 1; n <= servers; n++) inverse = 1 + (inverse * n) / offered
  const blocked = 1 / inverse
  const use = offered / servers
  const waits = blocked / (1 - use * (1 - blocked))
  return serviceMs + (waits * serviceMs) / (servers * (1 - use))
}

describe('the engine', () => {
  for (const [servers, use] of [
    [1, 0.5],
    [1, 0.8],
    [2, 0.7],
    [8, 0.8],
  ] as const)
    it(`agrees with Erlang for ${servers} servers in use for ${use * 100} %`, () => {
      const perMs = (servers * use) / 2
      expect(sojourn(perMs, 2, servers) / erlang(perMs, 2, servers)).toBeCloseTo(1, 1)
    })

  it('gives every customer a server, in the order in which they came', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5 }), fc.array(fc.nat(20), { maxLength: 50 }), (count, times) => {
        const clock = new Clock()
        const servers = new Servers(count)
        const begun: number[] = []
        let [busy, most] = [0, 0]
        for (const [i, ms] of times.entries())
          servers.take((free) => {
            begun.push(i)
            busy += 1
            most = Math.max(most, busy)
            clock.after(ms, () => {
              busy -= 1
              free()
            })
          })
        clock.runUntil(10_000)
        expect(begun).toEqual(times.map((_, i) => i))
        expect(most).toBeLessThanOrEqual(count)
      }),
    )
  })
})

const TIMES = { request: 0.08, statement: 0.06, query: 0.12, key: 0.02, client: 0.03 }
const LAYOUT = { processes: 1, databases: 1, coresADatabase: 4, connections: 32 }

describe('the model', () => {
  it('answers one client in the sum of all times', () => {
    const { perS, together } = simulate(TIMES, { ...LAYOUT, connections: 1 })
    expect((perS * (0.08 + 0.06 + 0.12 + 0.02)) / 1_000).toBeCloseTo(1, 1)
    expect(together).toBe(1)
  })

  it('is never above what the thread of the API or the cores of the databases allow, and grows with both', () => {
    let before = 0
    for (const processes of [1, 2, 4, 8]) {
      const { perS, together } = simulate(TIMES, { ...LAYOUT, processes, connections: 64 * processes }, 500)
      const thread = (processes * 1_000) / (0.08 + 0.06 / together)
      const cores = (4 * 1_000) / (0.02 + 0.12 / together)
      expect(perS).toBeLessThanOrEqual(Math.min(thread, cores) * 1.02)
      expect(perS).toBeGreaterThan(before)
      before = perS
    }
  })

  it('puts all who wait for a statement into the next one', () => {
    const { together } = simulate({ ...TIMES, query: 5 }, LAYOUT)
    expect(together).toBeGreaterThan(10)
    expect(together).toBeLessThanOrEqual(32)
  })

  it('is limited by one machine that all share', () => {
    const { perS } = simulate(TIMES, { ...LAYOUT, sharedCores: 1 })
    expect(perS).toBeLessThan(simulate(TIMES, LAYOUT).perS)
  })
})

it('finds the times of a model by what its requests cost', () => {
  const layout = { ...LAYOUT, sharedCores: 2 }
  const costsAt = (together: number) => ({
    api: TIMES.request + TIMES.statement / together,
    server: TIMES.key + TIMES.query / together,
    client: TIMES.client,
  })
  const found = fitTimes(costsAt(1), costsAt(simulate(TIMES, layout).together), layout)
  for (const [name, ms] of Object.entries(TIMES)) expect(found[name as keyof typeof TIMES]).toBeCloseTo(ms, 2)
})
