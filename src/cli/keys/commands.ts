import type { Command } from 'commander'
import { lazyCommandActions } from '../lazily.js'
import { JSON_OPTION } from '../output.js'
import { wholeNumberParser } from '../values.js'

const UNITS = { min: 1, max: 10_000_000 }
const keys = lazyCommandActions(() => import('./keys.js'))
const keystores = lazyCommandActions(() => import('../init/init.js'))
const shares = lazyCommandActions(() => import('./reseal.js'))

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
    .action(keys('listApiKeysCommand'))
  command
    .command('make <name>')
    .description('make a key of the operator, and show it this once')
    .option(
      '--per-second <n>',
      'requests per second; default: LIMIT_KEY',
      wholeNumberParser('--per-second', UNITS),
    )
    .option(
      '--burst <n>',
      'requests at once; default: six times as many as per second',
      wholeNumberParser('--burst', UNITS),
    )
    .option(...JSON_OPTION)
    .action(keys('makeApiKeyCommand'))
  command
    .command('revoke <id>')
    .description('revoke a key, by its id in the list')
    .action(keys('revokeApiKeyCommand'))
  command
    .command('keystore <name>')
    .description(
      'write a new key, such as a deployer’s, to <name>.json, its password to <name>.txt',
    )
    .action(keystores('writeKeystoreFiles'))
  command
    .command('reseal')
    .description('encrypt the shares of generated wallets anew under the first key of SHARE_KEY')
    .option(...JSON_OPTION)
    .action(shares('resealKeyShares'))
}
