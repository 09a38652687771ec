import type { Command } from 'commander'
import { createLazyCommandActions } from '../lazily.js'
import { JSON_OPTION } from '../output.js'
import {
  addNetworkOptions,
  addSigningOptions,
  createBlockNumberParser,
  createEvmAddressParser,
  createUnixSecondsParser,
} from '../values.js'

const AIRDROP_EXAMPLES = `
Examples:
  clusterd airdrop load drop.csv --community alice --chain 8453
  clusterd airdrop show alice --token 0x… --ends-at 2027-06-30 --owner 0x…
  clusterd airdrop deploy alice --token 0x… --ends-at 2027-06-30 --owner 0x… --fund --keystore key.json --password-file key.txt
  clusterd airdrop set alice --distributor 0x… --from-block 31000000
  clusterd airdrop show alice --json

A file is CSV, or that compressed (.gz): a row is address,amount. Addresses are of all kinds, mixed; amounts
are base units of the token. One bad line, and nothing is loaded. An airdrop has at most 500,000 accounts.`

const AIRDROP_LOAD_EXAMPLES = `
Examples:
  clusterd airdrop load drop.csv --community alice --chain 8453
  clusterd airdrop load drop.csv.gz --community alice --chain 8453 --replace

drop.csv:
  address,amount
  0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266,1000000000000000000
  EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v,2500000000000000000`

const airdropAction = createLazyCommandActions(() => import('./airdrop.js'))
const deployAction = createLazyCommandActions(() => import('./deploy.js'))

export function addAirdropCommands(program: Command): void {
  const airdrop = program
    .command('airdrop')
    .description('load an airdrop, deploy its distributor, see its claims')
    .addHelpText('after', AIRDROP_EXAMPLES)
  addNetworkOptions(airdrop.command('load <file>'), 'to be sure')
    .description('load a file of addresses and amounts; the same file again does nothing')
    .requiredOption('--community <name>', 'the community that gives it out')
    .requiredOption('--chain <label>', 'the EVM chain that it is paid on, by its network label')
    .option('--replace', 'put it in the place of another file that nobody has claimed from')
    .option(...JSON_OPTION)
    .addHelpText('after', AIRDROP_LOAD_EXAMPLES)
    .action(airdropAction('loadAirdropFile'))
  addNetworkOfAirdropOptions(airdrop.command('set <community>'))
    .description('name the distributor of a loaded airdrop once it is deployed')
    .requiredOption(
      '--distributor <address>',
      'the contract that pays it: asked on its chain for root, token and end',
      createEvmAddressParser('--distributor'),
    )
    .option(
      '--from-block <n>',
      'the block of its deployment; default: where the chain’s indexing begins',
      createBlockNumberParser('--from-block'),
    )
    .option(...JSON_OPTION)
    .action(airdropAction('setDistributorCommand'))
  addNetworkOptions(airdrop.command('list'), 'default: both')
    .description('all airdrops')
    .option(...JSON_OPTION)
    .action(airdropAction('printAirdrops'))
  addDistributorTermsOptions(airdrop.command('show <community>'))
    .description('everything about one, and what a distributor of it is constructed with')
    .option(
      '--owner <address>',
      'who may take back what is left then',
      createEvmAddressParser('--owner'),
    )
    .option(...JSON_OPTION)
    .action(airdropAction('showAirdrop'))
  addSigningOptions(
    addDistributorTermsOptions(airdrop.command('deploy <community>'))
      .description(
        'deploy the distributor of a loaded airdrop, and record it; --fund sends it what it gives out',
      )
      .requiredOption(
        '--owner <address>',
        'who may take back what is left at the end',
        createEvmAddressParser('--owner'),
      )
      .option(
        '--fund',
        'send it the whole total, from the account that signs, if it has nothing yet',
      ),
  ).action(deployAction('deployDistributor'))
  addNetworkOfAirdropOptions(airdrop.command('remove <community>'))
    .description('show what is removed; with --yes remove it')
    .option('--yes', 'do it')
    .option(...JSON_OPTION)
    .action(airdropAction('removeAirdropCommand'))
}

const addNetworkOfAirdropOptions = (command: Command): Command =>
  addNetworkOptions(command, 'default: the one that has it')

const addDistributorTermsOptions = (command: Command): Command =>
  addNetworkOfAirdropOptions(command)
    .option('--token <address>', 'the token that it pays', createEvmAddressParser('--token'))
    .option(
      '--ends-at <date>',
      'from when on no claim is taken: a date, or Unix seconds',
      createUnixSecondsParser('--ends-at'),
    )
