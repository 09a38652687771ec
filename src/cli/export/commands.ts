import type { Command } from 'commander'
import { lazily } from '../lazily.js'
import { JSON_OPTION } from '../output.js'
import { withNetwork } from '../values.js'

const exporting = lazily(() => import('./export.js'))
const importing = lazily(() => import('./import.js'))

const KEY_FILE = ['--key-file <file>', 'file with the key, 32 bytes in hex (`openssl rand -hex 32`)'] as const

/** `clusterd export` and `clusterd import`: a registry as a file. */
export function addExportCommands(program: Command): void {
  withNetwork(program.command('export'), 'default: both')
    .description('write the registry to a file: the journal, and what is in no chain; the daemon may run')
    .requiredOption('--out <file>', 'the file, which only its owner may read')
    .option(...KEY_FILE)
    .option('--plaintext', 'write private wallets, sessions and keys in the clear')
    .option('--public', 'leave out what is private, for anybody to read')
    .option('--resume', 'go on with an export that was cut')
    .option(...JSON_OPTION)
    .action(exporting('exportJournal'))
  program
    .command('import <file>')
    .description('make an empty database the registry of an export, and compare the state hashes')
    .option(...KEY_FILE)
    .option('--check', 'check the file only')
    .option(...JSON_OPTION)
    .action(importing('importJournal'))
}
