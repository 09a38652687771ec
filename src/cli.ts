#!/usr/bin/env node
import { Command } from 'commander'
import { ConfigError } from './config.js'

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
    'register names in the local world as a wallet would, on the hub and over the bridge, and look them up (starts a world if none runs)',
  )
  .option('--name <name>', 'the name to register; default: a fresh one')
  .option('--network <label>', 'the chain to register from; default: the hub, then the first spoke')
  .option('--testnet', 'use the testnet')
  .action(async (options: { name?: string; network?: string; testnet?: boolean }) =>
    (await import('./cli/demo.js')).demo(options),
  )

program
  .command('replay')
  .description('rebuild the tables from the journal beside the live ones and compare their state hashes')
  .action(async () => (await import('./cli/replay.js')).replayAll())

try {
  await program.parseAsync()
} catch (error) {
  const isOurs = error instanceof ConfigError || error instanceof Error
  console.error(`clusterd: ${isOurs ? (error as Error).message : String(error)}`)
  process.exit(1)
}
