import { execFile } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { chooseFreePort } from '../../../src/testing/processes/ports.js'
import { spawnChild } from '../../../src/testing/processes/processes.js'
import { installNewest } from './install.js'
import { BID_EVENT, type Peer, type PeerJob } from './peer.js'

const run = promisify(execFile)

/**
 * Packages that Envio's generator needs. The generator installs the generated code's packages by pnpm, and installs the
 * newest pnpm where it finds none. From version 11 on, pnpm fails if a package has an install script.
 */
const BESIDE = ['pnpm@10']

const configOf = ({ chainId, startBlock, rpcUrl, hub }: PeerJob) => `name: peer
networks:
  - id: ${chainId}
    start_block: ${startBlock}
    rpc:
      url: ${rpcUrl}
      for: sync
    contracts:
      - name: Hub
        address: "${hub}"
        handler: src/EventHandlers.js
        events:
          - event: ${BID_EVENT.replace('event ', '')}
            field_selection:
              transaction_fields:
                - hash
`

const TABLES = `type Registration {
  id: ID!
  sender: String!
  amount: BigInt!
  txHash: String!
}
`

const HANDLER = `const { Hub } = require('generated')
Hub.Bid.handler(async ({ event, context }) => {
  const { from: sender, amount, name } = event.params
  context.Registration.set({ id: name, sender, amount, txHash: event.transaction.hash })
})
`

/** Installs Envio, with a project that stores a row per bid. @throws Error where npm can't install it */
export async function installEnvio(folder: string): Promise<Peer> {
  mkdirSync(join(folder, 'src'), { recursive: true })
  const version = await installNewest(folder, 'envio', BESIDE)
  // no `type`: the generated code is CommonJS
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true }))
  symlinkSync('../generated', join(folder, 'node_modules', 'generated'))
  writeFileSync(join(folder, 'schema.graphql'), TABLES)
  writeFileSync(join(folder, 'src', 'EventHandlers.js'), HANDLER)
  return {
    title: `Envio ${version}`,
    stores: 'one row',
    checks: 'block hashes at the head',
    follows: 'polls each second (no setting)',
    query: 'SELECT FROM "Registration" WHERE id = $1',
    keyOf: (word) => word,
    prepare: (job) => generateCode(folder, job),
    start: (job) => startEnvio(folder, job),
  }
}

/** Generates Envio's code for the chain, and compiles the code. */
async function generateCode(folder: string, job: PeerJob): Promise<void> {
  writeFileSync(join(folder, 'config.yaml'), configOf(job))
  const bin = join(folder, 'node_modules', '.bin')
  const env = { ...process.env, PATH: `${bin}:${process.env.PATH}` }
  const options = { env, maxBuffer: 2 ** 26 }
  await run(join(bin, 'envio'), ['codegen'], { cwd: folder, ...options })
  const generated = join(folder, 'generated')
  await run(join(generated, 'node_modules', '.bin', 'rescript'), [], { cwd: generated, ...options })
}

async function startEnvio(folder: string, job: PeerJob) {
  const { port, pathname, username } = new URL(job.databaseUrl)
  const env = {
    ...process.env,
    ENVIO_PG_HOST: '127.0.0.1',
    ENVIO_PG_PORT: port,
    ENVIO_PG_USER: username,
    ENVIO_PG_PASSWORD: '',
    ENVIO_PG_DATABASE: pathname.slice(1),
    ENVIO_HASURA: 'false',
    ENVIO_INDEXER_PORT: String(await chooseFreePort()),
    TUI_OFF: 'true',
    LOG_LEVEL: 'warn',
  }
  return spawnChild({
    command: process.execPath,
    args: [join('src', 'Index.res.js')],
    cwd: join(folder, 'generated'),
    logFile: job.logFile,
    env,
  })
}
