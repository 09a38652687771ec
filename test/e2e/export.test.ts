import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { createPublicClient, type Hex, http, toFunctionSelector } from 'viem'
import { describe, expect, inject, it } from 'vitest'
import { createPool } from '../../src/db/pg/pool.js'
import { FEED_START, feedHash } from '../../src/registry/journal/feedHash.js'
import { createDatabase, dropDatabase, until } from '../../src/testing/index.js'
import { LOCAL_KEYS } from '../../src/testing/stackParts.js'
import { runCli } from '../support/cli.js'
import { startTestDaemon } from '../support/daemon.js'
import { useFolder } from '../support/folder.js'
import { ask, world } from '../support/world.js'

const RECORD = toFunctionSelector('recordHash()')
const folder = useFolder()
const chainsFile = join(inject('home'), 'chains.json')

const run = (args: string[], databaseUrl: string) =>
  runCli(args, { DATABASE_URL: databaseUrl, CLUSTERD_CHAINS: chainsFile, ...LOCAL_KEYS })

describe('clusterd journal export', () => {
  it('writes what the feed gives, which the checkpoint confirms, and no other file over one', async () => {
    const items: unknown[] = []
    for (let page: string | undefined = ''; page !== undefined; ) {
      const query: string = page ? `&nextPage=${encodeURIComponent(page)}` : ''
      const { body } = await ask<{ items: unknown[]; nextPage?: string }>(
        'GET',
        `/v1/events?order=oldest&limit=100${query}`,
      )
      items.push(...body.items)
      page = body.nextPage
    }
    const file = join(folder, 'feed.jsonl.gz')
    const said = await run(
      ['journal', 'export', '--out', file, '--mainnet', '--json'],
      world().databaseUrl,
    )
    const lines = gunzipSync(readFileSync(file)).toString().trimEnd().split('\n')
    expect(items.length).toBeGreaterThan(0)
    expect(lines.slice(0, items.length).map((line) => JSON.parse(line))).toEqual(items)
    const hash = lines.reduce(feedHash, FEED_START)
    expect(JSON.parse(said)).toMatchObject({
      networks: [
        { network: 'mainnet', count: lines.length, checkpoint: `0x${hash.toString('hex')}` },
      ],
    })
    const again = run(['journal', 'export', '--out', file], world().databaseUrl)
    await expect(again).rejects.toThrow('exists: name another file.')
  })

  it('that fails leaves an older file as it was, and none of its own', async () => {
    const older = join(folder, 'older')
    const fresh = join(folder, 'fresh')
    writeFileSync(older, 'older')
    const away = 'postgresql://nobody@127.0.0.1:1/none'
    await expect(run(['journal', 'export', '--out', older], away)).rejects.toThrow(
      'exists: name another file.',
    )
    expect(readFileSync(older, 'utf8')).toBe('older')
    await expect(run(['journal', 'export', '--out', fresh], away)).rejects.toThrow(
      'does not answer',
    )
    expect(existsSync(fresh)).toBe(false)
  })
})

describe('clusterd journal verify', () => {
  it('proves the journal by the hubs’ own record, and tells where it has another', async () => {
    const server = Object.assign(new URL(world().databaseUrl), { pathname: '/postgres' }).href
    const name = `copy_${randomBytes(4).toString('hex')}`
    const chains = JSON.parse(readFileSync(chainsFile, 'utf8'))
    const copy = await createDatabase(server, name)
    const daemon = await startTestDaemon(copy, chains, { ...LOCAL_KEYS, ROLES: 'api,index' })
    try {
      await until.ready(daemon)
      const { blockHash, contracts } = JSON.parse(
        await (await fetch(`${daemon.api}/v1/proof`)).text(),
      )
      const { rpcUrls, contract, communityPayments } = chains.chains[0]
      const { request } = createPublicClient({ transport: http(rpcUrls[0]) })
      const record = (to: Hex) =>
        request({ method: 'eth_call', params: [{ to, data: RECORD }, { blockHash }] })
      const kept: Hex[] = [contract.toLowerCase(), communityPayments.toLowerCase()]
      const words = kept.map(async (address) => ({ address, recordHash: await record(address) }))
      expect(contracts).toEqual(await Promise.all(words))
      await daemon.stop()
      const { hubs } = JSON.parse(await run(['journal', 'verify', '--json'], copy)) as {
        hubs: { isProved: boolean | null }[]
      }
      expect(hubs.map(({ isProved }) => isProved)).toEqual([true, true])
      const pool = createPool({ url: copy, max: 1, applicationName: 'test' })
      await pool.query(
        'UPDATE chains SET record = set_byte(record, 83, get_byte(record, 83) # 1) WHERE network = 0',
      )
      await pool.end()
      const failed = await run(['journal', 'verify'], copy).catch(
        (error: { stdout: string }) => error.stdout,
      )
      expect(failed).toContain('do NOT make')
    } finally {
      await daemon.stop()
      await dropDatabase(server, name)
    }
  })
})
