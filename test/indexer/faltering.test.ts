import { afterAll, beforeAll, expect, it } from 'vitest'
import { recordHistories } from './recorded/histories.js'
import { type Case, falteringRun, honestRun, MODES, type RecordedWorld } from './recorded/run.js'
import type { Served } from './recorded/served.js'
import { startServer } from './recorded/server.js'
import { keepTables } from './recorded/tables.js'

/**
 * A lying node beside an honest node with faults, over recorded answers of real chains. `FALTERING=2000` makes many
 * runs and prints their distribution. `FALTERING_FIRST` is the number of the first run, to repeat one.
 */
const RUNS = Number(process.env.FALTERING ?? 40)
const SEED = Number(process.env.FALTERING_SEED ?? 22)
const FIRST = Number(process.env.FALTERING_FIRST ?? 0)
const MOST_URLS = 3

let world: RecordedWorld
const truths = new Map<string, Served>()

beforeAll(async () => {
  const recorded = await recordHistories(SEED)
  const requests = { open: 0 }
  const servers = []
  for (let i = 0; i < MOST_URLS; i++) servers.push(await startServer(requests))
  const restoreTables = await keepTables(recorded.pool)
  world = { ...recorded, servers, restoreTables }
  for (const history of world.histories)
    for (const mode of MODES)
      truths.set(`${history.shape} ${mode}`, await honestRun(world, history, mode))
})
afterAll(async () => {
  for (const server of world?.servers ?? []) await server.stop()
  await world?.stop()
})

it(
  `no lie of ${RUNS} liars beside an honest node with faults is ever shown (seed ${SEED})`,
  async () => {
    const cases: Case[] = []
    const failures: string[] = []
    const startMs = performance.now()
    for (let run = FIRST; run < FIRST + RUNS; run++)
      await falteringRun(world, ({ shape }, mode) => truths.get(`${shape} ${mode}`)!, [SEED, run])
        .then((one) => cases.push(one))
        .catch((error: Error) => failures.push(error.message))
    if (process.env.FALTERING) report(cases, performance.now() - startMs)
    expect(failures).toEqual([])
  },
  60_000 + 5_000 * RUNS,
)

/** Prints the distribution of the runs. */
function report(cases: readonly Case[], ms: number): void {
  console.log(`${cases.length} runs in ${(ms / 1_000).toFixed(1)} s`)
  for (const field of ['mode', 'history', 'liar', 'lie', 'fault', 'wentOn'] as const) {
    const counts = new Map<string, number>()
    for (const one of cases) counts.set(one[field], (counts.get(one[field]) ?? 0) + 1)
    console.log(field, JSON.stringify(Object.fromEntries([...counts].sort())))
  }
}
