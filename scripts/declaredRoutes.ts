import { createRoutes, type RouteServices } from '../src/api/routes.js'

/** The API's routes and documents as declared, for scripts and tests. The services of the handlers are missing. */
export const { routes, documents: openApiDocuments } = createRoutes({} as RouteServices)
