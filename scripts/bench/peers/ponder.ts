import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { chooseFreePort } from '../../../src/testing/processes/ports.js'
import { spawnChild } from '../../../src/testing/processes/processes.js'
import { installNewest } from './install.js'
import { BID_EVENT, type Peer, type PeerJob } from './peer.js'

/** Packages that are installed with Ponder, which needs a newer Node.js than this project does. */
const BESIDE = ['node@22', 'viem', 'hono', 'typescript']
/** Ponder 0.17.7 asks for `@ponder/utils` 0.3.0, which npm does not have. */
const OVERRIDES = { '@ponder/utils': '0.2.18' }
/** Ponder limits the requests a second to each of its URLs, so it indexes faster if one URL is named often. */
const URL_COUNT = 16
const SCHEMA = 'peer'

const CONFIG = `import { createConfig } from 'ponder'
import { parseAbi } from 'viem'

export default createConfig({
  database: { kind: 'postgres', connectionString: process.env.DATABASE_URL },
  chains: {
    local: {
      id: Number(process.env.CHAIN_ID),
      rpc: Array(${URL_COUNT}).fill(process.env.RPC_URL),
      ws: process.env.WS_URL,
      pollingInterval: 100,
    },
  },
  contracts: {
    Hub: {
      chain: 'local',
      abi: parseAbi(['${BID_EVENT}']),
      address: process.env.HUB as \`0x\${string}\`,
      startBlock: Number(process.env.START_BLOCK),
    },
  },
})
`

const TABLES = `import { onchainTable } from 'ponder'

export const registration = onchainTable('registration', (t) => ({
  name: t.hex().primaryKey(),
  sender: t.hex().notNull(),
  amount: t.bigint().notNull(),
  txHash: t.hex().notNull(),
}))
`

const HANDLER = `import { ponder } from 'ponder:registry'
import { registration } from 'ponder:schema'

ponder.on('Hub:Bid', async ({ event, context }) => {
  const { from: sender, amount, name } = event.args
  await context.db
    .insert(registration)
    .values({ name, sender, amount, txHash: event.transaction.hash })
})
`

const API = `import { Hono } from 'hono'

export default new Hono()
`

/** Installs Ponder, with a project that stores a row per bid. @throws Error where npm can't install it */
export async function installPonder(folder: string): Promise<Peer> {
  mkdirSync(join(folder, 'src', 'api'), { recursive: true })
  const version = await installNewest(folder, 'ponder', BESIDE, OVERRIDES)
  const files = {
    'ponder.config.ts': CONFIG,
    'ponder.schema.ts': TABLES,
    'src/index.ts': HANDLER,
    'src/api/index.ts': API,
  }
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  return {
    title: `Ponder ${version}`,
    stores: 'one row, and its cache of blocks, transactions and logs',
    checks: 'parent hashes, and that a log and its block agree',
    follows: 'WebSocket, and polls each 100 ms',
    query: `SELECT FROM ${SCHEMA}.registration WHERE name = $1`,
    keyOf: (word) => word,
    start: (job) => startPonder(folder, job),
  }
}

async function startPonder(folder: string, job: PeerJob) {
  const port = String(await chooseFreePort())
  const program = join('node_modules', 'ponder', 'dist', 'esm', 'bin', 'ponder.js')
  return spawnChild({
    command: join(folder, 'node_modules', '.bin', 'node'),
    args: [program, 'start', '--schema', SCHEMA, '--port', port, '--log-level', 'warn'],
    cwd: folder,
    logFile: job.logFile,
    env: {
      ...process.env,
      PONDER_TELEMETRY_DISABLED: '1',
      DATABASE_URL: job.databaseUrl,
      RPC_URL: job.rpcUrl,
      WS_URL: job.wsUrl,
      CHAIN_ID: String(job.chainId),
      HUB: job.hub,
      START_BLOCK: String(job.startBlock),
    },
  })
}
