/**
 * `npm run bench`: all benchmarks one after the other, each beside a bare program that does the least (floor) in the
 * same run, as a table and as artifacts/bench.json; `--check` compares the ratios with those in
 * scripts/bench/ratios.json and fails where a ratio got worse. docs/measure/benchmarks.md says what is measured.
 */
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { printTable } from './bench/bench.js'
import {
  FIGURES_FILE,
  type Figure,
  type Held,
  lowered,
  nameOf,
  regressions,
  spreadOf,
  unheld,
} from './bench/figure.js'
import { writeTable } from './bench/page.js'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const RATIOS = new URL('./bench/ratios.json', import.meta.url)
const USAGE = `usage: npm run bench -- [options]
  --check    fail where a ratio of processor times got worse than scripts/bench/ratios.json allows
  --hold     write this run to docs/measure/performance.md, and its lower ratios to scripts/bench/ratios.json`

const { values } = parseArgs({
  options: {
    check: { type: 'boolean', default: false },
    hold: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})
if (values.help) {
  console.log(USAGE)
  process.exit(0)
}

const BENCHES = {
  'bench-index': [],
  'bench-live': [],
  'bench-api': ['--connections', '32'],
  'bench-idle': [],
}

/** Runs a benchmark to its end, and shows its output. @throws Error when it fails */
async function run(name: string, args: readonly string[], figuresFile: string): Promise<void> {
  console.log(`\n${name} ${args.join(' ')}`)
  const child = spawn(
    process.execPath,
    ['--import', 'tsx', join(ROOT, 'scripts', `${name}.ts`), ...args],
    {
      cwd: ROOT,
      stdio: ['ignore', 'inherit', 'inherit'],
      env: { ...process.env, [FIGURES_FILE]: figuresFile },
    },
  )
  const code = await new Promise<number | null>((resolve) => child.once('exit', resolve))
  if (code !== 0) throw new Error(`${name} ended with ${code}`)
}

async function measure(): Promise<{ machine: string; figures: Figure[] }> {
  const home = mkdtempSync(join(tmpdir(), 'clusterd-bench-figures-'))
  const file = join(home, 'figures')
  try {
    for (const [name, args] of Object.entries(BENCHES)) await run(name, args, file)
    const lines = readFileSync(file, 'utf8').trim().split('\n')
    const records = lines.map((line) => JSON.parse(line) as Figure | { machine: string })
    const figures = records.filter((record) => 'title' in record)
    return {
      machine: records.flatMap((record) => ('machine' in record ? [record.machine] : []))[0]!,
      figures,
    }
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}

function tableOf(figures: readonly Figure[], held: Held): string[][] {
  const two = (value: number) => value.toFixed(2)
  return [
    ['', 'ratio', 'least', 'most', 'held', 'floor'],
    ...figures.map((figure) => {
      const { median, least, most } = spreadOf(figure)
      const name = nameOf(figure)
      const before = held[name]
      return [
        name,
        two(median),
        two(least),
        two(most),
        before === undefined ? '-' : two(before),
        figure.floor,
      ]
    }),
  ]
}

const held = JSON.parse(readFileSync(RATIOS, 'utf8')) as Held
const { machine, figures } = await measure()
console.log('\nTimes the floor of the same run, median (least to most)')
printTable(tableOf(figures, held))
mkdirSync(join(ROOT, 'artifacts'), { recursive: true })
const results = {
  machine,
  at: new Date().toISOString(),
  figures: figures.map((figure) => ({ ...figure, ...spreadOf(figure) })),
}
writeFileSync(join(ROOT, 'artifacts', 'bench.json'), `${JSON.stringify(results, null, 2)}\n`)
if (values.hold) {
  const ratios = lowered(figures, held)
  writeFileSync(RATIOS, `${JSON.stringify(ratios, null, 2)}\n`)
  writeTable('figures', machine, tableOf(figures, ratios))
}
if (values.check) for (const line of unheld(figures, held)) console.log(line)
const worse = values.check ? regressions(figures, held) : []
for (const line of worse) console.error(line)
process.exitCode = worse.length > 0 ? 1 : 0
