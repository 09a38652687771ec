import {
  type ClusterForViewer,
  findClusterById,
  findClusterByName,
  findClusterId,
  findClusterIdByName,
} from '../../db/registry/clusters.js'
import { actorText } from '../../registry/journal/events.js'
import { decodeWallet, parseWalletOrNull } from '../../registry/primitives/address.js'
import { toHex } from '../../registry/primitives/bytes.js'
import { parseClusterId } from '../../registry/primitives/clusterId.js'
import type { Context } from '../http/context.js'
import { ApiError } from '../http/errors.js'
import type { Session } from '../http/route.js'
import { timestampToSecond } from '../http/timestamps.js'
import { requireName } from '../names/names.js'

/** Caller of a look-up. Wallets verified in the cluster also see its private wallets. */
type Viewer = Pick<Session, 'wallet'> | null

const NO_CLUSTER = 'There is no such cluster.'

/** A cluster by its id. @throws ApiError invalid_request, not_found */
export async function clusterById(context: Context, input: string, viewer: Viewer) {
  return answer(
    context,
    await findClusterById(context.pool, context.network, requireClusterId(input), viewer?.wallet),
  )
}

/** Reads a cluster id in 0x hex. @throws ApiError invalid_request */
export function requireClusterId(input: string): Buffer {
  const id = parseClusterId(input)
  if (!id) throw new ApiError('invalid_request', 'A cluster id is 0x and 64 hex digits.')
  return id
}

/** The cluster that holds a name. @throws ApiError invalid_name, not_found */
export async function clusterByName(context: Context, input: string, viewer: Viewer) {
  return answer(
    context,
    await findClusterByName(context.pool, context.network, requireName(input), viewer?.wallet),
  )
}

/** Id of the cluster that holds a name. @throws ApiError invalid_name, not_found */
export async function clusterIdByName(context: Context, input: string): Promise<Buffer> {
  const id = await findClusterIdByName(context.pool, context.network, requireName(input))
  if (!id) throw new ApiError('not_found', NO_CLUSTER)
  return id
}

/** Id of the cluster of an address; null where the address is in no cluster that the viewer may see. */
export async function clusterIdOfAddress(
  context: Context,
  input: string,
  viewer: Viewer,
): Promise<string | null> {
  const address = parseWalletOrNull(input)
  const id =
    address && (await findClusterId(context.pool, context.network, address.bytes, viewer?.wallet))
  return id && toHex(id)
}

/** The cluster as the response shows it. @throws ApiError not_found */
function answer({ network }: Context, cluster: ClusterForViewer | null) {
  if (!cluster) throw new ApiError('not_found', NO_CLUSTER)
  return {
    id: toHex(cluster.id),
    createdBy: actorText(cluster.createdBy),
    createdAt: timestampToSecond(cluster.createdMs),
    wallets: cluster.wallets.map((wallet) => ({
      address: decodeWallet(wallet.address).text,
      name: wallet.name,
      isVerified: wallet.isVerified,
      isPrivate: wallet.isPrivate,
      isBackedUp: wallet.isBackedUp,
      updatedAt: timestampToSecond(wallet.updatedMs),
      updatedBy: actorText(wallet.updatedBy),
      createdAt: timestampToSecond(wallet.createdMs),
    })),
    isTestnet: network === 'testnet',
  }
}
