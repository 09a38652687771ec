import { spawn } from 'node:child_process'
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, expect, test } from 'vitest'
import { FIGURES_FILE, type Figure } from '../../scripts/bench/figure.js'
import { testProgram } from '../setup/built.js'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const REGISTRATIONS = 2_000

let program: string
let script: string
beforeAll(async () => {
  program = await testProgram('cli')
  script = await testProgram('scripts/bench-index')
})

/** Runs the benchmark over this run's build. */
function bench(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): { pid: number; output: () => string; exited: Promise<number | null> } {
  const all = [script, ...args, '--cli', program]
  const child = spawn(process.execPath, all, { cwd: ROOT, env: { ...process.env, ...env } })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (output += data))
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve))
  return { pid: child.pid!, output: () => output, exited }
}

test('bench:index indexes every registration three ways and prints the ratios', async () => {
  const figuresFile = `${mkdtempSync(join(tmpdir(), 'bench-figures-'))}/figures`
  const run = bench([String(REGISTRATIONS), '--runs', '1'], { [FIGURES_FILE]: figuresFile })
  expect(await run.exited, run.output()).toBe(0)
  // the bench compares the rows of each of the three with the chain's logs, and fails where they differ
  expect(run.output()).toContain('2,000 registrations in blocks')
  for (const row of [
    /clusterd start +[\d,]+ /,
    /viem getLogs \+ COPY +[\d,]+ /,
    /words cut by hand \+ COPY +[\d,]+ /,
  ]) {
    expect(run.output()).toMatch(row)
  }
  expect(run.output()).toMatch(/ratio of the daemon to the viem loop \d+\.\d\d, to the loop by hand \d+\.\d\d/)
  const figures = readFileSync(figuresFile, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Figure)
  expect(figures).toContainEqual({
    title: 'index, beside viem getLogs + COPY',
    floor: 'viem getLogs + COPY',
    ratios: [expect.any(Number)],
  })
})

test('an interrupted benchmark leaves nothing behind', async () => {
  // of its own: other tests' benchmarks make folders meanwhile
  const home = mkdtempSync(join(tmpdir(), 'bench-interrupted-'))
  chmodSync(home, 0o711) // PostgreSQL may run as another user
  const foldersOf = () => readdirSync(home).filter((name) => name.startsWith('clusterd-bench-'))
  const run = bench([String(REGISTRATIONS), '--runs', '1'], { TMPDIR: home })
  await expect.poll(() => run.output(), { timeout: 30_000 }).toContain('registrations in blocks')
  expect(foldersOf()).toHaveLength(1)
  process.kill(run.pid, 'SIGINT')
  expect(await run.exited).toBe(130)
  expect(foldersOf()).toEqual([])
  rmSync(home, { recursive: true })
})
