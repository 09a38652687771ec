import { createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { IncomingHttpHeaders } from 'node:http'
import { privateKeyToAccount } from 'viem/accounts'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { migrate } from '../../src/db/pg/migrate.js'
import { until } from '../../src/testing/until.js'
import { runCli } from '../support/cli.js'
import { type ClusterdProcess, startClusterd } from '../support/clusterdProcess.js'
import { queryOn } from '../support/database.js'
import { useFolder } from '../support/folder.js'
import { bodyOf, serve } from '../support/httpServer.js'
import { useWorld } from '../support/useWorld.js'
import { freshName, registerOn } from '../support/world.js'
import {
  type Answer,
  ask,
  type Difference,
  differences,
  type OperatorView,
  type Recorded,
  viewAsOperator,
} from './answers.js'
import { ABSENT_CHAIN, ABSENT_METRICS, CHANGES, isOf } from './differences.js'
import { type Restored, restore } from './restored.js'

/**
 * A deployment of an earlier build (`recorded`, made by record.ts) goes on with this one: registrations by every way,
 * private wallets, communities, an airdrop, webhooks.
 */

const DEADLINE = { timeout: 60_000, interval: 200 }
const changelog = readFileSync('docs/run/changelog.md', 'utf8')

const messages: { headers: IncomingHttpHeaders; body: string }[] = []
const hook = useWorld(() =>
  serve(async (request, response) => {
    messages.push({ headers: request.headers, body: await bodyOf(request) })
    response.end('{}')
  }),
)
const folder = useFolder()
const old: Restored = useWorld(() => restore(folder, `${hook.url}/hook`))
const now: ClusterdProcess & { stop(): Promise<unknown> } = useWorld(async () => {
  applied = await migrate(old.databaseUrl)
  const daemon = await startClusterd(old.env)
  await daemon.ready()
  return Object.assign(daemon, { stop: () => daemon.end() })
})
let applied: string[]

/** A recorded request whose answer is another one now. */
interface Changed {
  request: Recorded
  difference: Difference
}
let changed: Changed[]

const typeOf = (value: unknown) => (Array.isArray(value) ? 'array' : typeof value)

/** Differences of an answer. Of varying fields and of the ETag, an opaque text, only the types are compared. */
function compare(request: Recorded, answer: Answer): Changed[] {
  const varying = [...request.varying, 'headers.etag']
  return differences(request.answer, answer)
    .filter(
      ({ field, before, after }) => !varying.includes(field) || typeOf(before) !== typeOf(after),
    )
    .map((difference) => ({ request, difference }))
}

beforeAll(async () => {
  const { answers, scene } = old.deployment
  changed = []
  // the stored head is as old as the record until a leader reads the hub, and each look-up says so
  const lookup = `${now.api}/v1/names/address/0x70997970c51812dc3a010c7d01b50e0d17dc79c8`
  const isCurrent = async (url: string) => {
    const { status, headers } = await fetch(url)
    return status === 200 && !headers.has('x-clusterd-stale')
  }
  for (const url of [lookup, `${lookup}?testnet=true`])
    await vi.waitUntil(() => isCurrent(url), DEADLINE)
  for (const request of answers)
    changed.push(...compare(request, await ask(now.api, request, scene.sessions)))
})

const show = ({ request: { method, path, as }, difference }: Changed) => ({
  request: `${method} ${path}${as === undefined ? '' : ` as ${as}`}`,
  ...difference,
})

describe('after the upgrade', () => {
  it('each answer is what it was, but for the changes that are listed', () => {
    const isListed = ({ request, difference }: Changed) =>
      [...CHANGES, ABSENT_CHAIN].some((change) => isOf(change, request, difference))
    expect(changed.filter((one) => !isListed(one)).map(show)).toEqual([])
    expect(old.deployment.answers.length).toBeGreaterThan(200)
  })

  it.each(CHANGES)('an answer changed, and the changelog has it: $changelog', (change) => {
    expect(changed.some(({ request, difference }) => isOf(change, request, difference))).toBe(true)
    expect(changelog).toContain(change.changelog)
  })

  it('status, metrics and log have every field that tools of the operator read', async () => {
    const before = old.deployment.operator
    const after = await viewAsOperator(now.ops, now.log())
    const lost = (part: keyof OperatorView) =>
      before[part].filter((field) => !after[part].includes(field))
    expect({ status: lost('status'), metrics: lost('metrics'), log: lost('log') }).toEqual({
      status: [],
      metrics: ABSENT_METRICS,
      log: [],
    })
  })

  it('each row of the SQL views is what it was', async () => {
    for (const [query, rows] of Object.entries(old.deployment.views)) {
      expect(rows.length, query).toBeGreaterThan(0)
      const today = JSON.parse(JSON.stringify(await queryOn(old.databaseUrl, query)))
      expect(today, query).toEqual(rows)
    }
  })

  it('the journal gives the same state', async () => {
    expect(applied.length).toBeGreaterThan(0)
    const env = { DATABASE_URL: old.databaseUrl }
    const replayed = await runCli(['journal', 'replay'], env)
    expect(replayed).toMatch(/^mainnet: \d+ entries of generation 1, equal/m)
    expect(replayed).toMatch(/^testnet: \d+ entries of generation 1, equal/m)
  })

  it('a generated wallet is recovered with its old share', async () => {
    const { scene, world } = old.deployment
    const { address, share } = scene.generated
    const alice = privateKeyToAccount(world.accounts.evm[1]!.privateKey)
    const query = `type=evm&wallet=${alice.address}&recover=${address}`
    const asked = await ask(now.api, { method: 'GET', path: `/v1/auth/message?${query}` }, {})
    const { message, signingDate } = asked.body as { message: string; signingDate: string }
    const body = { address, share, signingDate, signature: await alice.signMessage({ message }) }
    const recovered = await ask(
      now.api,
      { method: 'POST', path: '/v1/clusters/generate/wallet/recover', body, as: 'alice' },
      scene.sessions,
    )
    const { privateKey } = recovered.body as { privateKey: `0x${string}` }
    expect(privateKeyToAccount(privateKey).address.toLowerCase()).toBe(address)
  })

  it.each(['1', '8453'])('a name is registered on chain %s, and webhooks go on', async (label) => {
    const at = { ...old.world, api: now.api }
    const account = privateKeyToAccount(old.world.accounts.evm[2]!.privateKey)
    const name = freshName()
    const tx = await registerOn(label, account, [{ name }], at)
    await until.status(at, tx, 'finalized', { deadlineMs: DEADLINE.timeout })
    const message = () => messages.find(({ body }) => body.includes(name))
    await expect.poll(message, DEADLINE).toBeDefined()

    // signed with the key that was shown before the upgrade (docs/use/webhooks.md)
    const { headers, body } = message()!
    const secret = Buffer.from(old.deployment.scene.webhookKey.slice('whsec_'.length), 'base64')
    const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`
    const signature = createHmac('sha256', secret).update(signed).digest('base64')
    expect(headers['webhook-signature']).toBe(`v1,${signature}`)
    // nothing that was sent before the upgrade is sent again
    expect(messages.filter(({ body }) => body.includes('"seedling"'))).toEqual([])
  })
})
