/**
 * `npm run scale`: what reads cost in registries of ten thousand to ten million names. Generates them, asks a process
 * of the API about each, and writes plots and tables of docs/scale.md, which says how.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { type Bench, describeMachine, runBench } from './bench/bench.js'
import { fillChain } from './bench/chain.js'
import { buildDaemon } from './bench/programs.js'
import { explain, sizesOf } from './scale/buffers.js'
import { drive, type Loaded } from './scale/load.js'
import { measure, serve } from './scale/measure.js'
import { forgetWritten, hugePages, makeRegistries, openRegistry, startServing } from './scale/registries.js'
import { type Measurements, report, type Simulated } from './scale/report.js'
import { fitTimes, simulate } from './scale/simulate.js'
import { write } from './scale/writes.js'

/** Connections of the drives; the first two feed the model, which is compared with all. */
const CONNECTIONS = [1, 32, 8, 128]
/** Layouts that are simulated: databases with so many cores, each process of the API with a core of its own. */
const LAYOUTS = { databases: [1, 2, 4], processes: [1, 2, 4, 8, 16, 32], coresADatabase: 8, connectionsAProcess: 32 }

const { values } = parseArgs({
  options: {
    sizes: { type: 'string', default: '10000,100000,1000000,10000000' },
    folder: { type: 'string' },
    'only-generate': { type: 'boolean', default: false },
    'only-report': { type: 'boolean', default: false },
    rounds: { type: 'string', default: '480' },
    page: { type: 'string' },
    cli: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})
const sizes = values.sizes.split(',').map(Number)
const rounds = Number(values.rounds)
if (values.help || !(rounds >= 12) || sizes.some((size) => !Number.isSafeInteger(size) || size < 5_000)) {
  console.log(`usage: npm run scale -- [options]
  --sizes <n,n,…>   names, from the least to the most (default 10000,100000,1000000,10000000; at least 5000 each)
  --folder <dir>    keeps the registries there, and takes those that it has; ten million take 25 GB
  --only-generate   measures nothing
  --only-report     writes the page again, from what the folder's last run measured
  --rounds <n>      of questions about one thing; a quarter of those about many (default 480)
  --page <dir>      page and plots go there and not to docs
  --cli <file>      another build's command line (.js or .ts) instead of a fresh build`)
  process.exit(values.help ? 0 : 2)
}

/** Machine and results of a run, from which the page can be written again. */
interface Saved {
  machine: string
  results: Measurements
}

async function main(bench: Bench): Promise<void> {
  const folder = values.folder ? resolve(values.folder) : join(bench.home, 'registries')
  mkdirSync(folder, { recursive: true })
  const saved = join(folder, 'results.json')
  if (!values['only-report']) {
    await makeRegistries(folder, sizes)
    if (values['only-generate']) return
    writeFileSync(saved, JSON.stringify(await run(bench, folder)))
  }
  const { machine, results } = JSON.parse(readFileSync(saved, 'utf8')) as Saved
  report(
    { ...results, ...simulated(results.loaded) },
    machine,
    values.page ? pathToFileURL(`${resolve(values.page)}/`) : undefined,
  )
}

async function run(bench: Bench, folder: string): Promise<Saved> {
  const postgres = await startServing(folder)
  bench.onEnd(() => postgres.stop())
  const machine = `${await describeMachine(postgres.url)}, huge pages ${await hugePages(postgres.url)}`
  console.log(machine)
  const cli = values.cli ? resolve(values.cli) : await buildDaemon(bench.onEnd)
  // a chain that nobody asks for anything: without one there is no network
  const chain = await fillChain(bench.home, 1)
  bench.onEnd(() => chain.anvil.stop())
  const registries = await Promise.all(sizes.map((size) => openRegistry(folder, size, postgres)))
  const served = await serve(bench, cli, chain, registries)
  const measured = await measure(served, rounds)
  const explains: Awaited<ReturnType<typeof explain>>[] = []
  for (const registry of registries) explains.push(await explain(registry))
  const explained = [...explains[0]!.keys()].map((title): Measurements['explained'][number] => [
    title,
    explains.map((at) => at.get(title)!),
  ])
  const largest = served.at(-1)!
  const loaded = []
  for (const [i, connections] of CONNECTIONS.entries())
    loaded.push(await drive(largest, connections, 100_000 * (i + 1)))
  console.log(loaded)
  const tables = []
  for (const registry of registries) tables.push(await sizesOf(registry))
  forgetWritten(folder, sizes)
  const writes = []
  for (const registry of registries) writes.push(await write(registry))
  console.log(writes)
  const results = { registries, measured, explained, sizes: tables, writes, loaded }
  return { machine, results }
}

/** The model beside what was measured on this machine, and what it says of others. */
function simulated(loaded: readonly Loaded[]): Simulated {
  const here = { processes: 1, databases: 1, coresADatabase: 2, sharedCores: 2 }
  const costsOf = ({ api, server, client }: Loaded) => ({
    api: api / 1_000,
    server: server / 1_000,
    client: client / 1_000,
  })
  const [alone, many] = [loaded[0]!, loaded[1]!]
  const times = fitTimes(costsOf(alone), costsOf(many), { ...here, connections: many.connections })

  const compared = [...loaded]
    .sort((a, b) => a.connections - b.connections)
    .map((one) => ({
      ...{ connections: one.connections, measured: one },
      model: simulate(times, { ...here, connections: one.connections }),
    }))
  const { databases, processes, coresADatabase, connectionsAProcess } = LAYOUTS
  const layouts = databases.flatMap((count) =>
    processes.map((number) => ({
      ...{ databases: count, processes: number, coresADatabase, connections: number * connectionsAProcess },
    })),
  )
  return { times, compared, scaled: layouts.map((layout) => ({ layout, answered: simulate(times, layout) })) }
}

await runBench(main)
