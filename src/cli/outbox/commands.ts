import { type Command, Option } from 'commander'
import { JOB_STATE } from '../../registry/outbox.js'
import { createLazyCommandActions } from '../lazily.js'
import { JSON_OPTION } from '../output.js'
import { addNetworkOptions, createEvmAddressParser, createWholeNumberParser } from '../values.js'

const outboxAction = createLazyCommandActions(() => import('./outbox.js'))

export function addOutboxCommands(program: Command): void {
  const outbox = program.command('outbox').description('inspect and control the relayer’s jobs')
  addOutboxNetworkOptions(outbox.command('list'))
    .description('jobs that have not ended, newest first')
    .addOption(
      new Option('--state <state>', 'only jobs in a state').choices(Object.keys(JOB_STATE)),
    )
    .option('--all', 'ended ones too')
    .option(
      '--limit <n>',
      'at most this many jobs',
      createWholeNumberParser('--limit', { min: 1, max: 10_000 }),
      50,
    )
    .option(...JSON_OPTION)
    .action(outboxAction('printJobs'))
  outbox
    .command('show <id>')
    .description('everything about one job')
    .option(...JSON_OPTION)
    .action(outboxAction('showJob'))
  for (const [verb, description] of [
    ['retry', 'attempt a job at once, as if nothing had failed or been spent'],
    ['park', 'set a job aside; a nonce that it holds is used up by a cancel'],
    ['resume', 'take a parked job up again'],
  ] as const)
    outbox
      .command(`${verb} <id>`)
      .description(description)
      .option(...JSON_OPTION)
      .action(outboxAction('executeJobAction', verb))
  addOutboxNetworkOptions(outbox.command('nonce [chain] [next]'))
    .description("signers' next nonces; with a chain's label and a number, sets that signer's")
    .option(
      '--signer <address>',
      'where several keys have signed on the chain',
      createEvmAddressParser('--signer'),
    )
    .option(...JSON_OPTION)
    .action(outboxAction('showOrSetNonce'))
}

const addOutboxNetworkOptions = (command: Command): Command =>
  addNetworkOptions(command, 'default: both')
