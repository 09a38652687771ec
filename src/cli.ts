#!/usr/bin/env node
import { Command } from 'commander'
import { VERSION } from './api/http/version.js'
import { addAirdropCommands } from './cli/airdrop/commands.js'
import { addCommunityCommands } from './cli/community/commands.js'
import { addContractCommands } from './cli/contracts/commands.js'
import type { DemoOptions } from './cli/demo/demo.js'
import { loadEnvFileFor } from './cli/envFile.js'
import type { ExportCommand } from './cli/export.js'
import { addFundsCommands } from './cli/funds/commands.js'
import { addInitCommand } from './cli/init/commands.js'
import { addKeyCommands } from './cli/keys/commands.js'
import type { McpOptions } from './cli/mcp/mcp.js'
import { addOutboxCommands } from './cli/outbox/commands.js'
import { messageOf } from './cli/output.js'
import type { RestoredCommand } from './cli/restored.js'
import type { RewindCommand } from './cli/rewind.js'
import { addSolanaCommands } from './cli/solana/commands.js'
import type { StartOptions } from './cli/start.js'
import { type NetworkOptions, withNetwork } from './cli/values.js'
import { addWebhookCommands } from './cli/webhooks/commands.js'

/** The command line. Each command is loaded when it is asked for: a production start never loads the local world. */
const program = new Command('clusterd')
  .description('Self-hosted service behind wallet bundles and names.')
  .version(VERSION)
  .showHelpAfterError()
  .hook('preAction', (_, command) => loadEnvFileFor(command))

program
  .command('dev')
  .description(
    'run a whole local world: PostgreSQL, chains, contracts, daemon (data in CLUSTERD_HOME, default ./.clusterd)',
  )
  .option('--limits', 'limit what clients may ask, as `start` does')
  .action(async (options: { limits?: boolean }) => (await import('./cli/dev.js')).dev(options))

program
  .command('start')
  .description('run the daemon on the chains file CLUSTERD_CHAINS and the database DATABASE_URL')
  .option('--roles <roles>', 'what this process may do, joined by commas: api, index, relay (default: all)')
  .option('--watch', 'without the relayer’s keys lead the outbox all the same, to raise alarms')
  .option('--no-migrate', 'apply no migrations: wait until `clusterd migrate` has')
  .action(async (options: StartOptions) => (await import('./cli/start.js')).start(options))

program
  .command('doctor')
  .description(
    'check all that `start` needs: configuration, database, nodes, contracts, keys, money, ports; what to do',
  )
  .option('--json', 'as JSON')
  .action(async (options: { json?: boolean }) => (await import('./cli/doctor/doctor.js')).doctor(options))

program
  .command('migrate')
  .description('bring the database of DATABASE_URL, or of the local world, to this version')
  .option('--check', 'name the migrations that are missing, and apply none')
  .action(async (options) => (await import('./cli/migrate.js')).migrateDatabase(options))

program
  .command('demo')
  .description(
    'register names in the local world as a wallet would, on every kind of chain and below communities, and look them up (starts a world if none runs)',
  )
  .option('--name <name>', 'the name to register; default: a fresh one')
  .option(
    '--chain <label>',
    'the chain to register from; default: the hub, the first spoke and Solana; with --name the hub',
  )
  .option('--network <label>', 'the same as --chain')
  .option('--communities', 'only names below communities')
  .option('--testnet', 'use the testnet')
  .action(async (options: DemoOptions) => (await import('./cli/demo/demo.js')).demo(options))

withNetwork(program.command('replay'), 'default: both', { takesBoth: true })
  .description('rebuild the tables from the journal beside the live ones and compare their state hashes')
  .action(async (options: NetworkOptions) => (await import('./cli/replay.js')).replayAll(options))

program
  .command('verify')
  .description('read the hubs’ logs again from their nodes, and compare them with the journal')
  .option('--json', 'as JSON')
  .action(async (options: { json?: boolean }) => (await import('./cli/verify.js')).verifyJournal(options))

withNetwork(program.command('rewind'), 'to be sure')
  .description(
    'leave out a chain’s blocks from one on, after a reorg below the confirmation policy: shows what would change; with --block and --yes starts a new generation',
  )
  .requiredOption('--chain <label>', 'the chain, by its network label')
  .option('--block <n>', 'the first block to leave out; shown by default: after the newest that the chain still has')
  .option('--yes', 'do it')
  .option('--json', 'as JSON')
  .action(async (options: RewindCommand) => (await import('./cli/rewind.js')).rewindChain(options))

program
  .command('unhalt')
  .description('let a chain go on that was halted over a block which its nodes show again')
  .requiredOption('--chain <label>', 'the chain, by its network label')
  .action(async (options: { chain: string }) => (await import('./cli/rewind.js')).unhalt(options))

program
  .command('restored')
  .description(
    'after a restored backup or the take-over of a standby that lacked commits: shows what begins anew; with --yes readers of the feed, leaders and jobs do',
  )
  .option('--yes', 'do it')
  .option('--json', 'as JSON')
  .action(async (options: RestoredCommand) => (await import('./cli/restored.js')).restored(options))

program
  .command('mcp')
  .description('tools for agents (Model Context Protocol) that ask a deployment: look-ups, quotes, statuses, the feed')
  .option('--url <url>', 'the deployment', 'http://127.0.0.1:3000')
  .option('--http <port>', 'streamable HTTP on this port of loopback; default: stdio')
  .action(async (options: McpOptions) => (await import('./cli/mcp/mcp.js')).mcp(options))

withNetwork(program.command('export'), 'default: both')
  .description('write the public feed to a file, JSON lines packed by gzip: a copy for anybody')
  .requiredOption('--out <file>', 'the file, which must not exist')
  .option('--json', 'what was written, as JSON')
  .action(async (options: ExportCommand) => (await import('./cli/export.js')).exportFeed(options))

addInitCommand(program)
addOutboxCommands(program)
addKeyCommands(program)
addCommunityCommands(program)
addAirdropCommands(program)
addContractCommands(program)
addFundsCommands(program)
addSolanaCommands(program)
addWebhookCommands(program)

// who reads no further, as `head`, ends a command; a disk that is full is told
process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => {
  if (code !== 'EPIPE') console.error(`clusterd: the output can not be written (${code}).`)
  process.exit(code === 'EPIPE' ? 0 : 1)
})

try {
  await program.parseAsync()
} catch (error) {
  console.error(`clusterd: ${messageOf(error)}`)
  process.exit(1)
}
