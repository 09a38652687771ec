import { readdirSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Tiers of test files. `npm test` runs the quick tier, `npm run test:rest` the rest, `npm run test:all` both, and
 * `vitest run <file>` any file. A file is quick unless a pattern stands here for it.
 */
const REST = [
  // whole worlds that are killed, cut off, rewound and taken over; killed.test.ts is the quick one
  /^test\/(chaos|failover|faults|recovery)\//,
  // a deployment of an earlier build
  /^test\/upgrade\//,
  /^test\/world\/(?!killed)/,
  // browsers, and commands that are run as processes
  /^test\/e2e\/(journey|page\w*|explorer|reference|testWallet|opsPage)\.test/,
  /^test\/e2e\/(doctor|example|export|mcp|mirror|readme|rehearsal|world)\.test/,
  /^test\/(cli\/(init|actions|backup|log|envFile)|(cli|api)\/proxies)\.test/,
  // long random histories; of the contracts, those of the hub are quick
  /^test\/(fuzz|model)\//,
  /^test\/contracts\/(solana-fuzz|solana-accounts|payments-fuzz|distributor-fuzz)\.test/,
  // time limits of connections, streams and long polls
  /^test\/(mirror\/\w+|api\/(join|sockets)|push\/(streams|longPoll|logServers))\.test/,
  // every fault of a chain, a node or a signer; one file of each kind is quick
  /^test\/relayer\/(?!deliver|payments|credits)/,
  /^test\/indexer\/(?!hub|finalized|airdrops)/,
  /^test\/solana\/(?!watcher|register|communityPayments)/,
  /^test\/communities\/(?!payments\.)/,
  // every form of every kind of wallet, over HTTP; what a signature of each proves is quick
  /^test\/api\/kinds\.test/,
  // two services compared byte by byte; what each route shows of private wallets is quick
  /^test\/privacy\/(?!wallets)/,
  // every request at once for minutes; the same for seconds is quick
  /^test\/mix\/(?!quick)/,
  // leases in real time, and every error of a database
  /^src\/db\/(leaders\/(lead|whileLeading)|pg\/readAgain)\.test/,
  // the processor time of routes, which needs a machine that does little else
  /^test\/api\/(costs|listCosts)\.test/,
  // the parts of the local world, the package, benchmarks and large tables
  /^(src\/testing|test\/support)\//,
  /^test\/(airdrop|bench|package|scale)\//,
  /^test\/storage\/(plans|manyNames|moves)\.test/,
  /^test\/bundle\.test/,
  // manifests of Kubernetes, against types that a compiler reads for seconds; those of Compose are quick
  /^test\/cli\/kubernetes\.test/,
  // a family of chains outside the product, in a daemon of its own
  /^test\/families\//,
]

/**
 * Random tests whose runs take seconds: files of both tiers. The quick tier has a fifth of the runs, the rest and
 * `vitest run <file>` have all (`runsOf`).
 */
export const RANDOM: readonly string[] = [
  'src/chains/evm/encodings.test.ts',
  'src/registry/auth/bundle.test.ts',
  'src/registry/auth/kinds.test.ts',
  'src/registry/fold/moves.test.ts',
  'src/relayer/step.test.ts',
  'test/api/events.test.ts',
  'test/contracts/names.test.ts',
  'test/ens/gateway.test.ts',
]
const QUICK_SHARE = 5

export type Tier = 'quick' | 'rest' | 'all'

/** Tier of this run, from the environment: all files where none is named. */
export const tier = (process.env.TEST_TIER ?? 'all') as Tier

const ROOT = join(import.meta.dirname, '../..')

/** Paths of all test files from the root, with forward slashes. */
export function listTestFiles(): string[] {
  return ['src', 'test'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .map((path) => `${folder}/${path.replaceAll('\\', '/')}`)
      .filter((path) => path.endsWith('.test.ts')),
  )
}

export function isInTier(path: string, wanted: Tier): boolean {
  if (wanted === 'all') return true
  const isRest = REST.some((pattern) => pattern.test(path))
  return wanted === 'quick' ? !isRest : isRest || RANDOM.includes(path)
}

/**
 * Number of runs of a property in a file of both tiers. A test that counts what its runs met keeps all of them.
 *
 * @param all those of the rest tier
 */
export const runsOf = (all: number): number =>
  tier === 'quick' ? Math.ceil(all / QUICK_SHARE) : all
