import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createPublicClient, type Hex, http, toFunctionSelector } from 'viem'
import { describe, expect, inject, it } from 'vitest'
import { createPool } from '../../src/db/pg/pool.js'
import { bundlePath, tileAt, tilePath } from '../../src/registry/transparencyLog/tiles.js'
import { createDatabase, dropDatabase, until } from '../../src/testing/index.js'
import { LOCAL_SECRET_KEYS } from '../../src/testing/stackParts.js'
import { runCli } from '../support/cli.js'
import { startTestDaemon } from '../support/daemon.js'
import { useFolder } from '../support/folder.js'
import { world } from '../support/world.js'

const RECORD = toFunctionSelector('recordHash()')
const folder = useFolder()
const chainsFile = join(inject('home'), 'chains.json')

const run = (args: string[], databaseUrl: string) =>
  runCli(args, { DATABASE_URL: databaseUrl, CLUSTERD_CHAINS: chainsFile, ...LOCAL_SECRET_KEYS })

describe('clusterd journal export', () => {
  it('writes the signed log under its paths, and extends an earlier export', async () => {
    const out = join(folder, 'log')
    const written = async () => {
      const asked = ['journal', 'export', '--out', out, '--mainnet', '--json']
      const { networks } = JSON.parse(await run(asked, world().databaseUrl))
      const [{ size, origin }] = networks
      const note = readFileSync(join(out, 'mainnet', 'checkpoint'), 'utf8')
      expect(note.split('\n').slice(0, 2)).toEqual([origin, String(size)])
      const generation = origin.split('/').at(-1)
      const tile = tileAt(size, 0, 0)!
      for (const path of [bundlePath(tile), tilePath(tile)]) {
        const below = `mainnet/${generation}/${path}`
        const response = await fetch(`${world().api}/v1/log/${below}`)
        expect(readFileSync(join(out, below))).toEqual(Buffer.from(await response.arrayBuffer()))
      }
      return size as number
    }
    const size = await written()
    expect(await written()).toBeGreaterThanOrEqual(size)
  })

  it('writes nothing when it fails', async () => {
    const out = join(folder, 'fresh')
    const away = 'postgresql://nobody@127.0.0.1:1/none'
    await expect(run(['journal', 'export', '--out', out], away)).rejects.toThrow('does not answer')
    expect(existsSync(out)).toBe(false)
  })
})

describe('clusterd journal verify', () => {
  it('compares the journal with the hubs’ records, and reports a difference', async () => {
    const server = Object.assign(new URL(world().databaseUrl), { pathname: '/postgres' }).href
    const name = `copy_${randomBytes(4).toString('hex')}`
    const chains = JSON.parse(readFileSync(chainsFile, 'utf8'))
    const copy = await createDatabase(server, name)
    const daemon = await startTestDaemon(copy, chains, { ...LOCAL_SECRET_KEYS, ROLES: 'api,index' })
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
      expect(failed).toContain('do NOT produce')
    } finally {
      await daemon.stop()
      await dropDatabase(server, name)
    }
  })
})
