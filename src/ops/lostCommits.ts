import type { Network } from '../registry/primitives/network.js'
import { alarmLogFields } from './alarms.js'
import type { NetworkContext } from './context.js'

/** Raises the alarm for a database that lost commits. The alarm lasts until the process ends. */
export function reportLostCommits(
  { metrics, loops, log }: Pick<NetworkContext, 'metrics' | 'loops' | 'log'>,
  network: Network,
): void {
  metrics.wentBack.inc({ network })
  const text = `the database of ${network} went back in time`
  loops.raised.set(text, { alarm: 'ClusterdWentBack', text })
  log.error({ network, ...alarmLogFields('ClusterdWentBack') }, text)
}
