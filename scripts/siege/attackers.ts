import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Counts, Orders } from './attacker.js'
import type { Targets } from './floods.js'

/** An attacker's process. */
export interface Attacker {
  /** Begins an attack, once it has signed in. */
  begin(orders: Orders): Promise<void>
  /** Ends the attack. @returns its answers by status, by flood */
  end(): Promise<Counts>
  close(): Promise<void>
}

/** @throws Error where the process ends too early, at the next call */
export function startAttacker(api: string, targets: Targets): Attacker {
  const program = fileURLToPath(new URL('attacker.ts', import.meta.url))
  const child = spawn(
    process.execPath,
    ['--import', 'tsx', program, JSON.stringify({ api, targets })],
    {
      stdio: ['pipe', 'pipe', 'inherit'],
      // a separate session, to which it gives a low priority; it ends with its input
      detached: true,
    },
  )
  const exited = once(child, 'exit')
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const ask = async (line: string): Promise<string> => {
    child.stdin.write(`${line}\n`)
    const { value, done } = await lines.next()
    if (done) throw new Error(`an attacker ended: ${child.exitCode ?? child.signalCode}`)
    return value
  }
  return {
    async begin(orders) {
      await ask(JSON.stringify(orders))
    },
    end: async () => JSON.parse(await ask('')),
    async close() {
      child.stdin.end()
      await exited
    },
  }
}
