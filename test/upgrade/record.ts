/**
 * `npx tsx test/upgrade/record.ts <old work tree>`: records a deployment of an earlier commit for test/upgrade, into
 * test/upgrade/recorded.
 *
 * It needs a work tree of that commit with its own packages (`git worktree add <folder> <commit>`, `npm ci` in it), and
 * PostgreSQL of the operating system with pg_dump. The world has Solana, so it runs where Surfpool does. It takes two
 * minutes. Then run `npx biome format --write test/upgrade/recorded`.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliCompressSync } from 'node:zlib'
import { createDatabase } from '../../src/testing/processes/postgres.js'
import { queryOn } from '../support/database.js'
import { bodyOf, serve } from '../support/httpServer.js'
import { startInstalledPostgres } from '../support/installedPostgres.js'
import { ask, differences, type Recorded, type Request, viewAsOperator } from './answers.js'
import { fill, type Scene, wait } from './fill.js'
import { type OldWorld, startOldWorld } from './oldWorld.js'
import { type Build, fieldsOf, hashContracts, RECORDED } from './recorded.js'
import { requestsOf, VIEW_QUERIES } from './requests.js'

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

/** Permissions of claims have a deadline, which moves once an hour. */
const TIMED = { path: '/v1/airdrop/claim/', fields: ['body.claims[].transaction.data'] }

const tree = process.argv[2]
if (!tree) throw new Error('name the old work tree: npx tsx test/upgrade/record.ts <old work tree>')

const folder = mkdtempSync(join(tmpdir(), 'clusterd-record-'))
const server = await startInstalledPostgres(folder)
const messages: string[] = []
const hook = await serve(async (request, response) => {
  messages.push(await bodyOf(request))
  response.end('{}')
})

async function record(): Promise<void> {
  const databaseUrl = await createDatabase(server.url, 'clusterd')
  const old = await startOldWorld(tree!, {
    home: join(folder, 'world'),
    databaseUrl,
    chains: LABELS,
    solana: true,
    blockMs: BLOCK_MS,
    daemonEnv: {
      SITE_URL: 'https://names.example',
      SQL_VIEWS: 'on',
      WEBHOOKS_PRIVATE: 'true',
    },
  })
  try {
    const scene = await fill(old, `${hook.url}/hook`)
    await settle(old, databaseUrl)
    const answers = await askTwice(old, scene)
    const log = readFileSync(join(old.home, 'logs/daemon.log'), 'utf8')
    const operator = await viewAsOperator(old.world.ops, log)
    const views: Record<string, unknown> = {}
    for (const query of VIEW_QUERIES) views[query] = await queryOn(databaseUrl, query)
    await old.endDaemon()
    // so that nobody has to sign in again, however late the rehearsal is
    await queryOn(databaseUrl, 'UPDATE sessions SET expires_ms = expires_ms + 1e12::int8')
    const dump = readFileSync(server.dumpOf(databaseUrl, 'dump.sql', ...DUMP), 'utf8')
    await old.stop()
    mkdirSync(RECORDED, { recursive: true })
    // without the commands of psql
    keep('database.sql.br', dump.replace(/^\\.*$/gm, ''))
    for (const label of LABELS)
      keep(`anvil-${label}.json.br`, readFileSync(join(old.home, 'anvil', `${label}.json`)))
    keep(
      'answers.json.br',
      JSON.stringify({ scene, env: old.env, world: old.world, answers, operator, views }),
    )
    keep('build.json.br', JSON.stringify(await describeBuild()))
    writeFileSync(join(RECORDED, 'chains.json'), readFileSync(join(old.home, 'chains.json')))
  } catch (error) {
    await old.stop()
    throw error
  }
}

/** Has the relayer release all payments now, and waits until there is nothing left to do. */
async function settle(old: OldWorld, databaseUrl: string): Promise<void> {
  const file = join(old.home, 'chains.json')
  const chains = JSON.parse(readFileSync(file, 'utf8')) as object
  writeFileSync(file, JSON.stringify({ ...chains, payments: { releaseAfterMs: 0 } }, null, 2))
  await old.restartDaemon()
  const count = async (sql: string) =>
    Number((await queryOn<{ count: string }>(databaseUrl, `SELECT count(*) FROM ${sql}`))[0]!.count)
  await wait(
    'all payments have ended',
    async () => (await count('payments WHERE kind = 2 AND outcome IS NULL')) === 0,
  )
  await wait('all webhooks are delivered', async () => {
    const { items } = (await (await fetch(`${old.world.api}/v1/events?limit=1000`)).json()) as {
      items: { id: string }[]
    }
    return messages.some((body) => body.includes(`"${items.at(-1)!.id}"`))
  })
}

async function askTwice(old: OldWorld, { sessions, ...scene }: Scene): Promise<Recorded[]> {
  const requests = requestsOf({ sessions, ...scene })
  const askAll = async () => {
    const answers = []
    for (const request of requests) answers.push(await ask(old.world.api, request, sessions))
    return answers
  }
  const first = await askAll()
  await old.restartDaemon()
  await new Promise((resolve) => setTimeout(resolve, BETWEEN_MS))
  const second = await askAll()
  return requests.map((request: Request, i) => ({
    ...request,
    answer: second[i]!,
    varying: [
      ...new Set([
        ...differences(first[i], second[i]).map(({ field }) => field),
        ...(request.path.startsWith(TIMED.path) ? TIMED.fields : []),
      ]),
    ],
  }))
}

/** Prints the JSON schema of the old build's chains file, which no module of that build exports. */
const PRINT_SCHEMA = `
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { z } from 'zod'
const text = readFileSync('src/config/chainsFile.ts', 'utf8')
writeFileSync('src/config/recording.ts', text.replace('const sections =', 'export const sections ='))
try {
  const { sections } = await import('./src/config/recording.ts')
  console.log(JSON.stringify(z.toJSONSchema(sections, { io: 'input', unrepresentable: 'any' })))
} finally {
  rmSync('src/config/recording.ts')
}
`

async function describeBuild(): Promise<Build> {
  const inTree = (command: string, args: string[]) =>
    execFileSync(command, args, { cwd: tree, encoding: 'utf8' })
  const schema = inTree(process.execPath, [
    '--import',
    'tsx',
    '--input-type=module',
    '--eval',
    PRINT_SCHEMA,
  ])
  return {
    commit: inTree('git', ['rev-parse', 'HEAD']).trim(),
    schema: readFileSync(join(tree!, 'prisma/schema.prisma'), 'utf8'),
    fields: fieldsOf(JSON.parse(schema)),
    contracts: await hashContracts(tree!),
  }
}

function keep(name: string, content: string | Buffer): void {
  writeFileSync(join(RECORDED, name), brotliCompressSync(content))
}

try {
  await record()
} finally {
  await hook.stop()
  await server.stop()
  rmSync(folder, { recursive: true, force: true })
}
process.exit()
