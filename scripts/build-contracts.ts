/**
 * Compiles contracts/evm with npm's solc and writes each contract's ABI and bytecode as typed TypeScript.
 *
 *   tsx scripts/build-contracts.ts           writes the files
 *   tsx scripts/build-contracts.ts --check   writes nothing, exits 1 if any file differs from what the sources give
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import solc from 'solc'

const ROOT = join(import.meta.dirname, '..')
const CONTRACTS = 'contracts/evm'
const GENERATED = 'src/chains/evm/contracts/generated'
const GENERATED_TESTS = 'test/contracts/generated'

/** `file` under contracts/evm, the contract of the same name in it, and the file it is written to. */
interface Target {
  readonly contract: string
  readonly file: string
  readonly output: string
  /** Also export the runtime code, for `anvil_setCode` (only for contracts without immutables). */
  readonly runtime?: boolean
}

const TARGETS: readonly Target[] = [
  { contract: 'Hub', file: 'src/Hub.sol', output: `${GENERATED}/hub.ts` },
  { contract: 'Spoke', file: 'src/Spoke.sol', output: `${GENERATED}/spoke.ts` },
  { contract: 'SignatureProbe', file: 'src/SignatureProbe.sol', output: `${GENERATED}/signature-probe.ts` },
  { contract: 'TokenProbe', file: 'src/TokenProbe.sol', output: `${GENERATED}/token-probe.ts` },
  { contract: 'CommunityPayments', file: 'src/CommunityPayments.sol', output: `${GENERATED}/community-payments.ts` },
  {
    contract: 'AirdropDistributor',
    file: 'src/AirdropDistributor.sol',
    output: `${GENERATED}/airdrop-distributor.ts`,
  },
  { contract: 'LocalMessageLib', file: 'local/LocalMessageLib.sol', output: `${GENERATED}/local-message-lib.ts` },
  { contract: 'PriceFeed', file: 'local/PriceFeed.sol', output: `${GENERATED}/price-feed.ts` },
  { contract: 'LocalToken', file: 'local/LocalToken.sol', output: `${GENERATED}/local-token.ts` },
  { contract: 'BidEmitter', file: 'local/BidEmitter.sol', output: `${GENERATED}/bid-emitter.ts`, runtime: true },
  { contract: 'TestBatch', file: 'test-doubles/TestBatch.sol', output: `${GENERATED_TESTS}/test-batch.ts` },
  {
    contract: 'TestSmartWallet',
    file: 'test-doubles/TestSmartWallet.sol',
    output: `${GENERATED_TESTS}/test-smart-wallet.ts`,
  },
  {
    contract: 'TestSmartWalletFactory',
    file: 'test-doubles/TestSmartWalletFactory.sol',
    output: `${GENERATED_TESTS}/test-smart-wallet-factory.ts`,
  },
  { contract: 'TestToken', file: 'test-doubles/TestToken.sol', output: `${GENERATED_TESTS}/test-token.ts` },
  { contract: 'TestWallet', file: 'test-doubles/TestWallet.sol', output: `${GENERATED_TESTS}/test-wallet.ts` },
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

/** An import: a package's source from node_modules, ours from contracts/evm. */
function readSource(path: string): { contents: string } | { error: string } {
  const file = path.startsWith('@') ? join(ROOT, 'node_modules', path) : join(ROOT, CONTRACTS, path)
  try {
    return { contents: readFileSync(file, 'utf8') }
  } catch (cause) {
    return { error: `reading ${path}: ${cause instanceof Error ? cause.message : String(cause)}` }
  }
}

function compile(): NonNullable<CompilerOutput['contracts']> {
  const input = {
    language: 'Solidity',
    sources: Object.fromEntries(
      TARGETS.map(({ file }) => [file, { content: readFileSync(join(ROOT, CONTRACTS, file), 'utf8') }]),
    ),
    settings: {
      // The oldest rules among the chains that spokes run on.
      evmVersion: 'shanghai',
      optimizer: { enabled: true, runs: 10_000 },
      // No metadata: the same bytecode on every machine, whatever comments and paths say.
      metadata: { bytecodeHash: 'none', appendCBOR: false },
      outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object', 'evm.deployedBytecode.object'] } },
    },
  }
  const output = JSON.parse(solc.compile(JSON.stringify(input), { import: readSource })) as CompilerOutput
  const complaints = (output.errors ?? []).filter(({ severity }) => severity !== 'info')
  if (complaints.length > 0 || !output.contracts) {
    throw new Error(`compiling the contracts:\n${complaints.map((error) => error.formattedMessage).join('\n')}`)
  }
  return output.contracts
}

/** The TypeScript of one contract: `<name>Abi`, `<name>Bytecode` and, where asked for, `<name>RuntimeBytecode`. */
function render({ contract, file, runtime }: Target, artifact: Artifact): string {
  const name = contract.charAt(0).toLowerCase() + contract.slice(1)
  const constant = (suffix: string, value: string) => `export const ${name}${suffix} =\n  ${value} as const\n`
  const lines = [
    `// Generated from ${CONTRACTS}/${file} by \`npm run contracts\`; not to be edited.\n`,
    `export const ${name}Abi = ${JSON.stringify(artifact.abi, null, 2)} as const\n`,
    constant('Bytecode', `'0x${artifact.evm.bytecode.object}'`),
  ]
  if (runtime) lines.push(constant('RuntimeBytecode', `'0x${artifact.evm.deployedBytecode.object}'`))
  return lines.join('\n')
}

/** Every generated file as the sources give it: path from the project's root, and content. Throws on any warning. */
export function generateContracts(): { path: string; content: string }[] {
  const contracts = compile()
  return TARGETS.map((target) => {
    const artifact = contracts[target.file]?.[target.contract]
    if (!artifact) throw new Error(`compiling the contracts: no contract ${target.contract} in ${target.file}`)
    return { path: target.output, content: render(target, artifact) }
  })
}

/** The generated files that differ from what the sources give, or are missing. */
export function findStaleContracts(): string[] {
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
  for (const { path, content } of generateContracts()) {
    mkdirSync(dirname(join(ROOT, path)), { recursive: true })
    writeFileSync(join(ROOT, path), content)
    console.log(path)
  }
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) main()
