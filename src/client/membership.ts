import { ClusterdError } from './error.js'

/** Whether a text is a cluster's id, and not a name. @internal */
export const isClusterId = (text: string): boolean => /^0x[\da-f]{64}$/i.test(text)

/**
 * Checks, before a wallet signs, that a message names the cluster that was asked for: an earlier service ignores it.
 * @param cluster id or name; undefined where none was asked for
 * @throws ClusterdError unexpected
 * @internal
 */
export function requireCluster(message: string, cluster: string | undefined): void {
  if (cluster === undefined) return
  const id = isClusterId(cluster) ? cluster.toLowerCase() : '0x'
  if (!message.includes(`\nCluster: ${id}`))
    throw new ClusterdError(
      'unexpected',
      'The message does not name the cluster, so nothing was signed. An earlier version of the service may have answered: try again later.',
    )
}

/** Sentence where the service did not keep the signature of a wallet that it has verified. */
export const NOT_SIGNED =
  'The wallet is verified, but its signature was not kept, because it was too old or an earlier version of the service answered: sign again.'
