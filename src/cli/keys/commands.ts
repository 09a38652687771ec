import type { Command } from 'commander'
import { createLazyCommandActions } from '../lazily.js'
import { JSON_OPTION } from '../output.js'
import { createWholeNumberParser } from '../values.js'

const API_KEY_RATE_BOUNDS = { min: 1, max: 10_000_000 }
const apiKeyAction = createLazyCommandActions(() => import('./keys.js'))
const keystoreAction = createLazyCommandActions(() => import('../init/init.js'))
const shareAction = createLazyCommandActions(() => import('./reseal.js'))

export function addKeyCommands(program: Command): void {
  const command = program
    .command('keys')
    .description(
      'API keys, which raise the limit of requests; keys that sign; those of wallet shares',
    )
  command
    .command('list')
    .description('all keys, oldest first')
    .option(...JSON_OPTION)
    .action(apiKeyAction('listApiKeysCommand'))
  command
    .command('make <name>')
    .description('make a key of the operator, and show it this once')
    .option(
      '--per-second <n>',
      'requests per second; default: LIMIT_KEY',
      createWholeNumberParser('--per-second', API_KEY_RATE_BOUNDS),
    )
    .option(
      '--burst <n>',
      'requests at once; default: six times as many as per second',
      createWholeNumberParser('--burst', API_KEY_RATE_BOUNDS),
    )
    .option(...JSON_OPTION)
    .action(apiKeyAction('makeApiKeyCommand'))
  command
    .command('revoke <id>')
    .description('revoke a key, by its id in the list')
    .action(apiKeyAction('revokeApiKeyCommand'))
  command
    .command('keystore <name>')
    .description(
      'write a new key, such as a deployer’s, to <name>.json, its password to <name>.txt',
    )
    .action(keystoreAction('writeKeystoreFiles'))
  command
    .command('reseal')
    .description('encrypt the shares of generated wallets anew under the first key of SHARE_KEY')
    .option(...JSON_OPTION)
    .action(shareAction('resealKeyShares'))
}
