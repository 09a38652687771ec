import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Counts, Orders } from './attacker.js'
import type { Targets } from './floods.js'

/** Handle of an attacker's process. */
export interface Attacker {
  /** Begins an attack. Resolves once the attacker has signed in and sends. */
  begin(orders: Orders): Promise<void>
  /** Ends the attack. @returns numbers of answers by flood and status */
  end(): Promise<Counts>
  close(): Promise<void>
}

/** Starts an attacker's process. If it ends too early, the next call of a method throws an Error. */
export function startAttacker(api: string, targets: Targets): Attacker {
  const program = fileURLToPath(new URL('attacker.ts', import.meta.url))
  const child = spawn(
    process.execPath,
    ['--import', 'tsx', program, JSON.stringify({ api, targets })],
    {
      stdio: ['pipe', 'pipe', 'inherit'],
      // a separate session, to which the attacker gives a low priority; the attacker ends when its input ends
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
