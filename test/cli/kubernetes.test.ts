import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import { parseChainsFile } from '../../src/config/index.js'
import {
  checkEnvironment,
  END_S,
  PORTS,
  unknownVariables,
  yamlDocuments,
} from '../support/deployFiles.js'

/** Checks examples/deploy/kubernetes against the cluster's schema, and against the code. */

const FOLDER = 'examples/deploy/kubernetes'
/** `types` of the package kubernetes-types, by API version. Other versions belong to operators. */
const TYPES: Record<string, string> = {
  v1: 'core/v1',
  'apps/v1': 'apps/v1',
  'batch/v1': 'batch/v1',
  'policy/v1': 'policy/v1',
  'networking.k8s.io/v1': 'networking/v1',
  'autoscaling/v2': 'autoscaling/v2',
}
const OPERATORS = ['monitoring.coreos.com/v1', 'kustomize.config.k8s.io/v1beta1']

interface Probe {
  httpGet: { path: string; port: string }
  periodSeconds: number
  failureThreshold?: number
}
interface Container {
  image: string
  args: string[]
  env?: {
    name: string
    value?: string
    valueFrom?: { secretKeyRef: { name: string; key: string } }
  }[]
  envFrom: { configMapRef?: { name: string }; secretRef?: { name: string } }[]
  ports?: { name: string; containerPort: number }[]
  startupProbe: Probe
  livenessProbe: Probe
  readinessProbe: Probe
  securityContext: object
  volumeMounts?: { name: string; mountPath: string }[]
}
interface Pod {
  containers: Container[]
  securityContext: object
  terminationGracePeriodSeconds: number
  volumes?: { name: string; configMap?: { name: string }; secret?: { secretName: string } }[]
}
interface Manifest {
  apiVersion: string
  kind: string
  metadata: { name: string }
  stringData?: Record<string, string>
  spec: { template: { metadata: { labels: object }; spec: Pod }; selector: { matchLabels: object } }
}

const files = readdirSync(FOLDER).filter((file) => file.endsWith('.yaml'))
const manifests = files.flatMap((file) => yamlDocuments<Manifest>(join(FOLDER, file)))
const find = (kind: string, name: string) =>
  manifests.find((one) => one.kind === kind && one.metadata?.name === name)!
const podOf = (kind: string, name: string): Pod => find(kind, name).spec.template.spec
const [kustomization] = yamlDocuments<{
  resources: string[]
  configMapGenerator: { name: string; files?: string[]; literals?: string[] }[]
}>(join(FOLDER, 'kustomization.yaml'))
const generated = new Map(kustomization!.configMapGenerator.map((one) => [one.name, one]))
const secrets = new Map(
  manifests.filter(({ kind }) => kind === 'Secret').map((one) => [one.metadata.name, one]),
)

/** The environment of a container: ConfigMap, Secrets, then its own variables. */
function environmentOf({ envFrom, env = [] }: Container): Record<string, string> {
  const maps = envFrom.flatMap(({ configMapRef, secretRef }) =>
    configMapRef
      ? generated
          .get(configMapRef.name)!
          .literals!.map((line) => line.split(/=(.*)/s).slice(0, 2) as [string, string])
      : Object.entries(secrets.get(secretRef!.name)!.stringData!),
  )
  const own = env.map(({ name, value, valueFrom }) => {
    const from = valueFrom?.secretKeyRef
    return [name, value ?? secrets.get(from!.name)!.stringData![from!.key]!] as [string, string]
  })
  return Object.fromEntries([...maps, ...own])
}

const DEPLOYMENTS = ['clusterd-api', 'clusterd-worker']
const PODS: [string, string][] = [
  ...DEPLOYMENTS.map((name): [string, string] => ['Deployment', name]),
  ['Job', 'clusterd-migrate'],
]

it('every manifest fits its kind, without unknown fields', () => {
  const known = manifests.filter(({ apiVersion }) => !OPERATORS.includes(apiVersion))
  const text = known.map((one, i) => {
    expect(TYPES, one.kind).toHaveProperty([one.apiVersion])
    const module = `kubernetes-types/${TYPES[one.apiVersion]}`
    return `import type { ${one.kind} as K${i} } from '${module}'\nexport const m${i}: K${i} = ${JSON.stringify(one)}`
  })
  const file = resolve('test/cli/manifests.ts')
  const options: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    types: [],
    skipLibCheck: true,
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
  }
  const problemsOf = (source: string): string[] => {
    const host = ts.createCompilerHost(options)
    const { fileExists, getSourceFile, readFile } = host
    host.fileExists = (name) => name === file || fileExists(name)
    host.readFile = (name) => (name === file ? source : readFile(name))
    host.getSourceFile = (name, version, ...rest) =>
      name === file
        ? ts.createSourceFile(name, source, version)
        : getSourceFile(name, version, ...rest)
    return ts
      .getPreEmitDiagnostics(ts.createProgram([file], options, host))
      .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))
  }
  expect(problemsOf(text.join('\n'))).toEqual([])
  // a misspelled field is reported
  expect(
    problemsOf(text.join('\n').replace('"maxUnavailable":', '"maxUnavailible":')).join(),
  ).toContain('maxUnavailible')
})

describe('the processes', () => {
  it.each(PODS)('%s %s runs as an unprivileged user on a read-only file system', (kind, name) => {
    const { securityContext, containers } = podOf(kind, name)
    expect(securityContext).toMatchObject({
      runAsNonRoot: true,
      seccompProfile: { type: 'RuntimeDefault' },
    })
    expect(containers).toHaveLength(1)
    expect(containers[0]!.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    })
    expect(containers[0]!.image).toBe('clusterd')
  })

  it.each(PODS)('%s %s has a valid environment', (kind, name) => {
    const [container] = podOf(kind, name).containers
    const set = environmentOf(container!)
    expect(unknownVariables(Object.keys(set))).toEqual([])
    const { roles, migrates } = checkEnvironment(set, { ROLES: container!.args[2] })
    if (kind === 'Job') expect(container!.args).toEqual(['migrate'])
    else {
      expect(roles).toEqual(name === 'clusterd-api' ? ['api'] : ['index', 'relay'])
      expect(migrates).toBe(false)
    }
  })

  it.each(DEPLOYMENTS)(
    '%s is probed on the operator’s port, with enough time to start and to stop',
    (name) => {
      const { containers, terminationGracePeriodSeconds } = podOf('Deployment', name)
      const { ports, startupProbe, livenessProbe, readinessProbe } = containers[0]!
      for (const { name: port, containerPort } of ports!)
        expect(containerPort, port).toBe(PORTS[port as keyof typeof PORTS])
      expect(livenessProbe.httpGet).toEqual({ path: '/health', port: 'ops' })
      expect(startupProbe.httpGet).toEqual({ path: '/health', port: 'ops' })
      expect(readinessProbe.httpGet).toEqual({ path: '/ready', port: 'ops' })
      // src/daemon/index.ts: a start waits up to ten minutes for its database and its migrations
      expect(startupProbe.periodSeconds * startupProbe.failureThreshold!).toBeGreaterThanOrEqual(
        600,
      )
      const { drainMs } = checkEnvironment(environmentOf(containers[0]!))
      expect(terminationGracePeriodSeconds).toBeGreaterThan(drainMs / 1_000 + END_S)
      if (name === 'clusterd-api')
        expect(readinessProbe.periodSeconds * readinessProbe.failureThreshold!).toBeLessThan(
          drainMs / 1_000,
        )
    },
  )

  it('only relaying processes have the relayer’s key', () => {
    const [api, worker] = DEPLOYMENTS.map((name) => podOf('Deployment', name))
    expect(JSON.stringify(api)).not.toContain('relayer')
    const mount = worker!.containers[0]!.volumeMounts!.find(({ name }) => name === 'relayer')!
    const files = Object.keys(
      secrets.get(worker!.volumes!.find(({ name }) => name === 'relayer')!.secret!.secretName)!
        .stringData!,
    )
    const set = environmentOf(worker!.containers[0]!)
    expect([set.RELAYER_KEYSTORE, set.RELAYER_PASSWORD_FILE]).toEqual(
      files.map((file) => `${mount.mountPath}/${file}`),
    )
  })
})

it('only processes of the API have the airdrop operator’s key', () => {
  const holders = DEPLOYMENTS.filter(
    (name) =>
      'AIRDROP_OPERATOR_PRIVATE_KEY' in environmentOf(podOf('Deployment', name).containers[0]!),
  )
  expect(holders).toEqual(['clusterd-api'])
})

it('references of manifests exist: files, selectors, ConfigMaps, Secrets, ports', () => {
  for (const file of kustomization!.resources) expect(files, file).toContain(file)
  for (const { files: named = [] } of generated.values())
    for (const file of named)
      parseChainsFile(JSON.parse(readFileSync(join(FOLDER, file), 'utf8')), file)
  const labels = PODS.map(([kind, name]) =>
    JSON.stringify(find(kind, name).spec.template.metadata.labels),
  )
  for (const kind of ['PodDisruptionBudget', 'NetworkPolicy', 'Deployment'])
    for (const name of DEPLOYMENTS) {
      const { selector, podSelector } = find(kind, name).spec as {
        selector?: { matchLabels: object }
        podSelector?: { matchLabels: object }
      }
      const chosen = (selector ?? podSelector)!.matchLabels
      expect(labels, `${kind} ${name}`).toContain(JSON.stringify(chosen))
    }
  for (const [kind, name] of PODS)
    for (const { configMap, secret } of podOf(kind, name).volumes ?? []) {
      const isThere = configMap ? generated.has(configMap.name) : secrets.has(secret!.secretName)
      expect(isThere, `${name}: ${configMap?.name ?? secret!.secretName}`).toBe(true)
    }
  const ports = podOf('Deployment', 'clusterd-api').containers[0]!.ports!.map(({ name }) => name)
  for (const [, port] of JSON.stringify(manifests).matchAll(/"(?:targetPort|port)":"(\w+)"/g))
    expect(ports).toContain(port)
})
