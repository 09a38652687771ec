import type { Command } from 'commander'
import { lazyCommandActions } from '../lazily.js'
import { JSON_OPTION } from '../output.js'

const check = lazyCommandActions(() => import('./check.js'))

/** `clusterd backup …`: checks whether a dump can be restored. */
export function addBackupCommands(program: Command): void {
  program
    .command('backup')
    .description('prove a backup')
    .command('check <dump>')
    .description(
      'restore a dump of pg_dump into a scratch database beside DATABASE_URL’s, fold its journal again, compare the state hashes and drop the database',
    )
    .option(...JSON_OPTION)
    .action(check('checkBackup'))
}
