/**
 * The composition root: database → records → flows → doors. The only folder that builds things; what it opened is closed in
 * reverse order, all of it, whatever fails.
 */
import { readFile } from 'node:fs/promises'
import type { Access } from '../access/access.ts'
import type { FirstAdministrator } from '../access/first-administrator.ts'
import { presentCaller } from '../access/present-caller.ts'
import { type Applications, openApplications } from '../applications/applications.ts'
import type { DescribeTable } from '../applications/broken-contract.ts'
import { openDrafts } from '../applications/drafts.ts'
import { openPendingPushes, type PendingPushes } from '../applications/pending-pushes.ts'
import { type QueueSteering, queueSteering } from '../flows/background/queue-steering.ts'
import type { Waits } from '../flows/background/waits.ts'
import type { Flows } from '../flows/flows.ts'
import type { Runs } from '../flows/run-pipeline.ts'
import { compareRuns } from '../flows/trace/compare-runs.ts'
import type { Tracing } from '../flows/trace/tracing.ts'
import type { Server } from '../http/server/server.ts'
import { OptionError } from '../options/option-kinds.ts'
import { type Options, optionTable } from '../options/options.ts'
import type { StoredAssets } from '../records/assets/assets.ts'
import type { AuditChain } from '../records/audit-chain.ts'
import type { Backups } from '../records/backups/backups.ts'
import type { DocumentImports } from '../records/documents/document-import.ts'
import type { Extensions } from '../records/extensions/extensions.ts'
import type { FieldRules } from '../records/fields/field-rules.ts'
import type { OptionSettings } from '../records/settings/option-settings.ts'
import type { StorageContext } from '../records/storage-records.ts'
import type { SpaceUsage } from '../shared/api/operate/spaces.ts'
import { QuoinError } from '../shared/errors.ts'
import type { Database } from '../storage/database.ts'
import { isOwnStorage, systemStorages } from '../storage/system-storages.ts'
import type { ValidatedDatabase } from '../storage/validated.ts'
import type { Background } from './background.ts'
import { readConfiguredProviders, setProviders } from './configured-providers.ts'
import {
  lacksSpaceData,
  makeSpaceData,
  type NodeDatabase,
  openNodeDatabase,
  removeSpaceData,
} from './open-database.ts'
import { type NodeServices, openNodeFlows } from './open-flows.ts'
import { type NodeRecords, openNodeRecords } from './open-records.ts'
import { openNodeServers } from './open-servers.ts'
import { openNodeSettings, type SetStart } from './open-settings.ts'
import { openSpaces } from './open-spaces.ts'
import { openPreviews } from './previews.ts'
import { releasers } from './releasers.ts'
import type { Spaces } from './space-work.ts'
import type { Start, Surroundings } from './start.ts'

/** What works on data while no server has them. */
export interface OfflineQuoin {
  readonly access: Access
  readonly auditChain: AuditChain
  readonly flows: Flows
  readonly extensions: Extensions
  readonly tracing: Tracing
  readonly steering: QueueSteering
  readonly waits: Waits
  readonly applications: Applications
  readonly pushes: PendingPushes
  readonly database: ValidatedDatabase
  readonly documents: StorageContext
  readonly rules: Pick<FieldRules, 'permissions'>
  readonly imports: DocumentImports
  readonly assets: StoredAssets
  readonly settings: OptionSettings
  readonly version: string
  /** The first administrator, when this start made it; its password only if it was generated. */
  readonly administrator: FirstAdministrator | undefined
  close(): Promise<void>
}

export interface Quoin extends OfflineQuoin {
  readonly runs: Runs
  readonly background: Background
  /** Whether documents are being deleted that have expired. */
  readonly isPurging: () => boolean
  readonly server: Server
  /** undefined where PostgreSQL keeps the data. */
  readonly backups: Backups | undefined
  /** undefined in a space. */
  readonly spaces: Spaces<Quoin> | undefined
  /** Of a space. */
  readonly usage: (() => Promise<SpaceUsage>) | undefined
  /**
   * For tests of flows: takes the cluster back to a copy of its database that was made when it was closed, and forgets what it has
   * in memory. Gives false where that is not sure: something is under way, or was written of which more may be in memory. Such
   * a cluster is closed, and another one opened.
   */
  setBack(copy: string): Promise<boolean>
}

/** Opens everything, ready to listen. */
export async function openQuoin(options: Options, surroundings: Surroundings): Promise<Quoin> {
  // What is wrong there ends the start before anything is opened.
  const providers = await readConfiguredProviders(options.signInProviders)
  return openAll(options, surroundings, async (services, { start, nodeDatabase, nodeRecords, nodeFlows }) => {
    const { runs, background, isPurging, flows } = nodeFlows
    const { log, running, newGuid } = flows
    await setProviders(services.access, providers, log)
    const { database } = nodeRecords
    const makeData = (guid: string) => makeSpaceData(start.options, guid)
    const dropData = (guid: string) => removeSpaceData(start.options, guid)
    const lacksData = (guid: string) => lacksSpaceData(start.options, guid)
    // A space has no spaces.
    const spaces = start.space
      ? undefined
      : await openSpaces({
          start,
          database,
          log,
          running,
          newGuid,
          open: openQuoin,
          makeData,
          lacksData,
          dropData,
        })
    const { applications } = services
    const approved = () => start.set.present().pushApproval
    const previews = spaces && openPreviews({ spaces, applications, flows, clock: start.clock, approved })
    const managed = spaces && previews && { spaces, previews }
    const opened = await openNodeServers(start, nodeDatabase, nodeRecords, nodeFlows, managed)
    if (spaces) {
      start.opened.add(() => spaces.close())
      spaces.route(opened.server.app.server)
    }
    const setBack = (copy: string) => setBackTo(copy, nodeDatabase, nodeFlows)
    const usage = nodeDatabase.limits?.usage
    return { ...services, ...opened, runs, background, isPurging, spaces, usage, setBack }
  })
}

/**
 * Own storages of which nothing is in memory that their versions or their watchers do not tell of: sign-ins, logs, runs, time, files. A
 * file lies under the hash of its content, so one that stays behind is never found by another name.
 */
const setBackStorages: ReadonlySet<string> = new Set([
  systemStorages.users,
  systemStorages.tokens,
  systemStorages.userLogs,
  systemStorages.failedSignIns,
  systemStorages.signInAddresses,
  systemStorages.accessTurns,
  systemStorages.systemLogs,
  systemStorages.auditLogs,
  systemStorages.auditChain,
  systemStorages.auditCheckpoints,
  systemStorages.assets,
  systemStorages.assetNotes,
  systemStorages.assetImages,
  systemStorages.environment,
  systemStorages.history,
  systemStorages.tracing,
  systemStorages.runs,
  systemStorages.samples,
  systemStorages.schedules,
  systemStorages.ticks,
  systemStorages.idempotency,
  systemStorages.savedForms,
  systemStorages.waits,
  systemStorages.figures,
])

async function setBackTo(
  copy: string,
  { setBack }: NodeDatabase,
  { runs, background, flows }: NodeServices,
): Promise<boolean> {
  const isBusy = () => runs.underWay() > 0 || (background.queue?.running ?? 0) > 0
  if (setBack === undefined || isBusy()) return false
  await flows.log.flush()
  await background.forget()
  await flows.environment.cache.delete('*')
  if (isBusy()) return false
  // A connection remembers the access token that it was given for a secret.
  const noTokens = flows.connections.names().length === 0
  return setBack(
    copy,
    (storage) =>
      !isOwnStorage(storage) ||
      setBackStorages.has(storage) ||
      (storage === systemStorages.secrets && noTokens),
  )
}

/** For commands on the data of a server that is not running: no jobs, no schedules, no purging, and no server. */
export function openOffline(options: Options, surroundings: Surroundings): Promise<OfflineQuoin> {
  return openAll(options, { ...surroundings, offline: true }, async (services) => services)
}

interface Opened {
  readonly start: SetStart
  readonly nodeDatabase: NodeDatabase
  readonly nodeRecords: NodeRecords
  readonly nodeFlows: NodeServices
}

async function openAll<T>(
  options: Options,
  surroundings: Surroundings,
  finish: (services: OfflineQuoin, opened: Opened) => Promise<T>,
): Promise<T> {
  const { version } = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8'))
  const opened = releasers()
  const bare: Start = { ...surroundings, options, version, opened }
  try {
    const nodeDatabase = await openNodeDatabase(bare)
    const start = { ...bare, set: await openNodeSettings(bare, nodeDatabase.raw) }
    const nodeRecords = await openNodeRecords(start, nodeDatabase.raw)
    const running = await openNodeFlows(start, nodeDatabase, nodeRecords)
    const { database, access, auditChain, documents, imports, assets, rules } = nodeRecords
    const { flows, extensions, tracing, waits } = running
    const applications = await openApplications({
      ...{ flows, access, documents, version, describe: describeAll },
      compare: (asked) => compareRuns(tracing, presentCaller(access), asked),
    })
    const pushes = await openPendingPushes({
      ...{ applications, access, database, audit: nodeRecords.audit, clock: flows.records.clock },
      needed: () => start.set.present().pushApproval,
    })
    const nodeFlows = { ...running, applications, pushes, drafts: await openDrafts(applications, flows) }
    const administrator = await startFirst({
      options,
      database,
      access,
      applications,
      isSpace: start.space !== undefined,
    })
    const { settings } = start.set
    const services = {
      access,
      auditChain,
      flows,
      extensions,
      tracing,
      steering: queueSteering(nodeDatabase.raw, nodeRecords.audit),
      waits,
      applications,
      pushes,
      database,
      documents,
      rules,
      imports,
      assets,
      version,
      administrator,
      settings,
    }
    return await finish(
      { ...services, close: opened.release },
      { start, nodeDatabase, nodeRecords, nodeFlows },
    )
  } catch (error) {
    await opened.release()
    throw error
  }
}

/** Loaded by the first plan: a server that gets none does not need it. */
const describeAll: DescribeTable = async (table, rulesOf) => {
  const { describeEndpoints } = await import('../http/docs/describe-endpoints.ts')
  const identity = { guid: '', username: '', scopes: new Set(['*']), user: {}, tokenGuid: '' }
  return describeEndpoints({ table, identity, rulesOf })
}

interface FirstStart {
  readonly options: Options
  readonly database: Database
  readonly access: Access
  readonly applications: Applications
  /** Its first password is of a request, and not of a setting. */
  readonly isSpace: boolean
}

/** Of nodes that start together one makes the administrator, and installs what it is to find. undefined: it was there. */
async function startFirst(input: FirstStart): Promise<FirstAdministrator | undefined> {
  const { options, database, access, applications, isSpace } = input
  const made = await database.capabilities.withClusterLock('first start', () =>
    access
      .ensureGroups(options.environment === 'production')
      .then(() => access.ensureAdministrator(options.adminPassword || undefined))
      .catch(isSpace ? rethrow : namingSetting),
  )
  if (made && options.examples) await installTasks(applications, made)
  return made
}

function rethrow(error: unknown): never {
  throw error
}

/** The password that is refused stands in a setting. */
function namingSetting(error: unknown): never {
  if (!(error instanceof QuoinError) || !error.fields?.includes('password')) throw error
  throw new OptionError(
    `${error.message.replace(/^password/, optionTable.adminPassword.variable)} Give another one, or none: then a random one is made and printed once.`,
  )
}

/** Loaded at the first start alone. */
async function installTasks(
  applications: Applications,
  { guid, username }: FirstAdministrator,
): Promise<void> {
  const { installExample, readExample } = await import('../applications/install-example.ts')
  await installExample(applications, await readExample('tasks'), { guid, username })
}
