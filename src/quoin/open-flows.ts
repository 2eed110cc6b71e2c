import { statfs } from 'node:fs/promises'
import { runPeople } from '../access/run-people.ts'
import type { Applications } from '../applications/applications.ts'
import type { Drafts } from '../applications/drafts.ts'
import type { PendingPushes } from '../applications/pending-pushes.ts'
import type { BlockServices } from '../blocks/block-services.ts'
import { callingNone, callingThrough } from '../blocks/http/guarded-agent.ts'
import { loadBlocks } from '../blocks/load-blocks.ts'
import { openDeadLetterRequests } from '../flows/background/dead-letter-requests.ts'
import { openWaits, type Waits } from '../flows/background/waits.ts'
import { type Channels, openChannels } from '../flows/channels.ts'
import { type Flows, type FlowsOptions, openFlows } from '../flows/flows.ts'
import { anywhereProblem } from '../flows/live/live-blueprints.ts'
import type { RunEnd, RunStart } from '../flows/run/run-start.ts'
import { type Runs, runPipeline } from '../flows/run-pipeline.ts'
import type { Samples } from '../flows/samples/samples.ts'
import { openTracing, type Tracing } from '../flows/trace/tracing.ts'
import { settleStuckFlows, stuckDirectory } from '../flows/watchdog/stuck-flows.ts'
import { reservedPageRoots, reservedRoots } from '../http/server/reserved-roots.ts'
import type { Options } from '../options/options.ts'
import { checkAlerts } from '../records/alerts/check-alerts.ts'
import { runFiles } from '../records/assets/file-links.ts'
import { openAssetSweep } from '../records/assets/sweep-assets.ts'
import { type Extensions, openExtensions } from '../records/extensions/extensions.ts'
import { settleAllUnique } from '../records/fields/unique-fields.ts'
import { ensureLimits, limitCounts } from '../records/limits/limit-counts.ts'
import { openLimitPurge } from '../records/limits/purge-limits.ts'
import { type MailJob, sendMail } from '../records/mail/send-mail.ts'
import { periodicTask } from '../records/periodic-task.ts'
import { openExpiryPurge } from '../records/purge-expired.ts'
import { openRetention } from '../records/retention/retention.ts'
import { openSecretUses, type SecretUses } from '../records/secrets/secret-uses.ts'
import type { SystemLog } from '../records/system-log.ts'
import type { Clock } from '../shared/clock.ts'
import type { Telemetry } from '../shared/telemetry.ts'
import { isLeader } from '../storage/capabilities.ts'
import type { Database } from '../storage/database.ts'
import { type Background, openBackground } from './background.ts'
import { openSampling } from './node-telemetry.ts'
import type { NodeDatabase } from './open-database.ts'
import type { NodeRecords } from './open-records.ts'
import type { SetStart } from './open-settings.ts'
import { allowedHosts, mailSettings, retainedFor, runLimits } from './quoin-settings.ts'
import type { Start } from './start.ts'

const MINUTE = 60_000
/** Behind the full minute: by then the nodes have stored its figures. */
const BEHIND = 5_000

/** Checks the alerts each minute, on one node of the cluster. */
function openNodeAlerts(
  { options, clock, opened }: Start,
  database: Database,
  log: Pick<SystemLog, 'write'>,
): void {
  const diskFree = async () => {
    const { bavail, bsize } = await statfs(options.data)
    return Math.floor((bavail * bsize) / 1024 / 1024)
  }
  const check = async () => {
    try {
      if (!(await isLeader(database.capabilities))) return
      await checkAlerts({ database, clock, diskFree })
    } catch (error) {
      log.write({ level: 'error', message: `The alerts could not be checked: ${String(error)}` })
    }
  }
  const checks = periodicTask(() => MINUTE - ((clock() - BEHIND) % MINUTE), check)
  opened.add(() => checks.close())
}

export interface NodeFlows {
  readonly flows: Flows
  readonly extensions: Extensions
  readonly tracing: Tracing
  /** undefined where no traces are sent. */
  readonly telemetry: Telemetry | undefined
  /** Times of sampled runs. */
  readonly samples: Samples
  readonly runs: Runs
  readonly background: Background
  /** Whether documents are being deleted that have expired. */
  readonly isPurging: () => boolean
  readonly channels: Channels
  readonly waits: Waits
}

/** With what is made of them. */
export interface NodeServices extends NodeFlows {
  readonly applications: Applications
  readonly drafts: Drafts
  readonly pushes: PendingPushes
}

/** Not waited for: usually there is nothing to do, and else it takes as long as its storages are large. Gives what waits for it. */
function settledUnique(database: Database, rules: NodeRecords['rules'], log: SystemLog): () => Promise<void> {
  const settled = settleAllUnique(database, rules).catch((error: unknown) =>
    log.write({ level: 'error', message: `A unique field could not be settled: ${String(error)}` }),
  )
  return () => settled
}

/** Before the flows, so that it is closed behind them: their last runs may fail when the node stops. */
function openLetters({ clock, opened }: SetStart, database: Database, warn: (message: string) => void) {
  const letters = openDeadLetterRequests({ database, clock, warn })
  opened.add(() => letters.close())
  return letters
}

async function openNodeExtensions(
  { opened }: SetStart,
  database: NodeRecords['database'],
): Promise<Extensions> {
  const extensions = await openExtensions(database, await loadBlocks())
  opened.add(async () => extensions.close())
  return extensions
}

/** What blocks may ask of this node. */
function blockServices(clock: Clock, { database, access, assets, secret }: NodeRecords): BlockServices {
  return {
    files: runFiles(assets.once, secret, clock),
    people: runPeople(access),
    counts: limitCounts({ database, clock }),
  }
}

type Failed = (start: RunStart, end: RunEnd) => void

function bothNotified(one: Failed, other: Failed): Failed {
  return (start, end) => {
    one(start, end)
    other(start, end)
  }
}

/** The blueprints that are active, the one pipeline of runs, and the work that no request waits for. */
export async function openNodeFlows(
  start: SetStart,
  { raw, limits, node, whenNoticed }: NodeDatabase,
  nodeRecords: NodeRecords,
): Promise<NodeFlows> {
  const { database, rules, records, access, assets, audit, auditChain, secretKeys } = nodeRecords
  const { options, set, clock, random, offline = false, opened } = start
  const uses: { to?: SecretUses } = {}
  await ensureLimits(database)
  const { capabilities } = database
  const logs: { to?: SystemLog } = {}
  const warn = (message: string) => logs.to?.write({ level: 'warn', message })
  const channels = openChannels({ capabilities, clock, warn })
  opened.add(() => channels.close())
  const letters = openLetters(start, database, warn)
  const extensions = await openNodeExtensions(start, database)
  const flows = await openLimitedFlows(start, {
    ...{
      ...{ records, extensions, catalogue: extensions.present },
      fields: rules,
      services: blockServices(clock, nodeRecords),
      publish: channels.publish,
    },
    secretKeys,
    secretUsed: (use, guid) => uses.to?.note({ ...use, guid }),
  })
  const { deployments, log } = flows
  logs.to = log
  uses.to = openSecretUses({ database, audit, clock, failed: (error) => log.write(unstoredUse(error)) })
  opened.add(uses.to.close)
  auditChain.onFailure((message) => log.write({ level: 'error', message }))
  tellOfSecrets(flows)
  whenNoticed((message) => log.write({ level: 'error', message }))
  warnOfSender(set.present(), log)
  await warnOfPasskeys(access, log)
  opened.add(settledUnique(database, rules, log))
  const isPurging = offline ? () => false : await openPurges(start, nodeRecords, log)
  const tracing = await openTracing(flows)
  opened.add(() => tracing.close())
  const { telemetry, samples, sample } = await openSampling(start, node.name, flows, tracing.copies)
  const failed = bothNotified(tracing.failed, letters.note)
  const runs = withinLimits(runPipeline(flows, tracing.traced, failed, sample), limits)
  // Before anything of theirs runs again.
  if (!offline) await settleStuckFlows({ deployments, log, clock, ...stuckNotes(start) })
  const settings = mailSettings(set)
  const mail = (job: MailJob, signal: AbortSignal) =>
    sendMail(
      { settings, database, assets, accountMail: access.links.mailOf, handOver: start.handOver, telemetry },
      job,
      signal,
    )
  const background = await openBackground({
    ...{ database, flows, runs, access, clock, random, offline, jobsAtOnce: options.jobsAtOnce },
    ...{ telemetry, mail },
  })
  opened.add(() => background.close())
  if (!offline) openNodeAlerts(start, database, log)
  const waits = openWaits(raw, audit, flows)
  return { flows, extensions, telemetry, tracing, samples, runs, background, isPurging, channels, waits }
}

function withinLimits(runs: Runs, limits: NodeDatabase['limits']): Runs {
  return limits ? { ...runs, run: limits.limited(runs.run) } : runs
}

function stuckNotes({ options, space }: Start) {
  return { directory: space?.stuck ?? stuckDirectory(options.data), space: space?.guid }
}

function tellOfSecrets({ secrets, connections, log }: Flows): void {
  const unreadable = secrets.problem()
  if (unreadable !== undefined) log.write({ level: 'error', message: unreadable })
  const anywhere = anywhereProblem(secrets, connections)
  if (anywhere !== undefined) log.write({ level: 'warn', message: anywhere })
}

async function warnOfPasskeys({ passkeys }: NodeRecords['access'], log: SystemLog): Promise<void> {
  const former = await passkeys.formerHost()
  if (former === undefined) return
  const site = passkeys.site()
  const now = typeof site === 'string' ? 'there are no passkeys' : `passkeys are for ${site.host}`
  const message = `Users have passkeys for ${former}, which can no longer sign in: with this QUOIN_PUBLIC_URL ${now}. Set it back, or let them use their recovery codes.`
  log.write({ level: 'warn', message })
}

function warnOfSender({ mailUrl, mailFrom }: Options, log: SystemLog): void {
  if (mailUrl === '' || mailFrom !== '') return
  const message = 'QUOIN_MAIL_FROM is not set: mails that name no sender fail until it is.'
  log.write({ level: 'warn', message })
}

/** Milliseconds from the end of one look for users of removed groups to the next. */
const EMPTIED_EVERY = 60_000

/** Deletes from now on what has had its time, and what broken imports have left. Gives whether documents are being deleted that have expired. */
async function openPurges(
  { set, clock, opened }: SetStart,
  { database, access, assets, imports }: NodeRecords,
  log: SystemLog,
): Promise<() => boolean> {
  const purge = openExpiryPurge({ database, clock, log })
  opened.add(() => purge.close())
  const limitPurge = openLimitPurge({ database, clock })
  opened.add(() => limitPurge.close())
  const retention = openRetention({
    ...{ database, clock, log },
    retainedFor: () => retainedFor(set),
    leads: () => isLeader(database.capabilities),
  })
  // What is allowed now counts now.
  const unwatch = set.watch(() => void retention.run())
  opened.add(() => retention.close())
  opened.add(async () => unwatch())
  const emptying = periodicTask(
    () => EMPTIED_EVERY,
    async (isClosed) => {
      try {
        if (await isLeader(database.capabilities)) await access.emptyRemovedGroups(isClosed)
      } catch (error) {
        log.write({ level: 'error', message: `Users could not leave a removed group: ${String(error)}` })
      }
    },
  )
  opened.add(() => emptying.close())
  const sweep = openAssetSweep({ database, assets, clock, log })
  opened.add(() => sweep.close())
  await imports.begin((message) => log.write({ level: 'error', message }))
  return () => purge.isRunning()
}

function unstoredUse(error: unknown) {
  return { level: 'error', message: `A use of a secret could not be audited: ${String(error)}` } as const
}

/** Flows within the limits of the settings. */
async function openLimitedFlows(
  { options, set, random, opened, calls, compiledBefore, space }: SetStart,
  input: Pick<
    FlowsOptions,
    'records' | 'catalogue' | 'extensions' | 'fields' | 'services' | 'publish' | 'secretKeys' | 'secretUsed'
  >,
): Promise<Flows> {
  const { publicUrl, timeZone, locale } = options
  const mail = options.mailUrl !== ''
  const reported = {
    limits: runLimits(set),
    allowedHosts: space?.isClosed ? callingNone() : calls ? callingThrough(calls) : allowedHosts(set),
    publicUrl,
    timeZone,
    locale,
    mail,
    reservedRoots,
    reservedPageRoots,
    ...(compiledBefore && { compiledBefore }),
    ...(space && { running: space.running }),
  }
  const flows = await openFlows({ ...input, random, ...reported })
  opened.add(() => flows.close())
  return flows
}
