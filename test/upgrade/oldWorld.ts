import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { StackOptions, World } from '../../src/testing/index.js'

/** The local world of another commit of this repository, whose packages are installed in its own work tree. */

/** Program of the old tree. It takes a command a line, and prints the command once it is done. */
const PROGRAM = `
import { createInterface } from 'node:readline'
import { startStack } from './src/testing/index.ts'

const stack = await startStack({ ...JSON.parse(process.env.OPTIONS), log: console.error })
const commands = {
  restart: () => stack.daemon.restart(),
  end: () => stack.daemon.kill('SIGTERM'),
  stop: () => stack.stop(),
}
console.log('start')
for await (const command of createInterface({ input: process.stdin })) {
  await commands[command]()
  console.log(command)
  if (command === 'stop') process.exit()
}
`
const FROM_SOURCE = ['--conditions=clusterd-source', '--import', 'tsx']

export interface OldWorld {
  home: string
  world: World<'mainnet' | 'testnet'>
  /** Complete environment of its daemon. */
  env: Readonly<Record<string, string>>
  /** Runs a command of the old `clusterd`. @returns its output */
  cli(...args: string[]): string
  /** Restarts the daemon, which reads its chains file again. */
  restartDaemon(): Promise<void>
  /** Ends the daemon in order. The chains go on. */
  endDaemon(): Promise<void>
  /** Ends everything, once. Each chain writes its state to `anvil/<label>.json` of its home. */
  stop(): Promise<void>
}

/** @param tree the old work tree @param options for its `startStack`, with a home */
export async function startOldWorld(
  tree: string,
  options: StackOptions & { home: string },
): Promise<OldWorld> {
  execFileSync(process.execPath, ['--import', 'tsx', 'scripts/generate.ts', '--programs'], {
    cwd: tree,
    stdio: 'inherit',
  })
  const child = spawn(
    process.execPath,
    [...FROM_SOURCE, '--input-type=module', '--eval', PROGRAM],
    {
      cwd: tree,
      env: { ...process.env, OPTIONS: JSON.stringify(options) },
      stdio: ['pipe', 'pipe', 'inherit'],
    },
  )
  const run = commandsOf(child)
  await run.next('start')
  const { home } = options
  const world = JSON.parse(readFileSync(join(home, 'stack.json'), 'utf8')) as OldWorld['world']
  const lines = readFileSync(join(home, '.env'), 'utf8').trim().split('\n')
  const env = Object.fromEntries(lines.map((line) => line.split(/=(.*)/s, 2)))
  return {
    home,
    world,
    env,
    cli: (...args) =>
      execFileSync(process.execPath, [...FROM_SOURCE, 'src/cli.ts', ...args], {
        cwd: tree,
        encoding: 'utf8',
        env: { ...process.env, ...env },
      }),
    restartDaemon: () => run.command('restart'),
    endDaemon: () => run.command('end'),
    stop: () => run.command('stop'),
  }
}

function commandsOf(child: ChildProcess) {
  const lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]()
  const next = async (expected: string) => {
    const { value } = await lines.next()
    if (value !== expected) throw new Error(`the old world printed ${value}, not ${expected}`)
  }
  return {
    next,
    async command(name: string) {
      if (child.exitCode !== null) return
      child.stdin!.write(`${name}\n`)
      await next(name)
    },
  }
}
