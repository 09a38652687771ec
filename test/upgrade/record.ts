/**
 * `npm run record-answers`: records a deployment of this build for test/upgrade, into test/upgrade/recorded.
 *
 * It needs a checkout whose sources are those of the build, and PostgreSQL of the operating system with pg_dump. The
 * world has Solana, so it runs where Surfpool does. It takes two minutes. Then run
 * `npx biome format --write test/upgrade/recorded`.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { chainsFileJsonSchema } from '../../src/config/chainsFile.js'
import { fromHex } from '../../src/registry/primitives/bytes.js'
import { logKeysOfSeeds } from '../../src/registry/transparencyLog/signer.js'
import { type Stack, startStack } from '../../src/testing/index.js'
import { createDatabase } from '../../src/testing/processes/postgres.js'
import { runCli } from '../support/cli.js'
import { startTestMirror } from '../support/daemon.js'
import { queryOn } from '../support/database.js'
import { bodyOf, serve } from '../support/httpServer.js'
import { startInstalledPostgres } from '../support/installedPostgres.js'
import {
  Asker,
  answerDifferences,
  type Difference,
  type Recorded,
  type Request,
  viewAsOperator,
} from './answers.js'
import { isUncompared } from './differences.js'
import { type FilledWorld, fill, type Scene, wait } from './fill.js'
import { type QuietOptions, readChainsFile } from './quiet.js'
import { answersTo, keyOf, requestsFor, withQuiet } from './quietAnswers.js'
import { type Build, type Deployment, fieldsOf, hashContracts, keep, RECORDED } from './recorded.js'
import type { NodeAnswers } from './recordedNodes.js'
import { settledRequests, VIEW_QUERIES } from './requests.js'
import { surfaceOf } from './surface.js'

const BLOCK_MS = 300
const LABELS = ['1', '8453', '11155111'] as const
/** Time between two askings, in which blocks pass. */
const BETWEEN_MS = 3_000
/** As dumps write it, without what only the recording server knows. */
const DUMP = [
  '--inserts',
  '--rows-per-insert=200',
  '--no-owner',
  '--no-privileges',
  '--no-comments',
]
/** What a build ships: the newest commit that changed it is the one that is recorded. */
const SHIPPED = ['src', 'prisma', 'contracts', 'package.json']

const folder = mkdtempSync(join(tmpdir(), 'clusterd-record-'))
const server = await startInstalledPostgres(folder)
const messages: string[] = []
const hook = await serve(async (request, response) => {
  messages.push(await bodyOf(request))
  response.end('{}')
})

type RecordingWorld = FilledWorld & { env: Record<string, string>; stack: Stack }

async function startWorld(databaseUrl: string): Promise<RecordingWorld> {
  const home = join(folder, 'world')
  const stack = await startStack({
    home,
    databaseUrl,
    chains: LABELS,
    solana: true,
    blockMs: BLOCK_MS,
    daemonEnv: {
      SITE_URL: 'https://names.example',
      SQL_VIEWS: 'on',
      WEBHOOKS_PRIVATE: 'true',
    },
    log: console.error,
  })
  const env = parseEnv(readFileSync(join(home, '.env'), 'utf8')) as Record<string, string>
  return { home, stack, world: stack.world, env, cli: (...args) => runCli(args, env) }
}

async function record(): Promise<void> {
  const databaseUrl = await createDatabase(server.url, 'clusterd')
  const old = await startWorld(databaseUrl)
  const { stack, home, world, env } = old
  try {
    const scene = await fill(old, `${hook.url}/hook`, () => settle(old, databaseUrl))
    await waitForFeed(old)
    const live = await askTwice(old, scene)
    const operator = await viewAsOperator(
      world.ops,
      readFileSync(join(home, 'logs/daemon.log'), 'utf8'),
    )
    const views: Record<string, unknown[]> = {}
    for (const query of VIEW_QUERIES) views[query] = await queryOn(databaseUrl, query)
    const mirrorUrl = await copyToMirror(old)
    await stack.daemon.kill('SIGTERM')
    // so that nobody has to sign in again, however late the rehearsal is
    await queryOn(databaseUrl, 'UPDATE sessions SET expires_ms = expires_ms + 1e12::int8')
    const dumps = { service: dumpOf(databaseUrl), mirror: dumpOf(mirrorUrl) }
    const chainsFile = join(home, 'chains.json')
    const [seen] = await queryOn<{ ms: string }>(
      databaseUrl,
      'SELECT max(seen_ms) AS ms FROM chain_states',
    )
    const deployment = { scene, env, world, nowMs: Number(seen!.ms) }
    const nodes: NodeAnswers = {}
    const quiet = await recordQuiet(
      (own) => ({
        folder: own,
        dumps,
        deployment,
        chainsFile: readChainsFile(chainsFile),
        nodes,
        live: liveNodes(old),
      }),
      deployment,
    )
    const moving = new Map(live.map(({ request, differing }) => [keyOf(request), differing]))
    const answers = quiet.answers.map((one) => withMoving(one, moving.get(keyOf(one))))
    await stack.stop()
    keep('database.sql', dumps.service)
    keep('mirror.sql', dumps.mirror)
    for (const label of LABELS)
      keep(`anvil-${label}.json`, readFileSync(join(home, 'anvil', `${label}.json`)))
    const recorded: Deployment = {
      ...deployment,
      answers,
      nodes,
      messages: quiet.messages,
      operator,
      views,
    }
    keep('answers.json', JSON.stringify(recorded))
    keep('build.json', JSON.stringify(await describeBuild()))
    writeFileSync(join(RECORDED, 'chains.json'), readFileSync(chainsFile))
  } catch (error) {
    await stack.stop()
    throw error
  }
}

/** The text of a dump, without the commands of psql. */
const dumpOf = (databaseUrl: string): string =>
  readFileSync(server.dumpOf(databaseUrl, 'dump.sql', ...DUMP), 'utf8').replace(/^\\.*$/gm, '')

const liveNodes = ({ world }: RecordingWorld): Record<string, string> => {
  const urls: Record<string, string> = {}
  for (const { hub, spokes, solana } of Object.values(world.networks)) {
    for (const chain of [hub, ...spokes]) urls[chain.network] = chain.rpcUrl
    if (solana) urls.solana = solana.rpcUrl
  }
  return urls
}

/** Has the relayer release all payments now, and waits until there is nothing left to do. */
async function settle(old: RecordingWorld, databaseUrl: string): Promise<void> {
  const file = join(old.home, 'chains.json')
  const chains = readFileSync(file, 'utf8')
  const hurried = { ...(JSON.parse(chains) as object), payments: { releaseAfterMs: 0 } }
  writeFileSync(file, JSON.stringify(hurried, null, 2))
  await old.stack.daemon.restart()
  const count = async (sql: string) =>
    Number((await queryOn<{ count: string }>(databaseUrl, `SELECT count(*) FROM ${sql}`))[0]!.count)
  await wait(
    'all payments have ended',
    async () => (await count('payments WHERE kind = 2 AND outcome IS NULL')) === 0,
  )
  writeFileSync(file, chains)
  await old.stack.daemon.restart()
}

interface Feed {
  items: { id: string }[]
}

/** Waits until all events are delivered to the webhook, and are in the signed logs. */
async function waitForFeed({ world }: RecordingWorld): Promise<void> {
  const read = async <Body>(path: string) =>
    (await (await fetch(`${world.api}${path}`)).json()) as Body
  const isLogged = async (query: string) => {
    const { counts } = await read<{ counts: { events: number } }>(`/v1/overview${query}`)
    const { log } = await read<{ log: { size: number } | null }>(`/v1/proof${query}`)
    return log?.size === counts.events + 1
  }
  await wait('all webhooks are delivered', async () => {
    const { items } = await read<Feed>('/v1/events?limit=1&orderBy=newest')
    return messages.some((body) => body.includes(`"${items[0]!.id}"`))
  })
  for (const query of ['', '?testnet=true'])
    await wait('all events are in the log', () => isLogged(query))
}

/** Copies the service's feeds to a database of their own. @returns its URL */
async function copyToMirror({ world, env }: RecordingWorld): Promise<string> {
  const databaseUrl = await createDatabase(server.url, 'mirror')
  const [key] = logKeysOfSeeds([fromHex(env.LOG_KEY as `0x${string}`)])
  const mirror = await startTestMirror(databaseUrl, {
    url: world.api,
    key: key!.publicKey.toString('base64'),
  })
  const newest = async (api: string, query: string) =>
    ((await (await fetch(`${api}/v1/events?limit=1&orderBy=newest${query}`)).json()) as Feed)
      .items?.[0]?.id
  for (const query of ['', '&testnet=true'])
    await wait(
      'the mirror has all events',
      async () => (await newest(mirror.api, query)) === (await newest(world.api, query)),
    )
  await mirror.stop()
  return databaseUrl
}

interface Moved {
  request: Request
  differing: Difference[]
}

/** Asks the running service twice, with other blocks and another process. @returns what differs of the two answers */
async function askTwice({ world, stack }: RecordingWorld, scene: Scene): Promise<Moved[]> {
  const requests = settledRequests(scene)
  const askAll = async () => {
    const asker = new Asker(world.api, scene.sessions)
    const answers = []
    for (const request of requests) answers.push(await asker.ask(request))
    asker.close()
    return answers
  }
  const first = await askAll()
  await stack.daemon.restart()
  await new Promise((resolve) => setTimeout(resolve, BETWEEN_MS))
  const second = await askAll()
  return requests.map((request, i) => ({
    request,
    differing: answerDifferences(first[i]!, second[i]!),
  }))
}

const withMoving = (one: Recorded, differing: readonly Difference[] = []): Recorded => {
  const moving = [...new Set(differing.map(({ field }) => field))]
  return moving.length === 0 ? one : { ...one, moving }
}

/**
 * Asks quiet processes, first with live nodes, whose answers are kept, then with those answers alone.
 * @throws Error where the answers differ in a field that is compared
 */
async function recordQuiet(
  options: (own: string) => QuietOptions,
  deployment: Pick<Deployment, 'scene' | 'world'>,
) {
  const first = await withQuiet(options, async (quiet) =>
    answersTo(quiet, await requestsFor(quiet, deployment)),
  )
  return withQuiet(
    (own) => ({ ...options(own), live: {} }),
    async (quiet) => {
      const { items } = (await (
        await fetch(`${quiet.apiOf('settled')}/v1/events?limit=1&orderBy=newest`)
      ).json()) as Feed
      const isWhole = () => quiet.messages.some(({ body }) => body.includes(`"${items[0]!.id}"`))
      await wait('the webhook has all messages', async () => isWhole())
      const delivered = [...quiet.messages]
      const answers = await answersTo(quiet, first)
      const unstable = answers.flatMap((one, i) =>
        answerDifferences(first[i]!.answer, one.answer)
          .filter((difference) => !isUncompared(one, difference))
          .map((difference) => ({ method: one.method, path: one.path, ...difference })),
      )
      if (unstable.length > 0 || quiet.missing.size > 0) {
        console.error(JSON.stringify({ unstable, missing: [...quiet.missing] }, null, 1))
        throw new Error('two quiet processes of one build answered in different ways')
      }
      return { answers, messages: delivered }
    },
  )
}

async function describeBuild(): Promise<Build> {
  const commit = execFileSync('git', ['log', '-1', '--format=%H', '--', ...SHIPPED], {
    encoding: 'utf8',
  })
  return {
    commit: commit.trim(),
    schema: readFileSync('prisma/schema.prisma', 'utf8'),
    fields: fieldsOf(chainsFileJsonSchema()),
    contracts: await hashContracts('.'),
    surface: await surfaceOf(process.cwd()),
  }
}

try {
  await record()
} finally {
  await hook.stop()
  await server.stop()
  rmSync(folder, { recursive: true, force: true })
}
process.exit()
