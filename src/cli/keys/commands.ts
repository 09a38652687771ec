import type { Command } from 'commander'
import { lazily } from '../lazily.js'
import { JSON_OPTION } from '../output.js'
import { wholeNumber } from '../values.js'

const UNITS = { min: 1, max: 10_000_000 }
const keys = lazily(() => import('./keys.js'))
const shares = lazily(() => import('./reseal.js'))

export function addKeyCommands(program: Command): void {
  const command = program
    .command('keys')
    .description('API keys, which raise the limit of requests; the keys of wallet shares')
  command
    .command('list')
    .description('all keys, oldest first')
    .option(...JSON_OPTION)
    .action(keys('list'))
  command
    .command('make <name>')
    .description('make a key of the operator, and show it this once')
    .option(
      '--per-second <n>',
      'requests per second; default: LIMIT_KEY',
      wholeNumber('--per-second', UNITS),
    )
    .option(
      '--burst <n>',
      'requests at once; default: six times as many as per second',
      wholeNumber('--burst', UNITS),
    )
    .option(...JSON_OPTION)
    .action(keys('make'))
  command
    .command('revoke <id>')
    .description('revoke a key, by its id in the list')
    .action(keys('revoke'))
  command
    .command('reseal')
    .description('encrypt the shares of generated wallets anew under the first key of SHARE_KEY')
    .option(...JSON_OPTION)
    .action(shares('reseal'))
}
