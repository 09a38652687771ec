import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { Command } from 'commander'
import { vi } from 'vitest'
import { messageOf } from '../../src/cli/output.js'
import { programCommand } from '../../src/testing/processes/programs.js'

/** Runs a command of `clusterd`. @returns its output @throws Error with it where the command fails */
export async function runCli(args: readonly string[], env: NodeJS.ProcessEnv, cwd?: string): Promise<string> {
  const { command, args: cli } = await programCommand('cli')
  const { stdout } = await promisify(execFile)(command, [...cli, ...args], { env: { ...process.env, ...env }, cwd })
  return stdout
}

/** Runs a command in this process, as `src/cli.ts` does. @param add its commands @returns what it prints, its code */
export async function runHere(add: (program: Command) => void, args: readonly string[], env: NodeJS.ProcessEnv) {
  const [out, err]: string[][] = [[], []]
  const log = vi.spyOn(console, 'log').mockImplementation((text) => void out!.push(`${text}\n`))
  const error = vi.spyOn(console, 'error').mockImplementation((text) => void err!.push(`${text}\n`))
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value)
  const program = new Command('clusterd').exitOverride().configureOutput({ writeErr: (text) => void err!.push(text) })
  add(program)
  const before = process.exitCode
  let code = 0
  try {
    await program.parseAsync(args, { from: 'user' })
    code = Number(process.exitCode ?? 0)
  } catch (thrown) {
    code = 1
    err!.push(`clusterd: ${messageOf(thrown)}\n`)
  } finally {
    process.exitCode = before
    for (const spy of [log, error]) spy.mockRestore()
    vi.unstubAllEnvs()
  }
  return { stdout: out!.join(''), stderr: err!.join(''), code }
}
