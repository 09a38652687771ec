/**
 * `npm run bench:bulk`: look-ups of 1,000 addresses and of 1,000 names, and pages of 1,000 events at three depths of
 * the feed, beside the bare SQL that finds the same rows in the same run. docs/benchmarks.md says what is measured.
 */
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { createDatabase } from '../src/testing/processes/postgres.js'
import { type Bench, runBench } from './bench/bench.js'
import { AT_ONCE, measureBulk, reportBulk } from './bench/bulk.js'
import { fillChain } from './bench/chain.js'
import { prepareBench, startDaemonProcess, waitUntilIndexed } from './bench/programs.js'

const USAGE = `usage: npm run bench:bulk -- [options]
  --registrations <n>  in the database (default 100000, at least ${AT_ONCE})
  --rounds <n>         of each question (default 200)
  --profile <dir>      a CPU profile of the daemon
  --cli <file>         another build's command line (.js or .ts) instead of a fresh build`

const { values } = parseArgs({
  options: {
    registrations: { type: 'string', default: '100000' },
    rounds: { type: 'string', default: '200' },
    profile: { type: 'string' },
    cli: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})
const [registrations, rounds] = [Number(values.registrations), Number(values.rounds)]
if (values.help || ![registrations - AT_ONCE, rounds - 1].every((n) => Number.isSafeInteger(n) && n >= 0)) {
  console.log(USAGE)
  process.exit(values.help ? 0 : 2)
}

async function main(bench: Bench): Promise<void> {
  const { home, onEnd } = bench
  const { cli, postgres } = await prepareBench(bench, values.cli)
  const chain = await fillChain(home, registrations)
  onEnd(() => chain.anvil.stop())
  const databaseUrl = await createDatabase(postgres.url, 'bulk')
  const profiling = values.profile ? { profileDir: resolve(values.profile) } : {}
  const daemon = await startDaemonProcess({ cli, home, chain, databaseUrl, ...profiling })
  onEnd(() => daemon.stop())
  await waitUntilIndexed(daemon, chain, databaseUrl)
  reportBulk(await measureBulk(daemon.api, databaseUrl, registrations, rounds), registrations)
}

await runBench(main)
