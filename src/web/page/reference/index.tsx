import type { OpenAPIObject } from 'openapi3-ts/oas31'
import { useEffect, useState } from 'preact/hooks'
import { useLocation } from 'preact-iso/router'
import { usePolled, useTitle } from '../lib/net.js'
import { Card, Link, LoadedContent } from '../parts/basics.js'
import { routesByTag } from './document.js'
import { RouteDetails } from './route.js'

/** `/docs`: the routes of the service, from its own OpenAPI documents. */

const VERSIONS = [
  { title: 'v1', path: '/docs', document: '/openapi.json' },
  { title: 'v0.1 (deprecated)', path: '/docs?version=0.1', document: '/openapi-v0.1.json' },
] as const

/** Guides that the service has in addition to the reference. */
const GUIDES = {
  'client.md': 'The client for TypeScript',
  'clusters.md': 'Clusters and wallets',
  'communities.md': 'Communities',
  'airdrops.md': 'Airdrops',
  'events.md': 'The feed of events',
  'webhooks.md': 'Webhooks',
  'ens.md': 'Names in ENS',
  'verify.md': 'Checking the answers',
  'limits.md': 'Limits and prices',
  'local-world.md': 'A local world for development',
} as const

export default function Reference() {
  const { query } = useLocation()
  const version = VERSIONS[query.version === '0.1' ? 1 : 0]
  const asked = usePolled<OpenAPIObject>(version.document, async (signal) =>
    (await fetch(version.document, { signal })).json(),
  )
  useTitle('API')
  return (
    <>
      <div class="account-head">
        <h1>API</h1>
        <nav class="tabs" aria-label="Versions">
          {VERSIONS.map(({ title, path }) => (
            <Link key={path} to={path} class={path === version.path ? 'current' : ''}>
              {title}
            </Link>
          ))}
        </nav>
      </div>
      <LoadedContent asked={asked} lines={12}>
        {(document) => <Routes key={version.path} document={document} path={version.document} />}
      </LoadedContent>
    </>
  )
}

function Routes({ document: described, path }: { document: OpenAPIObject; path: string }) {
  const [filter, setFilter] = useState('')
  const [token, setToken] = useState('')
  const byTag = [...routesByTag(described)].map(
    ([tag, routes]) =>
      [
        tag,
        routes.filter(({ path, summary }) =>
          `${path} ${summary}`.toLowerCase().includes(filter.toLowerCase()),
        ),
      ] as const,
  )
  useEffect(() => {
    document.getElementById(location.hash.slice(1))?.scrollIntoView()
  }, [])
  return (
    <>
      <div class="columns">
        <Card title="About">
          <p>{described.info.description}</p>
          <p>
            <a href={path}>{path}</a> has the same for programs (OpenAPI 3.1).
          </p>
          <div class="form">
            <label class="field">
              Find a route
              <input value={filter} onInput={(event) => setFilter(event.currentTarget.value)} />
            </label>
            <label class="field">
              Authentication key, for routes that take one
              <input
                value={token}
                autocomplete="off"
                onInput={(event) => setToken(event.currentTarget.value.trim())}
              />
            </label>
          </div>
        </Card>
        <Card title="Guides">
          <ul>
            {Object.entries(GUIDES).map(([file, title]) => (
              <li key={file}>
                <a href={`/docs/guides/${file}`}>{title}</a>
              </li>
            ))}
          </ul>
        </Card>
      </div>
      {byTag.map(
        ([tag, routes]) =>
          routes.length > 0 && (
            <section key={tag} aria-label={tag} class="routes">
              <h2>{tag}</h2>
              {routes.map((route) => (
                <RouteDetails key={route.id} document={described} route={route} token={token} />
              ))}
            </section>
          ),
      )}
    </>
  )
}
