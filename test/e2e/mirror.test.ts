import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createPublicClient, http } from 'viem'
import { afterAll, describe, expect, inject, it } from 'vitest'
import { Client } from '../../src/client/index.js'
import { verifyRegistry } from '../../src/client/verify.js'
import { createDatabase, dropDatabase, until } from '../../src/testing/index.js'
import { LOCAL_SECRET_KEYS } from '../../src/testing/stackParts.js'
import { leavesOf, registeredBy, serveFiles } from '../mirror/support.js'
import { runCli } from '../support/cli.js'
import { startTestDaemon, startTestMirror, type TestDaemon } from '../support/daemon.js'
import { LOCAL_LOG_KEY as key } from '../support/logKey.js'
import { ask, freshName, freshWallet, sendRegistration, world } from '../support/world.js'

const client = new Client({ url: world().api })
const testnet = new Client({ url: world().api, testnet: true })
const FALSE = `0x${'1'.repeat(64)}`
const refused = (call: Promise<unknown>, code: string) =>
  expect(call).rejects.toMatchObject({ code })

describe('the registry', () => {
  it('can be compared with the hub through any node, using the signed log', async () => {
    const { rpcUrl, contracts } = world().networks.mainnet.hub
    const node = createPublicClient({ transport: http(rpcUrl) })
    const { hub } = contracts
    const proof = await verifyRegistry(client, { hub, node, key })
    expect(proof.log!.size).toBeGreaterThan(5)
    const stranger = Buffer.alloc(32, 1).toString('base64')
    await refused(verifyRegistry(client, { hub, node, key: stranger }), 'log_mismatch')
    await refused(verifyRegistry(client, { hub: contracts.token, node, key }), 'registry_mismatch')
    // a node of another chain does not know the proof's block
    const ofTestnet = world().networks.testnet.hub.contracts.hub
    await refused(verifyRegistry(testnet, { hub: ofTestnet, node, key }), 'registry_mismatch')
    await refused(
      verifyRegistry(client, { hub, node, key, maxAgeMs: -60_000 }),
      'registry_mismatch',
    )
    const { head } = proof
    expect(
      (await verifyRegistry(client, { hub, node, key, last: head })).head.size,
    ).toBeGreaterThan(5)
    const other = { ...head, root: new Uint8Array(32) }
    await refused(verifyRegistry(client, { hub, node, key, last: other }), 'log_mismatch')
    // a dishonest service: the hub's record, with registrations of its own invention
    const records = proof.contracts.map(({ recordHash }): unknown => recordHash)
    const request = async (call: { method: string }) => {
      const answer = await node.request(call as never)
      return call.method !== 'eth_call' || records.includes(answer) ? answer : FALSE
    }
    await refused(verifyRegistry(client, { hub, node: { request }, key }), 'registry_mismatch')
  })
})

const folder = mkdtempSync(join(tmpdir(), 'clusterd-mirror-'))
const chains = JSON.parse(readFileSync(join(inject('home'), 'chains.json'), 'utf8'))
const server = Object.assign(new URL(world().databaseUrl), { pathname: '/postgres' }).href
const made: string[] = []
afterAll(async () => {
  for (const name of made) await dropDatabase(server, name)
  rmSync(folder, { recursive: true, force: true })
})

function database(): Promise<string> {
  made.push(`mirror_${randomBytes(4).toString('hex')}`)
  return createDatabase(server, made.at(-1)!)
}

/** Trust in the mainnet's hub, the problems and the warnings, as `/status` shows them. */
async function trustOf(daemon: TestDaemon) {
  const { chains: shown, problems, warnings } = await daemon.status()
  const [hub] = shown as { trust: string; confirmed: number | null }[]
  return { trust: hub!.trust, block: hub!.confirmed, problems, warnings }
}

describe('a mirror', () => {
  it('serves at once, is checked against the hub meanwhile, and has only the role of the API', async () => {
    const url = await database()
    const daemon = await startTestMirror(url, { url: world().api, key, chainsFile: chains })
    const name = freshName()
    const wallet = await freshWallet()
    await until.status(world(), await sendRegistration(wallet, [{ name }]), 'finalized')
    const lookup = () => ask('GET', `/v1/names/address/${wallet.address}`, undefined, daemon)
    await expect
      .poll(async () => (await lookup()).body, { timeout: 30_000 })
      .toMatchObject({ clusterName: name, walletName: 'main' })
    await expect
      .poll(() => trustOf(daemon), { timeout: 60_000 })
      .toMatchObject({ trust: 'proved', problems: [], warnings: [] })
    expect((await trustOf(daemon)).block).toBeGreaterThan(0)
    const quote = { network: '1', sender: wallet.address, names: [{ name: freshName() }] }
    expect(await ask('POST', '/v1/names/register/evm', quote, daemon)).toMatchObject({
      status: 503,
    })
    await daemon.stop()
    await expect(
      startTestDaemon(url, chains, { ...LOCAL_SECRET_KEYS, ROLES: 'api,index' }),
    ).rejects.toThrow('start with `--roles api`')
  })

  it('reports a name that its source invented and the hub does not have', async () => {
    const url = await database()
    const wallet = await freshWallet()
    const name = freshName()
    await until.status(world(), await sendRegistration(wallet, [{ name }]), 'finalized')
    const honest = registeredBy(wallet.address.toLowerCase(), name)
    const { source, by, show } = await serveFiles(leavesOf(honest))
    const daemon = await startTestMirror(url, { url: source, key: by, chainsFile: chains })
    const proved = { trust: 'proved', problems: [] }
    await expect.poll(() => trustOf(daemon), { timeout: 60_000 }).toMatchObject(proved)
    const [type, data, from] = honest.at(-1)!
    show(leavesOf([...honest, [type, { ...data, name: 'never-registered' }, from]]))
    const why = /the hub did not give "never-registered" to 0x[0-9a-f]{40}, as of its block \d+/
    await expect
      .poll(() => trustOf(daemon), { timeout: 60_000 })
      .toMatchObject({ trust: 'snapshot', problems: [expect.stringMatching(why)] })
    await daemon.stop()
  })

  it('is started by a command, which reports missing options', async () => {
    const mirror = (...args: string[]) =>
      runCli(['mirror', ...args], {
        DATABASE_URL: world().databaseUrl,
        CLUSTERD_CHAINS: join(folder, 'none.json'),
        MIRROR_KEY: undefined,
      })
    await expect(mirror(world().api)).rejects.toThrow('the public key of its logs')
    await expect(mirror(world().api, '--key', 'names')).rejects.toThrow('MIRROR_KEY')
    await expect(mirror(world().api, '--key', key)).rejects.toThrow(
      'has a journal of mainnet of its own',
    )
  })
})
