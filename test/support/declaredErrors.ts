import { expect } from 'vitest'
import { routes } from '../../scripts/declaredRoutes.js'
import { errorsOfRoute } from '../../src/api/http/openapi.js'
import { createRouter } from '../../src/api/serving/router.js'

const match = createRouter(routes)

/** The code of an error, which is in its data where the error has the form of tRPC. */
export const codeOfError = ({ error }: { error: string | { data: { error: string } } }): string =>
  typeof error === 'object' ? error.data.error : error

/** Fails where an answer has an error code that its route does not declare, so that the OpenAPI document does not have it. */
export function expectDeclaredError(
  { method = 'GET', url }: { method?: string | undefined; url: string },
  { status, body }: { status: number; body: unknown },
): void {
  const route = match({ method, url })?.route
  const code = (body as { error?: unknown } | null)?.error
  // a status with a schema of its own, such as that of an invalid key
  if (!route || typeof code !== 'string' || status in route.responses) return
  const declared: readonly string[] = [...errorsOfRoute(route)]
  expect(
    declared,
    `${method} ${route.path} answers an error that its \`errors\` do not have`,
  ).toContain(code)
}
