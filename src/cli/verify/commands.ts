import type { Command } from 'commander'
import { createLazyCommandActions } from '../lazily.js'
import { JSON_OPTION } from '../output.js'

const verifyAction = createLazyCommandActions(() => import('./bundle.js'))

export function addVerifyCommands(program: Command): void {
  program
    .command('verify')
    .description('check what a service says by its signed logs')
    .command('bundle <name>')
    .description('show which wallets of a bundle signed that they belong to it')
    .requiredOption('--url <url>', 'address of the service')
    .requiredOption(
      '--key <key>',
      'public key of its logs, base64, from elsewhere than the service',
    )
    .option(
      '--domain <domain...>',
      'domain that the names of its logs begin with, then others that wallets’ texts may name',
    )
    .option('--testnet', 'the bundle of the testnet')
    .option(...JSON_OPTION)
    .action(verifyAction('printVerifiedBundle'))
}
