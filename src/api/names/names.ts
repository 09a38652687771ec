import { type NameAvailabilityState, readNameAvailability } from '../../db/registry/lookups.js'
import { parseClusterName, withoutTrailingSlash } from '../../registry/primitives/name.js'
import { NAME_RULES_TEXT, parseNewName } from '../../registry/primitives/nameRule.js'
import { pathOfName } from '../../web/paths.js'
import type { Context } from '../http/context.js'
import { ApiError, type ErrorDetail } from '../http/errors.js'
import { requireCaughtUp } from '../http/freshness.js'

const MAX_ERROR_DETAILS = 20
export const INVALID_NAME_MESSAGE = `A name is ${NAME_RULES_TEXT}.`

/** Canonical form of a cluster's name. @throws ApiError invalid_name */
export function requireName(input: string): string {
  const name = parseClusterName(input)
  if (name === null) throw new ApiError('invalid_name', INVALID_NAME_MESSAGE)
  return name
}

/**
 * Canonical forms of names to register or to assign.
 * @throws ApiError invalid_name, with up to 20 malformed names, each at the path that `pathOf` returns
 */
export function requireNewNames(
  inputs: readonly string[],
  pathOf: (index: number) => string,
): string[] {
  const details: ErrorDetail[] = []
  const names: string[] = []
  inputs.forEach((input, index) => {
    const name = parseNewName(input)
    if (name !== null) names.push(name)
    else if (details.length < MAX_ERROR_DETAILS)
      details.push({ path: pathOf(index), message: INVALID_NAME_MESSAGE })
  })
  if (details.length > 0) throw new ApiError('invalid_name', INVALID_NAME_MESSAGE, { details })
  return names
}

/** Availability of a text, which need not be a well-formed name. */
export type NameAvailability = NameAvailabilityState | 'invalid_name'

/** Reasons other than `taken` why a name is not available. */
export const UNAVAILABLE_REASONS = [
  'pending',
  'invalid_name',
] as const satisfies readonly NameAvailability[]

/** JSON of a name's availability. A name with a pending payment is not available. */
export const availabilityJson = (name: string, availability: NameAvailability) => ({
  name,
  isAvailable: availability === 'free',
  ...((availability === 'pending' || availability === 'invalid_name') && { reason: availability }),
})

/** Availability of texts as names, in the order of the texts. @throws ApiError catching_up */
export async function availabilityOfTexts(
  context: Context,
  inputs: readonly string[],
): Promise<NameAvailability[]> {
  const names = inputs.map((input) => parseNewName(withoutTrailingSlash(input)))
  const wellFormed = names.filter((name) => name !== null)
  const availability = await availabilityOfNames(context, wellFormed)
  let next = 0
  return names.map((name) => (name === null ? 'invalid_name' : availability[next++]!))
}

/** Availability of names, in the order of the names. @throws ApiError catching_up */
export async function availabilityOfNames(
  context: Context,
  names: readonly string[],
): Promise<NameAvailabilityState[]> {
  await requireCaughtUp(context)
  if (names.length === 1) return [await context.lookups[context.network].availabilityOf(names[0]!)]
  return readNameAvailability(context.pool, context.network, names)
}

/** URLs of the page and the picture of a name. */
export const nameUrls = (siteUrl: string, name: string) => ({
  profileUrl: `${siteUrl}${pathOfName(name)}`,
  imageUrl: `${siteUrl}/image/${name}.svg`,
})
