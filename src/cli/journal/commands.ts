import type { Command } from 'commander'
import { createLazyCommandActions } from '../lazily.js'
import { JSON_OPTION } from '../output.js'
import { addNetworkOptions, createBlockNumberParser, createWholeNumberParser } from '../values.js'

const replayAction = createLazyCommandActions(() => import('./replay.js'))
const verifyAction = createLazyCommandActions(() => import('./verify.js'))
const rewindAction = createLazyCommandActions(() => import('./rewind.js'))
const restoredAction = createLazyCommandActions(() => import('./restored.js'))
const exportAction = createLazyCommandActions(() => import('./export.js'))
const listAction = createLazyCommandActions(() => import('./actions.js'))

export function addJournalCommands(program: Command): void {
  const journal = program
    .command('journal')
    .description(
      'replay, verify, rewind or export the record of all entries; list what operators ran',
    )
  addNetworkOptions(journal.command('replay'), 'default: both')
    .description('rebuild the tables beside the live ones and compare their state hashes')
    .action(replayAction('replayJournals'))
  journal
    .command('verify')
    .description('compare the hubs’ stored running hashes with those that the contracts keep')
    .option(...JSON_OPTION)
    .action(verifyAction('verifyJournal'))
  addNetworkOptions(journal.command('rewind'), 'to be sure')
    .description(
      'leave out a chain’s blocks from one on, after a reorg below the confirmation policy: shows the changes; with --block and --yes starts a new generation',
    )
    .requiredOption('--chain <label>', 'the chain, by its network label')
    .option(
      '--block <n>',
      'the first block to leave out; shown by default: after the newest that the chain still has',
      createBlockNumberParser('--block'),
    )
    .option('--yes', 'do it')
    .option(...JSON_OPTION)
    .action(rewindAction('rewindChain'))
  journal
    .command('unhalt')
    .description('let a chain go on that was halted over a block which its nodes show again')
    .requiredOption('--chain <label>', 'the chain, by its network label')
    .action(rewindAction('unhaltChainCommand'))
  journal
    .command('restored')
    .description(
      'after a restored backup or the take-over of a standby that lacked commits: shows what begins anew; with --yes readers of the feed, leaders and jobs do',
    )
    .option('--yes', 'do it')
    .option(...JSON_OPTION)
    .action(restoredAction('restartFeedsAfterRestore'))
  addNetworkOptions(journal.command('export'), 'default: both')
    .description(
      'write the signed log as files that any web server can serve at /v1/log, for mirrors',
    )
    .requiredOption('--out <folder>', 'the folder; what an earlier export wrote there is kept')
    .option(...JSON_OPTION)
    .action(exportAction('exportTransparencyLog'))
  journal
    .command('actions')
    .description(
      'commands that were run on the database, newest first: who, when and what came of it',
    )
    .option(
      '--limit <n>',
      'at most this many commands',
      createWholeNumberParser('--limit', { min: 1, max: 10_000 }),
      50,
    )
    .option(...JSON_OPTION)
    .action(listAction('printRecordedCommands'))
}
