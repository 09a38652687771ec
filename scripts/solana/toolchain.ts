import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { link } from './link.js'

/** Debian's packages: rustc-web, libstd-rust-web-dev-bpf and llvm-22 of one LLVM version. */
const RUSTC = '/usr/bin/rustc'
const LLVM = { ar: 'llvm-ar-22', link: 'llvm-link-22', opt: 'opt-22', llc: 'llc-22' }
const TARGET = 'bpfel-unknown-none'
const CORE_FOLDER = `/usr/lib/rustlib/${TARGET}/lib`
/** Size of a Solana stack frame. */
const FRAME_BYTES = 4_096
const SYSCALLS: ReadonlySet<string> = new Set([
  'abort',
  'sol_create_program_address',
  'sol_get_clock_sysvar',
  'sol_get_rent_sysvar',
  'sol_invoke_signed_c',
  'sol_try_find_program_address',
])

/** Missing tools as one line; undefined when everything is there. */
export function missingToolchain(): string | undefined {
  const core = existsSync(CORE_FOLDER) && findCore() !== undefined
  const missing = [RUSTC, ...Object.values(LLVM).map((tool) => `/usr/bin/${tool}`)].filter(
    (path) => !existsSync(path),
  )
  if (core && missing.length === 0) return undefined
  const what = [...(core ? [] : [`Rust's core for ${TARGET}`]), ...missing].join(', ')
  return `no toolchain for Solana programs here (${what}): apt-get install rustc-web libstd-rust-web-dev-bpf llvm-22`
}

function findCore(): string | undefined {
  return readdirSync(CORE_FOLDER).find((name) => /^libcore-.*\.rlib$/.test(name))
}

/** Versions of the tools, for messages. */
export function toolchainVersions(): string {
  const rustc = run(RUSTC, ['--version']).trim()
  const llvm = /version (\S+)/.exec(run(LLVM.llc, ['--version']))?.[1]
  return `${rustc}, LLVM ${llvm}`
}

/**
 * Builds the program of `folder` (`src/lib.rs`): Rust to LLVM bitcode with the used part of Rust's core, to one BPF
 * object, to a shared object. Equal versions give equal bytes on every machine: no path and no time is in them.
 * @throws with the tools' output
 */
export function buildProgram(folder: string): Buffer {
  const work = mkdtempSync(join(tmpdir(), 'clusterd-solana-'))
  const at = (name: string) => join(work, name)
  try {
    const rust = [
      '--edition',
      '2021',
      '--crate-name',
      'program',
      '--crate-type',
      'lib',
      '--target',
      TARGET,
    ]
    const codegen = [
      'opt-level=3',
      'panic=abort',
      'codegen-units=1',
      'overflow-checks=on',
      'metadata=clusterd',
    ]
    run(
      RUSTC,
      [
        ...rust,
        ...codegen.flatMap((option) => ['-C', option]),
        ...['-D', 'warnings'],
        '--emit',
        `llvm-bc=${at('program.bc')}`,
        'src/lib.rs',
      ],
      folder,
    )
    mkdirSync(at('core'))
    run(LLVM.ar, ['x', join(CORE_FOLDER, findCore() ?? '')], at('core'))
    const core = readdirSync(at('core')).filter((name) => name.endsWith('.o'))
    run(LLVM.link, [
      '--only-needed',
      '--internalize',
      at('program.bc'),
      ...core.map((name) => join(at('core'), name)),
      '-o',
      at('linked.bc'),
    ])
    const passes = [
      '-passes=internalize,globaldce,default<O3>,globaldce',
      '-internalize-public-api-list=entrypoint',
    ]
    run(LLVM.opt, [...passes, at('linked.bc'), '-o', at('small.bc')])
    const codeOptions = [
      '-march=bpfel',
      '-mcpu=v2',
      '-filetype=obj',
      `-bpf-stack-size=${FRAME_BYTES}`,
    ]
    run(LLVM.llc, [...codeOptions, at('small.bc'), '-o', at('program.o')])
    return link(readFileSync(at('program.o')), SYSCALLS)
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

function run(command: string, args: readonly string[], cwd?: string): string {
  try {
    return execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
  } catch (cause) {
    const said = cause instanceof Error && 'stderr' in cause ? String(cause.stderr).trim() : ''
    throw new Error(`running ${command}: ${said || String(cause)}`)
  }
}
