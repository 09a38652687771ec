import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { Command } from 'commander'
import { vi } from 'vitest'
import { errorMessageOf } from '../../src/cli/output.js'
import { programCommand } from '../../src/testing/processes/programs.js'

/** Runs a command of `clusterd`. @returns its output @throws Error with it where the command fails */
export async function runCli(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  cwd?: string,
): Promise<string> {
  const { command, args: cli } = await programCommand('cli')
  const { stdout } = await promisify(execFile)(command, [...cli, ...args], {
    env: { ...process.env, ...env },
    cwd,
  })
  return stdout
}

/** Runs what a command does in this process, which starts sooner. @returns what it prints */
export async function printed(
  env: NodeJS.ProcessEnv,
  command: () => Promise<unknown>,
): Promise<string> {
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value)
  process.exitCode = undefined
  const lines: string[] = []
  const log = vi.spyOn(console, 'log').mockImplementation((text) => void lines.push(`${text}\n`))
  try {
    await command()
    return lines.join('')
  } finally {
    log.mockRestore()
    vi.unstubAllEnvs()
    process.exitCode = undefined
  }
}

/** Runs a command in this process, and ends as `src/cli.ts` does. @param add its commands @returns output and code */
export async function runHere(
  add: (program: Command) => void,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
) {
  const lines: string[] = []
  const error = vi
    .spyOn(console, 'error')
    .mockImplementation((text) => void lines.push(`${text}\n`))
  const program = new Command('clusterd')
    .exitOverride()
    .configureOutput({ writeErr: (text) => void lines.push(text) })
  add(program)
  let code = 0
  const { argv } = process
  process.argv = ['node', 'clusterd', ...args]
  const stdout = await printed(env, async () => {
    try {
      await program.parseAsync(args, { from: 'user' })
      code = Number(process.exitCode ?? 0)
    } catch (thrown) {
      code = 1
      lines.push(`clusterd: ${errorMessageOf(thrown)}\n`)
    }
  }).finally(() => {
    process.argv = argv
    error.mockRestore()
  })
  return { stdout, stderr: lines.join(''), code }
}
