import { routes } from '../../../scripts/declaredRoutes.js'
import type { Route } from '../../../src/api/http/route.js'
import { createRouter } from '../../../src/api/serving/router.js'
import {
  badRequests,
  costliestRequest,
  type DeclaredRequest,
  exampleRequest,
} from '../../support/declaredRequests.js'
import { settledRequests } from '../../upgrade/requests.js'
import type { MixWorld } from './world.js'

/** The requests of a mix. */

export interface MixRequest extends DeclaredRequest {
  /** Null where none matches. */
  route: Route | null
  /** Name of the key that it carries, in `MixWorld.keys`. */
  as?: string | undefined
}

const match = createRouter(routes)

/** Of every route the example, the most expensive and the refused requests, and requests about all that was made. */
export function mixRequests({ sample, scene }: Pick<MixWorld, 'sample' | 'scene'>): MixRequest[] {
  const declared = routes.flatMap((route): MixRequest[] => {
    const { as } = route.costliestSample
    const example = exampleRequest(route, sample)
    const own = [
      costliestRequest(route, sample),
      costliestRequest(route, sample, { testnet: 'true' }),
      ...(example ? [example] : []),
    ]
    return [
      ...own.map((request) => ({ ...request, route, as })),
      ...badRequests(route, sample).map((request) => ({ ...request, route })),
    ]
  })
  const made = settledRequests(scene)
    .filter(({ headers, path }) => !headers && !path.includes('{build}'))
    .map(({ method, path, as, body, text }): MixRequest => {
      const sent = text ?? (body === undefined ? undefined : JSON.stringify(body))
      return { method, path, as, route: routeOf({ method, path }), ...(sent && { body: sent }) }
    })
  return [...declared, ...made]
}

export const routeOf = ({ method, path }: DeclaredRequest): Route | null =>
  match({ method, url: path })?.route ?? null

/** Whether a request is answered for as long as its client wants. */
export const isOpenEnded = ({ route, path }: MixRequest): boolean =>
  route?.isStream === true || /[?&]wait=/.test(path)

/** Whether a request changes nothing, so that two processes have to answer it equally. */
export const isRead = (request: MixRequest): boolean =>
  !isOpenEnded(request) && (request.method === 'GET' || request.route?.auth !== 'required')
