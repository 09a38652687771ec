import { rmSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { toHex } from '../registry/primitives/bytes.js'
import { runUntilSignal } from './dev.js'
import { REHEARSAL_FILE, readRehearsal } from './init/init.js'
import { colourText } from './output.js'
import { createEvmAddressParser } from './values.js'

/** `clusterd rehearse`: runs chains and a database for a rehearsal until Ctrl-C, or funds accounts of a running one. */
export async function runRehearseCommand({ fund }: { fund?: readonly string[] }): Promise<void> {
  if (fund) return fundAccounts(fund.map(createEvmAddressParser('--fund')))
  const file = reserveFile()
  console.log('Starting the chains and the database of a rehearsal. Ctrl-C ends and removes them.')
  const { startRehearsal } = await import('../testing/rehearsal.js')
  await runUntilSignal(async () => {
    const rehearsal = await startRehearsal((line) => console.log(colourText('dim', line)))
    writeFileSync(file, `${JSON.stringify({ pid: process.pid, ...rehearsal.found }, null, 2)}\n`)
    console.log(
      `\nWritten to ${file}. In another terminal, in this folder (docs/run/deploying.md):\n  clusterd init --rehearsal`,
    )
    return rehearsal
  })
}

/** Creates an empty file for the rehearsal, deleted at exit. @returns its path @throws Error where the file exists */
function reserveFile(): string {
  const file = resolve(REHEARSAL_FILE)
  try {
    writeFileSync(file, '', { flag: 'wx' })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    throw new Error(
      `${file} is there already: end the rehearsal that runs in this folder, or remove the file if a killed one left it.`,
    )
  }
  process.on('exit', () => rmSync(file, { force: true }))
  return file
}

async function fundAccounts(accounts: readonly Buffer[]): Promise<void> {
  const { fundAddresses } = await import('../testing/chains/localClients.js')
  for (const { chainId, rpcUrls } of readRehearsal().chains) {
    const [rpcUrl] = rpcUrls
    const funded = fundAddresses({ chainId, rpcUrl }, accounts.map(toHex))
    await funded.catch(({ shortMessage, message }: { shortMessage?: string; message: string }) => {
      throw new Error(`The chain at ${rpcUrl} funds nobody: ${shortMessage ?? message}`)
    })
  }
  console.log('They have 10,000 ETH each, on every chain of the rehearsal.')
}
