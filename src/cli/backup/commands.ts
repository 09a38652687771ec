import type { Command } from 'commander'
import { createLazyCommandActions } from '../lazily.js'
import { JSON_OPTION } from '../output.js'

const checkAction = createLazyCommandActions(() => import('./check.js'))

export function addBackupCommands(program: Command): void {
  program
    .command('backup')
    .description('prove a backup')
    .command('check <dump>')
    .description(
      'restore a dump of pg_dump into a scratch database beside DATABASE_URL’s, fold its journal again, compare the state hashes and drop the database',
    )
    .option(...JSON_OPTION)
    .action(checkAction('checkBackup'))
}
