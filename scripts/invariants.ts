/**
 * `npm run invariants`: Foundry calls the hub and the payments contract at random and checks their invariants after
 * each call (contracts/evm/invariants). Installs forge from npm, without saving it, and compiles with npm's solc.
 * Nothing else is downloaded. Arguments after `--` go to `forge test`: `-- --fuzz-seed 7 -vvv`.
 *
 *   npm run invariants -- --mutants   makes one mistake after the other in a copy of the contracts, and exits 1 unless
 *                                     the invariant that forbids the mistake fails each time
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { nativeProgramPackage } from '../src/testing/processes/platform.js'
import { ROOT } from './files.js'
import { MUTANTS, type Mutant } from './invariants/mutants.js'

const SOLC = join(ROOT, 'scripts/solc.mjs')
/** Copy of contracts/evm that mutants change. */
const COPY = 'artifacts/forge/mutants'
/** Recorded failing calls. Forge tries them first in the next run, which proves nothing about the next mutant. */
const FAILURES = `${COPY}/failures`
const COPY_ENV = {
  FOUNDRY_SRC: `${COPY}/evm/src`,
  FOUNDRY_TEST: `${COPY}/evm/invariants`,
  FOUNDRY_OUT: `${COPY}/out`,
  FOUNDRY_CACHE_PATH: `${COPY}/cache`,
  FOUNDRY_TEST_FAILURES_FILE: `${COPY}/test-failures`,
  FOUNDRY_INVARIANT_FAILURE_PERSIST_DIR: FAILURES,
  // do not search for the shortest failing sequence of calls
  FOUNDRY_INVARIANT_SHRINK_RUN_LIMIT: '0',
  // the compiler takes half the time
  FOUNDRY_OPTIMIZER: 'false',
}

/** Path of Foundry's forge, of the same version as this checkout's anvil. Installs forge if it is missing. */
function forge(): string {
  const anvil = nativeProgramPackage('anvil', process.platform, process.arch)
  const { optionalDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const version: string | undefined = optionalDependencies[anvil]
  if (!version) throw new Error(`npm has no Foundry for ${process.platform}-${process.arch}.`)

  const name = anvil.replace('anvil', 'forge')
  const folder = join(ROOT, 'node_modules', name)
  const manifest = join(folder, 'package.json')
  const isInstalled =
    existsSync(manifest) && JSON.parse(readFileSync(manifest, 'utf8')).version === version
  if (!isInstalled) {
    const quiet = ['--no-save', '--no-audit', '--no-fund', '--ignore-scripts']
    execFileSync('npm', ['install', ...quiet, `${name}@${version}`], {
      cwd: ROOT,
      stdio: 'inherit',
    })
  }
  return join(folder, 'bin/forge')
}

const forgeArguments = (more: readonly string[]) => [
  'test',
  '--root',
  ROOT,
  '--offline',
  '--use',
  SOLC,
  ...more,
]

function checkInvariants(program: string, more: readonly string[]): void {
  const { status } = spawnSync(program, forgeArguments(more), { stdio: 'inherit' })
  process.exitCode = status ?? 1
}

/**
 * Checks that each invariant fails where the contract breaks it.
 * @param part selects mutants by their text; default: all
 */
function checkMutants(program: string, part = ''): void {
  rmSync(join(ROOT, COPY), { recursive: true, force: true })
  for (const folder of ['src', 'local', 'test-doubles', 'invariants'])
    cpSync(join(ROOT, 'contracts/evm', folder), join(ROOT, COPY, 'evm', folder), {
      recursive: true,
    })

  const chosen = MUTANTS.filter(({ from }) => from.includes(part))
  const survivors = chosen.filter((mutant) => !isKilled(program, mutant))
  console.log(`${chosen.length - survivors.length} of ${chosen.length} mutants killed`)
  if (survivors.length > 0) process.exitCode = 1
}

/** True if the invariant that the mutant breaks fails. */
function isKilled(program: string, { contract, from, to, breaks }: Mutant): boolean {
  const file = join(ROOT, COPY, 'evm/src', `${contract}.sol`)
  const source = readFileSync(file, 'utf8')
  if (source.split(from).length !== 2)
    throw new Error(`${contract}.sol has this not once, so it can't be changed: ${from}`)

  const mutated = source.replace(from, () => to)
  writeFileSync(file, mutated)
  rmSync(join(ROOT, FAILURES), { recursive: true, force: true })
  const chosen = ['--match-contract', `^${contract}Invariants$`]
  const { stdout, stderr } = spawnSync(program, forgeArguments(chosen), {
    encoding: 'utf8',
    env: { ...process.env, ...COPY_ENV },
  })
  writeFileSync(file, source)

  const reason = /\[FAIL: (.*?)\]/.exec(stdout)?.[1]
  const change = `${contract}: ${from.replace(/\s+/g, ' ')} → ${to.replace(/\s+/g, ' ') || 'nothing'}`
  console.log(
    `${reason === breaks ? 'killed  ' : 'SURVIVED'}  ${change}: ${reason ?? 'no failure'}`,
  )
  if (reason === undefined && !stdout.includes('[PASS]')) console.log(stdout, stderr)
  return reason === breaks
}

const more = process.argv.slice(2)
const [first, part] = more
if (first === '--mutants') checkMutants(forge(), part)
else checkInvariants(forge(), more)
