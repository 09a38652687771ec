import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { keccak256, toHex, zeroHash } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { LEASE_CONNECTIONS } from '../../src/db/leaders/lead.js'
import { type Stack, startStack, until } from '../../src/testing/index.js'
import { startTestDaemon, type TestDaemon } from '../support/daemon.js'
import { callOf, lookupOf, parentsWith, RESOLVER, signedAnswer } from '../support/ens.js'
import { startTcpProxy } from '../support/tcpProxy.js'
import { freshName, freshWallet, registerOn } from '../support/world.js'

const DEADLINE = { timeout: 40_000, interval: 100 }
const SPOKE = '8453'

let stack: Stack<'mainnet'>
const daemons: TestDaemon[] = []
beforeAll(async () => {
  stack = await startStack({ chains: ['1', SPOKE], seeds: false, blockMs: 400 })
}, 120_000)
afterAll(async () => {
  await Promise.all(daemons.map((daemon) => daemon.stop()))
  await stack?.stop()
})

/** Another process of the installation, without keys. */
async function another(
  env: Record<string, string>,
  databaseUrl = stack.databaseUrl,
  sections = {},
): Promise<TestDaemon> {
  const chains = JSON.parse(readFileSync(join(stack.home, 'chains.json'), 'utf8'))
  const daemon = await startTestDaemon(databaseUrl, { ...chains, ens: {}, ...sections }, env)
  daemons.push(daemon)
  return daemon
}

const codeOf = async (url: string): Promise<number> => (await fetch(url)).status
const leaders = async (daemon: TestDaemon): Promise<string[]> => {
  const { leaders } = (await daemon.status()) as unknown as {
    leaders: { network: string; role: string; isThisProcess: boolean }[]
  }
  return leaders.map(
    ({ network, role, isThisProcess }) => `${network} ${role} ${isThisProcess ? 'here' : 'there'}`,
  )
}

describe('processes beside the leader', () => {
  let standby: TestDaemon
  let reader: TestDaemon

  it('are ready, and tell what the leader does', async () => {
    standby = await another({ ROLES: 'api,index,relay' })
    reader = await another({ ROLES: 'api' })
    for (const [name, daemon] of Object.entries({ standby, reader })) {
      expect(await codeOf(`${daemon.ops}/ready`), name).toBe(200)
      expect(await codeOf(`${daemon.ops}/health`), name).toBe(200)
      const options = { ...DEADLINE, message: name }
      await expect.poll(async () => (await daemon.status()).problems, options).toEqual([])
      const known = (await leaders(daemon)).sort()
      expect(known, name).toEqual(['mainnet index there', 'mainnet relay there'])
    }
    expect(await standby.metric('clusterd_leader')).toEqual([
      'clusterd_leader{network="mainnet",role="index"} 0',
    ])
    expect(standby.warnings().join()).toContain('without these keys this process never relays')
    expect(await reader.metric('clusterd_leader')).toEqual([])
    expect(await codeOf(`${reader.api}/v1/events`)).toBe(200)
  })

  it('answer names of ENS where they have its key', async () => {
    const data = lookupOf('free.bundles.eth', callOf('addr(bytes32)'))
    const ask = (daemon: TestDaemon) =>
      fetch(`${daemon.api}/ens`, {
        method: 'POST',
        body: JSON.stringify({ sender: RESOLVER, data }),
      })
    const ens = { mainnet: parentsWith(RESOLVER).mainnet }
    const gateway = await another(
      { ROLES: 'api', ENS_PRIVATE_KEY: toHex(0xe1, { size: 32 }) },
      stack.databaseUrl,
      {
        ens,
      },
    )
    const { status } = await ask(reader)
    const answer = await ask(gateway)
    expect([status, answer.status]).toEqual([404, 200])
    const expiresS = Math.floor(Date.now() / 60_000) * 60 + 300
    const answerParts = { parentSettings: ens.mainnet, request: keccak256(data), result: zeroHash }
    const good = await Promise.all(
      [expiresS, expiresS - 60].map((end) => signedAnswer({ ...answerParts, expiresS: end })),
    )
    expect(good).toContain(((await answer.json()) as { data: string }).data)
  })

  it('hold one connection for notifications, and no more for leases than they may', async () => {
    const client = new pg.Client({ connectionString: stack.databaseUrl })
    await client.connect()
    const url = new URL(stack.databaseUrl)
    const proxy = await startTcpProxy({ port: Number(url.port) })
    url.port = String(proxy.port)
    const names = async () => {
      const text =
        'SELECT application_name AS name FROM pg_stat_activity WHERE client_port = ANY ($1) ORDER BY 1'
      const { rows } = await client.query<{ name: string }>(text, [[...proxy.upstreamPorts()]])
      return rows.map(({ name }) => name)
    }
    const isOfPool = (name: string) => /^clusterd (read|write) /.test(name)
    const daemon = await another({ ROLES: 'index,relay', RELAY_WATCH: 'true' }, url.href)
    const isLease = (name: string) => name.startsWith('clusterd lease ')
    const others = async () => (await names()).filter((name) => !isOfPool(name) && !isLease(name))
    await expect.poll(others, DEADLINE).toEqual(['clusterd listener'])
    expect((await names()).filter(isLease).length).toBeLessThanOrEqual(LEASE_CONNECTIONS)
    // a connection for occasional checks, which closes after 30 s
    expect((await names()).filter(isOfPool).length).toBeLessThanOrEqual(4)
    await daemon.stop()
    await proxy.stop()
    await client.end()
  })

  it('are ready while a spoke is away, which the status names', async () => {
    process.kill(stack.anvils[SPOKE]!.pid, 'SIGSTOP')
    await expect
      .poll(async () => (await reader.status()).problems.join(), DEADLINE)
      .toContain(`chain "${SPOKE}"`)
    for (const [name, { ops }] of Object.entries({ reader, standby, stack })) {
      expect(await codeOf(`${ops}/ready`), name).toBe(200)
      expect(await codeOf(`${ops}/status`), name).toBe(503)
    }
    process.kill(stack.anvils[SPOKE]!.pid, 'SIGCONT')
    await until.ready(stack)
  })

  it('take the lead as far as their roles and keys go', async () => {
    await stack.daemon.kill('SIGKILL')
    await expect.poll(() => leaders(standby), DEADLINE).toEqual(['mainnet index here'])
    await expect.poll(async () => (await reader.status()).problems, DEADLINE).toEqual([])
    expect((await reader.status()).warnings).toEqual(['nobody relays for mainnet'])
    expect(await reader.metric('clusterd_relay_wanted')).toEqual([
      'clusterd_relay_wanted{network="mainnet"} 1',
    ])
    const at = { ...stack, api: reader.api }
    const tx = await registerOn(
      '1',
      await freshWallet('mainnet', stack),
      [{ name: freshName() }],
      at,
    )
    await until.status(at, tx, 'finalized')

    const watcher = await another({ ROLES: 'relay', RELAY_WATCH: 'true' })
    await expect.poll(() => leaders(watcher), DEADLINE).toContain('mainnet relay here')
    expect((await watcher.metric('clusterd_alarm')).join()).toMatch(
      /clusterd_alarm\{alarm="ClusterdRelayKeyMissing",network="mainnet",chain="",subject="RELAYER_[^"]+"\} 1/,
    )
    expect((await watcher.status()).warnings.join()).toContain(
      'relays for mainnet without RELAYER_PRIVATE_KEY, RELAYER_KEYSTORE or RELAYER_SIGNER_URL',
    )
    await expect
      .poll(() => watcher.warnings().join(), DEADLINE)
      .toContain('this process relays for mainnet without')
    await expect(fetch(`${watcher.api}/v1/events`)).rejects.toThrow()
  })

  it('say so where nobody indexes', async () => {
    await standby.stop()
    await expect
      .poll(async () => (await reader.status()).problems, DEADLINE)
      .toContain('nobody indexes mainnet')
    expect(await codeOf(`${reader.ops}/ready`)).toBe(200)
    expect(await codeOf(`${reader.api}/v1/events`)).toBe(200)
    daemons.splice(daemons.indexOf(standby), 1)
  })
})

describe('a stop', () => {
  it('ends readiness first, and the API after the drain', async () => {
    await stack.daemon.spawn({ DRAIN_SECONDS: '3' })
    await stack.daemon.waitUntilReady()
    const stopped = stack.daemon.kill('SIGTERM')
    await expect
      .poll(() => codeOf(`${stack.ops}/ready`), { timeout: 2_000, interval: 20 })
      .toBe(503)
    expect(await (await fetch(`${stack.ops}/ready`)).json()).toMatchObject({
      problems: ['this process is stopping'],
    })
    expect(await codeOf(`${stack.api}/v1/events`)).toBe(200)
    await stopped
    expect((await stack.daemon.exited()).code).toBe(0)
    await expect(fetch(`${stack.api}/v1/events`)).rejects.toThrow()
  })
})
