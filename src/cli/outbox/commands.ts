import type { Command } from 'commander'
import type { ListOptions } from './jobs.js'
import type { SendOptions } from './refunds.js'

/** `clusterd outbox …`: what the relayer has to send. */
export function addOutboxCommands(program: Command): void {
  const outbox = program.command('outbox').description('inspect and control what the relayer sends')
  outbox
    .command('list', { isDefault: true })
    .description('jobs that have not ended, newest first')
    .option('--refunds', 'refunds on Solana instead, owed or under way, oldest first')
    .option('--state <state>', 'only jobs in a state: queued, signed, sent, included, confirmed, parked')
    .option('--all', 'ended ones too')
    .option('--testnet', 'of the testnet only')
    .option('--mainnet', 'of the mainnet only')
    .option('--limit <n>', 'at most this many jobs', '50')
    .option('--json', 'as JSON')
    .action(async (options: ListOptions & { refunds?: boolean }) => {
      if (options.refunds) await (await import('./refunds.js')).list(options)
      else await (await import('./jobs.js')).list(options)
    })
  outbox
    .command('show <id>')
    .description('everything about one job')
    .option('--json', 'as JSON')
    .action(async (id: string, options: { json?: boolean }) => (await import('./jobs.js')).show(id, options))
  for (const [verb, description] of [
    ['retry', 'attempt a job at once, as if nothing had failed or been spent'],
    ['park', 'set a job aside; a nonce that it holds is used up by a cancel'],
    ['resume', 'take a parked job up again'],
  ] as const) {
    outbox
      .command(`${verb} <id>`)
      .description(description)
      .option('--json', 'as JSON')
      .action(async (id: string, options: { json?: boolean }) => (await import('./jobs.js')).change(verb, id, options))
  }
  outbox
    .command('send [ids...]')
    .description('have the relayer pay back owed refunds, by payment ids or the beginnings of these')
    .option('--all', 'all that are owed')
    .option('--testnet', 'of the testnet only')
    .option('--mainnet', 'of the mainnet only')
    .option('--json', 'as JSON')
    .action(async (ids: string[], options: SendOptions) => (await import('./refunds.js')).send(ids, options))
}
