#!/usr/bin/env node
import { Command } from 'commander'
import { addAirdropCommands } from './cli/airdrop/commands.js'
import { addCommunityCommands } from './cli/community/commands.js'
import type { ListOptions } from './cli/deliveries.js'
import type { RefundOptions } from './cli/refunds.js'
import type { RewindCommand } from './cli/rewind.js'
import { ConfigError } from './config/index.js'

/** The command line. Each command is loaded when it is asked for: a production start never loads the local world. */
const program = new Command('clusterd')
  .description('Self-hosted service behind wallet bundles and names.')
  .showHelpAfterError()

program
  .command('dev')
  .description(
    'run a whole local world: PostgreSQL, chains, contracts, daemon (data in CLUSTERD_HOME, default ./.clusterd)',
  )
  .action(async () => (await import('./cli/dev.js')).dev())

program
  .command('start')
  .description('run the daemon on the chains file CLUSTERD_CHAINS and the database DATABASE_URL')
  .action(async () => (await import('./cli/start.js')).start())

program
  .command('migrate')
  .description('bring the database of DATABASE_URL, or of the local world, to this version')
  .action(async () => (await import('./cli/migrate.js')).migrateDatabase())

program
  .command('demo')
  .description(
    'register names in the local world as a wallet would, on every kind of chain and below communities, and look them up (starts a world if none runs)',
  )
  .option('--name <name>', 'the name to register; default: a fresh one')
  .option('--network <label>', 'the chain to register from; default: the hub, then the first spoke')
  .option('--communities', 'only names below communities')
  .option('--testnet', 'use the testnet')
  .action(async (options: { name?: string; network?: string; communities?: boolean; testnet?: boolean }) =>
    (await import('./cli/demo/demo.js')).demo(options),
  )

program
  .command('replay')
  .description('rebuild the tables from the journal beside the live ones and compare their state hashes')
  .action(async () => (await import('./cli/replay.js')).replayAll())

program
  .command('rewind')
  .description(
    'leave out a chain’s blocks from one on, after a reorg below the confirmation policy: shows what would change; with --yes starts a new generation',
  )
  .requiredOption('--chain <label>', 'the chain, by its network label')
  .option('--network <network>', 'mainnet or testnet, to be sure')
  .option('--block <n>', 'the first block to leave out; default: after the newest that the chain still has')
  .option('--yes', 'do it')
  .option('--json', 'as JSON')
  .action(async (options: RewindCommand) => (await import('./cli/rewind.js')).rewindChain(options))

const deliveries = program.command('deliveries').description('look at what the relayer does, and lend it a hand')
deliveries
  .command('list')
  .description('deliveries that have not ended, newest first')
  .option('--state <state>', 'only those in a state: queued, signed, sent, included, confirmed, parked')
  .option('--all', 'those that have ended too')
  .option('--testnet', 'of the testnet only')
  .option('--mainnet', 'of the mainnet only')
  .option('--limit <n>', 'at most this many', '50')
  .option('--json', 'as JSON')
  .action(async (options: ListOptions) => (await import('./cli/deliveries.js')).list(options))
deliveries
  .command('show <id>')
  .description('everything about one')
  .option('--json', 'as JSON')
  .action(async (id: string, options: { json?: boolean }) => (await import('./cli/deliveries.js')).show(id, options))
for (const [verb, description] of [
  ['retry', 'take it up at once, as if nothing had failed or been spent'],
  ['park', 'set it aside; a nonce that it holds is used up by a cancel'],
  ['resume', 'take a parked one up again'],
] as const) {
  deliveries
    .command(`${verb} <id>`)
    .description(description)
    .option('--json', 'as JSON')
    .action(async (id: string, options: { json?: boolean }) =>
      (await import('./cli/deliveries.js')).change(verb, id, options),
    )
}

const refunds = program.command('refunds').description('what is owed back to payers on Solana')
refunds
  .command('list', { isDefault: true })
  .description('refunds that are owed, and payments of communities that are being given back, oldest first')
  .option('--all', 'those that were paid too')
  .option('--testnet', 'of the testnet only')
  .option('--mainnet', 'of the mainnet only')
  .option('--json', 'as JSON')
  .action(async (options: RefundOptions) => (await import('./cli/refunds.js')).list(options))
refunds
  .command('send [ids...]')
  .description('have the relayer pay back refunds, by their ids or the beginnings of these')
  .option('--all', 'all that are owed')
  .option('--testnet', 'of the testnet only')
  .option('--mainnet', 'of the mainnet only')
  .option('--json', 'as JSON')
  .action(async (ids: string[], options: RefundOptions) => (await import('./cli/refunds.js')).send(ids, options))

addCommunityCommands(program)
addAirdropCommands(program)

try {
  await program.parseAsync()
} catch (error) {
  const isOurs = error instanceof ConfigError || error instanceof Error
  console.error(`clusterd: ${isOurs ? (error as Error).message : String(error)}`)
  process.exit(1)
}
