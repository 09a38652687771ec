import type { Command } from 'commander'
import { LABELLED_FAMILIES } from '../../registry/families.js'
import { createLazyCommandActions } from '../lazily.js'

const initAction = createLazyCommandActions(() => import('./init.js'))
const appAction = createLazyCommandActions(() => import('./app.js'))

const appendOptionValue = (value: string, earlier: string[] = []): string[] => [...earlier, value]

const INIT_EXAMPLE = `
Example:
  clusterd init --hub 1 --spokes 8453 --rpc 1=https://… --rpc 8453=https://…

Nothing that exists is overwritten. At the end the commands that bring the deployment up are printed.`

export function addInitCommand(program: Command): void {
  const labels = LABELLED_FAMILIES.map(({ label }) => `\`${label}\``)
  const command = program
    .command('init')
    .description('write the files of a new deployment')
    .option(
      '--hub <label>',
      'network label of the hub; two, joined by a comma, for both networks',
      '11155111',
    )
    .option('--spokes <labels>', 'network labels of the spokes, joined by commas')
    .option(
      '--rpc <label=url>',
      `RPC URL of a chain, or of ${labels.join(', ')}; may be repeated, also for one chain`,
      appendOptionValue,
    )
    .option('--rehearsal', 'instead: chains and database of `clusterd rehearse` in this folder')
    .option('--owner <address>', 'owner of the contracts, such as a multisig')
    .option('--database <url>', 'a PostgreSQL from 14 on; default: a placeholder in .env')
    .option('--compose', 'write a compose file too, with a PostgreSQL of its own')
    .option('--out <folder>', 'where the files go', '.')
    .addHelpText('after', INIT_EXAMPLE)
    .action(initAction('initDeployment'))
  command
    .command('app <folder>')
    .description('copy an application that registers names from a browser wallet')
    .action(appAction('createAppFromTemplate'))
  for (const { key, name } of LABELLED_FAMILIES)
    command.option(`--${key}`, `take payments on ${name} too`)
}
