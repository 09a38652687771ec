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
  it('takes one of them, or two where both are meant without any', async () => {
    expect(await chosen(['--testnet'])).toEqual({ testnet: true })
    await expect(chosen(['--mainnet', '--testnet'])).rejects.toThrow(/not both/)
    const both = await chosen(['--mainnet', '--testnet'], { takesBoth: true })
    expect(networksOf(both)).toEqual(networksOf({}))
    expect(networksOf({ testnet: true })).toEqual(['testnet'])
  })
})

describe('the command line', () => {
  it('says its version', async () => {
    expect(await runCli(['--version'], {})).toBe(`${VERSION}\n`)
  })

  it('says in one sentence what it refuses', async () => {
    await expect(runCli(['solana', 'show', '--testnet', '--mainnet'], {})).rejects.toThrow(
      /\nclusterd: Say --mainnet or --testnet, not both\.\n$/,
    )
  }, 60_000)
})
