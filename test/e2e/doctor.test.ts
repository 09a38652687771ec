import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, inject, it } from 'vitest'
import { runDoctorCommand } from '../../src/cli/doctor/doctor.js'
import type { DoctorFinding } from '../../src/ops/finding.js'
import { LOCAL_SECRET_KEYS } from '../../src/testing/stackParts.js'
import { operatorAccount } from '../../src/testing/world.js'
import { printed, runCli } from '../support/cli.js'
import { queryOn } from '../support/database.js'
import { useFolder } from '../support/folder.js'
import { world } from '../support/world.js'

const folder = useFolder()
const chainsFile = join(inject('home'), 'chains.json')
interface Chains {
  chains: { label: string; [field: string]: unknown }[]
  solana: { mainnet: Record<string, unknown> }
}

/** Findings of `clusterd doctor` in the shared world, with one setting changed. */
async function examine(
  env: Record<string, string> = {},
  change: (file: Chains) => void = () => {},
) {
  const file = JSON.parse(readFileSync(chainsFile, 'utf8')) as Chains
  change(file)
  const changed = join(folder, 'chains.json')
  writeFileSync(changed, JSON.stringify(file))
  const { databaseUrl } = world()
  const all = {
    ...LOCAL_SECRET_KEYS,
    DATABASE_URL: databaseUrl,
    CLUSTERD_CHAINS: changed,
    PORT: '1',
    OPS_PORT: '2',
    ...env,
  }
  const findings = JSON.parse(
    await printed(all, () => runDoctorCommand({ json: true })),
  ) as DoctorFinding[]
  return findings.map(({ about, level, found, advice }) => ({
    about,
    level,
    text: `${found} ${advice ?? ''}`,
  }))
}

const hubOf = ({ chains }: Chains) => chains.find(({ label }) => label === '1')!
const badOnes = (findings: Awaited<ReturnType<typeof examine>>) =>
  findings.filter(({ level }) => level === 'bad')
const NOWHERE = 'http://127.0.0.1:9'
const NO_PROGRAM = '4uQeVj5tqViQh7yWWGStvkEG1Zmhx6uasJtWCJziofM'

describe('clusterd doctor', () => {
  it('has no bad finding in a running world', async () => {
    const findings = await examine()
    expect(badOnes(findings)).toEqual([])
    const about = findings.map((finding) => finding.about)
    expect(about).toContain('database')
    expect(about).toContain('migrations')
    expect(about).toContain('chain 1, hub')
    expect(about).toContain('chain 1, price feeds')
    expect(about).toContain('chain 1, reverse registrar of local.eth')
    expect(findings.filter(({ level }) => level === 'ok').length).toBeGreaterThan(20)
  })

  it.each<[string, (file: Chains) => void, string, string]>([
    [
      'a node that is away',
      (f) => (hubOf(f).rpcUrls = [NOWHERE, ...(hubOf(f).rpcUrls as [])]),
      'chain 1, 127',
      'rpcUrls',
    ],
    [
      'another chain',
      (f) => (hubOf(f).genesisHash = `0x${'ab'.repeat(32)}`),
      'chain 1, 127',
      'genesis',
    ],
    [
      'an address without code',
      (f) => (hubOf(f).contract = `0x${'ab'.repeat(20)}`),
      'chain 1, hub',
      'no code',
    ],
    [
      'a program that is not there',
      (f) => (f.solana.mainnet.programId = NO_PROGRAM),
      'solana mainnet, program',
      'not init',
    ],
  ])('names %s', async (_, change, about, text) => {
    const found = badOnes(await examine({}, change)).find((finding) =>
      finding.about.startsWith(about),
    )
    expect(found?.text).toContain(text)
  })

  it.each<[string, (file: Chains) => void]>([
    ['the only node of a hub', (f) => (hubOf(f).rpcUrls = [NOWHERE])],
    ['one of two', (f) => (hubOf(f).rpcUrls = [NOWHERE, ...(hubOf(f).rpcUrls as [])])],
  ])('has one bad line where a node is away: %s', async (_, change) => {
    const key = operatorAccount('relayer').privateKey
    const bad = badOnes(await examine({ RELAYER_PRIVATE_KEY: key }, change))
    expect(bad.map(({ about }) => about)).toEqual(['chain 1, 127.0.0.1:9'])
  })

  it('reports a key that is not the contracts’ relayer', async () => {
    const findings = await examine({ RELAYER_PRIVATE_KEY: `0x${'5a'.repeat(32)}` })
    const found = badOnes(findings).map(({ about, text }) => [about, text.includes('setRelayer')])
    expect(found).toContainEqual(['chain 1, relayer of the hub', true])
    expect(found).toContainEqual(['chain 8453, relayer of the payments', true])
    const own = await examine({ RELAYER_PRIVATE_KEY: operatorAccount('relayer').privateKey })
    expect(badOnes(own)).toEqual([])
    expect(own.find(({ about }) => about === 'chain 1, relayer')?.text).toMatch(
      /^0x\w+ has [\d.]+ ETH /,
    )
  })

  it('asks only for migrations where the database is empty', async () => {
    const { databaseUrl } = world()
    await queryOn(databaseUrl, 'CREATE DATABASE doctor_empty')
    const empty = new URL(databaseUrl)
    empty.pathname = '/doctor_empty'
    const findings = await examine({ DATABASE_URL: empty.href })
    expect(badOnes(findings)).toEqual([])
    const { text } = findings.find(({ about }) => about === 'migrations')!
    expect(text).toMatch(/^\d{14}_init and \d+ more missing/)
    expect(text).toContain('A start applies')
  })

  it('reports an unavailable database, and an invalid configuration', async () => {
    const away = badOnes(await examine({ DATABASE_URL: 'postgresql://127.0.0.1:9/none' }))
    expect(away).toMatchObject([{ about: 'database' }])
    const found = await examine({ TOKEN_KEY: '', DATABASE_URL: '' })
    expect(badOnes(found)).toMatchObject([
      { about: 'configuration', text: expect.stringContaining('DATABASE_URL') },
      { about: 'configuration', text: expect.stringContaining('TOKEN_KEY') },
    ])
    expect(
      found.map(({ about }) => about),
      'it goes on',
    ).toContain('chain 1, hub')
    const noFile = await examine({ CLUSTERD_CHAINS: join(folder, 'missing.json') })
    expect(badOnes(noFile)).toMatchObject([
      { about: 'configuration', text: expect.stringContaining('missing.json') },
    ])
    expect(
      noFile.map(({ about }) => about),
      'it goes on',
    ).toContain('database')
    await expect(
      runCli(['doctor'], { DATABASE_URL: '', CLUSTERD_CHAINS: chainsFile }),
    ).rejects.toMatchObject({
      code: 1,
    })
  })
})
