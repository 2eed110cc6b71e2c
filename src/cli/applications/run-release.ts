import { setTimeout as wait } from 'node:timers/promises'
import { writeFolder } from '../../applications/read-folder.ts'
import {
  type Application,
  nameOfApplication,
  normalApplication,
  shapeProblem,
} from '../../shared/application/application.ts'
import {
  applicationChanges,
  changedValues,
  changeText,
  type ObjectChange,
  valueTexts,
  withoutUnplaced,
} from '../../shared/application/application-changes.ts'
import { filesOf } from '../../shared/application/application-files.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../shared/json.ts'
import { objectsIn, textIn, textsIn } from '../../storage/document-fields.ts'
import type { Terminal } from '../command.ts'
import { type Management, Refused, recordsOf } from '../management.ts'
import { withManagement } from '../open-management.ts'
import { UsageError } from '../read-words.ts'
import { checkFolder, problemText } from './check-folder.ts'
import { remoteAddress } from './remotes.ts'

export interface Cluster {
  readonly url?: string | undefined
  readonly remote?: string | undefined
}

interface PushFlags extends Cluster {
  readonly yes: boolean
  readonly allowLoss: boolean
  /** Runs that wait go on with the new blocks where they fit. */
  readonly moveWaits?: boolean
  /** Until another user has decided, where the cluster asks for one. */
  readonly wait?: boolean
  /** As the API takes it: recorded runs are compared first. */
  readonly verify?: JsonObject
  /** For tests of flows, which begin without documents. */
  readonly withoutSeed?: true
  /** The changes that it may make: a plan with others is not pushed, and none is made again. */
  readonly only?: readonly string[] | undefined
}

interface TypedFlags extends Cluster {
  readonly yes?: boolean | undefined
  readonly 'allow-loss'?: boolean | undefined
  readonly 'move-waits'?: boolean | undefined
  readonly wait?: boolean | undefined
  readonly verify?: string | undefined
  readonly accept?: readonly string[] | undefined
}

/** Throws UsageError. */
export function pushFlags({
  yes = false,
  wait = false,
  verify,
  accept = [],
  ...values
}: TypedFlags): PushFlags {
  const { 'allow-loss': allowLoss = false, 'move-waits': moveWaits = false, ...cluster } = values
  const compared = verification(verify, accept)
  return { yes, wait, allowLoss, moveWaits, ...(compared && { verify: compared }), ...cluster }
}

const base = '/_system/applications'
/** Plans of one push, each made because the cluster was changed since the one before. */
const MOST_PLANS = 5
/** Each push that comes too early reads the application once. */
const FIRST_WAIT_MS = 50
const LONGEST_WAIT_MS = 2_000

export async function onCluster<T>(
  terminal: Terminal,
  cluster: Cluster,
  work: (management: Management) => Promise<T>,
): Promise<T> {
  return withManagement(terminal, await remoteAddress(terminal, cluster), work)
}

export async function runPull(
  name: string,
  folder: string,
  cluster: Cluster,
  terminal: Terminal,
): Promise<number> {
  const application = await onCluster(terminal, cluster, (management) =>
    contentAt(management, `${base}/${encodeURIComponent(name)}/content`),
  )
  for (const path of await writeFolder(folder, filesOf(application))) terminal.print(`${folder}/${path}`)
  return 0
}

/** undefined where the cluster has no such application. */
export async function contentOf(management: Management, name: string): Promise<Application | undefined> {
  try {
    return await contentAt(management, `${base}/${encodeURIComponent(name)}/content`)
  } catch (error) {
    if (error instanceof Refused && error.status === 404) return undefined
    throw error
  }
}

/** What the present release holds, whatever the studio has changed since. */
export async function lastContent(management: Management, name: string): Promise<Application> {
  const [last] = await releasesOf(management, name)
  return contentAt(management, `${base}/${encodeURIComponent(name)}/releases/${String(last?.number)}/content`)
}

async function contentAt(management: Management, path: string): Promise<Application> {
  const content = await management.call('GET', path)
  const application = isJsonObject(content) ? content : {}
  // A server that is not what it seems could name a file outside of the folder.
  const problem = shapeProblem(application)
  if (problem !== undefined) throw new Error(problem)
  return normalApplication(application)
}

/** undefined where the folder has a problem, which the terminal is told. */
export async function soundFolder(folder: string, terminal: Terminal): Promise<Application | undefined> {
  const { application, problems } = await checkFolder(folder, terminal)
  for (const problem of problems) terminal.complain(problemText(folder, problem))
  return problems.some(({ warning }) => warning === undefined) ? undefined : application
}

export async function runPlan(
  folder: string,
  json: boolean,
  cluster: Cluster,
  terminal: Terminal,
): Promise<number> {
  const application = await soundFolder(folder, terminal)
  if (!application) return 1
  const plan = await onCluster(terminal, cluster, (management) => planned(management, application))
  if (json) terminal.print(JSON.stringify(plan, undefined, 2))
  else for (const line of planLines(plan)) terminal.print(line)
  if (textsIn(plan.refused).length > 0) return 1
  return textsIn(plan.lost).length > 0 ? 2 : 0
}

async function planned(management: Management, application: Application): Promise<JsonObject> {
  const plan = await management.call('POST', `${base}/plan`, { application: bodyOf(application) })
  return isJsonObject(plan) ? plan : {}
}

export function bodyOf(application: Application): JsonObject {
  return { ...application }
}

export function planLines({
  application,
  release,
  steps,
  values,
  breaking,
  missing,
  warnings,
  lost,
  refused,
}: JsonObject): string[] {
  const list = (word: string, lines: JsonValue | undefined) => textsIn(lines).map((line) => `${word}${line}`)
  return [
    `${String(application)}, release ${String(release)}: ${textsIn(steps).length === 0 ? 'nothing to change' : ''}`.trimEnd(),
    ...textsIn(steps).flatMap((step) => [`  ${step}`, ...valuesOf(values, step)]),
    ...list('breaks: ', breaking),
    ...list('missing: ', missing),
    ...list('warning: ', warnings),
    ...list('loses: ', lost),
    ...list('refused: ', refused),
  ]
}

function valuesOf(values: JsonValue | undefined, step: string): string[] {
  const found = objectsIn(values).find((one) => one.step === step)
  const lines = objectsIn(found?.lines).map(({ what, before, after }) => ({
    ...{ what: textIn(what), before: textIn(before), after: textIn(after) },
  }))
  return valueTexts({ lines, isCut: found?.is_cut === true }).map((line) => `    ${line}`)
}

export async function runPush(folder: string, flags: PushFlags, terminal: Terminal): Promise<number> {
  const found = await soundFolder(folder, terminal)
  if (!found) return 1
  const application = flags.withoutSeed ? { ...found, seed: {} } : found
  return onCluster(terminal, flags, (management) => pushed(management, application, flags, terminal))
}

/** Shows each plan once: a push that has to plan again asks only where the plans differ. */
export async function pushed(
  management: Management,
  application: Application,
  flags: PushFlags,
  terminal: Terminal,
): Promise<number> {
  let shown = ''
  for (let tries = 1; ; tries++) {
    const plan = await planned(management, application)
    const lines = planLines(plan)
    checkOnly(plan, flags)
    if (lines.join('\n') !== shown) {
      for (const line of lines) terminal.print(line)
      shown = lines.join('\n')
      const refusal = refusalOf(plan, flags)
      if (refusal !== undefined) {
        terminal.complain(refusal)
        return 1
      }
      if (textsIn(plan.steps).length === 0) return 0
      if (!flags.yes && !(await agreed(terminal, 'Push this?', 'Nothing was pushed.'))) return 1
    }
    try {
      const body = { application: bodyOf(application), state: plan.state ?? '', ...wordsOf(flags) }
      const push = () => management.call('POST', `${base}/push`, body)
      return await ended(management, await whenLive(push, terminal), { push, ...flags }, terminal)
    } catch (error) {
      if (error instanceof Refused) for (const line of differenceLines(error.details)) terminal.print(line)
      const isLast = tries === MOST_PLANS || flags.only !== undefined
      if (!(error instanceof Refused) || error.details.planned !== false || isLast) throw error
    }
  }
}

function checkOnly({ steps }: JsonObject, { only }: PushFlags): void {
  const others = textsIn(steps).filter((step) => /^(?:created|changed|removed) /.test(step))
  const other = only && others.find((step) => !only.includes(step))
  if (other !== undefined)
    throw new Error(`The cluster was changed meanwhile, so nothing was pushed: ${other}`)
}

/** The same request again and again while documents follow renamed fields: minutes for 100,000 of them. */
export async function whenLive(push: () => Promise<JsonValue>, terminal: Terminal): Promise<JsonValue> {
  let shown = ''
  for (let waited = FIRST_WAIT_MS; ; waited = Math.min(waited * 2, LONGEST_WAIT_MS)) {
    const reply = await push()
    const preparing = isJsonObject(reply) ? objectsIn(reply.preparing) : []
    if (preparing.length === 0) return reply
    for (const { storage, field, done, documents } of preparing) {
      const line = `${storage}: ${done} of ${documents} documents have ${field}`
      if (line !== shown) terminal.announce(line)
      shown = line
    }
    await wait(waited)
  }
}

interface Decided {
  /** Once more, when it is approved. */
  readonly push: () => Promise<JsonValue>
  readonly wait?: boolean
}

/** A push that waits for a second user is not live: exit code 3, unless the command waits for the decision. */
async function ended(
  management: Management,
  reply: JsonValue,
  { push, wait: waits = false }: Decided,
  terminal: Terminal,
): Promise<number> {
  const waiting = isJsonObject(reply) ? reply.waiting : undefined
  if (!isJsonObject(waiting)) return reported(reply, terminal)
  for (const line of verifiedLines(isJsonObject(reply) ? reply : {})) terminal.print(line)
  const guid = String(waiting.guid)
  const until = new Date(Number(waiting.until) * 1000).toISOString()
  const what = `Release ${String(waiting.release)} of ${String(waiting.application)}`
  terminal.print(
    `${what} waits until another user approves it, at most until ${until}: quoin approve ${guid}`,
  )
  if (!waits) return WAITS
  const decided = await decision(management, guid)
  const { status, comment, decided_by: by } = decided
  if (status === 'released') return reported({ ...decided, problems: [] }, terminal)
  // Stored values follow: this goes on as well if who approved is gone.
  if (status === 'approved') return reported(await whenLive(push, terminal), terminal)
  const who = isJsonObject(by) ? ` by ${String(by.username)}` : ''
  const why = typeof comment === 'string' && comment !== '' ? `: ${comment}` : '.'
  terminal.complain(`${what} is ${String(status)}${who}${why}`)
  return 1
}

/** Of a push that waits for another user. */
const WAITS = 3

async function decision(management: Management, guid: string): Promise<JsonObject> {
  for (let waited = FIRST_WAIT_MS; ; waited = Math.min(waited * 2, LONGEST_WAIT_MS)) {
    const push = await management.call('GET', `/_system/pushes/${guid}`)
    if (isJsonObject(push) && push.status !== 'waiting') return push
    await wait(waited)
  }
}

function wordsOf({ allowLoss, moveWaits = false, verify }: PushFlags): JsonObject {
  return { allow_loss: allowLoss, ...(moveWaits && { move_waits: true }), ...(verify && { verify }) }
}

function refusalOf({ refused, lost }: JsonObject, { allowLoss }: PushFlags): string | undefined {
  if (textsIn(refused).length > 0) return 'Nothing was pushed.'
  if (textsIn(lost).length > 0 && !allowLoss) return 'Nothing was pushed. Allow the loss with --allow-loss.'
  return undefined
}

export async function agreed(terminal: Terminal, question: string, refused: string): Promise<boolean> {
  terminal.announce(`${question} Answer yes to go on.`)
  if ((await terminal.readLine()).trim() === 'yes') return true
  terminal.complain(refused)
  return false
}

export function reported(released: JsonValue, terminal: Terminal): number {
  const { application, release, problems, moved_waits: moved = 0 } = isJsonObject(released) ? released : {}
  for (const line of verifiedLines(isJsonObject(released) ? released : {})) terminal.print(line)
  terminal.print(`Release ${String(release)} of ${String(application)} is live.`)
  if (moved !== 0) terminal.print(`${String(moved)} runs that wait go on with its blocks.`)
  for (const problem of textsIn(problems)) terminal.complain(`warning: ${problem}`)
  return 0
}

export async function runReleases(
  name: string,
  json: boolean,
  cluster: Cluster,
  terminal: Terminal,
): Promise<number> {
  const found = await onCluster(terminal, cluster, (management) => releasesOf(management, name))
  if (json) terminal.print(JSON.stringify(found, undefined, 2))
  else
    for (const { number, version, released, by, steps } of found) {
      const when = new Date(Number(released) * 1000).toISOString()
      const who = isJsonObject(by) ? String(by.username) : ''
      terminal.print(`${number}\t${when}\t${who}\t${version}\t${textsIn(steps).length} changes`)
    }
  return 0
}

async function releasesOf(management: Management, name: string): Promise<JsonObject[]> {
  return recordsOf(await management.call('GET', `${base}/${encodeURIComponent(name)}/releases`))
}

export async function runRollback(
  name: string,
  input: string | undefined,
  flags: PushFlags,
  terminal: Terminal,
): Promise<number> {
  if (input !== undefined && !/^[1-9]\d{0,8}$/.test(input))
    throw new UsageError('The release must be a number: quoin releases lists them.')
  return onCluster(terminal, flags, async (management) => {
    const [, before] = await releasesOf(management, name)
    const number = input ?? before?.number
    if (number === undefined) throw new Refused(`There is no release of ${name} before the present one.`, 404)
    const path = `${base}/${encodeURIComponent(name)}/releases/${String(number)}/content`
    return pushed(management, await contentAt(management, path), flags, terminal)
  })
}

export async function runUninstall(name: string, flags: PushFlags, terminal: Terminal): Promise<number> {
  return onCluster(terminal, flags, async (management) => {
    const path = `${base}/${encodeURIComponent(name)}`
    const found = await management.call('GET', `${path}/removal`)
    const plan = isJsonObject(found) ? found : {}
    for (const line of planLines(plan)) terminal.print(line)
    const refusal = refusalOf(plan, flags)
    if (refusal !== undefined) {
      terminal.complain(refusal.replace('pushed', 'removed'))
      return 1
    }
    if (!flags.yes && !(await agreed(terminal, 'Remove all of this?', 'Nothing was removed.'))) return 1
    const body = { state: plan.state ?? '', allow_loss: flags.allowLoss }
    const reply = await management.call('POST', `${path}/remove`, body)
    if (isJsonObject(reply) && isJsonObject(reply.waiting)) {
      const guid = String(reply.waiting.guid)
      terminal.print(`The removal of ${name} waits until another user approves it: quoin approve ${guid}`)
      return WAITS
    }
    terminal.print(`${name} is removed.`)
    return 0
  })
}

export async function runDrift(
  folder: string,
  json: boolean,
  cluster: Cluster,
  terminal: Terminal,
): Promise<number> {
  const application = await soundFolder(folder, terminal)
  if (!application) return 1
  const name = encodeURIComponent(nameOfApplication(application))
  const now = await onCluster(terminal, cluster, (management) =>
    contentAt(management, `${base}/${name}/content`),
  )
  const changes = applicationChanges(application, withoutUnplaced(now, application))
  const values = changedValues(application, now, changes)
  for (const change of json ? [] : changes) {
    const step = changeText(change)
    const found = values.find((one) => one.step === step)
    for (const line of [step, ...(found ? valueTexts(found).map((text) => `  ${text}`) : [])])
      terminal.print(line)
  }
  if (json) {
    const ofChange = (change: ObjectChange) =>
      values.find(({ step }) => step === changeText(change))?.lines ?? []
    terminal.print(
      JSON.stringify(
        changes.map((change) => ({ ...change, values: ofChange(change) })),
        undefined,
        2,
      ),
    )
  }
  return changes.length === 0 ? 0 : 1
}

// `--verify` and `--accept`: what is sent, and what is printed.

/** As the API takes it; undefined without `--verify`. */
function verification(runs: string | undefined, accepted: readonly string[]): JsonObject | undefined {
  if (runs === undefined) {
    if (accepted.length > 0) throw new UsageError('--accept needs --verify <number>.')
    return undefined
  }
  if (!/^[1-9]\d{0,2}$/.test(runs) || Number(runs) > 200)
    throw new UsageError(`--verify must be a whole number from 1 to 200; got ${JSON.stringify(runs)}.`)
  return { runs: Number(runs), accepted: [...accepted] }
}

/** Also where nothing could be compared: that is no proof. */
function verifiedLines(reply: JsonObject): string[] {
  if (reply.verified === undefined) return []
  const verified = objectsIn(reply.verified)
  if (verified.length === 0) return ['not verified: the push changes no blueprint that is there.']
  return verified.flatMap((one) => [verifiedLine(one), ...slowerLines(one)])
}

function verifiedLine({ file, compared, same, accepted, remembered, skipped, left }: JsonObject): string {
  const others = [
    counted(textsIn(accepted).length, 'accepted differences'),
    counted(remembered, 'accepted before'),
    counted(skipped, 'runs cannot be repeated'),
    counted(left, 'runs left for lack of time'),
  ].join('')
  if (compared !== 0)
    return `verified ${textIn(file)}: ${String(compared)} recorded runs compared, ${String(same)} end the same${others}`
  if (others !== '') return `not verified ${textIn(file)}: no recorded run was compared${others}`
  return `not verified ${textIn(file)}: no run is recorded. Trace the blueprint, or record requests of it, for some time first.`
}

function slowerLines({ file, slower }: JsonObject): string[] {
  const milliseconds = (us: JsonValue | undefined) => `${(Number(us) / 1_000).toFixed(1)} ms`
  return objectsIn(slower).map(
    ({ block, deployed_us: before, candidate_us: now }) =>
      `slower ${textIn(file)}: block ${textIn(block)} takes ${milliseconds(now)}, before ${milliseconds(before)}`,
  )
}

function counted(count: JsonValue | undefined, what: string): string {
  return count === 0 || count === undefined ? '' : `, ${String(count)} ${what}`
}

/** Of a push that is refused. */
function differenceLines({ differences }: JsonObject): string[] {
  return objectsIn(differences).map(({ key, file, run, label, kind, paths, deployed, candidate }) => {
    const where = textsIn(paths).length === 0 ? '' : ` at ${textsIn(paths).join(', ')}`
    const ends = kind === 'fails' || kind === 'status' ? `: ${ending(deployed)} → ${ending(candidate)}` : ''
    return `differs ${textIn(key)}: ${textIn(file)} ${textIn(label)}: ${textIn(kind)}${where}${ends} (run ${textIn(run)})`
  })
}

function ending(side: JsonValue | undefined): string {
  const { status, error } = isJsonObject(side) ? side : {}
  return [typeof status === 'number' ? String(status) : '', textIn(error)].filter(Boolean).join(' ') || 'ends'
}
