import { z } from 'zod'
import { isName } from '../support/names.js'
import { fieldRows, type Row } from './row.js'
import { freshAddress, freshName, NotChecked, ok, sampleOf, type Target } from './target.js'

/** Section 2: the resources and their fields. */

export const address = z.string().regex(/^(0x[0-9a-f]{40}|[1-9A-HJ-NP-Za-km-z]{32,44})$/)
export const clusterId = z.string().regex(/^0x[0-9a-f]{64}$/)
const timestamp = z.string().regex(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\+00$/)
const name = z.string().refine(isName, 'is no name')
/** A path of names joined by slashes. @param end the slash after the last name, or an empty text */
const path = (names: number, end: string) =>
  z.string().refine((text) => {
    const parts = text.split('/')
    return (
      parts.length === names + end.length &&
      text.endsWith(end) &&
      parts.slice(0, names).every(isName)
    )
  }, 'is not a path of names')
const clusterOnly = path(1, '/')
const fullName = path(2, '')
const type = z.enum(['evm', 'solana'])
const wei = z.string().regex(/^(0|[1-9]\d*)$/)
const hex = z.string().regex(/^0x([0-9a-f]{2})+$/i)

const walletV01 = z.object({
  type: z.string(),
  address: z.string(),
  name: fullName,
  isVerified: z.boolean(),
})

const cluster = async (target: Target) =>
  ok(await target.get(`/v1/clusters/id/${(await sampleOf(target)).clusterId}`))

/** A quote for a free name, on the first network that the deployment offers. */
export const quoteV01 = (target: Target) =>
  target.once('v0.1 quote', async () => {
    const labels = target.options.testnet
      ? ['11155111', '17000']
      : ['1', '8453', '10', '42161', '137', '56']
    for (const network of target.options.write ? [target.options.write.label] : labels) {
      const names = [{ name: freshName(), bidAmountWei: '20000000000000000' }]
      const { status, body } = await target.post('/v0.1/register', {
        network,
        sender: freshAddress(),
        names,
      })
      if (status === 200) return { network, names, quote: body }
      if (body.error !== 'unsupported_network' && body.error !== 'watch_only')
        throw new Error(JSON.stringify(body))
    }
    throw new NotChecked('the deployment quotes for no EVM network')
  })

export const objectRows: readonly Row[] = [
  ...fieldRows('2.1', cluster, {
    id: clusterId,
    createdBy: address,
    createdAt: timestamp,
    wallets: z.array(z.object({ address: z.string() })).min(1),
    isTestnet: z.boolean(),
  }),
  ...fieldRows('2.2', async (target) => (await cluster(target)).wallets[0], {
    address: z.string(),
    name,
    isVerified: z.boolean(),
    isPrivate: z.literal(false),
    isBackedUp: z.boolean(),
    updatedAt: timestamp,
    updatedBy: address,
    createdAt: timestamp,
  }),
  ...fieldRows(
    '2.3',
    async (target) => ok(await target.get(`/v0.1/cluster/${(await sampleOf(target)).name}`)),
    {
      name: clusterOnly,
      profileUrl: z.url(),
      imageUrl: z.url(),
      hasCustomImage: z.boolean(),
      wallets: z.array(walletV01).min(1),
    },
  ),
  ...fieldRows(
    '2.4',
    async (target) => ok(await target.get(`/v0.1/address/${(await sampleOf(target)).name}`)),
    {
      type,
      address,
      name: z.union([fullName, clusterOnly]),
      isVerified: z.boolean(),
    },
  ),
  ...fieldRows(
    '2.5',
    async (target) => ok(await target.get(`/v1/names/address/${(await sampleOf(target)).address}`)),
    {
      address,
      type,
      clusterName: name.nullable(),
      walletName: name,
      isVerified: z.boolean(),
    },
  ),
  ...fieldRows('2.6', async (target) => (await quoteV01(target)).quote, {
    gasToken: z.object({ symbol: z.string(), decimals: z.int() }),
    transactionData: z.object({ to: z.string().regex(/^0x[0-9a-f]{40}$/i), data: hex, value: wei }),
    registrationFee: wei,
    bridgeFee: wei,
    names: z.array(z.object({ name, amount: wei })).length(1),
  }),
]
