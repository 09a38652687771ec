/**
 * Builds the Solana programs of contracts/solana and the tests' callers with Debian's Rust and LLVM. Solana's toolchain
 * is neither on npm nor in Debian, this project's only sources, hence our own linker. Operators can build the same
 * sources with `cargo build-sbf`. Each built file is committed with a list of checksums: its own and its sources'.
 *
 *   npm run contracts:solana              writes <program>.so and <program>.so.sha256
 *   npm run contracts:solana -- --check   writes nothing. Prints whether a rebuild gives the same bytes, exits 1 if not.
 *                                         Without a toolchain it compares the checksums only.
 */
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { buildProgram, missingToolchain, toolchainVersions } from './solana/toolchain.js'

const ROOT = join(import.meta.dirname, '..')
/** Folders of the programs; a program is named after its folder. */
const PROGRAMS = ['contracts/solana/registrar', 'contracts/solana/test-doubles/caller']

const nameOf = (folder: string): string => `${folder.split('/').at(-1)}.so`

/**
 * Checksums in the form of sha256sum, paths relative to the program's folder: the program, then its sources, manifest,
 * lock file and interface, and the scripts that build it.
 */
function checksums(folder: string, program: Buffer): string {
  const beside = ['Cargo.lock', 'Cargo.toml', 'idl.json'].filter((path) =>
    existsSync(join(ROOT, folder, path)),
  )
  const sources = filesOf(join(ROOT, folder, 'src'), '.rs').map((path) => `src/${path}`)
  const scripts = [
    'build-solana.ts',
    ...filesOf(join(ROOT, 'scripts/solana'), '.ts').map((path) => `solana/${path}`),
  ]
  const built = scripts.map((path) => relative(folder, join('scripts', path)))
  const line = (path: string, bytes: Buffer) =>
    `${createHash('sha256').update(bytes).digest('hex')}  ${path}\n`
  return [
    line(nameOf(folder), program),
    ...[...beside, ...sources, ...built].map((path) =>
      line(path, readFileSync(join(ROOT, folder, path))),
    ),
  ].join('')
}

const filesOf = (folder: string, ending: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith(ending))
    .sort()

/** Programs whose built file or sources differ from their list of checksums. */
export function findStalePrograms(): string[] {
  return PROGRAMS.filter((folder) => {
    const file = join(ROOT, folder, nameOf(folder))
    if (!existsSync(file) || !existsSync(`${file}.sha256`)) return true
    return readFileSync(`${file}.sha256`, 'utf8') !== checksums(folder, readFileSync(file))
  })
}

function check(): void {
  const stale = findStalePrograms()
  for (const folder of stale) {
    console.error(
      `${folder}: built from other sources than these; run \`npm run contracts:solana\``,
    )
    process.exitCode = 1
  }
  const missing = missingToolchain()
  if (missing) {
    console.log(missing)
    return
  }
  console.log(toolchainVersions())
  for (const folder of PROGRAMS.filter((one) => !stale.includes(one))) {
    const isSame = buildProgram(join(ROOT, folder)).equals(
      readFileSync(join(ROOT, folder, nameOf(folder))),
    )
    console.log(`${folder}: a rebuild gives ${isSame ? 'the same bytes' : 'OTHER bytes'}`)
    if (!isSame) process.exitCode = 1
  }
}

function main(): void {
  if (process.argv.includes('--check')) check()
  else build()
}

function build(): void {
  const missing = missingToolchain()
  if (missing) throw new Error(missing)
  console.log(toolchainVersions())
  for (const folder of PROGRAMS) {
    const program = buildProgram(join(ROOT, folder))
    const path = `${folder}/${nameOf(folder)}`
    writeFileSync(join(ROOT, path), program)
    writeFileSync(join(ROOT, `${path}.sha256`), checksums(folder, program))
    console.log(`${path}: ${program.length} bytes`)
  }
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) main()
