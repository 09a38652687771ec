import type { Command } from 'commander'

/** The local world’s commands, which a deployment’s file would lead to its database, and the one that writes it. */
const WITHOUT_FILE = ['dev', 'demo', 'init']

/** Before a command: takes variables that are not set yet from the file `.env` of the current folder. */
export async function loadEnvFileFor(command: Command): Promise<void> {
  let outermost = command
  while (outermost.parent?.parent) outermost = outermost.parent
  if (!WITHOUT_FILE.includes(outermost.name())) (await import('../config/index.js')).loadEnvFile()
}
