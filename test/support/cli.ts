import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { programCommand } from '../../src/testing/processes/programs.js'

/** Runs a command of `clusterd`. @returns its output @throws Error with it where the command fails */
export async function runCli(args: readonly string[], env: NodeJS.ProcessEnv, cwd?: string): Promise<string> {
  const { command, args: cli } = await programCommand('cli')
  const { stdout } = await promisify(execFile)(command, [...cli, ...args], { env: { ...process.env, ...env }, cwd })
  return stdout
}
