import fs from 'node:fs'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import { StandardMerkleTree } from '@openzeppelin/merkle-tree'
import bs58 from 'bs58'
import type pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import {
  loadAirdropFile,
  printAirdrops,
  removeAirdropCommand,
  setDistributorCommand,
  showAirdrop,
} from '../../src/cli/airdrop/airdrop.js'
import { createEvmAddressParser, createUnixSecondsParser } from '../../src/cli/values.js'
import { findAirdrop, setDistributor } from '../../src/db/airdrop/airdrops.js'
import { readWatchedAirdrops, storeClaims } from '../../src/db/airdrop/claims.js'
import { loadAirdrop } from '../../src/db/airdrop/load.js'
import { readAirdropProofs } from '../../src/db/airdrop/pages.js'
import { inTransaction } from '../../src/db/pg/pool.js'
import { addressToWord } from '../../src/registry/primitives/address.js'
import { fromHex, toHex } from '../../src/registry/primitives/bytes.js'
import { loadRows, type Row, storedOf } from '../support/airdrop.js'
import { useDatabase } from '../support/database.js'
import { useFolder } from '../support/folder.js'

const home = useFolder()
const database = useDatabase()
let pool: pg.Pool
let printed: string[]
let errorLines: string[]
let communities = 0
let community: string

beforeAll(() => {
  pool = database.pool
  vi.stubEnv('DATABASE_URL', database.url)
  vi.stubEnv('CLUSTERD_CHAINS', path.join(home, 'chains.json'))
})
afterAll(() => vi.unstubAllEnvs())
beforeEach(() => {
  community = `c${++communities}`
  printed = []
  errorLines = []
  vi.spyOn(console, 'log').mockImplementation((text) => void printed.push(String(text)))
  vi.spyOn(console, 'error').mockImplementation((text) => void errorLines.push(String(text)))
  vi.spyOn(process.stderr, 'write').mockImplementation(() => true)
})
afterEach(() => vi.restoreAllMocks())

const rowsOf = (count: number, from = 0): Row[] =>
  Array.from({ length: count }, (_, i) => ({
    address:
      i % 2 === 0
        ? `0x${(0xa0000 + from + i).toString(16).padStart(40, '0')}`
        : bs58.encode(Buffer.from(`${from + i}`.padStart(32, 'x'))),
    amount: 10n ** BigInt(i % 30) + BigInt(i),
  }))
const csvOf = (rows: readonly Row[]): string =>
  ['address,amount', ...rows.map(({ address, amount }) => `${address},${amount}`)].join('\n')
let files = 0
function fileOf(content: string | Buffer, ending = 'csv'): string {
  const file = path.join(home, `${++files}.${ending}`)
  fs.writeFileSync(file, content)
  return file
}
const place = () => ({ community, chain: '1' })
const found = () => findAirdrop(pool, 'mainnet', community)

/** The tree of OpenZeppelin's own library. */
const treeOf = (rows: readonly Row[]) =>
  StandardMerkleTree.of(
    rows.map(({ address, amount }, i) => [
      String(i),
      toHex(addressToWord(storedOf(address))),
      String(amount),
    ]),
    ['uint256', 'bytes32', 'uint256'],
  )

async function countRows(): Promise<number[]> {
  const tables = ['airdrops', 'airdrop_allocations', 'airdrop_pages', 'airdrop_claims']
  const counts = tables.map((table) =>
    pool.query<{ count: number }>(`SELECT count(*) FROM ${table}`),
  )
  return (await Promise.all(counts)).map(({ rows }) => rows[0]!.count)
}

describe('clusterd airdrop load', () => {
  it('makes the same tree and proofs as OpenZeppelin’s library', async () => {
    const rows = rowsOf(333)
    await loadAirdropFile(fileOf(csvOf(rows)), place())
    const airdrop = (await found())!
    const tree = treeOf(rows)
    expect(toHex(airdrop.merkleRoot)).toBe(tree.root)
    expect([airdrop.leafCount, airdrop.total]).toEqual([
      333,
      rows.reduce((sum, { amount }) => sum + amount, 0n),
    ])
    const { rows: stored } = await pool.query<{
      account: Buffer
      index: number
      position: number
      amount: string
    }>(
      'SELECT account, index, position, amount FROM airdrop_allocations WHERE airdrop = $1 ORDER BY index',
      [airdrop.airdrop],
    )
    expect(stored.map(({ account, amount }) => ({ account, amount: BigInt(amount) }))).toEqual(
      rows.map(({ address, amount }) => ({ account: storedOf(address), amount })),
    )
    const proofs = await readAirdropProofs(
      pool,
      'mainnet',
      airdrop.airdrop,
      stored.map(({ position }) => position),
    )
    for (const { index, position } of stored) {
      const proof = proofs.get(position)!.map((hash) => `0x${hash}`)
      expect(proof, `index ${index}`).toEqual(tree.getProof(index))
    }
  })

  it('warns if no cluster owns the community', async () => {
    await loadAirdropFile(fileOf(csvOf(rowsOf(3))), place())
    expect(printed).toContain('isNew        true')
    expect(errorLines).toContain(
      `No cluster holds ${community} on the mainnet: is --community right?`,
    )
  })

  it('accepts a compressed file', async () => {
    const rows = rowsOf(20)
    await loadAirdropFile(fileOf(gzipSync(csvOf(rows)), 'csv.gz'), place())
    expect(toHex((await found())!.merkleRoot)).toBe(treeOf(rows).root)
  })

  it('does nothing, and reports it, for a file that is loaded already', async () => {
    const file = fileOf(csvOf(rowsOf(9)))
    await loadAirdropFile(file, place())
    const before = await found()
    await loadAirdropFile(file, place())
    expect(printed).toContain('isNew        false')
    expect(await found()).toEqual(before)
  })

  it('replaces another file only with --replace, and only before the first claim', async () => {
    await loadAirdropFile(fileOf(csvOf(rowsOf(9))), place())
    const other = fileOf(csvOf(rowsOf(12)))
    await expect(loadAirdropFile(other, place())).rejects.toThrow(
      '--replace puts this file in its place',
    )
    const before = await countRows()
    await loadAirdropFile(other, { ...place(), replace: true })
    expect((await found())!.leafCount).toBe(12)
    const after = await countRows()
    expect(after[1]! - before[1]!).toBe(3)
    const distributor = {
      label: '1',
      distributor: Buffer.alloc(20, 1),
      token: Buffer.alloc(20, 2),
      fromBlock: 1,
    }
    await setDistributor(pool, 'mainnet', community, { ...distributor, endsAtS: 2_000_000_000 })
    const watched = (await readWatchedAirdrops(pool, 'mainnet', '1')).find(
      (one) => one.community === community,
    )!
    const claim = {
      index: 3,
      receiver: Buffer.alloc(21, 1),
      block: 1,
      blockHash: Buffer.alloc(32),
      logIndex: 0,
    }
    await inTransaction(pool, (client) =>
      storeClaims(client, watched, [{ ...claim, txHash: Buffer.alloc(32) }], null),
    )
    await expect(
      loadAirdropFile(fileOf(csvOf(rowsOf(7))), { ...place(), replace: true }),
    ).rejects.toThrow(
      `1 of the airdrop of "${community}" is claimed already: it can not be replaced any more.`,
    )
    const same = { ...distributor, endsAtS: 2_000_000_000 }
    expect(
      await setDistributor(pool, 'mainnet', community, { ...same, fromBlock: undefined }),
    ).toBe(false)
    expect(await setDistributor(pool, 'mainnet', community, { ...same, fromBlock: 0 })).toBe(true)
    expect(await found()).toMatchObject({ fromBlock: 0, nextBlock: 0, claimed: { seen: 1 } })
    await expect(
      setDistributor(pool, 'mainnet', community, {
        ...distributor,
        distributor: Buffer.alloc(20, 9),
        endsAtS: 2,
      }),
    ).rejects.toThrow('its distributor stays')
  })

  it('reports each bad line, and leaves nothing of the file behind', async () => {
    const before = await countRows()
    const rows = rowsOf(3_000)
    const lines = csvOf(rows).split('\n')
    lines[7] = 'nobody,1'
    lines[2_500] = `${rows[0]!.address},-1`
    const file = fileOf(lines.join('\n'))
    await expect(loadAirdropFile(file, place())).rejects.toThrow(
      `Nothing is loaded: ${file} has 2 bad lines.`,
    )
    expect(errorLines).toEqual([
      `${file}:8 has no address of a wallet that can sign in`,
      `${file}:2501 has no amount above zero in base units`,
    ])
    expect(await countRows()).toEqual(before)
  })

  it('prints at most a hundred bad lines, and counts all of them', async () => {
    const file = fileOf(Array.from({ length: 1_500 }, () => 'x').join('\n'))
    await expect(loadAirdropFile(file, place())).rejects.toThrow('has 1500 bad lines')
    expect([errorLines.length, errorLines.at(-1)]).toEqual([101, '… and 1400 more'])
  })

  it('accepts at most 500,000 accounts', async () => {
    const account = Buffer.alloc(21, 1)
    const rows = Array.from({ length: 500_001 }, () => ({ account, amount: 1n }))
    const request = { network: 'mainnet', community, label: '1' } as const
    await expect(
      loadAirdrop(
        pool,
        { ...request, fileHash: Buffer.alloc(32), replaces: false, nowMs: 0 },
        rows,
      ),
    ).rejects.toThrow('The file has 500,001 accounts; an airdrop has at most 500,000.')
    expect(await found()).toBeNull()
  })

  it('reports a repeated account as a bad line, in any spelling', async () => {
    const before = await countRows()
    const lower = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'
    const file = fileOf(
      `${lower},1\n0x${'1'.repeat(40)},2\n0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266,3\n`,
    )
    await expect(loadAirdropFile(file, place())).rejects.toThrow('has 1 bad line.')
    expect(errorLines).toEqual([`${file}:3 has the account of line 1 again`])
    expect(await countRows()).toEqual(before)
  })

  it.each([
    ['an empty file', '', 'The file has no rows.'],
    ['a header alone', 'address,amount\n', 'The file has no rows.'],
    [
      'amounts beyond any token',
      `0x${'1'.repeat(40)},${2n ** 256n - 1n}\n0x${'2'.repeat(40)},1`,
      'more than any token',
    ],
  ])('refuses %s', async (_what, content, message) => {
    const before = await countRows()
    await expect(loadAirdropFile(fileOf(content), place())).rejects.toThrow(message)
    expect(await countRows()).toEqual(before)
  })

  it.each([
    ['an unknown chain', { chain: '99' }, 'is the network label of an EVM chain'],
    ['Solana', { chain: 'solana' }, 'is the network label of an EVM chain'],
    ['another network', { testnet: true }, 'Chain "1" belongs to mainnet'],
    ['a text that is not a community', { community: 'a b' }, 'is no community'],
  ])('refuses %s', async (_what, options, message) => {
    await expect(
      loadAirdropFile(fileOf(csvOf(rowsOf(3))), { ...place(), ...options }),
    ).rejects.toThrow(message)
  })

  it('refuses a truncated compressed file', async () => {
    const whole = gzipSync(csvOf(rowsOf(500)))
    const file = fileOf(whole.subarray(0, whole.length - 30), 'csv.gz')
    await expect(loadAirdropFile(file, place())).rejects.toThrow(/unexpected end of file/)
    expect(await found()).toBeNull()
  })

  it('loads one file per network at a time', async () => {
    const rows = rowsOf(5)
    await inTransaction(pool, async (client) => {
      await client.query('SELECT pg_advisory_xact_lock($1, $2)', [0x636c7573, 3])
      await expect(loadAirdropFile(fileOf(csvOf(rows)), place())).rejects.toThrow(
        'Another command is loading',
      )
    })
    await loadAirdropFile(fileOf(csvOf(rows)), place())
  })
})

describe('clusterd airdrop', () => {
  it('shows and removes a loaded airdrop', async () => {
    const airdrop = await loadRows(pool, rowsOf(8), { community })
    const token = `0x${'70'.repeat(20)}`
    const owner = `0x${'0e'.repeat(20)}`
    const terms = {
      token: fromHex(token),
      owner: fromHex(owner),
      endsAt: createUnixSecondsParser('--ends-at')('2027-06-30'),
    }
    expect(() => createEvmAddressParser('--token')('0x12')).toThrow('--token is an EVM address')
    expect(() => createUnixSecondsParser('--ends-at')('2027-02-30')).toThrow('--ends-at is a date')
    await expect(setDistributorCommand(community, { distributor: terms.token })).rejects.toThrow(
      'does not exist',
    )
    await showAirdrop(community, { json: true })
    const shown = JSON.parse(printed.pop()!)
    expect(shown).toMatchObject({
      community,
      network: 'mainnet',
      chain: '1',
      state: 'loaded',
      accounts: 8,
    })
    await printAirdrops({ json: true })
    const { constructor: _, encoded: __, ...listed } = shown
    expect(JSON.parse(printed.pop()!)).toContainEqual(listed)
    await showAirdrop(community, { ...terms, json: true })
    const said = JSON.parse(printed.pop()!)
    const merkleRoot = toHex(airdrop.merkleRoot)
    const operator = `0x${'00'.repeat(20)}`
    const endsAt = Date.UTC(2027, 5, 30) / 1_000
    expect(said).toMatchObject({
      merkleRoot,
      accounts: 8,
      constructor: { token, merkleRoot, endsAt, owner, operator },
    })
    expect(said.encoded).toMatch(/^0x[0-9a-f]{320}$/)
    await showAirdrop(community, {})
    expect(errorLines.join('\n')).toContain('needs --token, --ends-at and --owner')
    await pool.query(
      'UPDATE airdrops SET state = 1, distributor = $1, token = $1, ends_at_s = 1, from_block = 1, next_block = 1 WHERE community = $2',
      [terms.token, community],
    )
    errorLines.length = 0
    await showAirdrop(community, { json: true })
    expect(JSON.parse(printed.pop()!)).not.toHaveProperty('encoded')
    expect(errorLines).toEqual([])
    const before = await countRows()
    await removeAirdropCommand(community, {})
    expect(errorLines).toContain('Nothing is removed yet: --yes removes it.')
    expect(await countRows()).toEqual(before)
    await removeAirdropCommand(community, { yes: true })
    expect((await countRows())[1]).toBe(before[1]! - 8)
    await expect(showAirdrop(community, {})).rejects.toThrow('no airdrop of')
  })

  it('requires the network where both have an airdrop', async () => {
    await loadRows(pool, rowsOf(3), { community })
    await loadRows(pool, rowsOf(4), { community, network: 'testnet', label: '11155111' })
    await expect(showAirdrop(community, {})).rejects.toThrow('say --mainnet or --testnet')
    await showAirdrop(community, { testnet: true, json: true })
    expect(JSON.parse(printed.pop()!)).toMatchObject({ accounts: 4 })
  })
})
