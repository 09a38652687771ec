import { getBlock } from 'viem/actions'
import type { LocalClients } from './localClients.js'

const MAX_CLOCK_READS = 10

/** This host's clock, seconds since 1970: whole ones, to compare with block timestamps. */
export const hostUnixSeconds = (): number => Math.floor(Date.now() / 1_000)

/**
 * Reads by how many seconds the clock of an anvil is ahead of this host's; negative if behind. Anvil dates the pending
 * block by its clock. The result may be one too small if a new second began on this host during each of ten requests.
 */
export async function readClockLeadSeconds({ test }: Pick<LocalClients, 'test'>): Promise<number> {
  for (let tries = 1; ; tries++) {
    const before = hostUnixSeconds()
    const { timestamp } = await getBlock(test, { blockTag: 'pending' })
    const after = hostUnixSeconds()
    // anvil may have answered before or after the host's next second
    if (after === before || tries === MAX_CLOCK_READS) return Number(timestamp) - after
  }
}

/**
 * Advances the clock of an anvil until it is `leadS` seconds ahead of this host's. A clock that is further ahead is
 * left as it is. Anvil's clock stays behind after a slow start, and after an `anvil_reorg` by the age of the last block
 * that remains. A payment in a block with a past time would get the rules that a community had at that time.
 */
export async function advanceClockToLead(
  clients: Pick<LocalClients, 'test'>,
  leadS: number,
): Promise<void> {
  const behindS = leadS - (await readClockLeadSeconds(clients))
  if (behindS > 0) await clients.test.increaseTime({ seconds: behindS })
}
