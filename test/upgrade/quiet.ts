import { readFileSync } from 'node:fs'
import type { IncomingHttpHeaders } from 'node:http'
import { join } from 'node:path'
import { migrate } from '../../src/db/pg/migrate.js'
import { createPool, withConnection } from '../../src/db/pg/pool.js'
import { refreshRanking } from '../../src/db/registry/ranking.js'
import { createTransparencyLogWorker } from '../../src/push/transparencyLog.js'
import { fromHex } from '../../src/registry/primitives/bytes.js'
import { NETWORKS } from '../../src/registry/primitives/network.js'
import { logKeysOfSeeds } from '../../src/registry/transparencyLog/signer.js'
import { createDatabase, startPostgres } from '../../src/testing/processes/postgres.js'
import { startTestDaemon, type TestDaemon } from '../support/daemon.js'
import { queryOn } from '../support/database.js'
import { readEpoch } from '../support/epoch.js'
import { bodyOf, serve } from '../support/httpServer.js'
import { type Answer, Asker, type Request, type Stage } from './answers.js'
import { stopDatabaseClock, stopProcessClock } from './clocks.js'
import { wait } from './fill.js'
import type { Deployment } from './recorded.js'
import { type NodeAnswers, serveRecordedNodes } from './recordedNodes.js'

/**
 * Quiet processes of a recorded deployment: its database, its nodes as they answered once, and clocks that stand still.
 * They only answer requests, in this process, so that the same requests always get the same answers.
 */

/** Begins the evidence logs, which the recorded build does not have, with the key of its logs. */
async function beginEvidenceLogs(url: string, { LOG_KEY }: Deployment['env']): Promise<void> {
  const keys = logKeysOfSeeds([fromHex(LOG_KEY as `0x${string}`)])
  const pool = createPool({ url, max: 2, applicationName: 'test' })
  for (const network of NETWORKS) {
    const epoch = await readEpoch(pool, network, 'index')
    const options = { domain: 'localhost', keys, isEvidence: true }
    const worker = createTransparencyLogWorker({ pool, network, epoch }, options)
    while ((await worker.step(new AbortController().signal, () => {})) !== 'idle');
  }
  await pool.end()
}

/** A message to the webhook of the deployment. */
export interface WebhookMessage {
  headers: Record<string, string>
  body: string
}

export interface QuietOptions {
  /** Folder for the databases. */
  folder: string
  /** Dumps of the service's and of a mirror's database. */
  dumps: { service: string; mirror: string }
  deployment: Pick<Deployment, 'env' | 'scene' | 'nowMs'>
  chainsFile: ChainsFile
  nodes: NodeAnswers
  /** Nodes that answer questions that are not recorded, by label. */
  live?: Readonly<Record<string, string>>
}

export interface ChainsFile {
  chains: { network: string; label: string; chainId: number; rpcUrls: string[]; wsUrl?: string }[]
  solana: Record<string, { rpcUrls: string[]; wsUrls: string[] }>
  ens?: object
}

export interface Quiet {
  ask(request: Request): Promise<Answer>
  /** URL of the API of a stage. */
  apiOf(stage: Stage): string
  /** Messages to the webhook, up to the newest event of the recorded feed. */
  messages: WebhookMessage[]
  /** Questions to nodes that were not recorded. */
  missing: ReadonlySet<string>
  /** Errors in the logs of the processes. */
  errors(): string[]
  stop(): Promise<void>
}

type Name = 'mirror' | 'reduced' | 'catchingUp' | 'limited' | 'service'

/** Which settings a stage has beside those of the deployment, and what is changed in its database. */
const PROCESSES: Readonly<Record<Name, Process>> = {
  mirror: { dump: 'mirror' },
  reduced: {
    dump: 'service',
    isReduced: true,
    sql: `UPDATE public.journal_heads SET feed_generation = 2, caught_up = network = 0;
      UPDATE public.logs SET generation = 2 WHERE network = 0`,
    // an empty variable counts as unset
    env: { ENS_PRIVATE_KEY: '' },
  },
  catchingUp: { dump: 'service', sql: 'UPDATE public.journal_heads SET caught_up = false' },
  limited: { dump: 'service', env: { LIMITS: 'on', LIMIT_ADDRESS: '1/1' } },
  service: { dump: 'service' },
}

interface Process {
  dump: 'service' | 'mirror'
  sql?: string
  /** Without ENS, and without the chains of the testnet. */
  isReduced?: boolean
  env?: Record<string, string>
}

const processOf = (stage: Stage): Name =>
  stage === 'settled' || stage === 'changed' ? 'service' : stage

export async function startQuiet(options: QuietOptions): Promise<Quiet> {
  const { folder, dumps, deployment, nodes, live } = options
  const { nowMs, scene } = deployment
  const server = await startPostgres({ dataDir: join(folder, 'quiet') })
  const recordedNodes = await serveRecordedNodes(nodes, live)
  const messages: WebhookMessage[] = []
  const hook = await serve(async (request, response) => {
    messages.push({ headers: signedPart(request.headers), body: await bodyOf(request) })
    response.end('{}')
  })
  const restartClock = stopProcessClock(nowMs)
  const daemons: Partial<Record<Name, TestDaemon>> = {}
  const askers: Partial<Record<Name, Asker>> = {}

  async function start(name: Name): Promise<void> {
    const { dump, sql, env, isReduced = false } = PROCESSES[name]
    const databaseUrl = await createDatabase(server.url, name.toLowerCase())
    await withConnection({ url: databaseUrl, applicationName: 'test' }, async (client) => {
      await client.query(dumps[dump])
      if (sql) await client.query(sql)
      // the service sends all messages again, the others none
      if (name === 'service')
        await client.query(
          'UPDATE public.webhooks SET url = $1, cursor = NULL, seen = 0, delivered = 0',
          [`${hook.url}/hook`],
        )
      else await client.query('DELETE FROM public.webhooks')
    })
    await migrate(databaseUrl)
    // as workers do within a minute
    await withConnection({ url: databaseUrl, applicationName: 'test' }, async (client) => {
      for (const network of NETWORKS) await refreshRanking(client, network)
    })
    await beginEvidenceLogs(databaseUrl, deployment.env)
    await stopDatabaseClock(databaseUrl, nowMs)
    const settings = { ...settingsOf(deployment.env), ...env }
    const chainsFile = withNodes(options.chainsFile, recordedNodes.url, isReduced)
    daemons[name] = await startTestDaemon(databaseUrl, chainsFile, settings)
    askers[name] = new Asker(daemons[name].api, scene.sessions)
    // a mirror shows the block as of which the hub confirmed the owners of its names
    if (name === 'mirror')
      await wait('the names of the mirror are proved', areNamesProved(databaseUrl))
  }

  const names = Object.keys(PROCESSES) as Name[]
  await Promise.all(names.filter((name) => name !== 'service').map(start))
  // the last one, since the pages of this process say what the newest daemon has
  await start('service')
  return {
    ask: (request) => askers[processOf(request.stage)]!.ask(request),
    apiOf: (stage) => daemons[processOf(stage)]!.api,
    messages,
    missing: recordedNodes.missing,
    errors: () => Object.values(daemons).flatMap((daemon) => daemon.warnings()),
    async stop() {
      restartClock()
      for (const asker of Object.values(askers)) asker.close()
      await Promise.all(Object.values(daemons).map((daemon) => daemon.stop()))
      await Promise.all([recordedNodes.stop(), hook.stop(), server.stop()])
    },
  }
}

const areNamesProved = (databaseUrl: string) => async (): Promise<boolean> => {
  const unproved = await queryOn(databaseUrl, 'SELECT FROM journal_heads WHERE proved_seq < seq')
  return unproved.length === 0
}

/** Settings of the recorded daemon that a quiet one takes over. */
function settingsOf(env: Readonly<Record<string, string>>): Record<string, string> {
  const own = ['DATABASE_URL', 'CLUSTERD_CHAINS', 'CLUSTERD_HOME', 'PORT', 'OPS_PORT']
  const kept = Object.entries(env).filter(([name]) => !own.includes(name))
  return { ...Object.fromEntries(kept), ROLES: 'api', LOG_LEVEL: 'error' }
}

/** A chains file whose nodes are the recorded ones. */
function withNodes(file: ChainsFile, url: string, isReduced: boolean): ChainsFile {
  const own = structuredClone(file)
  if (isReduced) {
    own.chains = own.chains.filter(({ network }) => network === 'mainnet')
    delete own.solana.testnet
    delete own.ens
  }
  for (const chain of own.chains) {
    chain.rpcUrls = [`${url}/${chain.label}`]
    delete chain.wsUrl
  }
  for (const cluster of Object.values(own.solana)) {
    cluster.rpcUrls = [`${url}/solana`]
    cluster.wsUrls = []
  }
  return own
}

/** Headers of a webhook's message, without those of its connection. */
function signedPart(headers: IncomingHttpHeaders): Record<string, string> {
  const ofConnection = ['host', 'connection']
  const shown = Object.entries(headers).filter(([name]) => !ofConnection.includes(name))
  return Object.fromEntries(shown.map(([name, value]) => [name, String(value)]))
}

export const readChainsFile = (path: string): ChainsFile =>
  JSON.parse(readFileSync(path, 'utf8')) as ChainsFile
