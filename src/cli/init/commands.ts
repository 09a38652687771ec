import type { Command } from 'commander'
import { lazily } from '../lazily.js'

const init = lazily(() => import('./init.js'))

const repeated = (value: string, earlier: string[] = []): string[] => [...earlier, value]

const HELP = `
What no option names is asked on a terminal. Nothing that exists is overwritten. Whose the contracts are to be you write
into chains.json, under \`deployment\`; \`clusterd contracts deploy\` then writes their addresses there, \`contracts configure\`
sets them up, and on Solana \`solana deploy\` and \`solana init\` do the same. Each of them needs a key. At the end the
commands of this deployment are printed.`

/** `clusterd init`: writes the files of a new deployment. */
export function addInitCommand(program: Command): void {
  program
    .command('init')
    .description('write the files of a new deployment: chains.json, .env, an encrypted key of the relayer')
    .option('--network <networks>', 'mainnet, testnet, or both joined by a comma')
    .option('--hub <labels>', 'network label of the hub; default: 1 on mainnet, 11155111 on testnet')
    .option('--spokes <labels>', 'network labels of the spokes, joined by commas')
    .option('--rpc <label=url>', 'RPC URL of a chain, or of `solana`; may be repeated, also for one chain', repeated)
    .option('--solana', 'take payments on Solana too')
    .option(
      '--database <url>',
      'a PostgreSQL from 14 on; default: a placeholder in .env, where a password is in no list of processes',
    )
    .option('--compose', 'write a compose file too, with a PostgreSQL of its own')
    .option('--out <folder>', 'where the files go', '.')
    .option('--yes', 'ask nothing')
    .addHelpText('after', HELP)
    .action(init('init'))
}
