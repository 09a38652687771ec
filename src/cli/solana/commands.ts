import type { Command } from 'commander'
import { createLazyCommandActions } from '../lazily.js'
import { addNetworkOptions, createWholeNumberParser } from '../values.js'

const solanaAction = createLazyCommandActions(() => import('./solana.js'))
const deployAction = createLazyCommandActions(() => import('./deploy.js'))

export function addSolanaCommands(program: Command): void {
  const solana = program
    .command('solana')
    .description('the registrar program on Solana: deploy, show, transactions')
  addSolanaNetworkOptions(solana.command('show'))
    .description('authorities, counts and money of the program')
    .action(solanaAction('showRegistrarProgram'))
  addSolanaNetworkOptions(addPriceOption(solana.command('deploy')))
    .description('deploy the program, and print its id and slot for the chains file')
    .requiredOption(
      '--keypair <file>',
      'pays and becomes upgrade authority: a file of solana-keygen',
    )
    .option(
      '--program-keypair <file>',
      'the program’s own key; default: registrar-<network>.json, made if missing',
    )
    .option('--yes', 'do not ask before sending')
    .action(deployAction('deployRegistrar'))
  addSolanaNetworkOptions(solana.command('upgrade-check'))
    .description(
      'whether the program is ours, byte for byte, and who can replace it; code 1 if not',
    )
    .action(deployAction('checkDeployedProgram'))
  addKeypairOptions(solana.command('init'))
    .description('initialize a deployed program, once')
    .requiredOption('--upgrade-authority <key>', 'who signs and pays')
    .requiredOption('--admin <key>', 'names the other authorities, such as a multisig’s vault')
    .requiredOption('--relay <key>', 'the service’s key')
    .requiredOption('--treasury <key>', 'takes out what is kept')
    .option(
      '--reclaim-days <n>',
      'after which payers take back what nobody decided, 1 to 30, for ever',
      '7',
    )
    .action(solanaAction('initializeRegistrarProgram'))
  addKeypairOptions(solana.command('authorities'))
    .description('name another relay or treasury authority; signed by the admin authority')
    .option('--relay <key>', 'default: as it is')
    .option('--treasury <key>', 'default: as it is')
    .action(solanaAction('changeRegistrarAuthorities'))
  addKeypairOptions(solana.command('propose-admin <key>'))
    .description('propose another admin authority; signed by the present one')
    .action(solanaAction('proposeAdminCommand'))
  addKeypairOptions(solana.command('accept-admin'))
    .description('become the admin authority; signed by who was proposed')
    .action(solanaAction('acceptAdminCommand'))
  addKeypairOptions(solana.command('withdraw <lamports>'))
    .description('take out lamports that are kept; signed by the treasury authority')
    .requiredOption('--to <key>', 'who gets them')
    .action(solanaAction('withdrawTreasuryCommand'))
}

const addSolanaNetworkOptions = (command: Command): Command =>
  addNetworkOptions(command, 'default: mainnet')

const addPriceOption = (command: Command): Command =>
  command.option(
    '--unit-price <n>',
    'paid for a compute unit, millionths of a lamport',
    createWholeNumberParser('--unit-price', { max: 999_999_999 }),
    0,
  )

/** Options of commands whose transaction an authority signs. Without the authority's key the transaction is printed. */
const addKeypairOptions = (command: Command): Command =>
  addSolanaNetworkOptions(addPriceOption(command))
    .option(
      '--keypair <file>',
      'sign with this key (a file of solana-keygen) and send; else print it unsigned, in base64',
    )
    .option('--base58', 'print it in base58, as Squads imports it')
    .option('--yes', 'do not ask before sending')
