import { type Command, Option } from 'commander'
import { createLazyCommandActions } from '../lazily.js'
import { JSON_OPTION } from '../output.js'
import { addNetworkOptions, addSigningOptions } from '../values.js'

const CONTRACT_EXAMPLES = `
Examples:
  clusterd contracts deploy --write --keystore deployer.json --password-file deployer.txt
  clusterd contracts deploy --unsigned
  clusterd contracts status
  clusterd contracts deploy --ens bundles.eth --keystore owner.json --password-file owner.txt

The chains file (CLUSTERD_CHAINS) says under \`deployment\` and \`bridge\` what is desired; docs/run/deploying.md goes through it.`

const contractsAction = createLazyCommandActions(() => import('./contracts.js'))

export function addContractCommands(program: Command): void {
  const contracts = program
    .command('contracts')
    .description(
      'hub, spokes, payments and the resolver of an ENS name on EVM chains: deploy, set up, compare',
    )
    .addHelpText('after', CONTRACT_EXAMPLES)
  addContractOptions(contracts.command('status'))
    .description(
      'compare the chains, code included, with the file; show the contracts’ money; code 1 for a difference',
    )
    .option(...JSON_OPTION)
    .action(contractsAction('showContractStatus'))
  addSigningOptions(addContractOptions(contracts.command('deploy')))
    .description(
      'deploy the missing contracts and set libraries, verifiers, executor and roles; peers last',
    )
    .addOption(
      new Option('--write', 'put the addresses into the chains file').conflicts([
        'unsigned',
        'ens',
      ]),
    )
    .action(contractsAction('deployContracts'))
}

const ENS_OPTION = [
  '--ens <name>',
  'instead: the resolver of this ENS name of the chains file (docs/use/ens.md)',
] as const
const addContractOptions = (command: Command): Command =>
  addNetworkOptions(
    command.option(...ENS_OPTION),
    'default: the network that the chains file deploys',
  )
