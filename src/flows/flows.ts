import type { BlockDefinition } from '../blocks/block.ts'
import type { BlockServices } from '../blocks/block-services.ts'
import { type ApplicationTexts, openApplicationTexts } from '../records/application-texts.ts'
import { type Connections, openConnections } from '../records/connections/connections.ts'
import { type EnvironmentValues, openEnvironmentValues } from '../records/environment/environment-values.ts'
import { type ExtensionCatalogue, withoutExtensions } from '../records/extensions/extensions.ts'
import type { FieldRules } from '../records/fields/field-rules.ts'
import { openPermissions, type Permissions } from '../records/permissions/permissions.ts'
import type { RecordContext } from '../records/records.ts'
import { openSecrets, type Secrets } from '../records/secrets/secrets.ts'
import { type SecretKeys, secretKeys } from '../records/secrets/signing-secret.ts'
import { openSystemLog, type SystemLog } from '../records/system-log.ts'
import { guidSource, pooledRandom, type Random } from '../shared/guid.ts'
import { andThen } from '../shared/maybe-promise.ts'
import { type Job, JobContinues } from '../storage/job.ts'
import { systemStorages } from '../storage/system-storages.ts'
import type { CompiledBlueprint } from './compile/compile-blueprint.ts'
import type { SecretUse } from './compile/frame.ts'
import { type Deployments, openDeployments } from './live/deployments.ts'
import { type LiveBlueprints, liveBlueprints } from './live/live-blueprints.ts'
import { type FormerVersions, formerVersions } from './live/versions.ts'
import { openClusterCache, runCache } from './run/read-set.ts'
import type { RunEnvironment, RunLimits, RunLogEntry } from './run/run-environment.ts'
import { RunningFlow } from './run/running-flow.ts'
import { newWaitToken } from './run/store-wait.ts'

export interface FlowsOptions {
  readonly records: RecordContext
  readonly catalogue: ReadonlyMap<string, BlockDefinition>
  /** None if not said. Their blocks are in the catalogue too. */
  readonly extensions?: ExtensionCatalogue
  readonly random: Random
  readonly limits: RunLimits
  /** Now: it may change. The same list until then. */
  readonly allowedHosts: () => readonly string[]
  /** Of the process, where this is a space in it. */
  readonly running?: RunningFlow
  /** For links in mail; none if not said. */
  readonly publicUrl?: string
  /** For blocks. */
  readonly services: BlockServices
  readonly publish: RunEnvironment['publish']
  /** Keys of secrets; without them none can be set or used. */
  readonly secretKeys?: SecretKeys
  /** Told which block has used which secret. */
  readonly secretUsed?: (use: SecretUse, guid: string) => void
  /** By guid of the blueprint: what the same process compiled for a cluster that is closed. Flows that are the same still are taken over. */
  readonly compiledBefore?: ReadonlyMap<string, CompiledBlueprint>
  /** First segments of paths under /api/v1 that are Quoin's own. */
  readonly reservedRoots: ReadonlySet<string>
  /** What documents hold and refer to; nothing is known of it without. */
  readonly fields?: Pick<FieldRules, 'present' | 'references' | 'storageRules' | 'noPermissions'>
  /** Where days and texts of dates and numbers are not said to be of another place: UTC, `en`. */
  readonly timeZone?: string
  readonly locale?: string
  /** Whether mails can be sent; deploys warn of blocks that send some where it is false. */
  readonly mail?: boolean
  /** The same for pages, which lie under `/`. */
  readonly reservedPageRoots?: ReadonlySet<string>
}

type WriteSeeds = (job: Pick<Job, 'guid' | 'payload'>, signal: AbortSignal) => Promise<void>

export interface Flows {
  readonly catalogue: ReadonlyMap<string, BlockDefinition>
  readonly extensions: ExtensionCatalogue
  readonly records: RecordContext
  readonly random: Random
  readonly newGuid: () => string
  readonly deployments: Deployments
  /** For runs that wait longer than a deployment is live. */
  readonly versions: FormerVersions
  readonly live: LiveBlueprints
  readonly log: SystemLog
  /** What runs share: for the pipeline, and for tracing, whose runs differ in it. */
  readonly environment: RunEnvironment
  /** Sessions on behalf of users. */
  readonly permissions: Permissions
  /** What expressions read as `env.NAME`. */
  readonly environmentValues: EnvironmentValues
  readonly secrets: Secrets
  /** Servers that flows call by name. */
  readonly connections: Connections
  readonly texts: ApplicationTexts
  /** Which flow is running, for the watchdog. */
  readonly running: RunningFlow
  /** The listener is told of each run that fails, if a flow may be told of it. There is one. */
  whenRunFails(listener: (entry: RunLogEntry) => void): void
  /** The writer does what a job of a release has left to write. There is one, where there are applications. */
  whenSeedsAreLeft(writer: WriteSeeds): void
  writeSeeds: WriteSeeds
  /** Stops runs that are under way and stores what is left of the log. */
  close(): Promise<void>
}

const unknownFields: Pick<FieldRules, 'storageRules' | 'noPermissions'> = {
  storageRules: () => ({ rules: [], closed: false }),
  noPermissions: () => true,
}

/** Opens the room that keeps blueprints, with every active one in place. What runs them is `run-pipeline.ts`. */
export async function openFlows(options: FlowsOptions): Promise<Flows> {
  const { records, catalogue, random, extensions = withoutExtensions(catalogue) } = options
  const { database, clock } = records
  const log = await openSystemLog(database)
  const environmentValues = await openEnvironmentValues(database)
  const secrets = await openSecrets(database, options.secretKeys ?? secretKeys('', []), random)
  const connections = await openConnections(database)
  const texts = await openApplicationTexts(database)
  const live = liveBlueprints(options.reservedRoots, options.reservedPageRoots)
  const deployments = openDeployments(records, extensions, live, {
    log: (entry) => log.write(entry),
    compiledBefore: options.compiledBefore,
    present: () => presentFor(options, { environmentValues, secrets, connections }),
  })
  const versions = formerVersions(records, extensions, live)
  const newGuid = guidSource(clock, pooledRandom(random))
  const { cache, close: closeCache } = openClusterCache(database, runCache(clock))
  const running = options.running ?? new RunningFlow()
  const { failed, ...listeners } = laterListeners()
  const warn = (message: string) => log.write({ level: 'warn', message })
  const permissions = openPermissions({ rules: options.fields ?? unknownFields, clock, warn })
  const opened = {
    ...{ permissions, newGuid, connections, secrets, environmentValues, texts },
    ...{ running, versions, live },
  }
  const environment = runEnvironment(options, { ...opened, cache }, (entry) => {
    log.write(entry)
    if (entry.failed) failed()(entry)
  })
  await database.ensure(systemStorages.waits, {
    indexes: [{ fields: ['awaited', 'state'] }, { fields: ['kind', 'state'] }],
  })
  await deployments.restore()
  return {
    ...opened,
    catalogue,
    extensions,
    records,
    random,
    deployments,
    log,
    environment,
    ...listeners,
    async close() {
      environmentValues.close()
      secrets.close()
      connections.close()
      texts.close()
      deployments.close()
      versions.close()
      closeCache()
      await log.close()
    },
  }
}

/** What is opened after the flows listens to them. */
function laterListeners() {
  let failed: (entry: RunLogEntry) => void = () => undefined
  let write: WriteSeeds = async () => {
    throw new JobContinues('This node does not know its applications yet.')
  }
  return {
    failed: () => failed,
    whenRunFails(listener: typeof failed) {
      failed = listener
    },
    whenSeedsAreLeft(writer: WriteSeeds) {
      write = writer
    },
    writeSeeds: (...of: Parameters<WriteSeeds>) => write(...of),
  }
}

/** What a deploy is checked against besides the blueprint. */
function presentFor(
  { fields, mail, publicUrl }: FlowsOptions,
  { environmentValues, secrets, connections }: Pick<Flows, 'environmentValues' | 'secrets' | 'connections'>,
) {
  return andThen(fields?.present(), (fieldsOf) => ({
    env: environmentValues.present(),
    secrets: secrets.names(),
    connections: connections.names(),
    ...(mail !== undefined && { mail }),
    ...(publicUrl !== undefined && { publicUrl }),
    ...(fieldsOf && { fieldsOf }),
  }))
}

type OpenedParts = Pick<RunEnvironment, 'permissions' | 'newGuid' | 'cache' | 'running'> &
  Pick<Flows, 'connections' | 'secrets' | 'environmentValues' | 'texts' | 'versions' | 'live'>

/** What all runs of the node share. */
function runEnvironment(
  { records, random, fields, ...options }: FlowsOptions,
  { connections, secrets, environmentValues, texts, versions, live, ...opened }: OpenedParts,
  log: RunEnvironment['log'],
): RunEnvironment {
  return {
    ...opened,
    log,
    database: records.database,
    clock: records.clock,
    newToken: () => newWaitToken(random),
    references: fields?.references,
    rulesOf: fields && ((storage) => andThen(fields.storageRules(storage), ({ rules }) => rules)),
    allowedHosts: options.allowedHosts,
    publicUrl: options.publicUrl ?? '',
    connections: connections.find,
    texts: texts.of,
    services: options.services,
    publish: options.publish,
    secrets: {
      open: secrets.open,
      used: (use) => options.secretUsed?.(use, secrets.guidOf(use.name) ?? ''),
    },
    limits: options.limits,
    values: {
      timeZone: options.timeZone ?? 'UTC',
      locale: options.locale ?? 'en',
      random: pooledRandom(random),
      env: environmentValues.present,
    },
    deploymentOf: versions.deploymentOf,
    findFunction(name, blueprint) {
      const { blueprints, functions } = live.table()
      return blueprints.get(blueprint)?.compiled.functions.get(name) ?? functions.get(name)
    },
  }
}
