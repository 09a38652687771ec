import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { INVARIANTS, MUTATIONS } from '../test/mutations/list.js'
import type { Mutation } from '../test/mutations/mutation.js'

/**
 * Breaks each invariant on purpose, in a copy of the tree, and shows that tests fail:
 *
 *   npm run mutations                     all
 *   npm run mutations -- --only feed      those whose name holds a text
 *   npm run mutations -- --invariant 3
 *
 * The tests are first run in the copy as it is, where they have to pass. Exits 1 when a broken build passes.
 */
const ROOT = join(import.meta.dirname, '..')
/** Limit of one run; a broken build that hangs counts as noticed. */
const RUN_LIMIT_MS = 300_000

interface TestRun {
  passed: number
  failed: readonly string[]
  isTimedOut: boolean
}

const { values } = parseArgs({ options: { only: { type: 'string' }, invariant: { type: 'string' } } })
const chosen = MUTATIONS.filter(
  ({ name, invariant }) =>
    (values.only === undefined || name.includes(values.only)) &&
    (values.invariant === undefined || invariant === Number(values.invariant)),
)
const copy = copyTree()
const builtBefore = readBuilt()
let running: ChildProcess | null = null
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    running?.kill('SIGTERM')
    rmSync(copy, { recursive: true, force: true })
    process.exit(1)
  })
try {
  await checkUnbroken(chosen)
  console.log('| invariant | broken build | tests that failed | s |\n| --- | --- | --- | --- |')
  let survivors = 0
  for (const mutation of chosen) if (!(await isSeen(mutation))) survivors += 1
  console.log(`\n${chosen.length - survivors} of ${chosen.length} broken builds were seen`)
  if (survivors > 0) process.exitCode = 1
} finally {
  rmSync(copy, { recursive: true, force: true })
}

/** The files of the working tree as they are, tracked or new; packages are shared. */
function copyTree(): string {
  const to = mkdtempSync(join(tmpdir(), 'clusterd-mutations-'))
  const { stdout } = spawnSync('git', ['ls-files', '-co', '--exclude-standard', '-z'], { cwd: ROOT, encoding: 'utf8' })
  for (const file of stdout.split('\0')) {
    if (!file || !existsSync(join(ROOT, file))) continue
    mkdirSync(dirname(join(to, file)), { recursive: true })
    cpSync(join(ROOT, file), join(to, file))
  }
  symlinkSync(join(ROOT, 'node_modules'), join(to, 'node_modules'))
  return to
}

/** Runs the tests on the unchanged copy: a test that fails there would prove nothing. */
async function checkUnbroken(mutations: readonly Mutation[]): Promise<void> {
  const sets = new Map(mutations.map(({ tests }) => [JSON.stringify(tests), tests]))
  const problems: string[] = []
  for (const tests of sets.values()) {
    const { passed, failed, isTimedOut } = await runTests(tests)
    if (failed.length === 0 && !isTimedOut && passed > 0) continue
    problems.push(`${tests.files.join(' ')} (${tests.only ?? 'all'}): ${failed.join('; ') || 'nothing passed'}`)
  }
  if (problems.length > 0) throw new Error(`These fail in the unbroken build:\n${problems.join('\n')}`)
}

async function isSeen(mutation: Mutation): Promise<boolean> {
  const { file, find, replace, invariant, name } = mutation
  const path = join(copy, file)
  const before = readFileSync(path, 'utf8')
  if (before.split(find).length !== 2) throw new Error(`"${name}": its text does not stand exactly once in ${file}`)
  const startedMs = Date.now()
  try {
    writeFileSync(
      path,
      before.replace(find, () => replace),
    )
    if (mutation.builds) build(mutation.builds)
    const { failed, isTimedOut } = await runTests(mutation.tests)
    const shown = isTimedOut ? `none ended within ${RUN_LIMIT_MS / 1_000} s` : (failed[0] ?? '**none**')
    const more = failed.length > 1 ? ` (and ${failed.length - 1} more)` : ''
    const seconds = ((Date.now() - startedMs) / 1_000).toFixed(0)
    console.log(`| ${invariant}. ${INVARIANTS[invariant]} | ${name} | ${shown}${more} | ${seconds} |`)
    return failed.length > 0 || isTimedOut
  } finally {
    writeFileSync(path, before)
    if (mutation.builds) for (const [built, bytes] of builtBefore) writeFileSync(built, bytes)
  }
}

function build(script: NonNullable<Mutation['builds']>): void {
  const args = ['run', '--silent', script, '--', '--broken']
  const { status, stderr } = spawnSync('npm', args, { cwd: copy, encoding: 'utf8' })
  if (status !== 0) throw new Error(`npm run ${script}: ${stderr}`)
}

/** Built contracts and programs of the unbroken copy. */
function readBuilt(): Map<string, Buffer> {
  const files = readdirSync(join(copy, 'contracts'), { recursive: true, encoding: 'utf8' })
  const built = files
    .filter((file) => /\.(js|d\.ts|so|sha256)$/.test(file))
    .map((file) => join(copy, 'contracts', file))
  return new Map(built.map((file) => [file, readFileSync(file)]))
}

interface Report {
  numPassedTests: number
  testResults: {
    name: string
    status: string
    assertionResults: { status: string; fullName: string }[]
  }[]
}

/** Runs tests in the copy; a file that can't be loaded, or whose set-up fails, counts as failed. */
async function runTests({ files, only }: Mutation['tests']): Promise<TestRun> {
  const report = join(copy, '.mutation-report.json')
  rmSync(report, { force: true })
  const present = files.filter((file) => existsSync(join(copy, file)))
  const args = [
    'run',
    ...present,
    '--reporter=json',
    `--outputFile=${report}`,
    ...(only === undefined ? [] : ['-t', only]),
  ]
  const isTimedOut = await runVitest(args)
  if (!existsSync(report)) return { passed: 0, failed: [], isTimedOut }
  const { numPassedTests, testResults } = JSON.parse(readFileSync(report, 'utf8')) as Report
  const failed = testResults.flatMap(({ name, status, assertionResults }) => {
    const tests = assertionResults.filter((one) => one.status === 'failed').map(({ fullName }) => fullName)
    return tests.length === 0 && status === 'failed' ? [`${name.slice(copy.length + 1)} (set-up)`] : tests
  })
  return { passed: numPassedTests, failed, isTimedOut }
}

/** @returns whether the run had to be killed */
function runVitest(args: readonly string[]): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const vitest = join(copy, 'node_modules/vitest/vitest.mjs')
    const child = spawn(process.execPath, [vitest, ...args], { cwd: copy, stdio: 'ignore' })
    running = child
    let isTimedOut = false
    const timer = setTimeout(() => {
      isTimedOut = true
      child.kill('SIGTERM')
    }, RUN_LIMIT_MS)
    child.on('error', reject)
    child.on('exit', () => {
      clearTimeout(timer)
      resolve(isTimedOut)
    })
  })
}
