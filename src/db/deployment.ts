import { NETWORK_CODE, type Network } from '../registry/primitives/network.js'
import type { PrismaClient } from './prisma.js'

/** The key under which this installation's page tokens are sealed. */
export async function readPageKey(prisma: PrismaClient): Promise<Buffer> {
  const { pageKey } = await prisma.deployment.findUniqueOrThrow({ where: { id: 1 } })
  return Buffer.from(pageKey)
}

/** The key from which this installation's authentication keys follow, where its configuration names none. */
export async function readTokenKey(prisma: PrismaClient): Promise<Buffer> {
  const { tokenKey } = await prisma.deployment.findUniqueOrThrow({ where: { id: 1 } })
  return Buffer.from(tokenKey)
}

/** The least bid in force on a network's hub, in wei. */
export async function readMinimumWei(prisma: PrismaClient, network: Network): Promise<bigint> {
  const head = await prisma.journalHead.findUniqueOrThrow({
    where: { network: NETWORK_CODE[network] },
    select: { minimumWei: true },
  })
  return BigInt(head.minimumWei.toFixed(0))
}
