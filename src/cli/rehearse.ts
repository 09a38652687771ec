import { readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { ConfigError } from '../config/index.js'
import type { Rehearsal } from '../testing/rehearsal.js'
import { runUntilSignal } from './dev.js'
import { colourText } from './output.js'
import { evmAddressParser } from './values.js'

/** What `clusterd rehearse` writes for `clusterd init`, which takes both fields. */
type RehearsalFile = Pick<Rehearsal, 'chains' | 'database'>

const FILE = 'rehearsal.json'

/** `clusterd rehearse`: runs chains and a database for a rehearsal until Ctrl-C, or funds accounts of a running one. */
export async function runRehearseCommand({ fund }: { fund?: readonly string[] }): Promise<void> {
  if (fund) return fundAccounts(fund)
  console.log('Starting the chains and the database of a rehearsal. Ctrl-C ends and removes them.')
  const { startRehearsal } = await import('../testing/rehearsal.js')
  await runUntilSignal(async () => {
    const rehearsal = await startRehearsal((line) => console.log(colourText('dim', line)))
    const { chains, database } = rehearsal
    writeFileSync(FILE, `${JSON.stringify({ chains, database }, null, 2)}\n`)
    console.log(
      `\nWritten to ${resolve(FILE)}. In another terminal, in this folder (docs/run/deploying.md):\n  clusterd init --rehearsal ${FILE}`,
    )
    return rehearsal
  })
}

async function fundAccounts(addresses: readonly string[]): Promise<void> {
  const parsed = addresses.map(
    (text) => `0x${evmAddressParser('--fund')(text).toString('hex')}` as const,
  )
  const { fundAddresses } = await import('../testing/chains/localClients.js')
  for (const { chainId, rpcUrls } of readRehearsal(FILE).chains)
    await fundAddresses({ chainId, rpcUrl: rpcUrls[0] }, parsed).catch(noRehearsal)
  console.log('They have 10,000 ETH each, on every chain of the rehearsal.')
}

/** Reads the file of a running rehearsal. @throws ConfigError */
export function readRehearsal(file: string): RehearsalFile {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return noRehearsal()
  }
}

function noRehearsal(): never {
  throw new ConfigError('No rehearsal runs in this folder: run `clusterd rehearse` here first.')
}
