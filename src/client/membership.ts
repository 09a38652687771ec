import { ClusterdError } from './error.js'

/** True if a text has the form of a cluster's id. @internal */
export const isClusterId = (text: string): boolean => /^0x[\da-f]{64}$/i.test(text)

/**
 * Checks, before a wallet signs, that the message names the requested cluster. If the cluster was requested by its
 * name, any id suffices. An earlier version of the service ignores the request for a cluster.
 * @param cluster id or name; undefined where no cluster was requested
 * @throws ClusterdError unexpected
 */
export function requireClusterInMessage(message: string, cluster: string | undefined): void {
  if (cluster === undefined) return
  const id = isClusterId(cluster) ? cluster.toLowerCase() : '0x'
  if (!message.includes(`\nCluster: ${id}`))
    throw new ClusterdError(
      'unexpected',
      'The message does not name the cluster, so nothing was signed. An earlier version of the service may have answered: try again later.',
    )
}

/** Error message for a wallet that the service has verified without keeping the wallet's signature. */
export const SIGNATURE_NOT_KEPT_TEXT =
  'The wallet is verified, but its signature was not kept, because it was too old or an earlier version of the service answered: sign again.'
