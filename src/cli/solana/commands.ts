import type { Command } from 'commander'
import { lazily } from '../lazily.js'

const TESTNET = ['--testnet', 'of the testnet; default: of the mainnet'] as const

const run = lazily(() => import('./solana.js'))

/** `clusterd solana …`: the registrar's authorities, and transactions for their keys. */
export function addSolanaCommands(program: Command): void {
  const solana = program
    .command('solana')
    .description('the registrar program on Solana: its state, and unsigned transactions (base64) for its authorities')
  solana
    .command('show', { isDefault: true })
    .description('authorities, counts and money of the program')
    .option(...TESTNET)
    .action(run('show'))
  solana
    .command('init')
    .description('initialize a deployed program, once')
    .requiredOption('--upgrade-authority <key>', 'who signs and pays')
    .requiredOption('--admin <key>', 'names the other authorities, such as a multisig’s vault')
    .requiredOption('--relay <key>', 'the service’s key')
    .requiredOption('--treasury <key>', 'takes out what is kept')
    .option('--reclaim-days <n>', 'after which payers take back what nobody decided, 1 to 30, for ever', '7')
    .option(...TESTNET)
    .action(run('init'))
  solana
    .command('authorities')
    .description('name another relay or treasury authority; signed by the admin authority')
    .option('--relay <key>', 'default: as it is')
    .option('--treasury <key>', 'default: as it is')
    .option(...TESTNET)
    .action(run('authorities'))
  solana
    .command('propose-admin <key>')
    .description('propose another admin authority; signed by the present one')
    .option(...TESTNET)
    .action(run('propose'))
  solana
    .command('accept-admin')
    .description('become the admin authority; signed by who was proposed')
    .option(...TESTNET)
    .action(run('accept'))
  solana
    .command('withdraw <lamports>')
    .description('take out lamports that are kept; signed by the treasury authority')
    .requiredOption('--to <key>', 'who gets them')
    .option(...TESTNET)
    .action(run('withdrawKept'))
  solana
    .command('idl')
    .description('the program’s interface as JSON, with this deployment’s address')
    .option(...TESTNET)
    .action(run('idl'))
}
