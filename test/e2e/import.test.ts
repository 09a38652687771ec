import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { afterAll, describe, expect, inject, it } from 'vitest'
import { createDatabase, dropDatabase, until } from '../../src/testing/index.js'
import { LOCAL_KEYS } from '../../src/testing/stackParts.js'
import { runCli } from '../support/cli.js'
import { startTestDaemon, type TestDaemon } from '../support/daemon.js'
import { ask, freshName, freshWallet, sendRegistration, world } from '../support/world.js'

const folder = mkdtempSync(join(tmpdir(), 'clusterd-import-'))
const file = join(folder, 'feed.jsonl.gz')
const chainsFile = join(inject('home'), 'chains.json')
const chains = JSON.parse(readFileSync(chainsFile, 'utf8'))
const server = Object.assign(new URL(world().databaseUrl), { pathname: '/postgres' }).href
const made: string[] = []
afterAll(async () => {
  for (const name of made) await dropDatabase(server, name)
  rmSync(folder, { recursive: true, force: true })
})

const run = (args: string[], databaseUrl: string, file = chainsFile) =>
  runCli(args, { DATABASE_URL: databaseUrl, CLUSTERD_CHAINS: file, ...LOCAL_KEYS })
const start = (url: string, roles = 'api') =>
  startTestDaemon(url, chains, { ...LOCAL_KEYS, ROLES: roles })

function database(): Promise<string> {
  made.push(`import_${randomBytes(4).toString('hex')}`)
  return createDatabase(server, made.at(-1)!)
}

/** Trust in the mainnet's hub, and the problems, as `/status` has them. */
async function trustOf(daemon: TestDaemon) {
  const { chains: shown, problems } = await daemon.status()
  const [hub] = shown as { trust: string; confirmed: number | null }[]
  return { trust: hub!.trust, block: hub!.confirmed, problems }
}

describe('a replica', () => {
  it('serves at once, is proved by the hub meanwhile, and has no other role than the API', async () => {
    const name = freshName()
    const wallet = await freshWallet()
    await until.status(world(), await sendRegistration(wallet, [{ name }]), 'finalized')
    await run(['journal', 'export', '--out', file], world().databaseUrl)
    const url = await database()
    await run(['import', file], url, join(folder, 'none.json'))
    await expect(start(url, 'api,index')).rejects.toThrow('start with `--roles api`')
    const daemon = await start(url)
    const { body } = await ask('GET', `/v1/names/address/${wallet.address}`, undefined, daemon)
    expect(body).toMatchObject({ clusterName: name, walletName: 'main' })
    await expect
      .poll(() => trustOf(daemon), { timeout: 60_000 })
      .toMatchObject({ trust: 'proved', problems: [] })
    expect((await trustOf(daemon)).block).toBeGreaterThan(0)
    const quote = { network: '1', sender: wallet.address, names: [{ name: freshName() }] }
    expect(await ask('POST', '/v1/names/register/evm', quote, daemon)).toMatchObject({
      status: 503,
    })
    await daemon.stop()
    expect(await run(['import', file], url)).toContain('mainnet: proved by the hub')
  })

  it('with an altered name, or owner, is found by the hub, which names it', async () => {
    const lines = gunzipSync(readFileSync(file)).toString().split('\n')
    const at = lines.findIndex((line) => line.includes('"REGISTER_NAME"'))
    const altered = lines.with(
      at,
      lines[at]!.replace(/"name":"[^"]*"/, '"name":"never-registered"'),
    )
    const forged = join(folder, 'forged.jsonl.gz')
    writeFileSync(forged, gzipSync(altered.join('\n')))
    const url = await database()
    const why = /the hub did not give "never-registered" to 0x[0-9a-f]{40}, as of its block \d+/
    await expect(run(['import', forged], url)).rejects.toThrow(why)
    const daemon = await start(url)
    await expect
      .poll(() => trustOf(daemon), { timeout: 60_000 })
      .toMatchObject({ trust: 'snapshot', problems: [expect.stringMatching(why)] })
    await daemon.stop()
  })
})
