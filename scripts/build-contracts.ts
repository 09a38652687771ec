/**
 * Compiles contracts/evm with npm's solc and writes each contract's ABI and bytecode to contracts/evm/artifacts: a
 * module for Node (.js), which the package ships unchanged, and its types (.d.ts) with one line per ABI item.
 *
 *   tsx scripts/build-contracts.ts           writes the files
 *   tsx scripts/build-contracts.ts --check   writes nothing, exits 1 if any file differs from what the sources give
 *   tsx scripts/build-contracts.ts --standard-input <file>   writes the compiler's whole input (standard JSON), with
 *                                            every imported source, for explorers that compile it again
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import solc from 'solc'

const ROOT = join(import.meta.dirname, '..')
const CONTRACTS = 'contracts/evm'
const ARTIFACTS = 'contracts/evm/artifacts'

/** A source file under contracts/evm; the contract in the file has the file's name. */
interface Target {
  readonly file: string
  /** True to export the runtime code too, for `anvil_setCode` (only for contracts without immutables). */
  readonly runtime?: boolean
}

const TARGETS: readonly Target[] = [
  { file: 'src/Hub.sol' },
  { file: 'src/Spoke.sol' },
  { file: 'src/SignatureProbe.sol' },
  { file: 'src/TokenProbe.sol' },
  { file: 'src/OwnersProbe.sol' },
  { file: 'src/CommunityPayments.sol' },
  { file: 'src/AirdropDistributor.sol' },
  { file: 'src/EnsResolver.sol' },
  { file: 'local/LocalEnsRegistry.sol' },
  { file: 'local/LocalMessageLib.sol' },
  { file: 'local/PriceFeed.sol' },
  { file: 'local/LocalToken.sol' },
  { file: 'local/LocalUniversalResolver.sol' },
  { file: 'local/BidEmitter.sol', runtime: true },
  { file: 'test-doubles/TestBatch.sol' },
  { file: 'test-doubles/TestEnsOwners.sol' },
  { file: 'test-doubles/TestNameWrapper.sol' },
  { file: 'test-doubles/TestNames.sol' },
  { file: 'test-doubles/TestSmartWallet.sol' },
  { file: 'test-doubles/TestSmartWalletFactory.sol' },
  { file: 'test-doubles/TestToken.sol' },
  { file: 'test-doubles/TestWallet.sol' },
]

interface Artifact {
  readonly abi: readonly object[]
  readonly evm: {
    readonly bytecode: { readonly object: string }
    readonly deployedBytecode: { readonly object: string }
  }
}

interface CompilerOutput {
  readonly errors?: readonly { readonly severity: string; readonly formattedMessage: string }[]
  readonly contracts?: Readonly<Record<string, Readonly<Record<string, Artifact>>>>
}

/** Source of an import: of a package from node_modules, of the project from contracts/evm. */
function readSource(path: string): { contents: string } | { error: string } {
  const file = path.startsWith('@') ? join(ROOT, 'node_modules', path) : join(ROOT, CONTRACTS, path)
  try {
    return { contents: readFileSync(file, 'utf8') }
  } catch (cause) {
    return { error: `reading ${path}: ${cause instanceof Error ? cause.message : String(cause)}` }
  }
}

/** The compiler's input (standard JSON) for some of the targets, without the sources that these import. */
function inputOf(targets: readonly Target[]) {
  return {
    language: 'Solidity',
    sources: Object.fromEntries(
      targets.map(({ file }) => [
        file,
        { content: readFileSync(join(ROOT, CONTRACTS, file), 'utf8') },
      ]),
    ),
    settings: {
      // the oldest EVM version among the chains that spokes run on
      evmVersion: 'shanghai',
      optimizer: { enabled: true, runs: 10_000 },
      // no metadata, so that bytecode depends on neither comments nor paths
      metadata: { bytecodeHash: 'none', appendCBOR: false },
      outputSelection: {
        '*': { '*': ['abi', 'evm.bytecode.object', 'evm.deployedBytecode.object'] },
      },
    },
  }
}

/**
 * The compiler's input for contracts that are deployed on public chains, with every imported source, so that
 * explorers can compile it without other files.
 */
export function standardInput(): ReturnType<typeof inputOf> {
  const input = inputOf(TARGETS.filter(({ file }) => file.startsWith('src/')))
  const read = (path: string) => {
    const source = readSource(path)
    if ('contents' in source) input.sources[path] = { content: source.contents }
    return source
  }
  solc.compile(JSON.stringify(input), { import: read })
  return input
}

function compile(): NonNullable<CompilerOutput['contracts']> {
  const input = inputOf(TARGETS)
  const output = JSON.parse(
    solc.compile(JSON.stringify(input), { import: readSource }),
  ) as CompilerOutput
  const complaints = (output.errors ?? []).filter(({ severity }) => severity !== 'info')
  if (complaints.length > 0 || !output.contracts) {
    throw new Error(
      `compiling the contracts:\n${complaints.map((error) => error.formattedMessage).join('\n')}`,
    )
  }
  return output.contracts
}

/** Output path: `src/Hub.sol` → `contracts/evm/artifacts/Hub`; other folders (local, test-doubles) are kept. */
const outputOf = (file: string): string =>
  `${ARTIFACTS}/${file.replace(/^src\//, '').replace(/\.sol$/, '')}`

/**
 * Module of one contract and its types: `<name>Abi`, `<name>Bytecode` and, where asked for, `<name>RuntimeBytecode`.
 */
function render(
  { file, runtime }: Target,
  artifact: Artifact,
): { path: string; content: string }[] {
  const contract = basename(file, '.sol')
  const name = contract.charAt(0).toLowerCase() + contract.slice(1)
  const head = `// Generated from ${CONTRACTS}/${file} by \`npm run contracts\`; not to be edited.\n`
  const codes = [['Bytecode', artifact.evm.bytecode.object]]
  if (runtime) codes.push(['RuntimeBytecode', artifact.evm.deployedBytecode.object])
  const items = artifact.abi.map((item) => `  ${typeOf(item)},\n`).join('')
  const values = codes.map(([suffix, code]) => `export const ${name}${suffix} = '0x${code}'\n`)
  const types = codes.map(([suffix]) => `export declare const ${name}${suffix}: \`0x\${string}\`\n`)
  return [
    {
      path: `${outputOf(file)}.js`,
      content: [
        head,
        `export const ${name}Abi = ${JSON.stringify(artifact.abi)}\n`,
        ...values,
      ].join(''),
    },
    {
      path: `${outputOf(file)}.d.ts`,
      content: [head, `export declare const ${name}Abi: readonly [\n${items}]\n`, ...types].join(
        '',
      ),
    },
  ]
}

/** TypeScript type, as text, of one JSON value: literal types, and readonly tuples for arrays. */
function typeOf(value: unknown): string {
  if (Array.isArray(value)) return `readonly [${value.map(typeOf).join(', ')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  return `{ ${Object.entries(value)
    .map(([key, member]) => `${key}: ${typeOf(member)}`)
    .join('; ')} }`
}

/** Compiles the contracts. @returns generated files, paths from the project's root @throws on any warning */
export function generateContracts(): { path: string; content: string }[] {
  const contracts = compile()
  return TARGETS.flatMap((target) => {
    const artifact = contracts[target.file]?.[basename(target.file, '.sol')]
    if (!artifact)
      throw new Error(`compiling the contracts: no contract of its own name in ${target.file}`)
    return render(target, artifact)
  })
}

/** Paths of the generated files that are missing, or differ from what the sources give. */
function findStaleContracts(): string[] {
  return generateContracts()
    .filter(({ path, content }) => {
      const file = join(ROOT, path)
      return !existsSync(file) || readFileSync(file, 'utf8') !== content
    })
    .map(({ path }) => path)
}

function main(): void {
  if (process.argv.includes('--check')) {
    const stale = findStaleContracts()
    if (stale.length === 0) return
    console.error(`not what the contracts give: ${stale.join(', ')}; run \`npm run contracts\``)
    process.exitCode = 1
    return
  }
  const wanted = process.argv.indexOf('--standard-input')
  if (wanted >= 0) {
    const file = process.argv[wanted + 1]
    if (!file) throw new Error('--standard-input needs the file to write.')
    writeFileSync(file, JSON.stringify(standardInput()))
    return
  }
  for (const { path, content } of generateContracts()) {
    mkdirSync(dirname(join(ROOT, path)), { recursive: true })
    writeFileSync(join(ROOT, path), content)
    console.log(path)
  }
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) main()
