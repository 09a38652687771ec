import { createHmac } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { migrate } from '../../src/db/pg/migrate.js'
import { until } from '../../src/testing/until.js'
import { runCli } from '../support/cli.js'
import { type ClusterdProcess, startClusterd } from '../support/clusterdProcess.js'
import { queryOn } from '../support/database.js'
import { useFolder } from '../support/folder.js'
import { bodyOf, serve } from '../support/httpServer.js'
import { useWorld } from '../support/useWorld.js'
import { freshName, registerOn } from '../support/world.js'
import { Asker, type OperatorView, viewAsOperator } from './answers.js'
import { type Changed, changesOfRunning, show } from './compare.js'
import { ABSENT_METRICS, GONE_METRICS, isListed } from './differences.js'
import { get, post, type Sent } from './requestForms.js'
import { type Restored, restore, waitUntilCurrent } from './restored.js'

/**
 * A deployment of an earlier build (`recorded`, made by record.ts) goes on with this one: registrations by every way,
 * private wallets, communities, an airdrop, webhooks.
 */

const DEADLINE = { timeout: 60_000, interval: 200 }

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
  await migrate(old.databaseUrl)
  const daemon = await startClusterd(old.env)
  await daemon.ready()
  return Object.assign(daemon, { stop: () => daemon.end() })
})

let changed: Changed[]
let asker: Asker

beforeAll(async () => {
  const { answers, scene } = old.deployment
  asker = new Asker(now.api, scene.sessions)
  await waitUntilCurrent(now.api)
  changed = []
  for (const request of answers.filter(({ stage }) => stage === 'settled'))
    changed.push(...changesOfRunning(request, await asker.ask(request)))
})
afterAll(() => asker?.close())

describe('after the upgrade', () => {
  it('a running service gives each answer as before, but for the changes that are listed', () => {
    const unlisted = changed.filter(({ request, difference }) => !isListed(request, difference))
    expect(unlisted.map(show)).toEqual([])
  })

  it('status, metrics and log have every field that tools of the operator read', async () => {
    const before = old.deployment.operator
    const after = await viewAsOperator(now.ops, now.log())
    const lost = (part: keyof OperatorView) =>
      before[part].filter((field) => !after[part].includes(field)).sort()
    expect({ status: lost('status'), metrics: lost('metrics'), log: lost('log') }).toEqual({
      status: [],
      metrics: [...GONE_METRICS, ...ABSENT_METRICS].sort(),
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
    const askNow = async (request: Sent) =>
      JSON.parse((await asker.ask({ ...request, stage: 'settled' })).body)
    const { message, signingDate } = await askNow(get(`/v1/auth/message?${query}`))
    const body = { address, share, signingDate, signature: await alice.signMessage({ message }) }
    const path = '/v1/clusters/generate/wallet/recover'
    const { privateKey } = await askNow(post(path, body, 'alice'))
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
