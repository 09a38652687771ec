import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buyerOf, lookUps, memberOf } from '../../scripts/siege/honest.js'
import { createDatabase, type Stack, startStack, until } from '../../src/testing/index.js'
import { daemonEnvironment } from '../../src/testing/stackParts.js'
import { startBalancer } from '../support/balancer.js'
import { runCli } from '../support/cli.js'
import { type ClusterdProcess, startClusterd } from '../support/clusterdProcess.js'
import { buildCommit, commitBeforeNewestMigration } from '../support/oldBuild.js'
import { follow, wholeFeed } from '../support/visitors.js'
import { freshName, freshWallet, registerOn } from '../support/world.js'

/** From real old code to this one on one database, under load: expand, replace, and back again. */

const DEADLINE = { timeout: 60_000, interval: 50 }
/** Time between two steps, in which there is load on what the step left. */
const BETWEEN_MS = 1_000

const commit = commitBeforeNewestMigration()
if (!commit)
  console.warn('no upgrade is tried: the history has no commit before the newest migration')

describe.skipIf(!commit)('an upgrade under load', () => {
  let stack: Stack<'mainnet'>
  let balancer: Awaited<ReturnType<typeof startBalancer>>
  let old: ReturnType<typeof buildCommit>
  let databaseUrl: string
  let chainsFile: string
  const processes: ClusterdProcess[] = []

  beforeAll(async () => {
    old = buildCommit(commit!, 'recovery')
    stack = await startStack({ chains: ['1'], seeds: false, blockMs: 400 })
    await stack.daemon.kill('SIGTERM')
    // the old one may know no names of ENS
    const chains = JSON.parse(readFileSync(join(stack.home, 'chains.json'), 'utf8'))
    chainsFile = join(stack.home, 'chains-before.json')
    writeFileSync(chainsFile, JSON.stringify({ ...chains, ens: undefined }))
    databaseUrl = await createDatabase(stack.databaseUrl, 'upgrade')
    balancer = await startBalancer(() => processes)
  }, 240_000)
  afterAll(async () => {
    await balancer?.stop()
    await Promise.all(processes.map((one) => one.end('SIGKILL')))
    await stack?.stop()
  })

  async function start(program?: string, args: readonly string[] = []): Promise<ClusterdProcess> {
    const at = { databaseUrl, port: 0, opsPort: 0, env: {} }
    const env = {
      ...daemonEnvironment(stack.home, at),
      DRAIN_SECONDS: '2',
      CLUSTERD_CHAINS: chainsFile,
    }
    const one = await startClusterd(env, { args, ...(program !== undefined && { program }) })
    processes.push(one)
    return one
  }
  const leads = async (one: ClusterdProcess) =>
    (await one.metric('clusterd_leader')).filter((line) => line.endsWith(' 1'))
  const migrate = (...args: string[]) => runCli(['migrate', ...args], { DATABASE_URL: databaseUrl })

  it('loses and refuses nothing, on the way there and back', async () => {
    const before: ClusterdProcess[] = []
    for (let n = 0; n < 2; n++) {
      before.push(await start(old.program))
      await before[n]!.ready()
    }
    await expect
      .poll(async () => (await Promise.all(before.map(leads))).flat().length, DEADLINE)
      .toBeGreaterThan(0)
    await expect
      .poll(async () => (await fetch(`${balancer.api}/v1/events`)).status, DEADLINE)
      .toBe(200)

    const { api } = balancer
    const { hub } = stack.networks.mainnet
    const change = await memberOf(api, '127.0.0.1')
    const buy = await buyerOf(api, '127.0.0.1', hub)
    const seed = { name: freshName(), owner: `0x${'11'.repeat(20)}` }
    const at = { ...stack, api }
    await until.status(
      at,
      await registerOn('1', await freshWallet('mainnet', stack), [{ name: seed.name }], at),
      'finalized',
    )
    const load = new AbortController()
    const follower = follow(api)
    const work = Promise.all([
      lookUps(api, '127.0.0.1', seed, load.signal),
      change(load.signal),
      buy(load.signal),
    ])
    await sleep(BETWEEN_MS)

    // the new version waits beside the old one until the step is done
    const after = [await start(undefined, ['--no-migrate'])]
    await expect.poll(() => after[0]!.log(), DEADLINE).toContain('the start waits')
    const check: { stdout: string } = await migrate('--check').then(
      () => expect.unreachable(),
      (failed) => failed,
    )
    const missing = check.stdout.trim().split('\n')
    for (const line of missing) expect(line).toMatch(/^missing \d+_\w+$/)
    expect((await migrate()).trim().split('\n')).toEqual(
      missing.map((line) => line.replace('missing', 'applied')),
    )
    await after[0]!.ready()
    after.push(await start(undefined, ['--no-migrate']))
    await after[1]!.ready()
    await sleep(BETWEEN_MS)

    // half of the way, and back: the old version goes on upon the newer tables
    expect(await before[0]!.end()).toBe(0)
    await sleep(BETWEEN_MS)
    expect(await after[0]!.end()).toBe(0)
    expect(await after[1]!.end()).toBe(0)
    await expect.poll(() => leads(before[1]!), DEADLINE).toHaveLength(2)
    await sleep(BETWEEN_MS)

    // one that starts anew does too, unless it is from before that was so
    await before[0]!.start()
    const isBorne = readFileSync(join(old.folder, 'src/db/pg/migrate.ts'), 'utf8').includes(
      '_contract_',
    )
    if (isBorne) {
      await before[0]!.ready()
      await before[0]!.end()
    } else
      await expect
        .poll(() => before[0]!.log(), DEADLINE)
        .toContain('unknown to this version; run the newer version')

    // all of the way
    for (const one of after) await one.start()
    for (const one of after) await one.ready()
    expect(await before[1]!.end()).toBe(0)
    await expect
      .poll(async () => (await Promise.all(after.map(leads))).flat().length, DEADLINE)
      .toBe(2)
    await sleep(BETWEEN_MS)

    load.abort()
    const [looked, changed, bought] = await work
    console.log(
      `${looked.ms.length} look-ups, ${changed.ms.length} changes, ${bought.hashes.length} registrations`,
    )
    expect(looked.failed).toEqual([])
    expect(changed.failed).toEqual([])
    expect(bought.failed).toEqual([])
    for (const tx of bought.hashes) await until.status({ api }, tx, 'finalized')
    const feed = await wholeFeed(api)
    await follower.upTo(feed.length)
    expect(follower.got).toEqual(feed)
    expect([follower.failed, follower.streams() >= 2]).toEqual([[], true])
    // each change that was acknowledged, in order
    const names = feed.flatMap((text) => /"name":"(w\d+)"/.exec(text)?.[1] ?? [])
    expect(names.slice(-changed.ms.length)).toEqual(changed.ms.map((_, n) => `w${n}`))
    expect(await runCli(['journal', 'replay'], { DATABASE_URL: databaseUrl })).toMatch(
      /^mainnet: \d+ entries of generation 1, equal/m,
    )
  }, 180_000)
})
