import { Command } from 'commander'
import { describe, expect, it } from 'vitest'
import { addNetworkOptions, type NetworkOptions, networksOfOptions } from '../../src/cli/values.js'
import { SERVICE_VERSION } from '../../src/ops/version.js'
import { runCli } from '../support/cli.js'

/** Options that the action of a command receives. */
async function chosen(args: string[]): Promise<NetworkOptions> {
  let options: NetworkOptions = {}
  const command = addNetworkOptions(
    new Command('it').exitOverride().configureOutput({ writeErr: () => {} }),
    'default: both',
  ).action((given) => {
    options = { ...given }
  })
  await command.parseAsync(args, { from: 'user' })
  return options
}

describe('a command that chooses a network', () => {
  it('accepts one of them, and uses both by default', async () => {
    expect(await chosen(['--testnet'])).toEqual({ testnet: true })
    await expect(chosen(['--mainnet', '--testnet'])).rejects.toThrow(/cannot be used with/)
    expect(networksOfOptions({})).toEqual(['mainnet', 'testnet'])
    expect(networksOfOptions({ testnet: true })).toEqual(['testnet'])
  })
})

describe('the command line', () => {
  it('prints its version', async () => {
    expect(await runCli(['--version'], {})).toBe(`${SERVICE_VERSION}\n`)
  })

  it('refuses with one sentence', async () => {
    await expect(runCli(['keys', 'make', 'x', '--burst', '0'], {})).rejects.toThrow(
      /\nclusterd: --burst is a whole number from 1 to 10000000\.\n$/,
    )
  }, 60_000)
})
