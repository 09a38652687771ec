import type { Command } from 'commander'
import { createLazyCommandActions } from '../lazily.js'
import { JSON_OPTION } from '../output.js'
import { createWholeNumberParser } from '../values.js'

const requiredCountParser = createWholeNumberParser('--required', { min: 1, max: 64 })

const logAction = createLazyCommandActions(() => import('./log.js'))

export function addFeedLogCommands(program: Command): void {
  const command = program.command('log').description('the signed log of the feed')
  command
    .command('key')
    .description('show the public keys of LOG_KEY, which readers of the log pin')
    .option('--origin <log>', 'as verifier keys (C2SP signed-note) of this log')
    .option('--witness <name>', 'as verifier keys of this witness (C2SP tlog-cosignature)')
    .option(...JSON_OPTION)
    .action(logAction('printFeedLogKeys'))
  command
    .command('verify <url>')
    .description('read the whole log of a service, and hold it against its signed checkpoint')
    .requiredOption(
      '--key <key>',
      'public key of its logs, base64, from elsewhere than the service',
    )
    .option('--domain <domain>', 'domain that the name of its log begins with')
    .option('--witness <key...>', 'verifier keys of witnesses that must have signed it too')
    .option('--required <count>', 'how many of them must have (default: all)', requiredCountParser)
    .option('--testnet', 'the log of the testnet')
    .option(...JSON_OPTION)
    .action(logAction('verifyTransparencyLog'))
}
