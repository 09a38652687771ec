import type { Command } from 'commander'
import { lazily } from '../lazily.js'
import { JSON_OPTION } from '../output.js'
import { withSigning } from '../signing/options.js'
import { withNetwork } from '../values.js'

const EXAMPLES = `
Examples:
  clusterd contracts plan
  clusterd contracts deploy --keystore deployer.json --password-file deployer.txt --dry-run
  clusterd contracts deploy --keystore deployer.json --password-file deployer.txt
  clusterd contracts configure --unsigned safe --out batches
  clusterd contracts status

The chains file (CLUSTERD_CHAINS) says under \`deployment\` and \`bridge\` what is wished; docs/deploying.md goes through it.`

const run = lazily(() => import('./contracts.js'))
const runVerify = lazily(() => import('./verify.js'))

/** `clusterd contracts …`: from a chains file to contracts on its chains, and the comparison of both. */
export function addContractCommands(program: Command): void {
  const contracts = program
    .command('contracts')
    .description('deploy and configure hub, spokes and payments on EVM chains; compare them with the chains file')
    .addHelpText('after', EXAMPLES)
  onNetwork(contracts.command('plan').description('what would be sent, and by whom it has to be signed'))
    .option(...JSON_OPTION)
    .action(run('plan'))
  withSigning(
    onNetwork(contracts.command('deploy').description('deploy what is missing, and write the chains file')),
  ).action(run('deploy'))
  withSigning(
    onNetwork(contracts.command('configure').description('set libraries, verifiers, executor and roles; peers last')),
  ).action(run('configure'))
  onNetwork(contracts.command('status').description('compare chains and wishes; code 1 where they differ'))
    .option(...JSON_OPTION)
    .action(run('status'))
  onNetwork(contracts.command('verify').description('compare the code on the chains with ours, byte for byte'))
    .option(...JSON_OPTION)
    .action(runVerify('verify'))
}

const onNetwork = (command: Command): Command =>
  withNetwork(command, 'default: the network that the chains file deploys')
