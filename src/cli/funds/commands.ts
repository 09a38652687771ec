import type { Command } from 'commander'
import { lazily } from '../lazily.js'
import { JSON_OPTION } from '../output.js'
import { withSigning } from '../signing/options.js'
import { withNetwork } from '../values.js'

const run = lazily(() => import('./funds.js'))

/** `clusterd funds …`: money of the contracts, of the program and of the accounts that pay for the service. */
export function addFundsCommands(program: Command): void {
  const funds = program
    .command('funds')
    .description('what the contracts keep and owe, and how long the relayers’ balances last; withdraws what is kept')
  withNetwork(funds.command('show', { isDefault: true }), 'default: both', { takesBoth: true })
    .description('every chain and cluster of the chains file')
    .option(...JSON_OPTION)
    .action(run('show'))
  withSigning(funds.command('withdraw').description('take what a hub keeps; signed by its owner'))
    .requiredOption('--chain <label>', 'the hub’s chain, by its network label')
    .requiredOption('--to <address>', 'who gets it')
    .action(run('withdraw'))
}
