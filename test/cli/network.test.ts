import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Command } from 'commander'
import { describe, expect, it } from 'vitest'
import { VERSION } from '../../src/api/http/version.js'
import { type NetworkOptions, networksOf, withNetwork } from '../../src/cli/values.js'
import { runCli } from '../support/cli.js'

/** What the action of a command gets. */
async function chosen(args: string[], both?: { takesBoth: boolean }): Promise<NetworkOptions> {
  let options: NetworkOptions = {}
  const command = withNetwork(new Command('it'), 'default: both', both).action((given) => {
    options = { ...given }
  })
  await command.parseAsync(args, { from: 'user' })
  return options
}

describe('a command that chooses a network', () => {
  it.each<[string[], NetworkOptions]>([
    [[], {}],
    [['--network', 'testnet'], { network: 'testnet', testnet: true }],
    [['--network', 'mainnet'], { network: 'mainnet', mainnet: true }],
    [['--testnet'], { network: 'testnet', testnet: true }],
    [['--mainnet'], { network: 'mainnet', mainnet: true }],
    [['--mainnet', '--network', 'mainnet'], { network: 'mainnet', mainnet: true }],
  ])('takes its name or a shorthand, and its action gets both: %j', async (args, options) => {
    expect(await chosen(args)).toEqual(options)
  })

  it.each<[string[], RegExp]>([
    [['--network', 'holesky'], /^--network is mainnet or testnet\.$/],
    [['--network', 'testnet', '--mainnet'], /not both/],
    [['--mainnet', '--testnet'], /not both/],
  ])('refuses another one, and two: %j', async (args, sentence) => {
    await expect(chosen(args)).rejects.toThrow(sentence)
  })

  it('takes two where both are meant without any', async () => {
    const both = { takesBoth: true }
    expect(networksOf(await chosen(['--mainnet', '--testnet'], both))).toEqual(networksOf({}))
    expect(networksOf(await chosen(['--network', 'testnet'], both))).toEqual(['testnet'])
    await expect(chosen(['--network', 'testnet', '--mainnet'], both)).rejects.toThrow(/not both/)
  })
})

describe('the command line', () => {
  it('says its version', async () => {
    expect(await runCli(['--version'], {})).toBe(`${VERSION}\n`)
  })

  it('starts no world for a demo on a chain that none has', async () => {
    const home = join(tmpdir(), `clusterd-demo-${process.pid}`)
    await expect(runCli(['demo', '--chain', '77'], { CLUSTERD_HOME: home })).rejects.toThrow('these are: 1, ')
    expect(existsSync(home)).toBe(false)
  })

  it('has no other options for it', () => {
    const files = readdirSync('src/cli', { recursive: true, encoding: 'utf8' }).map((file) => `cli/${file}`)
    const own = ['cli.ts', ...files.filter((file) => file.endsWith('.ts') && file !== 'cli/values.ts')].flatMap(
      (file) =>
        [...readFileSync(`src/${file}`, 'utf8').matchAll(/\('(--(?:network|mainnet|testnet)[^']*)'/g)].map(
          ([, option]) => `${file} ${option}`,
        ),
    )
    expect(own.toSorted()).toEqual(['cli.ts --testnet'])
  })

  it('says in one sentence what it refuses', async () => {
    for (const command of [['journal', 'replay'], ['solana', 'show'], ['outbox'], ['airdrop', 'list']])
      await expect(runCli([...command, '--network', 'testnet', '--mainnet'], {})).rejects.toThrow(
        /\nclusterd: Say --mainnet or --testnet, not both\.\n$/,
      )
  }, 60_000)
})
