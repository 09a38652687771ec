#!/usr/bin/env node
import { Command } from 'commander'
import { addAirdropCommands } from './cli/airdrop/commands.js'
import { addBackupCommands } from './cli/backup/commands.js'
import { CHAIN_FAMILY_COMMANDS } from './cli/families.js'
import { addInitCommand } from './cli/init/commands.js'
import { addJournalCommands } from './cli/journal/commands.js'
import { addKeyCommands } from './cli/keys/commands.js'
import { createLazyCommandActions } from './cli/lazily.js'
import { addFeedLogCommands } from './cli/log/commands.js'
import { addOutboxCommands } from './cli/outbox/commands.js'
import { errorMessageOf } from './cli/output.js'
import { addNetworkOptions } from './cli/values.js'
import { addVerifyCommands } from './cli/verify/commands.js'
import { addWebhookCommands } from './cli/webhooks/commands.js'
import './ops/connectAttemptTimeout.js'
import { SERVICE_VERSION } from './ops/version.js'

/** Commands that read no `.env`: `dev` and `rehearse` run chains of their own, and `init` writes the file. */
const COMMANDS_WITHOUT_ENV_FILE = ['dev', 'rehearse', 'init']

/** Sets variables from the `.env` files (`loadEnvFile`), unless the command is one of `COMMANDS_WITHOUT_ENV_FILE`. */
async function loadEnvFileFor(command: Command): Promise<void> {
  let outermost = command
  while (outermost.parent?.parent) outermost = outermost.parent
  if (!COMMANDS_WITHOUT_ENV_FILE.includes(outermost.name()))
    (await import('./config/index.js')).loadEnvFile()
}

const startAction = createLazyCommandActions(() => import('./cli/start.js'))

/** The command line. A command's action is loaded when the command runs, so `start` never loads the local world. */
const program = new Command('clusterd')
  .description('Self-hosted service behind wallet bundles and names.')
  .version(SERVICE_VERSION)
  .showHelpAfterError()
  .hook('preAction', (_, command) => loadEnvFileFor(command))

program
  .command('dev')
  .description(
    'run a whole local world: PostgreSQL, chains, contracts, daemon (data in CLUSTERD_HOME)',
  )
  .option('--limits', 'limit what clients may ask, as `start` does')
  .action(createLazyCommandActions(() => import('./cli/dev.js'))('runDevCommand'))

program
  .command('rehearse')
  .description('run chains with LayerZero, and a database, to rehearse a deployment offline')
  .option('--fund <addresses...>', 'instead: give accounts coins on the chains that run')
  .action(async (options: { fund?: readonly string[] }) =>
    (await import('./cli/rehearse.js')).runRehearseCommand(options),
  )

program
  .command('start')
  .description('run the daemon on the chains file CLUSTERD_CHAINS and DATABASE_URL')
  .option(
    '--roles <roles>',
    'what this process may do, joined by commas: api, index, relay (default: all)',
  )
  .option('--watch', 'without the relayer’s keys lead the outbox all the same, to raise alarms')
  .option('--no-migrate', 'apply no migrations: wait until `clusterd migrate` has')
  .action(startAction('runStartCommand'))

program
  .command('doctor')
  .description('check all that `start` needs, and say what to do')
  .option('--json', 'as JSON')
  .action(createLazyCommandActions(() => import('./cli/doctor/doctor.js'))('runDoctorCommand'))

program
  .command('migrate')
  .description('bring the database to this version')
  .option('--check', 'name the migrations that are missing, and apply none')
  .action(createLazyCommandActions(() => import('./cli/migrate.js'))('migrateDatabase'))

addNetworkOptions(program.command('mirror'), 'default: both, testnet where the source has one')
  .description('copy another service’s signed log into DATABASE_URL, follow it, and serve it')
  .argument(
    '[url]',
    'address of the service, or folder that `clusterd journal export` wrote (default: MIRROR_URL)',
  )
  .option('--key <key>', 'public key of its logs, base64, from elsewhere (default: MIRROR_KEY)')
  .option('--domain <domain>', 'domain that the names of its logs begin with (MIRROR_DOMAIN)')
  .option('--accept <log>', 'copy this log though it does not continue the copy (MIRROR_ACCEPT)')
  .option('--witness <name>', 'sign its checkpoints by LOG_KEY as this witness (MIRROR_WITNESS)')
  .option('--no-migrate', 'apply no migrations: wait until `clusterd migrate` has')
  .action(startAction('runMirrorCommand'))

program
  .command('mcp')
  .description('tools for agents (Model Context Protocol) that ask a deployment')
  .option('--url <url>', 'the deployment', 'http://127.0.0.1:3000')
  .action(createLazyCommandActions(() => import('./cli/mcp.js'))('serveMcp'))

addInitCommand(program)
addJournalCommands(program)
addBackupCommands(program)
addFeedLogCommands(program)
addVerifyCommands(program)
addOutboxCommands(program)
addKeyCommands(program)
addAirdropCommands(program)
for (const { add } of Object.values(CHAIN_FAMILY_COMMANDS)) add(program)
addWebhookCommands(program)

// if a reader such as `head` closes the pipe, the command ends without an error; a full disk is reported
process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => {
  if (code !== 'EPIPE') console.error(`clusterd: the output can not be written (${code}).`)
  process.exit(code === 'EPIPE' ? 0 : 1)
})

try {
  await program.parseAsync()
} catch (error) {
  console.error(`clusterd: ${errorMessageOf(error)}`)
  process.exit(1)
}
