import type { Network } from '../registry/primitives/network.js'
import { alarmLogFields } from './alarms.js'
import type { NetworkContext } from './context.js'

/** Raises the alarm for a database that lost commits. The alarm lasts until the process ends. */
export function reportLostCommits(
  { loops, log }: Pick<NetworkContext, 'loops' | 'log'>,
  network: Network,
): void {
  const text = `the database of ${network} went back in time`
  loops.raised.set(text, { alarm: 'ClusterdWentBack', text, network })
  log.error({ network, ...alarmLogFields('ClusterdWentBack') }, text)
}
