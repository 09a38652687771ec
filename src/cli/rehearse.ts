import { writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { toHex } from '../registry/primitives/bytes.js'
import { runUntilSignal } from './dev.js'
import { NO_REHEARSAL, REHEARSAL, readRehearsal } from './init/init.js'
import { colourText } from './output.js'
import { evmAddressParser } from './values.js'

/** `clusterd rehearse`: runs chains and a database for a rehearsal until Ctrl-C, or funds accounts of a running one. */
export async function runRehearseCommand({ fund }: { fund?: readonly string[] }): Promise<void> {
  if (fund) return fundAccounts(fund.map(evmAddressParser('--fund')))
  console.log('Starting the chains and the database of a rehearsal. Ctrl-C ends and removes them.')
  const { startRehearsal } = await import('../testing/rehearsal.js')
  await runUntilSignal(async () => {
    const rehearsal = await startRehearsal((line) => console.log(colourText('dim', line)))
    writeFileSync(REHEARSAL, `${JSON.stringify(rehearsal.found, null, 2)}\n`)
    console.log(
      `\nWritten to ${resolve(REHEARSAL)}. In another terminal, in this folder (docs/run/deploying.md):\n  clusterd init --rehearsal`,
    )
    return rehearsal
  })
}

async function fundAccounts(accounts: readonly Buffer[]): Promise<void> {
  const { fundAddresses } = await import('../testing/chains/localClients.js')
  for (const { chainId, rpcUrls } of readRehearsal().chains)
    await fundAddresses({ chainId, rpcUrl: rpcUrls[0] }, accounts.map(toHex)).catch(() => {
      throw new Error(NO_REHEARSAL)
    })
  console.log('They have 10,000 ETH each, on every chain of the rehearsal.')
}
