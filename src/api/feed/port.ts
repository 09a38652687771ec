import type { FeedPage, FeedQuery } from '../../push/webhooks/deliver.js'
import { createV1EventWriter } from '../../registry/journal/events.js'
import type { Context } from '../http/context.js'
import { ApiError } from '../http/errors.js'
import { feedPage } from './feed.js'

/**
 * A page of the feed for webhooks and other deliveries that this process starts. Its events are the bytes of `GET
 * /v1/events`.
 * @returns null where the feed has restarted since the cursor was issued
 */
export async function readFeedForDelivery(
  context: Context,
  { cursor, from, limit }: FeedQuery,
): Promise<FeedPage | null> {
  try {
    const page = await feedPage(context, {
      isTestnet: context.network === 'testnet',
      page: cursor ?? undefined,
      limit,
      order: 'oldest' as const,
      from: from ?? undefined,
    })
    const { network, generation, idOf, resume } = page
    const items = page.items.map(createV1EventWriter(network, generation, idOf))
    return {
      generation,
      items,
      last: page.items.at(-1)?.number ?? null,
      hasMore: 'nextPage' in page,
      resume,
    }
  } catch (error) {
    if (error instanceof ApiError && error.code === 'feed_restarted') return null
    throw error
  }
}
