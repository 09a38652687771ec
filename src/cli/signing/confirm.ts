import { createInterface } from 'node:readline/promises'

/** Asks on the terminal whether to go on. @throws Error where nobody can be asked, or the answer is no */
export async function confirm(question: string, { yes }: { yes?: boolean }): Promise<void> {
  if (yes) return
  if (!process.stdin.isTTY) throw new Error('Nothing was sent: say --yes where no terminal can be asked.')
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  const answer = await terminal.question(`${question} [y/N] `)
  terminal.close()
  if (!/^y(es)?$/i.test(answer.trim())) throw new Error('Nothing was sent.')
}
