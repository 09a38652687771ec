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
  /^test\/e2e\/(doctor|example|export|mcp|mirror|readme|world)\.test/,
  /^test\/(cli\/init|(cli|api)\/proxies)\.test/,
  // long random histories
  /^test\/(fuzz|model)\//,
  /^test\/contracts\/(solana-fuzz|solana-accounts)\.test/,
  // time limits of connections, streams and long polls
  /^test\/(mirror\/\w+|api\/(join|sockets)|push\/(streams|longPoll|logServers))\.test/,
  // every fault of a chain, a node or a signer; one file of each kind is quick
  /^test\/relayer\/(?!deliver|payments|credits)/,
  /^test\/indexer\/(?!hub|finalized|airdrops)/,
  /^test\/solana\/(?!watcher|register|communityPayments)/,
  /^test\/communities\/(?!payments\.)/,
  // two services compared byte by byte; what each route shows of private wallets is quick
  /^test\/privacy\/(?!wallets)/,
  // every request at once for minutes; the same for seconds is quick
  /^test\/mix\/(?!quick)/,
  // leases in real time
  /^src\/db\/pg\/leads?(er)?\.test/,
  // the processor time of each route, which needs a machine that does little else
  /^test\/api\/costs\.test/,
  // the parts of the local world, the package, benchmarks and large tables
  /^src\/testing\//,
  /^test\/(airdrop|bench|package|scale)\//,
  /^test\/bundle\.test/,
  // a family of chains outside the product, in a daemon of its own
  /^test\/families\//,
]

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

export const isInTier = (path: string, wanted: Tier): boolean =>
  wanted === 'all' || (wanted === 'rest') === REST.some((pattern) => pattern.test(path))
